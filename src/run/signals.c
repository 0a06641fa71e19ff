#include "run/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { EXIT_SCRIPT = 2 };

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

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

void signals_loading(unsigned seconds)
{
    static const int ignored[] = { SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2 };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!is_ignored(ends[i]))
            signal(ends[i], on_end);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
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
