#include "metrics/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_WIDTH_MS = 10, LEAST_CAPACITY = 16 };

static const int64_t ns_per_ms = 1000000;

/* The counters */

static unsigned page_length(unsigned page)
{
    return 1U << (page ? TIMELINE_PAGE_BITS : TIMELINE_FIRST_BITS);
}

static unsigned page_of(uint64_t value)
{
    unsigned highest_bit = 63 ^ (unsigned)__builtin_clzll(value | ((UINT64_C(1) << TIMELINE_FIRST_BITS) - 1));
    return highest_bit - (TIMELINE_FIRST_BITS - 1);
}

static uint32_t counter(const struct slot *slot, unsigned page, unsigned index)
{
    switch (slot->widths[page]) {
    case TIMELINE_BYTE: return ((const uint8_t *)slot->pages[page])[index];
    case TIMELINE_SHORT: return ((const uint16_t *)slot->pages[page])[index];
    default: return ((const uint32_t *)slot->pages[page])[index];
    }
}

static void set_counter(void *counters, unsigned width, unsigned index, uint32_t value)
{
    switch (width) {
    case TIMELINE_BYTE: ((uint8_t *)counters)[index] = (uint8_t)value; break;
    case TIMELINE_SHORT: ((uint16_t *)counters)[index] = (uint16_t)value; break;
    default: ((uint32_t *)counters)[index] = value;
    }
}

static unsigned width_for(uint32_t value)
{
    return value <= UINT8_MAX ? TIMELINE_BYTE : value <= UINT16_MAX ? TIMELINE_SHORT : TIMELINE_WORD;
}

static void change_width(struct slot *slot, unsigned page, unsigned width)
{
    void *wider = mem_array(page_length(page), (size_t)1 << width);
    for (unsigned i = 0; slot->pages[page] && i < page_length(page); i++)
        set_counter(wider, width, i, counter(slot, page, i));
    free(slot->pages[page]);
    slot->pages[page] = wider;
    slot->widths[page] = (uint8_t)width;
}

static void add(struct slot *slot, unsigned page, unsigned index, uint32_t more)
{
    uint32_t value = more + (slot->pages[page] ? counter(slot, page, index) : 0);
    unsigned width = width_for(value);
    if (!slot->pages[page] || width > slot->widths[page])
        change_width(slot, page, width);
    set_counter(slot->pages[page], slot->widths[page], index, value);
}

static void count(struct slot *slot, int64_t latency)
{
    uint64_t highest = (UINT64_C(1) << (TIMELINE_FIRST_BITS + TIMELINE_PAGES - 1)) - 1;
    uint64_t value = latency < 0 ? 0 : (uint64_t)latency < highest ? (uint64_t)latency : highest;
    unsigned page = page_of(value);
    add(slot, page, (unsigned)(page ? (value >> page) - page_length(page) : value), 1);
    slot->responses++;
}

static void copy_page(struct slot *into, const struct slot *from, unsigned page)
{
    size_t size = (size_t)1 << from->widths[page];
    into->pages[page] = mem_array(page_length(page), size);
    into->widths[page] = from->widths[page];
    memcpy(into->pages[page], from->pages[page], page_length(page) * size);
}

static void add_page(struct slot *into, const struct slot *from, unsigned page)
{
    for (unsigned i = 0; i < page_length(page); i++) {
        uint32_t more = counter(from, page, i);
        if (more)
            add(into, page, i, more);
    }
}

static void add_slot(struct slot *into, const struct slot *from)
{
    into->due += from->due;
    into->ended += from->ended;
    into->responses += from->responses;
    for (unsigned page = 0; page < TIMELINE_PAGES; page++) {
        if (from->pages[page] && into->pages[page])
            add_page(into, from, page);
        else if (from->pages[page])
            copy_page(into, from, page);
    }
}

static void free_slot(struct slot *slot)
{
    for (unsigned page = 0; page < TIMELINE_PAGES; page++)
        free(slot->pages[page]);
    *slot = (struct slot){ 0 };
}

/* The slots */

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        free_slot(&timeline->slots[i]);
    free(timeline->slots);
    *timeline = (struct timeline){ 0 };
}

void timeline_begin(struct timeline *timeline, int64_t start, int64_t length)
{
    timeline_free(timeline);
    *timeline = (struct timeline){ .begun = true, .start = start, .width = FIRST_WIDTH_MS * ns_per_ms };
    while (length / timeline->width >= TIMELINE_SLOTS)
        timeline->width *= 2;
}

/* Twice as wide, and half as many. */
static void widen(struct timeline *timeline)
{
    size_t half = (timeline->count + 1) / 2;
    for (size_t i = 0; i < timeline->count; i++) {
        struct slot taken = timeline->slots[i];
        timeline->slots[i] = (struct slot){ 0 };
        if (i % 2) {
            add_slot(&timeline->slots[i / 2], &taken);
            free_slot(&taken);
        } else {
            timeline->slots[i / 2] = taken;
        }
    }
    timeline->count = half;
    timeline->width *= 2;
    timeline->from = timeline->to = 0;
}

static void make_room(struct timeline *timeline, size_t count)
{
    size_t capacity = timeline->capacity ? timeline->capacity : LEAST_CAPACITY;
    while (capacity < count)
        capacity *= 2;
    if (capacity > timeline->capacity) {
        timeline->slots = mem_resize(timeline->slots, capacity * sizeof *timeline->slots);
        timeline->capacity = capacity;
    }
    while (timeline->count < count)
        timeline->slots[timeline->count++] = (struct slot){ 0 };
}

/* The slot of `at`, another one than before; NULL when that is before the first. */
static struct slot *other_slot(struct timeline *timeline, int64_t at)
{
    if (!timeline->begun || at < timeline->start)
        return NULL;
    while ((at - timeline->start) / timeline->width >= TIMELINE_SLOTS)
        widen(timeline);
    timeline->last = (size_t)((at - timeline->start) / timeline->width);
    make_room(timeline, timeline->last + 1);
    timeline->from = timeline->start + (int64_t)timeline->last * timeline->width;
    timeline->to = timeline->from + timeline->width;
    return &timeline->slots[timeline->last];
}

/* The slot of `at`; NULL when that is before the first. */
static inline struct slot *slot_at(struct timeline *timeline, int64_t at)
{
    if (at >= timeline->from && at < timeline->to)
        return &timeline->slots[timeline->last];
    return other_slot(timeline, at);
}

void timeline_due(struct timeline *timeline, int64_t at)
{
    struct slot *slot = slot_at(timeline, at);
    if (slot)
        slot->due++;
}

void timeline_ended(struct timeline *timeline, int64_t at)
{
    struct slot *slot = slot_at(timeline, at);
    if (slot)
        slot->ended++;
}

void timeline_response(struct timeline *timeline, int64_t at, int64_t latency)
{
    struct slot *slot = slot_at(timeline, at);
    if (slot)
        count(slot, latency);
}

bool timeline_merge(struct timeline *into, const struct timeline *from)
{
    if (!from->begun)
        return true;
    if (!into->begun)
        timeline_begin(into, from->start, 0);
    if (into->start != from->start)
        return false;
    while (into->width < from->width)
        widen(into);
    size_t each = (size_t)(into->width / from->width);
    make_room(into, (from->count + each - 1) / each);
    for (size_t i = 0; i < from->count; i++)
        add_slot(&into->slots[i / each], &from->slots[i]);
    return true;
}

/* Reading */

static size_t end_of(const struct timeline *timeline, size_t first, size_t count)
{
    return first >= timeline->count ? first : count < timeline->count - first ? first + count : timeline->count;
}

uint64_t timeline_responses(const struct timeline *timeline, size_t first, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = first, end = end_of(timeline, first, count); i < end; i++)
        sum += timeline->slots[i].responses;
    return sum;
}

/* What lies in a page at or below `latency`, which is in it or above. */
static double page_upto(const struct slot *slot, unsigned page, double latency)
{
    double sum = 0, width = (double)(UINT64_C(1) << page);
    for (unsigned i = 0; i < page_length(page); i++) {
        double low = page ? (double)(i + page_length(page)) * width : i;
        if (low > latency)
            break;
        double part = (latency - low + 1) / width;
        sum += counter(slot, page, i) * (part < 1 ? part : 1);
    }
    return sum;
}

double timeline_upto(const struct timeline *timeline, size_t first, size_t count, double latency)
{
    double sum = 0;
    for (size_t i = first, end = end_of(timeline, first, count); i < end; i++)
        for (unsigned page = 0; page < TIMELINE_PAGES; page++)
            if (timeline->slots[i].pages[page])
                sum += page_upto(&timeline->slots[i], page, latency);
    return sum;
}

/* How many there are in the counter of all the slots together. */
static uint64_t in_counter(const struct timeline *timeline, size_t first, size_t end, unsigned page, unsigned index)
{
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        if (timeline->slots[i].pages[page])
            sum += counter(&timeline->slots[i], page, index);
    return sum;
}

double timeline_quantile(const struct timeline *timeline, size_t first, size_t count, double quantile)
{
    double rank = quantile * (double)timeline_responses(timeline, first, count), upto = 0;
    size_t end = end_of(timeline, first, count);
    double found = NAN;
    for (unsigned page = 0; page < TIMELINE_PAGES; page++)
        for (unsigned i = 0; i < page_length(page); i++) {
            uint64_t here = in_counter(timeline, first, end, page, i);
            if (!here)
                continue;
            double low = page ? (double)(uint64_t)(i + page_length(page)) * (double)(UINT64_C(1) << page) : i;
            found = low + (double)(UINT64_C(1) << page) * (rank > upto ? (rank - upto) / (double)here : 0);
            upto += (double)here;
            if (upto >= rank)
                return found;
        }
    return found;
}
