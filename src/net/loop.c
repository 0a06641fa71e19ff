#include "net/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    NO_WAIT_NS = 5000, /* a poll that took less did not sleep */
    EXIT_CANNOT_RUN = 3,
    WAKE_NS = 30000,   /* from an event to the return of a poll that slept: about the p99 on an idle machine */
};

static void on_timer(struct ev_loop *ev, ev_io *io, int events)
{
    (void)ev, (void)events;
    struct loop *loop = container_of(io, struct loop, timer_io);
    loop->armed = 0; /* expired: set again, which also clears the expirations, so that nothing need be read */
}

static struct loop *loop_of(struct ev_loop *ev)
{
    return ev_userdata(ev);
}

/* Before the poll. */
static void on_enter(struct ev_loop *ev) EV_NOEXCEPT
{
    struct loop *loop = loop_of(ev);
    loop->entered = clock_ns();
    loop->away = loop->entered - loop->returned;
}

/* How late the poll has come back for the timer. */
static int64_t overslept(const struct loop *loop, int64_t now)
{
    int64_t due = loop->armed > loop->entered ? loop->armed : loop->entered;
    return loop->armed && due < now ? now - due : 0;
}

/* After the poll. Readiness is level-triggered: what this poll reports, the one before has not seen, so it has come since. A poll that waited was woken by it, after the
 * time that a thread takes to wake up, unless it was kept from running longer than that. */
static void on_return(struct ev_loop *ev) EV_NOEXCEPT
{
    struct loop *loop = loop_of(ev);
    int64_t before = loop->returned, now = clock_ns();
    loop->returned = now;
    loop->overslept = overslept(loop, now);
    if (now - loop->entered < NO_WAIT_NS)
        loop->since = before;
    else
        loop->since = now - (loop->overslept > WAKE_NS ? loop->overslept : WAKE_NS);
}

static void on_wake(struct ev_loop *ev, ev_async *wake, int events)
{
    (void)ev, (void)wake, (void)events;
}

/* libev's last word when a system call has failed that it needs; it would abort. */
static void on_system_error(const char *text) EV_NOEXCEPT
{
    fprintf(stderr, "luabench: %s: %s%s\n", text, strerror(errno), errno == EMFILE ? " (raise the limit: ulimit -n)" : "");
    _exit(EXIT_CANNOT_RUN);
}

bool loop_init(struct loop *loop)
{
    ev_set_syserr_cb(on_system_error);
    *loop = (struct loop){ .timer_fd = -1, .alarm = NS_NEVER, .armed = NS_NEVER };
    loop->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (!loop->ev || loop->timer_fd < 0) {
        loop_free(loop);
        return false;
    }
    loop->entered = loop->returned = loop->since = loop->now = clock_ns();
    ev_set_userdata(loop->ev, loop);
    ev_set_loop_release_cb(loop->ev, on_enter, on_return);
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
    if (next > loop->alarm)
        next = loop->alarm;
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
    if (wait)
        arm(loop);
    ev_run(loop->ev, wait ? EVRUN_ONCE : EVRUN_NOWAIT);
    loop->now = clock_ns();
    if (timers_next(&loop->timers) <= loop->now)
        timers_expire(&loop->timers, loop->now);
}

void loop_wake(struct loop *loop)
{
    ev_async_send(loop->ev, &loop->wake);
}
