#define _GNU_SOURCE
#include "run/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    EXIT_SCRIPT = 2,
    SAME_MS = 100, /* timeout(1) and others send a signal to a program and to its group: nobody has asked twice */
};

/* SIGXCPU (ulimit -t) comes once a second from then on, and SIGKILL at the hard limit. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };

__attribute__((noreturn)) static void end(const char *text, int status)
{
    if (write(STDERR_FILENO, text, strlen(text)) >= 0)
        _exit(status);
    _exit(status);
}

static void on_end(int number)
{
    end("luabench: interrupted before the run began; nothing was sent\n", EXIT_INTERRUPTED);
}

static void on_alarm(int number)
{
    end("luabench: the script did not finish loading in time (--script-timeout); is there an endless loop at its top level?\n", EXIT_SCRIPT);
}

/* As it was when the program began. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* A profiler may have put its own handler there before. */
static void ignore(int number)
{
    struct sigaction action;
    if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_DFL)
        signal(number, SIG_IGN);
}

void signals_loading(unsigned seconds)
{
    static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!is_ignored(ends[i]))
            signal(ends[i], on_end);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        ignore(ignored[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        ignore(number);
    signal(SIGALRM, on_alarm);
    alarm(seconds);
}

void signals_loaded(void)
{
    alarm(0);
    signal(SIGALRM, SIG_IGN);
}

int signals_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!is_ignored(ends[i])) /* a blocked signal is kept although it is ignored */
            sigaddset(&set, ends[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Not by a terminal that goes away, which sends SIGHUP more than once, nor by the limit of CPU time. */
static bool is_from_somebody(const struct signalfd_siginfo *info)
{
    return info->ssi_signo != SIGHUP && info->ssi_signo != SIGXCPU;
}

enum heard signals_read(int fd, int64_t *first)
{
    struct signalfd_siginfo info;
    enum heard heard = HEARD_NOTHING;
    while (heard != HEARD_AGAIN && read(fd, &info, sizeof info) == sizeof info) {
        int64_t now = clock_ns();
        if (!*first) {
            *first = now;
            heard = HEARD_ONCE;
        } else if (is_from_somebody(&info) && now - *first > SAME_MS * NS_PER_MS) {
            heard = HEARD_AGAIN;
        }
    }
    return heard;
}
