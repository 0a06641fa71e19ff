/* What the command line and the script ask for, as plain C data: the part of the plan (docs/core.md) that the core acts upon. Options are parsed and checked
 * in Lua, where scripts and the command line share one description of every key; here they are only read. */
#ifndef LUABENCH_SCRIPT_PLAN_H
#define LUABENCH_SCRIPT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/share.h"
#include "metrics/metrics.h"
#include "script/plan_http.h"
#include "script/plan_journal.h"
#include "script/plan_serve.h"

#define NO_LIMIT UINT64_MAX

/* From where it is, 0 at first, linearly to the level over `over`, then level for `hold`. Without `over` it jumps. */
struct stage_plan {
    double level;       /* users, or iterations a second */
    int64_t over, hold; /* ns; the last hold may be NS_NEVER */
};

enum model { MODEL_CLOSED, MODEL_OPEN };
enum arrivals_kind { ARRIVALS_CONSTANT, ARRIVALS_POISSON, ARRIVALS_POISSON_EXACT };
enum overflow { OVERFLOW_QUEUE, OVERFLOW_DROP };

struct scenario_plan {
    char *name;
    char *where; /* "script.lua:12" */
    enum model model;
    unsigned users;               /* most at a time; open: max_users */
    int64_t duration;             /* ns, of all stages; NS_NEVER: none */
    uint64_t iterations;          /* in total, beside those of the warm-up; NO_LIMIT: none */
    uint64_t iterations_per_user; /* likewise */
    struct stage_plan *stages;    /* at least one: constant users and rates are stages, too */
    size_t stage_count;
    bool staged;                  /* the script gave stages: the number of users may go down */
    int64_t start_after, warm_up, graceful_stop; /* ns; the warm-up is the first part of the duration */
    bool warm_up_auto; /* the warm-up may end earlier, when the latency is steady; after the run `warm_up` is what it was */
    bool fresh;                   /* each iteration is a new visitor */
    enum arrivals_kind arrivals;  /* open, as the two below */
    unsigned min_users;           /* 0: one a worker */
    enum overflow overflow;
    struct http_plan http;
};

enum progress { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_BLOCK };

struct plan {
    unsigned threads;       /* 0: as many as sensible */
    struct share share;     /* of a load that several machines carry: --share */
    uint64_t seed;          /* of everything random */
    bool watched;           /* some thresholds may end the run: the workers publish all their figures */
    uint64_t script_memory; /* bytes a worker's Lua state may use; 0: no limit */
    int64_t script_timeout; /* ns */
    int64_t interval;       /* ns between progress lines */
    enum progress progress;
    char *slot;             /* which of several runs of one command line this is, in Lua's words, for the workers' states; "": it is the only one */
    struct journal_plan journal;
    bool exported;          /* figures are served while the run goes on (--prometheus): the workers publish all of them */
    char *export_host;      /* where; "": on any address */
    int export_port;        /* 0: any free one */
    struct slices slices;   /* kinds of requests that are kept apart for thresholds */
    struct scenario_plan *scenarios;
    size_t scenario_count;
};

enum action { ACTION_EXIT, ACTION_SERVE, ACTION_RUN };

/* What the command line asks for. */
struct command {
    enum action action;
    int status; /* ACTION_EXIT: the exit status */
    struct serve_plan serve; /* ACTION_SERVE */
    struct plan plan;        /* ACTION_RUN */
};

struct lua_State;

/* Reads the command table on top of the stack. NULL, or which field is wrong (a bug in lua/, not a user's mistake). */
const char *command_read(struct lua_State *L, struct command *command);
void command_free(struct command *command);
/* An empty struct for the figures of the plan's scenarios, to be released with metrics_free. */
void plan_metrics_init(const struct plan *plan, struct metrics *metrics);
/* Loads the certificates of scenarios whose target is https, which takes a while, so that their first request need not wait for it. NULL, or why that failed. */
const char *plan_load_tls(const struct plan *plan);

#endif
