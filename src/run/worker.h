/* A worker: one thread with a share of the load, and everything it touches: loop, Lua state, pool, users, figures. It drives the turn: poll, reap, start what is due,
 * resume, flush. Nothing here is locked on the hot path; five times a second it publishes its totals for the runner.
 *
 * It goes through stages, each when the runner says so, so that all workers begin the load at one instant. */
#ifndef LUABENCH_RUN_WORKER_H
#define LUABENCH_RUN_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "run/group.h"
#include "run/health.h"
#include "run/lines.h"
#include "run/once.h"
#include "script/vm.h"
#include "script/watch.h"

/* What all workers of a run share; owned by the runner. */
struct run {
    const struct plan *plan;
    int argc;
    char **argv;
    struct claims *claims; /* by scenario */
    struct once once;      /* setup and teardown; written by the one worker that runs them, at a stage of its own */
    struct lines lines;
    int events;            /* eventfd: a worker has become idle, or wants the run stopped */
    int64_t start;         /* ns: the start of the schedule; set before STAGE_LOAD */
    int64_t measured;      /* ns: when warm_up = "auto" was found to be over; set before ORDER_MEASURE; 0: not */
};

enum stage {
    STAGE_SETUP,    /* of one worker */
    STAGE_PREPARE,  /* users that are to be there before the start */
    STAGE_LOAD,
    STAGE_ABORT,    /* instead of the load: setup has failed, say */
    STAGE_TEARDOWN, /* of one worker */
    STAGE_EXIT,     /* the thread ends */
};

enum worker_state {
    WORKER_LOADING,
    WORKER_IDLE,   /* between two stages */
    WORKER_BUSY,
    WORKER_FAILED, /* it could not load the script */
    WORKER_PARKED, /* its thread is stuck in a script for good */
};

/* What the runner asks of a worker. */
enum worker_order { ORDER_NONE, ORDER_MEASURE, ORDER_INTERRUPT }; /* MEASURE: warm-ups end at run->measured */

struct worker {
    struct run *run;
    struct share share;
    pthread_t thread;
    struct loop loop;
    struct pool *pool;
    struct vm *vm;
    struct watch watch;
    struct gauge gauge;   /* of the loop during the load */
    pid_t thread_id;      /* the kernel's */
    struct metrics metrics;
    struct journal *journal; /* where its requests are put besides; NULL: nowhere */
    struct group *groups; /* by scenario */
    struct group **open_groups; /* those of the open model */
    size_t open_count;
    size_t active;        /* groups that have not ended */
    bool has_warm_up;     /* one of them has */
    struct timer publish_timer;
    int64_t *durations;   /* ns, by scenario, from its start to its end */
    bool *shared_changed; /* by scenario: a function has changed what setup returned */
    int64_t cpu_before;   /* ns of CPU time of this thread before the run */
    int64_t cpu;          /* ns of CPU time of this thread during the run */
    enum stage stage;     /* set before `go` is posted */
    sem_t go;

    _Atomic int state;    /* enum worker_state */
    _Atomic int order;    /* enum worker_order */
    _Atomic bool stop_run; /* a script called stop_run: vm->stop_text */

    int64_t next_figures;  /* ns: when `figures` is to be made again */

    pthread_mutex_t lock;  /* of the totals and the figures */
    struct metrics figures; /* a copy of the metrics, when thresholds are watched */
    struct metrics_totals totals, warm_up; /* of what counts, and of the warm-ups */
};

/* Starts the thread; it loads the script, and becomes WORKER_IDLE (or WORKER_FAILED). `worker` is zeroed but for run and share. False when no thread can be made. */
bool worker_start(struct worker *worker);
/* Lets an idle worker begin a stage: it is WORKER_BUSY until it has done with it. */
void worker_begin(struct worker *worker, enum stage stage);
/* Gives an order, from another thread. */
void worker_order(struct worker *worker, enum worker_order order);
/* Adds the latest published totals of what counts to `into`, and those of the warm-ups to `warm_up`, from another thread. */
void worker_totals(struct worker *worker, struct metrics_totals *into, struct metrics_totals *warm_up);
/* Adds the latest published copy of all figures, from another thread. */
void worker_figures(struct worker *worker, struct metrics *into);
/* ns of CPU time that the worker's thread has used; any thread may ask. */
int64_t worker_cpu(const struct worker *worker);
/* Ends the books of a worker whose thread is parked inside Lua for good: what runs there is counted as interrupted. Touches no Lua state. */
void worker_abandon(struct worker *worker);
/* Waits for the thread and releases everything but `metrics` and `durations`. */
void worker_join(struct worker *worker);
void worker_free(struct worker *worker);

#endif
