#define _GNU_SOURCE
#include "run/limits.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void limits_files(void)
{
    int fd;
    raise_limit();
    do /* the lowest one that is free: opened the wrong way round, so that using it is an error */
        fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

uint64_t limits_of_files(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) ? UINT64_MAX : limit.rlim_cur;
}

bool limits_memory(void)
{
    struct rlimit limit;
    bool limited = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
    if (limited)
        mallopt(M_ARENA_MAX, 1);
    return limited;
}

bool limits_can_open(unsigned count)
{
    int *files = mem_array(count, sizeof *files);
    unsigned opened = 0;
    while (opened < count && (files[opened] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        opened++;
    for (unsigned i = 0; i < opened; i++)
        close(files[i]);
    free(files);
    return opened == count;
}
