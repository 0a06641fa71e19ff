/* warm_up = "auto": while the run goes on, the medians of the latency so far are shown to the control state, which says when the warm-up is over
 * (lua/luabench/steady.lua). Used by the runner's thread alone. */
#ifndef LUABENCH_RUN_WARM_H
#define LUABENCH_RUN_WARM_H

#include "run/worker.h"

struct warm {
    struct vm *control;
    const struct plan *plan;
    struct worker *workers;
    unsigned worker_count;
    int64_t start;      /* ns: of the load */
    int64_t next;       /* ns: when the next bin ends; NS_NEVER: there is nothing to find */
    int64_t deadline;   /* ns: when warm-ups end anyway */
    struct hist before; /* all latencies up to the last bin */
    double *medians;    /* s, of the bins; owned */
    size_t count, capacity;
};

void warm_begin(struct warm *warm, struct vm *control, const struct plan *plan, struct worker *workers, unsigned worker_count, int64_t start);
/* To be called often; true once, when the warm-up is over. */
bool warm_tick(struct warm *warm);
/* After a run whose warm-ups ended at `measured` (ns): how long they were is put into its plan. */
void warm_settle(const struct plan *plan, int64_t start, int64_t measured);
void warm_free(struct warm *warm);

#endif
