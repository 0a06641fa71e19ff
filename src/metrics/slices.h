/* Kinds of requests that are kept apart besides: those that a threshold narrows by status, method, group or error. They are known before the run, and without any
 * nothing is kept. Read by all workers; the texts belong to the slices. */
#ifndef LUABENCH_METRICS_SLICES_H
#define LUABENCH_METRICS_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SLICES_MOST = 64 }; /* bits of a set of them */

/* A request is of the kind when all of these fit. */
struct slice {
    char *method;      /* of its first request; NULL: any */
    char *group;       /* the group it was made in, or one around that; NULL: any or none */
    int first, last;   /* the status of its whole response is one of these; 0, 0: any, or no response */
    enum err error;    /* what it counts as; ERR_NONE: anything */
};

struct slices {
    struct slice *list;
    size_t count; /* at most SLICES_MOST */
};

void slices_free(struct slices *slices);
/* The set of those that a request of that method and group (NULL: none) may be of, a bit for each by its index. */
uint64_t slices_of(const struct slices *slices, const char *method, const char *group);
/* Whether one that may be of the slice is, having ended with that status (0: no whole response) and verdict. */
bool slice_has(const struct slice *slice, int status, enum err verdict);

#endif
