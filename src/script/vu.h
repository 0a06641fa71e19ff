/* A user: a coroutine, what it waits for, and how to cancel that. Contains the program's only lua_resume.
 *
 * Life: vu_new, then for each iteration vu_begin and vu_resume until the outcome is not VU_WAITS; vu_free. One coroutine serves all iterations; it is
 * replaced when an error has killed it. To add a call that waits: check the arguments, set what is waited for, then `return vu_wait(...)` (script/api_time.c is a
 * short example). */
#ifndef LUABENCH_SCRIPT_VU_H
#define LUABENCH_SCRIPT_VU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/rng.h"
#include "base/timers.h"
#include "script/vm.h"

enum vu_outcome {
    VU_WAITS,     /* for I/O or time: it will be in the ready queue again */
    VU_COMPLETED, /* the iteration returned */
    VU_FAILED,    /* it ended by fail(), must() or a Lua error: counted in the metrics already */
    VU_LEAVES,    /* it called stop_user() */
    VU_STOPS_RUN, /* it called stop_run(): vm->stop_text */
};

struct vu {
    struct link link; /* in the ready queue, or in none */
    struct link all;  /* for the owner: all users of a scenario */
    struct vm *vm;
    struct vm_scenario *scenario;
    size_t scenario_index;
    struct lua_State *co;
    struct vu **handle; /* in the Lua object `user`, which may outlive this struct: cleared by vu_free */
    unsigned slot;      /* in the table of anchors */
    struct client *client;
    struct user_random *random; /* of vu_random; NULL until something is drawn */

    uint64_t id;        /* from 1, over all workers */
    uint64_t iteration; /* of this user, from 1 */
    uint64_t sequence;  /* over all users of the scenario, from 1 */
    int64_t due;        /* ns: when the iteration was due */
    int64_t began;      /* ns: when it really began */
    int64_t next_due;   /* ns: set by pace(); 0 without */

    /* what it waits for: at most one of these at a time */
    struct timer timer;
    struct exchange *exchange;
    int (*deliver)(struct vu *, struct lua_State *); /* pushes the results of the call that waited; NULL: none */
    bool waited;       /* something was waited for in this iteration */
    bool has_state;    /* Lua keeps something of it: vu_push_state */
    bool pacing;       /* it is in pace() */
    bool unsent;       /* the exchange is held back because connects failed */

    unsigned connect_failures;   /* in a row */
    unsigned iteration_failures; /* in a row; for the owner */
    int64_t connect_after;       /* ns: no new request before, after failed connects */
    bool running;                /* an iteration has begun and not ended */

};

struct vu *vu_new(struct vm *vm, size_t scenario, uint64_t id);
/* No iteration may be running. */
void vu_free(struct vu *vu);
/* Begins an iteration, due at `due`: the user becomes ready. */
void vu_begin(struct vu *vu, uint64_t sequence, int64_t due);
/* Runs the user until it waits or its iteration ends. */
enum vu_outcome vu_resume(struct vu *vu);
/* Ends a running iteration: what it waits for is cancelled, and counted as interrupted. */
void vu_interrupt(struct vu *vu);
/* The part of vu_interrupt that touches no Lua state: what it waits for is cancelled. For a state whose thread is parked for good. */
void vu_abandon(struct vu *vu);
/* The user can be resumed: puts it into the ready queue. */
void vu_ready(struct vu *vu);
/* Puts the user to sleep between iterations: it is in the ready queue again at `until` (ns). */
void vu_rest(struct vu *vu, int64_t until);

/* For the functions of api_*.c. */

/* Pushes the table in which Lua keeps what is the user's own (cookies, headers); without one nil, or with `make` a new one. */
void vu_push_state(struct vu *vu, struct lua_State *L, bool make);
/* Forgets that table: a new visitor begins. */
void vu_clear_state(struct vu *vu);

/* The running user, if `L` is its coroutine and may wait; otherwise raises an error that says why not. */
struct vu *vu_that_waits(struct lua_State *L);
/* The user's random numbers (script/api_random.c). */
struct rng *vu_random(struct vu *vu);
/* The running user or NULL. */
struct vu *vu_running(struct lua_State *L);
/* Yields; when the user is resumed, `deliver` pushes what the call returns. */
int vu_wait(struct lua_State *L, struct vu *vu, int (*deliver)(struct vu *, struct lua_State *));

/* Ways to end an iteration early: raised as an error that pcall catches and reports tell from a mistake in the script. */
enum ending { ENDING_FAIL, ENDING_STOP_USER, ENDING_STOP_RUN };
/* Raises it; `text` is on top of the stack (a string). */
int vu_raise(struct lua_State *L, enum ending ending);

#endif
