/* What a run has brought, and how it stands while it goes on, on their way into the control state (docs/core.md: `results`, `state`). */
#ifndef LUABENCH_SCRIPT_RESULTS_H
#define LUABENCH_SCRIPT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "metrics/health.h"
#include "metrics/metrics.h"
#include "script/plan.h"

/* One second of the run. */
struct second {
    double time; /* s since the start, at its end */
    uint64_t users, requests, errors;
    struct buf latency; /* of the responses of that second: hist_encode, some 100 bytes instead of pages of 8 KB */
};

struct stuck {
    const char *scenario;
    char where[256]; /* "script.lua:5" or, better, "function 'f' at script.lua:7" */
};

struct results {
    int64_t started_at; /* s since 1970 */
    int64_t duration;   /* ns; warm-ups left out */
    bool server_ended; /* a server that luabench started has ended by itself */
    bool interrupted;   /* by a signal */
    const char *stopped; /* stop_run's text, or NULL */
    const struct stuck *stuck; /* or NULL */
    const char *setup_failed, *setup_failure; /* the scenario whose setup failed, and why; or NULL */
    const char *unbalanced;    /* or NULL */
    const struct metrics *metrics; /* of all workers */
    const struct name_metrics *totals; /* the sum over the names of each scenario, and over all scenarios as one more */
    const struct plan *plan;
    const int64_t *durations;  /* ns, of each scenario, likewise */
    int64_t window;            /* ns: of `duration`, the part in which iterations were started: what rates are over */
    const int64_t *windows;    /* ns, of each scenario, likewise; NULL: the same as the durations */
    const struct health_figures *health; /* NULL: there was no load */
    const struct second *series;
    size_t series_count;
    unsigned threads;
    int64_t cpu; /* ns of CPU time of the workers' threads during the run */
    const struct hist *lag;
    const struct journal_outcome *journals; /* the files with a line a request */
    size_t journal_count;
    const char *const *notices; /* warnings of the core */
    size_t notice_count;
};

/* The live display. */
struct live_state {
    int64_t elapsed;   /* ns */
    int64_t duration;  /* ns; NS_NEVER: unknown */
    double progress;   /* 0..1; negative: unknown */
    bool warming;      /* nothing counts yet */
    bool stopping;     /* only waiting for running iterations */
    double rate;       /* responses a second, over the last second */
    const struct metrics_totals *totals;
    const struct hist *latency; /* of the last second, or NULL */
};

struct lua_State;
/* Push the tables of docs/core.md. The hist objects in them point into the structs, which must outlive the state. */
void results_push(struct lua_State *L, const struct results *results);
void live_state_push(struct lua_State *L, const struct live_state *state);

#endif
