/* What a run has learnt about luabench itself: whether the figures are the server's or its own. Filled by run/health.c, judged in Lua (luabench.health). */
#ifndef LUABENCH_METRICS_HEALTH_H
#define LUABENCH_METRICS_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/hist.h"

enum {
    HEALTH_STALLS = 64, /* of a thread that are kept, the longest; the others are counted */
    HEALTH_PLACES = 8,  /* places in scripts */
    HEALTH_WHERE = 256,
};

/* Why a thread did not look at its sockets and timers for a while. */
enum stall_cause {
    STALL_COMPUTING, /* it was busy itself: a long Lua function, or collecting garbage */
    STALL_WAITING,   /* it could run, and the core ran something else */
    STALL_STOPPED,   /* the whole process stood still: SIGSTOP, a suspended machine */
    STALL_STOLEN,    /* the hypervisor gave the processor to another machine */
    STALL_UNKNOWN,
};

struct stall {
    int64_t at, length; /* ns; at: clock_ns */
    bool asleep;        /* it was to wake up and did not, rather than having something to do */
    enum stall_cause cause;
    unsigned worker;
};

/* Where a script has computed for long. */
struct slow_place {
    char where[HEALTH_WHERE];
    uint64_t seen;
};

struct health_figures {
    int64_t start;            /* ns: of the load */
    struct hist away;         /* ns between two polls of a worker's loop */
    struct stall *stalls;     /* of all threads, by thread; owned */
    size_t stall_count;
    uint64_t more_stalls;     /* that were not kept */
    struct slow_place places[HEALTH_PLACES]; /* in order of first sight; more are not kept */
    size_t place_count;
    unsigned seconds;         /* of the run that were looked at, of each thread: thread-seconds */
    unsigned busy_seconds, full_seconds; /* of these, with more than 70% and 90% of a core used */
    double busiest;           /* share of a core, the highest of them */
    double waited;            /* share of its time for which a thread that could run did not; that of the worst thread. Negative: not known */
    double stolen;            /* share of the machine's time; negative: not known */
    double machine;           /* share of the machine's processors in use; negative: not known */
    int64_t retransmits;      /* TCP segments that this machine sent again; negative: not known */
    char clocksource[40];     /* of the kernel; "": not known */
};

#endif
