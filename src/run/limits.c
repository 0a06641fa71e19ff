#include "run/limits.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { EXIT_SCRIPT = 2 };

static void on_alarm(int number)
{
    static const char text[] = "luabench: the script did not finish loading in time (--script-timeout); is there an endless loop at its top level?\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) >= 0)
        _exit(EXIT_SCRIPT);
    _exit(EXIT_SCRIPT);
}

void limits_loading(unsigned seconds)
{
    struct sigaction action = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

void limits_loaded(void)
{
    alarm(0);
}

void limits_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
