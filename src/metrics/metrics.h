/* What one worker has measured: plain counters and histograms, written by its own thread alone. The runner merges the workers'
 * by adding counts. Every counter says what it is a subset of; metrics_balance checks the books.
 *
 * Figures are kept per scenario and per name (of requests). A scenario's totals are the sum over its names. What a warm-up, setup or teardown does is counted aside, and
 * in nothing else. All texts belong to the metrics. */
#ifndef LUABENCH_METRICS_METRICS_H
#define LUABENCH_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/connections.h"
#include "metrics/hist.h"
#include "metrics/names.h"
#include "metrics/own.h"
#include "metrics/slices.h"
#include "metrics/timeline.h"

enum {
    METRICS_NAMES = 500,  /* names a scenario; requests under further ones are kept as "(other)" */
    METRICS_CHECKS = 200, /* check names; further ones are kept as "(other)" */
    METRICS_GROUPS = 200, /* groups a scenario; further ones are kept as "(other)" */
    METRICS_ERRORS = 20,  /* kinds of script errors that are kept */
    METRICS_METHODS = 20, /* methods that are told apart when they are listed */
    METRICS_TEXTS = 10,   /* texts of fail() and must() that are kept */
    METRICS_ERROR_TEXTS = 3, /* texts that are kept of each name of error */
};

struct status_count {
    int status;
    uint64_t count;
};

/* The requests made under one name. started = succeeded + failed + timed_out + interrupted once all have ended. A zeroed one is empty and can be merged into. */
struct name_metrics {
    const char *name;
    struct scenario_metrics *scenario; /* whose it is; NULL: a sum or aside */
    enum err aside;             /* how the last request of the name that was counted aside ended; ERR_NONE: well */
    uint64_t started;
    uint64_t succeeded;         /* a whole response that was accepted */
    uint64_t failed;            /* any error but those of the two below; by name in `errors` */
    uint64_t timed_out;         /* ERR_TIMEOUT and ERR_CONNECT_TIMEOUT; in `errors` too */
    uint64_t interrupted;       /* still running at the end; in `errors` too */
    uint64_t retried;           /* sent again on a new connection; not a request of its own */
    uint64_t redirected;        /* redirects followed; not requests of their own */
    uint64_t in_window;         /* of the scenario's responses: accepted, and complete within its window, whenever they were due; what rates are made of */
    uint64_t responses;         /* whole responses with any status = succeeded + errors[ERR_STATUS] + errors[ERR_UNEXPECTED]; what the histograms count */
    uint64_t bytes_sent;        /* request heads and bodies as written */
    uint64_t bytes_received;    /* response heads and bodies as read */
    uint64_t errors[ERR_COUNT]; /* sum = failed + timed_out + interrupted; [ERR_NONE] stays 0 */
    struct status_count *statuses; /* of whole responses; sum = responses */
    size_t status_count;
    /* ns, one value for each whole response (connect and tls: at most one); docs: "what latency is" */
    struct hist latency;               /* call of http.* to the last byte */
    struct hist latency_from_intended; /* due time to the last byte; open model only, else empty */
    struct hist service;               /* first byte written to last byte read */
    struct hist wait;                  /* first byte written to first byte read */
    struct hist blocked;               /* call to the moment a connection was there or began to be opened for it */
    struct hist connect;               /* TCP connects that a request waited for */
    struct hist tls;                   /* TLS handshakes that a request waited for */
    struct name_metrics *slices;       /* of those of each kind that is kept apart, by its index; parts of the above, but for `started`: those that have ended. NULL: none */
    size_t slice_count;
};

/* The fields of name_metrics that add up, and its histograms; in step with the struct. */
#define NAME_COUNTERS(X) \
    X(started) X(succeeded) X(failed) X(timed_out) X(interrupted) X(retried) X(redirected) X(in_window) X(responses) X(bytes_sent) X(bytes_received)
#define NAME_HISTS(X) X(latency) X(latency_from_intended) X(service) X(wait) X(blocked) X(connect) X(tls)

struct iteration_counts {
    uint64_t scheduled; /* = completed + failed + interrupted + dropped + expired */
    uint64_t completed, failed, interrupted, dropped, expired;
};

struct connection_counts {
    uint64_t opened;         /* connections that were established */
    uint64_t reused;         /* requests sent on a connection that had carried one before */
    uint64_t closed_by_peer; /* closed or reset by the peer, for whatever reason */
    uint64_t unasked;        /* given up because of bytes that answer no request */
    uint64_t open;           /* now */
    uint64_t max_open;       /* most at once; merged by adding, so an upper bound over workers */
};

/* A group() of the script: how long its passes took, sleep and pace left out. */
struct group_metrics {
    const char *name;
    struct hist duration; /* ns, of passes that came to their end */
    uint64_t cut;         /* passes that an error or the end of the run has ended */
};

/* What is sent, but left out of the figures: requests and iterations in a total of their own. */
struct aside_metrics {
    struct name_metrics requests;
    struct iteration_counts iterations; /* as in scenario_metrics; 0 for setup and teardown */
    uint64_t outlasting;                /* of a warm-up's requests: ended after the scenario's window; all through it nobody else could see how long they took */
};

struct scenario_metrics {
    char *name;
    struct name_metrics **names; /* in order of first use; [METRICS_NAMES] is "(other)" when there is one */
    size_t name_count;
    struct names name_index;     /* owns the names */
    struct iteration_counts iterations;
    struct connection_counts connections;
    struct connection_details connection_details; /* filled at the end */
    struct hist iteration_duration; /* ns, one value for each completed iteration; in the open model from when it was due */
    uint64_t users;                 /* running now; in the open model those with an iteration */
    uint64_t users_max;             /* most at once; merged by adding */
    struct group_metrics **groups;  /* in order of first use; [METRICS_GROUPS] is "(other)" when there is one */
    size_t group_count;
    struct names group_index;       /* owns their names */

    bool open;                      /* the model: latency_from_intended is kept */
    bool by_iterations;             /* their number is the end: one is in the figures or aside as a whole, with all that it does */
    struct hist user_wait;          /* ns that arrivals waited for a free user; of those that had to */
    uint64_t backlog_max;           /* most arrivals waiting at once; merged by adding */
    struct timeline timeline;       /* of latency, or latency_from_intended where that is kept; set up by group_start */
    int64_t window_end;             /* ns, clock_ns: when no further iteration is started, and the window of rates ends; NS_NEVER: not known */
    uint64_t completed_in_window;   /* of the iterations that completed */
    struct hist latency_net;        /* ns, of each response: the timeline's latency without what luabench itself may have added */
    struct hist latency_refused;    /* ns, of the responses that were not accepted: the timeline's latency */
    struct hist unfinished;         /* ns, age at the end of what was not finished then: requests that were interrupted, arrivals that had not begun */
    struct hist schedule_slip;      /* ns by which the worker came to an arrival late, a wait for a user left out; one value for each arrival */

    int64_t aside_before;           /* ns, clock_ns: what was due before is counted in *aside */
    struct aside_metrics *aside;    /* warm_up, or the metrics' setup or teardown */
    struct aside_metrics warm_up;
};

/* True when what was due at `due` (ns) is left out of the figures. */
static inline bool scenario_is_aside(const struct scenario_metrics *scenario, int64_t due)
{
    return due < scenario->aside_before;
}

/* Where a request that was due at `due` (ns) is counted. */
static inline struct name_metrics *name_or_aside(struct name_metrics *name, int64_t due)
{
    return scenario_is_aside(name->scenario, due) ? &name->scenario->aside->requests : name;
}

/* Where an iteration that was due at `due` (ns) is counted. */
static inline struct iteration_counts *iterations_or_aside(struct scenario_metrics *scenario, int64_t due)
{
    return scenario_is_aside(scenario, due) ? &scenario->aside->iterations : &scenario->iterations;
}

/* True when what came to its end at `at` (ns) is counted in rates: not before the end of the warm-up, nor after the last iteration was started. It was due at `due`. */
static inline bool is_in_window(const struct scenario_metrics *scenario, int64_t due, int64_t at)
{
    return at >= scenario->aside_before && at < scenario->window_end && !(scenario->by_iterations && scenario_is_aside(scenario, due));
}

struct check_metrics {
    const char *name;
    uint64_t passes, fails;
    char *why; /* the first reason given for a failure, or NULL */
};

/* One kind of Lua error: the same text. Shown once, with its traceback, and counted. */
struct script_error {
    char *scenario;
    char *text, *traceback;
    uint64_t count;
};

struct metrics {
    struct scenario_metrics *scenarios; /* by the index of the scenario in the script */
    size_t scenario_count;
    struct check_metrics **checks; /* in order of first use, each one for every scenario; [METRICS_CHECKS] is "(other)" when there is one */
    size_t check_count;
    struct names check_index;           /* owns their names */
    struct script_error *script_errors; /* at most METRICS_ERRORS kinds; more are counted in script_error_count alone */
    size_t script_error_kinds;
    uint64_t script_error_count; /* Lua errors in iterations, not fail() or must(); at least the sum over the kinds */
    uint64_t failed_on_purpose;  /* iterations ended by fail() or must() */
    struct own_metrics own;      /* those of the script */
    char **failures;             /* the first METRICS_TEXTS different texts given to fail() or must() */
    size_t failure_count;
    struct aside_metrics setup, teardown;
    const struct slices *slices; /* which kinds of requests are kept apart besides, not owned; NULL: none */
    struct names methods;        /* of the requests, when there are slices */
    struct journal *journal;     /* where each request is put besides, not owned; NULL: nowhere */
    char *error_texts[ERR_COUNT][METRICS_ERROR_TEXTS]; /* the first different ones; NULL: none */
};

void metrics_init(struct metrics *metrics, const char *const *scenario_names, size_t scenario_count);
void metrics_free(struct metrics *metrics);

/* The figures kept under `name` in that scenario, made on first use; those of "(other)" after METRICS_NAMES names. The pointer is valid until metrics_free. */
struct name_metrics *metrics_name(struct metrics *metrics, size_t scenario, const char *name, size_t length);
/* The set of slices that a request of that method and group (NULL: none) may be of. There are some. */
uint64_t metrics_slices(struct metrics *metrics, const char *method, const char *group);
/* The figures of the name's requests of that slice, made on first use. */
struct name_metrics *metrics_slice(const struct metrics *metrics, struct name_metrics *name, size_t slice);
/* Counts a whole response's status. */
void metrics_status(struct name_metrics *name, int status);
/* The counters of `name`, one for each scenario by its index, made on first use; those of "(other)" after METRICS_CHECKS. Valid until metrics_free. */
struct check_metrics *metrics_check(struct metrics *metrics, const char *name, size_t length);
/* The group of that name in that scenario, made on first use; that of "(other)" after METRICS_GROUPS. Valid until metrics_free. */
struct group_metrics *metrics_group(struct metrics *metrics, size_t scenario, const char *name, size_t length);
/* Counts a Lua error of an iteration; true when it is the first of its kind (then it should be shown). */
bool metrics_script_error(struct metrics *metrics, size_t scenario, const char *text, const char *traceback);
/* Counts an iteration ended by fail() or must(), and keeps the first texts; NULL: without one. */
void metrics_failure(struct metrics *metrics, const char *text);

/* Keeps what a request's error says in words, when it is one of the first different ones of its name. */
void metrics_error_text(struct metrics *metrics, enum err error, const char *text);

/* Adds everything in `from` to `into`; both have the same scenarios. */
void metrics_merge(struct metrics *into, const struct metrics *from);
/* Adds the timelines, which metrics_merge leaves out. */
void metrics_merge_timelines(struct metrics *into, const struct metrics *from);
/* Adds the counters and histograms of one name to another (to a zeroed one for a total, which is then released with name_metrics_free). */
void name_metrics_merge(struct name_metrics *into, const struct name_metrics *from);
/* Adds the names of each scenario to totals[its index], and those to totals[scenario_count]; all zeroed, to be released with name_metrics_free. */
void metrics_add_up(const struct metrics *metrics, struct name_metrics *totals);
/* Releases histograms and statuses; not the struct itself. */
void name_metrics_free(struct name_metrics *name);
/* True when the books balance at the end of a run: every equation above. Otherwise `why` says in words which one is off first, where, and its figures. */
bool metrics_balance(const struct metrics *metrics, char *why, size_t size);

/* A worker's cheap totals for the live display and the series of seconds: copied by the worker at its own safe point, read by the runner. */
struct metrics_totals {
    uint64_t users, started, succeeded, failed, timed_out, interrupted, responses, dropped;
    uint64_t iterations; /* that ran and ended: completed, failed, interrupted */
    uint64_t errors[ERR_COUNT];
    uint64_t bytes_sent, bytes_received;
    struct hist latency; /* cumulative, over all scenarios: latency, or latency_from_intended where that is kept */
};
/* Its fields that are sums over names, as they are called there, and over scenarios; in step with the struct. */
#define TOTALS_OF_NAMES(X) X(started) X(succeeded) X(failed) X(timed_out) X(interrupted) X(responses) X(bytes_sent) X(bytes_received)
#define TOTALS_OF_SCENARIOS(X) X(users) X(iterations) X(dropped)

/* Overwrites `totals` (zeroed at first) with the sums over all scenarios and names; its pages are reused. Reads every page of every latency: about 5 us a name. */
void metrics_total(const struct metrics *metrics, struct metrics_totals *totals);
/* The same of the warm-ups. */
void metrics_total_warm_up(const struct metrics *metrics, struct metrics_totals *totals);
/* Adds `from` to `into` (of several workers). */
void metrics_totals_merge(struct metrics_totals *into, const struct metrics_totals *from);
void metrics_totals_free(struct metrics_totals *totals);

#endif
