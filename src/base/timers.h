/* Many timers, one wake-up: a 4-ary min-heap of nanosecond deadlines. Knows no clock and no loop; the owner asks for the
 * next deadline, waits as it likes, and calls timers_expire.
 *
 * A timer is lazy: moving its deadline later, or clearing it, costs nothing, since its place in the heap is only looked at
 * again when the old deadline comes. Request timeouts are set and cleared on every request and almost never fire.
 * The timer is embedded in the waiting object, which must call timers_remove before it is freed. */
#ifndef LUABENCH_BASE_TIMERS_H
#define LUABENCH_BASE_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
    int64_t deadline;                /* ns, clock_ns; NS_NEVER when not running */
    int64_t queued;                  /* deadline under which it lies in the heap, never later than `deadline` */
    size_t position;                 /* in the heap, from 1; 0: not in it */
    void (*expired)(struct timer *); /* called from timers_expire; may set and clear any timer */
};

struct timers {
    struct timer **heap;
    size_t count, capacity;
};

void timer_init(struct timer *timer, void (*expired)(struct timer *));
/* Runs `timer` at `deadline` (ns); it may be running already. */
void timers_set(struct timers *timers, struct timer *timer, int64_t deadline);
/* The timer will not fire; it may stay in the heap, so its memory must live on. */
static inline void timers_clear(struct timer *timer)
{
    timer->deadline = INT64_MAX;
}
/* Takes the timer out of the heap; its memory may go. */
void timers_remove(struct timers *timers, struct timer *timer);
static inline bool timer_running(const struct timer *timer)
{
    return timer->deadline != INT64_MAX;
}
/* The earliest instant at which something may be due (possibly a lazy one), NS_NEVER without any. */
int64_t timers_next(const struct timers *timers);
/* Calls `expired` of every timer due at `now`, earliest first. Such a call must not set a timer to a time that is already
 * past at `now`: it would fire again and again. */
void timers_expire(struct timers *timers, int64_t now);
void timers_free(struct timers *timers);

#endif
