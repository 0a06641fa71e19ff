/* The figures so far: once a second those of the workers are merged, and shown to the control state: to thresholds, which may end the run, and to whoever scrapes them. Only
 * when the plan has such thresholds, or an exporter; then the workers publish copies of all their figures. */
#ifndef LUABENCH_RUN_JUDGE_H
#define LUABENCH_RUN_JUDGE_H

#include "run/worker.h"

struct judge {
    struct vm *control;
    const struct plan *plan;
    struct worker *workers;
    unsigned worker_count;
    struct exporter *exporter; /* gets the figures, too; NULL: there is none */
    int64_t start; /* ns: of the schedule */
    int64_t next;  /* ns: when to look again */
};

/* True when the run is to end now; the control state has said why. To be called often. */
bool judge_tick(struct judge *judge);

#endif
