/* A Lua state and what the core keeps beside it. The only lua_newstate, and the only place where C calls Lua outside of a user's coroutine: every
 * such call is protected and has a traceback.
 *
 * A control state knows the command line and makes the reports; a worker state runs users (docs/core.md). Users are driven by the worker:
 * vm_reap and timers put them into the ready queue, vm_next hands them out, vu_resume runs one slice. Nothing here calls upwards. */
#ifndef LUABENCH_SCRIPT_VM_H
#define LUABENCH_SCRIPT_VM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/rng.h"
#include "http/pool.h"
#include "metrics/metrics.h"
#include "net/loop.h"
#include "script/memory.h"
#include "script/plan.h"

struct decoder;
struct lua_State;
struct strand;
struct results;
struct live_state;

enum vm_role { VM_CONTROL, VM_WORKER };

enum { VM_CHECKS = 64 };

/* A line of a script's on its way to the terminal; `once`: to be shown only the first time, over all workers. */
typedef void vm_log(void *context, const char *text, size_t length, bool once);

/* What the users of one scenario have in common on one worker. */
struct vm_scenario {
    size_t index;
    const struct scenario_plan *plan;
    struct client_options client_options;
    struct client *client; /* whose connections all its users share; NULL: not made yet, or each has its own */
    struct pool_counts connections;
    struct scenario_metrics *metrics;
    int run, on_start, on_stop, setup, teardown; /* references of the functions; LUA_NOREF: there is none */
    bool warming;                 /* in the warm-up: checks are not counted */
    int shared;                   /* reference of what setup returned, LUA_REFNIL without */
    struct buf shared_as_it_was;  /* for vm_shared_changed */
};

struct vm {
    struct lua_State *L;
    enum vm_role role;
    const char *slot; /* worker state: of the plan, see there; NULL: "" */
    int command; /* reference of the table that luabench.main's `command` returned */
    struct memory memory;
    bool counted;            /* its memory is counted, so that it can have a limit */
    struct rng random; /* for what a script draws while it is loaded */
    struct buf text;   /* where texts are put together (script/api_raw.c) */

    /* control state only, from vm_prepare on */
    struct vm **threads;   /* the workers' states */
    unsigned thread_count;

    /* worker states only, from vm_attach on */
    struct loop *loop;
    struct pool *pool;
    struct metrics *metrics;
    struct {
        const char *name; /* of a Lua string that is anchored for good: its address stands for the text */
        struct check_metrics *counter; /* of the first scenario; the others follow */
    } checks[VM_CHECKS];     /* the counters used last, by address of the name */
    struct vm_scenario *scenarios;
    size_t scenario_count;
    struct share share;      /* of the run that this process has, for rows of files */
    uint64_t seed;           /* of the run: names the random numbers of its users */
    struct decoder *decoder; /* of bodies; NULL until needed */
    struct link calls;       /* calls of http.* that hold an answer back (script/api_call.c) */
    int64_t read_since;      /* ns, clock_ns: what the last poll has read may have arrived from then on */
    struct hist lag;         /* ns by which sleeping users were woken late */
    struct {
        char *host;          /* owned */
        struct connect_to place;
    } forced;                /* where wrk's scripts send their connections (script/api_threads.c) */
    struct link ready;       /* strands that can be resumed */
    struct link yielded;     /* strands of users whose iteration ended without waiting: ready after the next poll */
    struct strand *running;  /* whose slice it is, or NULL */
    unsigned held;           /* more than 0: inside a call in which nothing can wait (script/api_task.c) */
    struct link spare_tasks; /* to be used again, by task->all */
    size_t spare_task_count;
    struct group_frame *spare_frames; /* likewise (script/api_group.c) */
    uint64_t group_count;    /* groups begun so far */
    int anchors;             /* reference of the table that keeps coroutines and user objects alive (script/strand.h) */
    unsigned *free_slots;    /* of that table */
    size_t free_slot_count, slot_count;
    vm_log *log;             /* where lines of scripts go, with its context; may be called from this state's thread */
    void *log_context;
    char *stop_text;         /* stop_run(text) was called; owned */
    char *failure;           /* why setup failed; owned */
    struct buf shared;       /* what setup returned, as value_encode wrote it */

    /* read by the runner's thread: has this state been in one slice for too long? */
    volatile sig_atomic_t in_lua;
    volatile uint64_t slices;
};

/* Never fails: out of memory aborts. `counted`: the state's memory is counted, so that it can have a limit. */
struct vm *vm_new(enum vm_role role, bool counted);
void vm_free(struct vm *vm);

/* Runs the command line in the state (loads the script, too). What it asks for is in `command`, which the caller releases with command_free. A bug in our own Lua code
 * becomes ACTION_EXIT with status 70, its traceback printed. */
void vm_command(struct vm *vm, int argc, char **argv, struct command *command);
/* After a run that ended with `status`, in the control state: true when the command goes on, with another run or the end in `command`, which is replaced. */
bool vm_continue(struct vm *vm, int status, struct command *command);

/* Worker states: gives the state what its users need. `plan` and `metrics` must outlive it. False when the script defined something else here than in the
 * control state. */
bool vm_attach(struct vm *vm, const struct plan *plan, struct loop *loop, struct pool *pool, struct metrics *metrics);
/* The first stop_run() of the state, with its text. */
void vm_stop(struct vm *vm, const char *text);
/* Why setup failed, the first time; NULL: without words. */
void vm_keep_failure(struct vm *vm, const char *text);
/* Keeps the value that setup has left at `index` of the stack of `co` (nil: there is none) in vm->shared; false, with vm->failure, when it is not plain. */
bool vm_keep_shared(struct vm *vm, struct lua_State *co, int index);
/* Gives the scenario's users, which must not have been made yet, what setup returned, from bytes of value_encode. */
void vm_set_shared(struct vm *vm, size_t scenario, const struct buf *bytes);
/* True when a function has changed it. */
bool vm_shared_changed(struct vm *vm, size_t scenario);
bool vm_has_setup(const struct vm *vm, size_t scenario);
bool vm_has_teardown(const struct vm *vm, size_t scenario);
/* True when the two scenarios have the same function there, as `setup` or `teardown`. */
bool vm_same_setup(struct vm *vm, size_t a, size_t b);
bool vm_same_teardown(struct vm *vm, size_t a, size_t b);

/* Takes every finished exchange from the pool, records its figures and makes its strand ready. */
void vm_reap(struct vm *vm);
/* The next ready strand, taken out of the queue; NULL when there is none. */
struct strand *vm_next(struct vm *vm);
/* Makes strands ready that only had to let a poll go by. */
void vm_polled(struct vm *vm);
/* Sets how much garbage may pile up before the collector begins again: as much as is in use, but at least some MB, since marking a small heap again and
 * again costs more than the memory is worth. To be called now and then. */
void vm_tune_collector(struct vm *vm);
/* True when a turn would find something to do without a poll that waits. */
bool vm_busy(const struct vm *vm);

/* Control state: the workers' states are there and at rest; from now on it may look into them, until they begin, and when they have ended. Returns 0, or the exit
 * status when the run is not to begin, with everything said. `threads` must outlive vm_finish. */
int vm_prepare(struct vm *vm, struct vm **threads, unsigned count);
/* Control state: the calls of docs/core.md. vm_finish returns the exit status (70 after a bug in our own Lua code, traceback printed). */
int vm_finish(struct vm *vm, const struct results *results);
/* The figures so far as a text for whoever scrapes them (luabench.prometheus), appended to `out`. */
void vm_export(struct vm *vm, const struct results *results, struct buf *out);
/* Thresholds over the figures so far: true when one of them ends the run. */
bool vm_watch(struct vm *vm, const struct results *results);
/* luabench.steady: true when the medians (s) of the bins so far say that the warm-up is over. */
bool vm_settled(struct vm *vm, const double *medians, size_t count);
void vm_live_update(struct vm *vm, const struct live_state *state);
void vm_live_notice(struct vm *vm, const char *text, size_t length);
void vm_live_done(struct vm *vm);

/* The vm, in a function that api_register has registered. */
struct vm *vm_of(struct lua_State *L);

#endif
