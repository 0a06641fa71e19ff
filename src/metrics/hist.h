/* A histogram of durations in HdrHistogram's bucket layout (Gil Tene, HdrHistogram): 1 ns to about 39 h, 3 significant
 * digits: 2048 counters of 1 ns, then 1024 linear counters an octave. Counts lie in pages of one octave that are made on first
 * touch, because a flat array would be 300 KB and there is one histogram for each name and measurement. Minimum, maximum, sum and sum
 * of squares are exact. Not locked: one thread records, and others read when it is at rest. A zeroed struct is an empty histogram.
 *
 * Quantiles are by nearest rank on the counts (the ceil(q * n)-th smallest, at least the first) and give the middle of the counter, held within
 * [min, max]; the first and the last are min and max themselves. They are never averaged: merge first, then ask. Nothing recorded: count 0, and every
 * figure is NaN. The middle of a counter is HdrHistogram's (the lowest value of the counter + half its width), so that its tools and we agree. */
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
    HIST_PAGES = 37,      /* the last one ends at 2^47 ns, 39 h; longer values are counted in its last counter, and max stays exact */
    HIST_VALUE_BITS = HIST_FIRST_BITS + HIST_PAGES - 1,
};
#define HIST_HIGHEST ((INT64_C(1) << HIST_VALUE_BITS) - 1) /* ns, the end of the last counter */

struct hist {
    uint64_t count;            /* values recorded */
    int64_t min, max;          /* exact; meaningless when count is 0 (but INT64_MAX and -1 if there are pages: hist_record compares unasked) */
    unsigned __int128 sum;     /* exact */
    unsigned __int128 squares; /* sum of squares, exact; all ones when it would not fit, which takes values of months: stddev is then NaN */
    uint64_t *pages[HIST_PAGES];
};

/* The page of `value`, which is at most HIST_HIGHEST. */
static inline unsigned hist_page_of(uint64_t value)
{
    unsigned highest_bit = 63 ^ (unsigned)__builtin_clzll(value | ((UINT64_C(1) << HIST_FIRST_BITS) - 1));
    return highest_bit - (HIST_FIRST_BITS - 1);
}

/* Records `value` (ns; a negative one counts as 0) `times` times. */
void hist_record_many(struct hist *hist, int64_t value, uint64_t times);

/* Records `value` (ns; a negative one counts as 0). */
static inline void hist_record(struct hist *hist, int64_t value)
{
    uint64_t v = (uint64_t)value;
    if (__builtin_expect(v > HIST_HIGHEST, 0)) { /* or negative */
        hist_record_many(hist, value, 1);
        return;
    }
    unsigned page = hist_page_of(v);
    uint64_t *counts = hist->pages[page];
    if (__builtin_expect(!counts, 0)) {
        hist_record_many(hist, value, 1);
        return;
    }
    /* page 0 is indexed by the value itself, page k > 0 by the 10 bits below the leading one */
    counts[page ? (v >> page) - (UINT64_C(1) << HIST_PAGE_BITS) : v]++;
    if (value < hist->min)
        hist->min = value;
    if (value > hist->max)
        hist->max = value;
    hist->count++;
    hist->sum += v;
    hist->squares += (unsigned __int128)v * v;
}

/* Adds every count of `from` to `into`. */
void hist_merge(struct hist *into, const struct hist *from);
/* Takes the counts of an earlier state of the same histogram away; min and max are then those of the counters, within the former min and max. */
void hist_subtract(struct hist *from, const struct hist *earlier);
/* The value (ns) at `quantile` in 0..1; NaN when empty. */
double hist_quantile(const struct hist *hist, double quantile);
/* How many values lie at or below `value`, to the accuracy of a counter: that of `value` is counted whole. */
uint64_t hist_count_upto(const struct hist *hist, int64_t value);
/* ns; NaN when empty. stddev is the population's (divisor n). */
double hist_mean(const struct hist *hist);
double hist_stddev(const struct hist *hist);
/* Visits the non-empty counters from small to large; each counts the values from `low` to `high` (ns, both included). */
void hist_each(const struct hist *hist, void (*visit)(void *context, int64_t low, int64_t high, uint64_t count), void *context);
/* Forgets the values and keeps the pages. */
void hist_clear(struct hist *hist);
/* Gives the pages back; the histogram is empty and usable. */
void hist_free(struct hist *hist);

/* In hist_codec.c: the form that HdrHistogram's tools read. */

/* Appends HdrHistogram's V2 compressed encoding (the bytes; zlib inside) to `out`, which must have no maximum. */
void hist_encode(const struct hist *hist, struct buf *out);
/* Adds what hist_encode wrote (or any HdrHistogram library: V2 compressed, 3 digits, any lowest discernible value) to an empty `hist`. False on
 * damaged data: `hist` is then empty. Count is exact; min and max are the ends of the outermost counters, sum and squares those of the counters' middles. */
bool hist_decode(struct hist *hist, const void *data, size_t length);

#endif
