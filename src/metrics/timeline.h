/* The course of a scenario: its window in equal slots of time, each with the latencies of the requests that were due in it, and how many iterations were due in it and ended
 * in it. From it come the intervals of quantiles (batches), the steady state (bins), and the backlog. Times are kept coarsely, to 1.6%: a slot tells batches apart, the
 * exact figures are those of the histograms.
 *
 * Slots are 10 ms wide, or that times a power of two. When TIMELINE_SLOTS are used up, pairs are merged: whatever a run's length, there are between half that many and all of them. Counts of
 * several threads add, since all begin at the same instant. Not locked. A zeroed one records nothing until timeline_begin. */
#ifndef LUABENCH_METRICS_TIMELINE_H
#define LUABENCH_METRICS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIMELINE_SLOTS = 512,
    TIMELINE_FIRST_BITS = 7, /* the first page counts 0 .. 127 ns one by one */
    TIMELINE_PAGE_BITS = 6,  /* every further page is one octave in 64 steps */
    TIMELINE_PAGES = 41,     /* the last one ends at 2^47 ns; longer values are counted in its last counter */
};

enum { TIMELINE_BYTE, TIMELINE_SHORT, TIMELINE_WORD };

struct slot {
    uint64_t due, ended; /* iterations */
    uint64_t responses;  /* to requests that were due in it = sum of the counters */
    void *pages[TIMELINE_PAGES];     /* counters of 1, 2 or 4 bytes: */
    uint8_t widths[TIMELINE_PAGES]; /* TIMELINE_BYTE at first, wider when one of them needs it */
};

struct timeline {
    bool begun;
    int64_t start;       /* ns, clock_ns: of the first slot */
    int64_t width;       /* ns: of a slot */
    struct slot *slots;
    size_t count;        /* slots up to the last one in which something was recorded */
    size_t capacity;
    int64_t from, to;    /* ns: of the slot used last, so that its number need not be computed again */
    size_t last;
};

/* From now on what happens at `start` (ns) or later is recorded. Slots are as wide as `length` ns will need; 0: it is not known how long it takes. What was recorded is gone. */
void timeline_begin(struct timeline *timeline, int64_t start, int64_t length);
void timeline_free(struct timeline *timeline);
/* An iteration was due, or has ended, at `at` (ns). */
void timeline_due(struct timeline *timeline, int64_t at);
void timeline_ended(struct timeline *timeline, int64_t at);
/* A response, `latency` ns, to a request that was due at `at`. */
void timeline_response(struct timeline *timeline, int64_t at, int64_t latency);
/* Adds the counts of another thread's; false when they do not begin at the same instant and nothing was added. An empty one takes any. */
bool timeline_merge(struct timeline *into, const struct timeline *from);

/* Of the slots first .. first + count - 1, together: */

/* How many responses, and how many of them took at most `latency` ns, in part of a counter by interpolation. */
uint64_t timeline_responses(const struct timeline *timeline, size_t first, size_t count);
double timeline_upto(const struct timeline *timeline, size_t first, size_t count, double latency);
/* The latency (ns) at `quantile`; NaN when empty. */
double timeline_quantile(const struct timeline *timeline, size_t first, size_t count, double quantile);

#endif
