/* The self-check: was luabench the bottleneck? Each worker keeps a gauge of its loop; the runner samples what the kernel says of the threads and of the machine, finds out why
 * a loop stood still, and which line of a script computed for long. It costs a worker nothing but two looks at the clock a poll.
 *
 * Sources: /proc/self/task/TID/schedstat (CPU time, and time runnable but not running), /proc/stat (steal), /proc/net/snmp (retransmissions). */
#ifndef LUABENCH_RUN_HEALTH_H
#define LUABENCH_RUN_HEALTH_H

#include <stdatomic.h>
#include <sys/types.h>

#include "metrics/health.h"
#include "net/loop.h"

/* A worker's; written by its thread. */
struct gauge {
    struct hist away;
    struct stall stalls[HEALTH_STALLS]; /* a ring, out of which the runner takes them */
    _Atomic size_t added, taken;        /* ever */
    uint64_t more;                      /* for which there was no room */
};

/* The worker has polled. */
void gauge_polled(struct gauge *gauge, const struct loop *loop);
void gauge_free(struct gauge *gauge);

/* The time of a thread as the kernel knows it, ns. */
struct sample {
    int64_t at, used, waited;
};

enum { HEALTH_SAMPLES = 32, HEALTH_GAPS = 8 };

/* What the runner knows of a worker's thread. */
struct thread_health {
    struct gauge *gauge;
    int file;                /* its schedstat; -1: none */
    struct sample samples[HEALTH_SAMPLES]; /* a ring */
    size_t sample_count;     /* ever taken */
    struct sample first, second; /* at the start of the load, and of the present second */
    struct stall kept[HEALTH_STALLS]; /* the longest, with their causes */
    size_t kept_count;
    uint64_t more;           /* shorter ones */
};

struct machine_sample {
    uint64_t busy, stolen, all; /* ticks of /proc/stat */
    int64_t retransmits;
    bool known;
};

struct health {
    bool active;             /* between health_begin and health_end */
    struct health_figures figures;
    struct thread_health *threads;
    unsigned count;
    int64_t last_tick;       /* ns */
    struct { int64_t from, to; } gaps[HEALTH_GAPS]; /* a ring: when the runner itself did not run */
    size_t gap_count;
    struct machine_sample first;
};

/* The load begins at `start`. `gauges` and `threads` (their ids) of `count` workers. */
void health_begin(struct health *health, int64_t start, struct gauge *const *gauges, const pid_t *threads, unsigned count);
/* To be called often; the runner wanted to be woken `period` ns after the last call at the latest. */
void health_tick(struct health *health, int64_t period);
/* A thread was found in the middle of a long slice of Lua, at `where`. */
void health_place(struct health *health, const char *where);
/* The load has ended, and the workers are at rest: completes health->figures. */
void health_end(struct health *health);
void health_free(struct health *health);

#endif
