/* A worker's event loop: libev for sockets, and one absolute timerfd in front of base/timers for everything timed. libev's own
 * timers round up to a whole millisecond, which is far too coarse for arrivals and short sleeps.
 *
 * The owner calls loop_poll, then handles what the callbacks have queued; callbacks do no more than read, parse, stamp and queue.
 * I/O watchers are libev's ev_io, embedded in the object that waits. */
#ifndef LUABENCH_NET_LOOP_H
#define LUABENCH_NET_LOOP_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/timers.h"

struct loop {
    struct ev_loop *ev;
    struct timers timers; /* timers_set(&loop->timers, ...) */
    ev_io timer_io;
    int timer_fd;
    int64_t alarm; /* ns: when the owner wants to be back beside the timers, set before each poll; NS_NEVER: it does not mind */
    int64_t armed; /* ns the timerfd is set to; NS_NEVER: not set */
    ev_async wake; /* loop_wake */

    /* marks of the last poll, ns, clock_ns: what the self-check is made of */
    int64_t entered, returned; /* when it began to look, and had found something */
    int64_t away;  /* ns between the poll before it and this one: callbacks and all that the owner did */
    int64_t now;   /* after the callbacks: the time by which timers were due */
    int64_t since; /* what has been read after this poll may have arrived from then on */
    int64_t overslept; /* ns by which it came back later than the timer had asked for; 0: not */
};

/* False when the kernel has no epoll, timerfd or descriptor left (errno says). */
bool loop_init(struct loop *loop);
void loop_free(struct loop *loop);
/* Waits for events (when `wait` is true, until at least one or a timer), runs the callbacks and then the timers that are due. */
void loop_poll(struct loop *loop, bool wait);
/* Makes a waiting loop_poll return; the only function that another thread may call. */
void loop_wake(struct loop *loop);

#endif
