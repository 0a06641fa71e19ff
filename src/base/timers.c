#include "base/timers.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum { CHILDREN = 4 };

static void place(struct timers *timers, struct timer *timer, size_t position)
{
    timers->heap[position - 1] = timer;
    timer->position = position;
}

static void sift_up(struct timers *timers, struct timer *timer, size_t position)
{
    while (position > 1) {
        size_t parent = (position - 2) / CHILDREN + 1;
        struct timer *above = timers->heap[parent - 1];
        if (above->queued <= timer->queued)
            break;
        place(timers, above, position);
        position = parent;
    }
    place(timers, timer, position);
}

static size_t earliest_child(const struct timers *timers, size_t position)
{
    size_t first = (position - 1) * CHILDREN + 2, best = first;
    for (size_t child = first + 1; child < first + CHILDREN && child <= timers->count; child++)
        if (timers->heap[child - 1]->queued < timers->heap[best - 1]->queued)
            best = child;
    return best;
}

static void sift_down(struct timers *timers, struct timer *timer, size_t position)
{
    while ((position - 1) * CHILDREN + 2 <= timers->count) {
        size_t child = earliest_child(timers, position);
        struct timer *below = timers->heap[child - 1];
        if (below->queued >= timer->queued)
            break;
        place(timers, below, position);
        position = child;
    }
    place(timers, timer, position);
}

void timer_init(struct timer *timer, void (*expired)(struct timer *))
{
    *timer = (struct timer){ .deadline = NS_NEVER, .expired = expired };
}

static void insert(struct timers *timers, struct timer *timer)
{
    if (timers->count == timers->capacity) {
        timers->capacity = timers->capacity ? timers->capacity * 2 : 64;
        timers->heap = mem_resize(timers->heap, timers->capacity * sizeof *timers->heap);
    }
    timer->queued = timer->deadline;
    timers->count++;
    sift_up(timers, timer, timers->count);
}

void timers_set(struct timers *timers, struct timer *timer, int64_t deadline)
{
    timer->deadline = deadline;
    if (!timer->position) {
        insert(timers, timer);
    } else if (deadline < timer->queued) {
        timer->queued = deadline;
        sift_up(timers, timer, timer->position);
    }
}

void timers_remove(struct timers *timers, struct timer *timer)
{
    size_t position = timer->position;
    timer->deadline = NS_NEVER;
    if (!position)
        return;
    timer->position = 0;
    struct timer *last = timers->heap[--timers->count];
    if (last == timer)
        return;
    sift_up(timers, last, position);
    if (last->position == position)
        sift_down(timers, last, position);
}

int64_t timers_next(const struct timers *timers)
{
    return timers->count ? timers->heap[0]->queued : NS_NEVER;
}

/* Takes the first timer whose queued time has come out of the heap, its deadline untouched; NULL without one. */
static struct timer *take_due(struct timers *timers, int64_t now)
{
    struct timer *timer = timers->count ? timers->heap[0] : NULL;
    if (!timer || timer->queued > now)
        return NULL;
    int64_t deadline = timer->deadline;
    timers_remove(timers, timer);
    timer->deadline = deadline;
    return timer;
}

void timers_expire(struct timers *timers, int64_t now)
{
    struct timer *timer;
    while ((timer = take_due(timers, now))) {
        if (timer->deadline > timer->queued) { /* a lazy one finds its real place, behind earlier ones that may be due too */
            if (timer_running(timer))
                insert(timers, timer);
            continue;
        }
        timer->deadline = NS_NEVER;
        timer->expired(timer);
    }
}

void timers_free(struct timers *timers)
{
    free(timers->heap);
    *timers = (struct timers){ 0 };
}
