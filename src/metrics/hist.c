#include "metrics/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A non-empty counter, and where to look for the one after it. Starts zeroed. */
struct cursor {
    unsigned page, index;
    int64_t low, width;
    uint64_t count;
};

static unsigned page_length(unsigned page)
{
    return 1U << (page ? HIST_PAGE_BITS : HIST_FIRST_BITS);
}

static bool next_counter(const struct hist *hist, struct cursor *at)
{
    for (; at->page < HIST_PAGES; at->page++, at->index = 0) {
        const uint64_t *counts = hist->pages[at->page];
        unsigned length = counts ? page_length(at->page) : 0;
        while (at->index < length && !counts[at->index])
            at->index++;
        if (at->index == length)
            continue;
        at->low = (int64_t)(at->page ? (uint64_t)(at->index + page_length(at->page)) << at->page : at->index);
        at->width = INT64_C(1) << at->page;
        at->count = counts[at->index++];
        return true;
    }
    return false;
}

static uint64_t *page_for_writing(struct hist *hist, unsigned page)
{
    if (!hist->pages[page])
        hist->pages[page] = mem_array(page_length(page), sizeof *hist->pages[page]);
    return hist->pages[page];
}

/* The counter of `value`, its page made when there is none. */
static uint64_t *counter_for(struct hist *hist, uint64_t value)
{
    uint64_t inside = value < HIST_HIGHEST ? value : HIST_HIGHEST;
    unsigned page = hist_page_of(inside);
    return page_for_writing(hist, page) + (page ? (inside >> page) - page_length(page) : inside);
}

/* Adds to the sum of squares, which stays at all ones once it does not fit. */
static void add_squares(struct hist *hist, unsigned __int128 squares)
{
    if (__builtin_add_overflow(hist->squares, squares, &hist->squares))
        hist->squares = ~(unsigned __int128)0;
}

static void widen(struct hist *hist, int64_t min, int64_t max)
{
    if (!hist->count || min < hist->min)
        hist->min = min;
    if (!hist->count || max > hist->max)
        hist->max = max;
}

void hist_record_many(struct hist *hist, int64_t value, uint64_t times)
{
    if (!times)
        return;
    uint64_t v = value < 0 ? 0 : (uint64_t)value;
    *counter_for(hist, v) += times;
    widen(hist, (int64_t)v, (int64_t)v);
    hist->count += times;
    hist->sum += (unsigned __int128)v * times;
    unsigned __int128 squares;
    bool fits = !__builtin_mul_overflow((unsigned __int128)v * v, times, &squares);
    add_squares(hist, fits ? squares : ~(unsigned __int128)0);
}

void hist_merge(struct hist *into, const struct hist *from)
{
    if (!from->count)
        return;
    for (unsigned page = 0; page < HIST_PAGES; page++) {
        const uint64_t *counts = from->pages[page];
        if (!counts)
            continue;
        uint64_t *sums = page_for_writing(into, page);
        for (unsigned i = 0; i < page_length(page); i++)
            sums[i] += counts[i];
    }
    widen(into, from->min, from->max);
    into->count += from->count;
    into->sum += from->sum;
    add_squares(into, from->squares);
}

/* Sets min and max from the counters, but never wider than they were; the last counter also holds values beyond its end. */
static void narrow(struct hist *hist)
{
    int64_t min = hist->min, max = hist->max;
    struct cursor at = { 0 };
    if (next_counter(hist, &at) && at.low > min)
        hist->min = at.low;
    while (next_counter(hist, &at))
        ;
    int64_t end = at.low + at.width - 1;
    hist->max = end < max && end < HIST_HIGHEST ? end : max;
}

void hist_subtract(struct hist *from, const struct hist *earlier)
{
    if (from->count == earlier->count) {
        hist_clear(from);
        return;
    }
    for (unsigned page = 0; page < HIST_PAGES; page++) {
        const uint64_t *counts = earlier->pages[page];
        for (unsigned i = 0; counts && from->pages[page] && i < page_length(page); i++)
            from->pages[page][i] -= counts[i];
    }
    from->count -= earlier->count;
    from->sum -= earlier->sum;
    if (~from->squares)
        from->squares -= earlier->squares;
    narrow(from);
}

/* ceil(quantile * count) within 1..count. The product of an inexact 0.07 and 100 must give 7, hence the last bits are let go. */
static uint64_t rank_of(double quantile, uint64_t count)
{
    if (!(quantile > 0))
        return 1;
    long double rank = ceill((long double)quantile * count * (1 - 0x1p-51L));
    return rank >= (long double)count ? count : rank < 1 ? 1 : (uint64_t)rank;
}

double hist_quantile(const struct hist *hist, double quantile)
{
    if (!hist->count)
        return NAN;
    uint64_t rank = rank_of(quantile, hist->count), upto = 0;
    if (rank == 1 || rank == hist->count)
        return (double)(rank == 1 ? hist->min : hist->max);
    struct cursor at = { 0 };
    while (upto < rank && next_counter(hist, &at))
        upto += at.count;
    int64_t middle = at.low + at.width / 2;
    return (double)(middle < hist->min ? hist->min : middle > hist->max ? hist->max : middle);
}

uint64_t hist_count_upto(const struct hist *hist, int64_t value)
{
    if (!hist->count || value < hist->min)
        return 0;
    if (value >= hist->max)
        return hist->count;
    uint64_t upto = 0;
    struct cursor at = { 0 };
    while (next_counter(hist, &at) && at.low <= value)
        upto += at.count;
    return upto;
}

double hist_mean(const struct hist *hist)
{
    return hist->count ? (double)hist->sum / (double)hist->count : NAN;
}

/* With m the integer nearest to the mean: sum((v - m)^2) = squares - m * (2 * sum - n * m), which is exact in integers and never overflows when
 * `squares` did not, since it is at least 0; then variance = sum((v - m)^2) / n - (mean - m)^2. No two large numbers that are nearly equal are
 * subtracted as doubles. */
double hist_stddev(const struct hist *hist)
{
    if (!hist->count || !~hist->squares)
        return NAN;
    unsigned __int128 n = hist->count, m = hist->sum / n, rest = hist->sum % n;
    bool up = rest * 2 >= n;
    m += up;
    unsigned __int128 deviations = hist->squares - m * (hist->sum + rest - (up ? n : 0));
    double part = (double)(up ? n - rest : rest) / (double)n;
    return sqrt((double)deviations / (double)n - part * part);
}

void hist_each(const struct hist *hist, void (*visit)(void *context, int64_t low, int64_t high, uint64_t count), void *context)
{
    struct cursor at = { 0 };
    while (next_counter(hist, &at))
        visit(context, at.low, at.low + at.width - 1, at.count);
}

void hist_clear(struct hist *hist)
{
    for (unsigned page = 0; page < HIST_PAGES; page++)
        if (hist->pages[page])
            memset(hist->pages[page], 0, page_length(page) * sizeof *hist->pages[page]);
    hist->count = 0;
    hist->min = INT64_MAX;
    hist->max = -1;
    hist->sum = hist->squares = 0;
}

void hist_free(struct hist *hist)
{
    for (unsigned page = 0; page < HIST_PAGES; page++)
        free(hist->pages[page]);
    *hist = (struct hist){ 0 };
}
