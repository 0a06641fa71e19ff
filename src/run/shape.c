#include "run/shape.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

/* Of a segment from its start to `time` after it. */
static double area_of(const struct segment *segment, double time)
{
    if (!segment->slope)
        return segment->level ? segment->level * time : 0; /* the time may be infinite */
    return time * (segment->level + segment->slope * time / 2);
}

static void add(struct shape *shape, double from, double to, int64_t ns)
{
    double length = ns == NS_NEVER ? INFINITY : ns_to_seconds(ns);
    struct segment *segment = &shape->segments[shape->count++];
    *segment = (struct segment){ .start = shape->length, .length = length, .level = from, .slope = from == to ? 0 : (to - from) / length, .area = shape->area };
    shape->length += length;
    shape->area += area_of(segment, length);
}

void shape_init(struct shape *shape, const struct stage_plan *stages, size_t count)
{
    double level = 0;
    *shape = (struct shape){ .segments = mem_array(2 * count, sizeof *shape->segments) };
    for (size_t i = 0; i < count; i++) {
        if (stages[i].over)
            add(shape, level, stages[i].level, stages[i].over);
        level = stages[i].level;
        if (stages[i].hold)
            add(shape, level, level, stages[i].hold);
    }
}

void shape_free(struct shape *shape)
{
    free(shape->segments);
    *shape = (struct shape){ 0 };
}

/* The last segment that begins at or before `time`; NULL without one. */
static const struct segment *find(const struct shape *shape, double time)
{
    const struct segment *found = NULL;
    for (size_t i = 0; i < shape->count && shape->segments[i].start <= time; i++)
        found = &shape->segments[i];
    return found;
}

double shape_level(const struct shape *shape, double time)
{
    const struct segment *segment = find(shape, time);
    if (!segment || time > segment->start + segment->length)
        return 0;
    return segment->level + segment->slope * (time - segment->start);
}

double shape_area(const struct shape *shape, double time)
{
    const struct segment *segment = find(shape, time);
    return segment ? segment->area + area_of(segment, fmin(time - segment->start, segment->length)) : 0;
}

/* The time within a segment at which its area is `area` > 0: the root of slope / 2 t^2 + level t = area, in the form that loses no digits. */
static double root(const struct segment *segment, double area)
{
    if (!segment->slope)
        return area / segment->level;
    double square = segment->level * segment->level + 2 * segment->slope * area;
    return 2 * area / (segment->level + sqrt(fmax(square, 0)));
}

double shape_when(const struct shape *shape, double area)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct segment *segment = &shape->segments[i];
        if (area <= segment->area)
            return segment->start;
        if (area <= (i + 1 < shape->count ? segment[1].area : shape->area))
            return segment->start + fmin(root(segment, area - segment->area), segment->length);
    }
    return INFINITY;
}
