/* A worker: one thread with a share of the load, and everything it touches: loop, Lua state, pool, users, figures. It starts and stops users and drives the turn:
 * poll, reap, resume, flush. Nothing here is locked on the hot path; five times a second it publishes its totals for the runner. */
#ifndef LUABENCH_RUN_WORKER_H
#define LUABENCH_RUN_WORKER_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "run/lines.h"
#include "run/schedule.h"
#include "script/vm.h"
#include "script/watch.h"

struct group;

/* What all workers of a run share; owned by the runner. */
struct run {
    const struct plan *plan;
    int argc;
    char **argv;
    struct claims *claims; /* by scenario */
    struct lines lines;
    int events;            /* eventfd: a worker has become ready, has ended, or wants the run stopped */
    int64_t start;         /* ns: the start of the schedule; set before the workers are let go */
    sem_t go;              /* posted once for each worker when all have loaded */
};

enum worker_state { WORKER_LOADING, WORKER_READY, WORKER_RUNNING, WORKER_ENDED, WORKER_FAILED };

/* What the runner asks of a worker. */
enum worker_order { ORDER_NONE, ORDER_INTERRUPT };

struct worker {
    struct run *run;
    struct share share;
    pthread_t thread;
    struct loop loop;
    struct pool *pool;
    struct vm *vm;
    struct watch watch;
    struct metrics metrics;
    struct group *groups; /* by scenario */
    size_t active;        /* groups that have not ended */
    struct timer publish_timer;
    int64_t *durations;   /* ns, by scenario; set as they end */
    int64_t cpu_before;   /* ns of CPU time of this thread before the run */
    int64_t cpu;          /* ns of CPU time of this thread during the run */
    bool cancelled;       /* the run ends before it begins */

    _Atomic int state;    /* enum worker_state */
    _Atomic int order;    /* enum worker_order */
    _Atomic bool stop_run; /* a script called stop_run: vm->stop_text */

    pthread_mutex_t lock;  /* of `totals` */
    struct metrics_totals totals;
};

/* Starts the thread; it loads the script, becomes WORKER_READY (or WORKER_FAILED) and waits for run->go. `worker` is zeroed but for run and share. False
 * when no thread can be made. */
bool worker_start(struct worker *worker);
/* Gives an order, from another thread. */
void worker_order(struct worker *worker, enum worker_order order);
/* Adds the latest published totals to `into`, from another thread. */
void worker_totals(struct worker *worker, struct metrics_totals *into);
/* Ends the books of a worker whose thread is parked inside Lua for good: what runs there is counted as interrupted. Touches no Lua state. */
void worker_abandon(struct worker *worker);
/* Waits for the thread and releases everything but `metrics` and `durations`. */
void worker_join(struct worker *worker);
void worker_free(struct worker *worker);

#endif
