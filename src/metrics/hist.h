/* A histogram of durations in HdrHistogram's bucket layout (Gil Tene, HdrHistogram): 1 ns to about 36 h, 3 significant
 * digits: 2048 counters of 1 ns, then 1024 linear counters an octave. Counts lie in pages of one octave that are made on first
 * touch, because a flat array would be 270 KB and there is one histogram for each name and measurement. Minimum, maximum, sum and sum
 * of squares are exact. Not locked: one thread records, and others read when it is at rest.
 *
 * Quantiles are by nearest rank on the counts (the ceil(q * n)-th smallest, at least the first) and give the middle of the counter, held within [min, max];
 * they are never averaged: merge first, then ask. Nothing recorded: count 0, and every figure is NaN. */
#ifndef LUABENCH_METRICS_HIST_H
#define LUABENCH_METRICS_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    HIST_DIGITS = 3,
    HIST_FIRST_BITS = 11, /* the first page counts 0 .. 2047 one by one */
    HIST_PAGE_BITS = 10,  /* every further page is one octave in 1024 steps */
    HIST_PAGES = 37,      /* the last one ends at 2^47 ns, 39 h; longer values are counted there, and max stays exact */
};

struct hist {
    uint64_t count;            /* values recorded */
    int64_t min, max;          /* exact; undefined when count is 0 */
    unsigned __int128 sum;     /* exact */
    unsigned __int128 squares; /* sum of squares, exact */
    uint64_t *pages[HIST_PAGES];
};

/* The page of `value` (not negative), and the counter in it. */
static inline unsigned hist_page_of(uint64_t value)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | ((UINT64_C(1) << HIST_FIRST_BITS) - 1));
    unsigned page = bits - HIST_FIRST_BITS;
    return page < HIST_PAGES ? page : HIST_PAGES - 1;
}

/* Makes the page; internal to hist_record. */
uint64_t *hist_make_page(struct hist *hist, unsigned page);

/* Records `value` (ns; a negative one counts as 0) `times` times. */
void hist_record_many(struct hist *hist, int64_t value, uint64_t times);

/* Records `value` (ns; a negative one counts as 0). */
static inline void hist_record(struct hist *hist, int64_t value)
{
    uint64_t v = value < 0 ? 0 : (uint64_t)value;
    unsigned page = hist_page_of(v);
    if (__builtin_expect(!hist->pages[page] || v >> (HIST_FIRST_BITS + HIST_PAGES - 1), 0)) {
        hist_record_many(hist, value, 1);
        return;
    }
    /* page 0 is indexed by the value itself, page k > 0 by the 10 bits below the leading one */
    hist->pages[page][page ? (v >> page) - (UINT64_C(1) << HIST_PAGE_BITS) : v]++;
    if (!hist->count || (int64_t)v < hist->min)
        hist->min = (int64_t)v;
    if (!hist->count || (int64_t)v > hist->max)
        hist->max = (int64_t)v;
    hist->count++;
    hist->sum += v;
    hist->squares += (unsigned __int128)v * v;
}

/* Adds every count of `from` to `into`. */
void hist_merge(struct hist *into, const struct hist *from);
/* Takes the counts of an earlier state of the same histogram away; min and max are then those of the counters. */
void hist_subtract(struct hist *from, const struct hist *earlier);
/* The value (ns) at `quantile` in 0..1; NaN when empty. */
double hist_quantile(const struct hist *hist, double quantile);
/* How many values lie at or below `value`, to the accuracy of a counter. */
uint64_t hist_count_upto(const struct hist *hist, int64_t value);
/* ns; NaN when empty. stddev is the population's (divisor n). */
double hist_mean(const struct hist *hist);
double hist_stddev(const struct hist *hist);
/* Visits the non-empty counters from small to large: `value` is the middle of the counter. */
void hist_each(const struct hist *hist, void (*visit)(void *context, int64_t low, int64_t high, uint64_t count), void *context);
/* Appends HdrHistogram's V2 compressed encoding (the bytes; zlib inside) with lowest 1, highest as HdrHistogram would need for max, 3 digits. */
void hist_encode(const struct hist *hist, struct buf *out);
/* Adds what hist_encode wrote (or any HdrHistogram library, V2 compressed, 3 digits) to an empty `hist`. False on damaged data: `hist` is then empty.
 * Count is exact; min, max, sum and squares are those of the counters. */
bool hist_decode(struct hist *hist, const void *data, size_t length);
/* Gives the pages back; the histogram is empty and usable. */
void hist_free(struct hist *hist);

#endif
