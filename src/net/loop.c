#include "net/loop.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"

static void on_timer(struct ev_loop *ev, ev_io *io, int events)
{
    (void)ev, (void)events;
    struct loop *loop = container_of(io, struct loop, timer_io);
    loop->armed = 0; /* expired: set again, which also clears the expirations, so that nothing need be read */
}

static void on_wake(struct ev_loop *ev, ev_async *wake, int events)
{
    (void)ev, (void)wake, (void)events;
}

bool loop_init(struct loop *loop)
{
    *loop = (struct loop){ .timer_fd = -1, .armed = NS_NEVER };
    loop->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (!loop->ev || loop->timer_fd < 0) {
        loop_free(loop);
        return false;
    }
    ev_io_init(&loop->timer_io, on_timer, loop->timer_fd, EV_READ);
    ev_set_priority(&loop->timer_io, EV_MAXPRI);
    ev_io_start(loop->ev, &loop->timer_io);
    ev_async_init(&loop->wake, on_wake);
    ev_async_start(loop->ev, &loop->wake);
    return true;
}

void loop_free(struct loop *loop)
{
    if (loop->ev)
        ev_loop_destroy(loop->ev);
    if (loop->timer_fd >= 0)
        close(loop->timer_fd);
    timers_free(&loop->timers);
    *loop = (struct loop){ .timer_fd = -1 };
}

/* Sets the timerfd to the earliest deadline unless it will go off early enough anyway. */
static void arm(struct loop *loop)
{
    int64_t next = timers_next(&loop->timers);
    if (next >= loop->armed && loop->armed)
        return;
    struct itimerspec at = { 0 };
    if (next != NS_NEVER) {
        at.it_value.tv_sec = next / NS_PER_SECOND;
        at.it_value.tv_nsec = next > 0 ? next % NS_PER_SECOND : 1;
    }
    timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    loop->armed = next;
}

void loop_poll(struct loop *loop, bool wait)
{
    arm(loop);
    ev_run(loop->ev, wait ? EVRUN_ONCE : EVRUN_NOWAIT);
    int64_t now = clock_ns();
    if (timers_next(&loop->timers) <= now)
        timers_expire(&loop->timers, now);
}

void loop_wake(struct loop *loop)
{
    ev_async_send(loop->ev, &loop->wake);
}
