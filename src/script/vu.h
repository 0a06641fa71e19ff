/* A user: its identity, its iteration, its own strand and its tasks.
 *
 * Life: vu_new, then for each iteration (and each on_start and on_stop) vu_begin, and vu_resume of its strands as they become ready until the outcome is not VU_WAITS;
 * vu_free. One coroutine serves all iterations; it is replaced when an error has killed it. */
#ifndef LUABENCH_SCRIPT_VU_H
#define LUABENCH_SCRIPT_VU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/rng.h"
#include "script/strand.h"
#include "script/vm.h"

enum vu_outcome {
    VU_WAITS,     /* for I/O or time: it will be in the ready queue again */
    VU_COMPLETED, /* the function returned */
    VU_FAILED,    /* it ended by fail(), must() or a Lua error, or a task of its did: counted in the metrics already */
    VU_LEAVES,    /* it called stop_user() */
    VU_STOPS_RUN, /* it called stop_run(): vm->stop_text */
};

/* Which function of the scenario it is in. */
enum phase { PHASE_NONE, PHASE_RUN, PHASE_START, PHASE_STOP, PHASE_SETUP, PHASE_TEARDOWN };

struct vu {
    struct strand main;
    struct link all;    /* for the owner: all users of a scenario */
    struct link *tasks; /* a list, by task->all; NULL: there has been none yet */
    struct vm *vm;
    struct vm_scenario *scenario;
    struct vu **handle; /* in the Lua object `user`, which may outlive this struct: cleared by vu_free */
    struct client *client;

    uint64_t id;        /* from 1, over all workers; 0: setup and teardown */
    uint64_t iteration; /* of this user, from 1 */
    uint64_t sequence;  /* over all users of the scenario, from 1 */
    int64_t due;        /* ns: when the iteration was due */
    int64_t began;      /* ns: when it really began; 0: not yet */
    int64_t next_due;   /* ns: set by pace(); 0 without */
    int64_t goes_on;    /* ns: for the owner: it is now, and what vu_begin begins goes on before all others that are ready; 0: after them */
    int64_t intended;   /* ns: open model, when the first request of the iteration is due; 0: it has been sent, or the model is closed */

    struct user_random *random; /* of vu_random; NULL until something is drawn */
    unsigned connect_failures;   /* in a row */
    unsigned iteration_failures; /* in a row; for the owner */
    int64_t connect_after;       /* ns: no new request before, after connects that failed */
    int anchored_state;          /* reference of the table of vu_push_state; 0: none */
    uint8_t phase;               /* enum phase */
    bool waited;                 /* something was waited for in this iteration */
    bool welcome;                /* on_start is behind it, or there is none */
    bool leaving;                /* for the owner: no further iteration */
    int64_t late;                /* ns: by how much luabench came late to what was due, a wait for a free user left out; LATE_UNKNOWN: it has not come to it yet */
    bool slip_known;             /* for the owner: how late the worker came to the iteration's arrival is recorded */
    unsigned aside;              /* for the owner: iterations of the warm-up */
};

enum { LATE_UNKNOWN = -1 };

struct vu *vu_new(struct vm *vm, size_t scenario, uint64_t id);
/* Nothing of it may be running. */
void vu_free(struct vu *vu);
/* Whether its scenario has a function for the phase. */
bool vu_has(const struct vu *vu, enum phase phase);
/* Begins an iteration, due at `due`, or another phase of the user: it becomes ready. */
void vu_begin(struct vu *vu, enum phase phase, int64_t due);
/* Runs a strand of the user until it waits or ends. An outcome but VU_WAITS is that of the phase, which is over, tasks included. */
enum vu_outcome vu_resume(struct strand *strand);
/* Ends what runs as if it had returned: VU_COMPLETED, or VU_FAILED for the sake of a task. */
enum vu_outcome vu_complete(struct vu *vu);
/* Ends what runs: what it waits for is cancelled, and requests are counted as interrupted. */
void vu_interrupt(struct vu *vu);
/* The part of vu_interrupt that touches no Lua state. For a state whose thread is parked for good. */
void vu_abandon(struct vu *vu);
/* Puts the user to sleep between iterations: it is in the ready queue again at `until` (ns). */
void vu_rest(struct vu *vu, int64_t until);
/* A new visitor takes its place: no tasks, no state, empty vars; on_start is before it. */
void vu_replace(struct vu *vu);

/* The time by which it is in the figures or left out of them what the user does at `at` (ns). */
static inline int64_t vu_dated(const struct vu *vu, int64_t at)
{
    return vu->scenario->metrics->by_iterations ? vu->due : at;
}

/* True when the user's checks and the like are those of a warm-up. */
static inline bool vu_is_warming(const struct vu *vu)
{
    const struct scenario_metrics *metrics = vu->scenario->metrics;
    return metrics->by_iterations ? metrics->aside == &metrics->warm_up && scenario_is_aside(metrics, vu->due) : vu->scenario->warming;
}

/* For the functions of api_*.c. */

/* Pushes the table in which Lua keeps what is the user's own (cookies, headers); without one nil, or with `make` a new one. */
void vu_push_state(struct vu *vu, struct lua_State *L, bool make);
/* Counts the error that has killed one of its strands (the error object on top of its stack). */
void vu_count_error(struct strand *strand);
/* The user's random numbers (script/api_random.c). */
struct rng *vu_random(struct vu *vu);
/* The running user or NULL. */
struct vu *vu_running(struct lua_State *L);

#endif
