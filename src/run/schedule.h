/* Who runs when, as pure functions: no loop, no clock, no state but the count of iterations taken; times are ns after the start of the run. A worker has a share of
 * the users. */
#ifndef LUABENCH_RUN_SCHEDULE_H
#define LUABENCH_RUN_SCHEDULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/share.h"
#include "script/plan.h"

/* Closed model: a user begins, or ends after its iteration. */
struct user_change {
    int64_t at;      /* ns */
    uint64_t number; /* of the user, from 0 */
    bool begins;
};

/* The changes of a share's users in the order of time: of n users that come over D, user i begins at i / n * D; of n that go, the newest goes first and the last
 * one at D. To be read with schedule_next_change. */
struct user_changes {
    const struct scenario_plan *plan;
    struct share share;
    size_t stage;
    int64_t begun;           /* ns: when the stage begins */
    uint64_t from, to;       /* users before it and after its ramp */
    uint64_t next;           /* of its changes, from 0; not only those of the share */
};

void schedule_changes(struct user_changes *changes, const struct scenario_plan *plan, struct share share);
/* False when there are no more. */
bool schedule_next_change(struct user_changes *changes, struct user_change *change);

/* When the warm-up is over; the start when there is none. */
int64_t schedule_warm(const struct scenario_plan *scenario);
/* When the first scenario's warm-up is over: nothing counts before; 0 when none has one. */
int64_t schedule_measured(const struct plan *plan);
/* When no further iteration is started; NS_NEVER without a duration. */
int64_t schedule_end(const struct scenario_plan *scenario);
/* When iterations that still run are interrupted; NS_NEVER without a duration. */
int64_t schedule_deadline(const struct scenario_plan *scenario);
/* The last of these; NS_NEVER when one of them is. */
int64_t schedule_last_deadline(const struct plan *plan);
/* True when at `at`, in a run that began at `start`, the scenario has a warm-up whose end is to be found. */
bool schedule_is_warming(const struct scenario_plan *scenario, int64_t start, int64_t at);
/* How long of the `measured` ns that a scenario took after its warm-up iterations were started: the window of its rates. */
int64_t schedule_window(const struct scenario_plan *scenario, int64_t measured);
/* The same of the whole run. */
int64_t schedule_whole_window(const struct plan *plan, int64_t measured);
/* When the last scenario ends at the latest, graceful stop left out; NS_NEVER when that is not known. */
int64_t schedule_duration(const struct plan *plan);

/* The iterations of a scenario with a total, shared by the users of all workers of the process: whoever is free takes the next one, so that fast and slow threads
 * end together. */
struct claims {
    _Atomic uint64_t taken;
    _Atomic uint64_t numbered; /* with a warm-up: numbers given, those of its iterations included */
    uint64_t total; /* NO_LIMIT: none */
    bool warm_up;   /* there is one */
    struct share share; /* of all processes; `total` is this one's */
};

/* Takes an iteration; its number (from 1, in the whole run) is in *sequence. Those `aside`, of the warm-up, are there without limit. False when all are taken. */
bool schedule_claim(struct claims *claims, bool aside, uint64_t *sequence);

#endif
