/* Thresholds that end a run: once a second the workers' figures are merged and shown to the control state, which says whether one of them has failed. Only when the
 * plan has such thresholds; then the workers publish copies of all their figures. */
#ifndef LUABENCH_RUN_JUDGE_H
#define LUABENCH_RUN_JUDGE_H

#include "run/worker.h"

struct judge {
    struct vm *control;
    const struct plan *plan;
    struct worker *workers;
    unsigned worker_count;
    int64_t start; /* ns: of the schedule */
    int64_t next;  /* ns: when to look again */
};

/* True when the run is to end now; the control state has said why. To be called often. */
bool judge_tick(struct judge *judge);

#endif
