/* A level over time, piecewise linear: users or iterations a second, as the stages of a scenario give them. Pure functions; times are seconds after the scenario's
 * start, and areas level times seconds: the number of iterations that a rate has made due. */
#ifndef LUABENCH_RUN_SHAPE_H
#define LUABENCH_RUN_SHAPE_H

#include <stddef.h>

#include "script/plan.h"

struct segment {
    double start, length; /* s; the last length may be infinite */
    double level, slope;  /* at its start; a second */
    double area;          /* before it */
};

struct shape {
    struct segment *segments;
    size_t count;
    double length, area; /* of all; may be infinite */
};

/* The shape of the stages: from where it is, 0 at first, linearly to a stage's level over `over`, then level for `hold`. */
void shape_init(struct shape *shape, const struct stage_plan *stages, size_t count);
void shape_free(struct shape *shape);
/* The level at `time`; 0 after the end. */
double shape_level(const struct shape *shape, double time);
/* The area up to `time`. */
double shape_area(const struct shape *shape, double time);
/* When the area is first `area`; infinite when it never is. */
double shape_when(const struct shape *shape, double area);

#endif
