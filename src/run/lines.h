/* Lines that scripts write, from the workers to the runner's terminal: bounded, and what is too much is counted. */
#ifndef LUABENCH_RUN_LINES_H
#define LUABENCH_RUN_LINES_H

#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"

enum { LINES_A_SECOND = 20, LINES_ONCE = 20 };

struct lines {
    pthread_mutex_t lock;
    struct buf waiting; /* each ended by NUL */
    int64_t second;     /* the second that `count` counts in */
    unsigned count;
    uint64_t dropped;   /* lines not kept since the last lines_take */
    char *once[LINES_ONCE]; /* what lines_add_once has kept */
    size_t once_count;
};

void lines_init(struct lines *lines);
void lines_free(struct lines *lines);
/* Keeps a line unless the second has had its share; any thread. */
void lines_add(struct lines *lines, const char *text, size_t length);
/* The same for a line that should be shown only the first time (the first LINES_ONCE different ones). */
void lines_add_once(struct lines *lines, const char *text, size_t length);
/* Moves what waits to `out` (lines ended by NUL); returns how many were dropped since the last call. */
uint64_t lines_take(struct lines *lines, struct buf *out);

#endif
