/* A strand: one line of work of a user, that is, a coroutine and what it waits for and how to cancel that. Each user has one of its own (vu->main), and one for every
 * task that spawn() has made (script/task.h). Contains the program's only lua_resume.
 *
 * A strand is started by pushing a function and its arguments onto its coroutine and setting `given` to their number; strand_ready puts it into the ready queue, from
 * where the worker takes it to vu_resume. To add a call that waits: check the arguments, take strand_that_waits, set what is waited for, then `return strand_wait(...)`
 * (script/api_time.c is a short example). */
#ifndef LUABENCH_SCRIPT_STRAND_H
#define LUABENCH_SCRIPT_STRAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/timers.h"

struct lua_State;
struct vm;
struct vu;
struct task;
struct exchange;
struct group_frame;

struct strand {
    struct link link;    /* in the ready queue, among those that wait for a task, or in none */
    struct vu *vu;
    struct lua_State *co;
    struct group_frame *groups; /* the innermost open group (script/api_group.c); NULL: none */
    const char *spawned_in;     /* the group in which the task was made; NULL: none, or it is no task. The metrics' */

    /* what it waits for: at most one of these at a time */
    struct timer timer;
    struct exchange *exchange;
    struct task *awaited;
    int (*deliver)(struct strand *, struct lua_State *); /* pushes the results of the call that waited; NULL: there are `given` values */
    unsigned slot;       /* in the table of anchors: where the coroutine is */
    int16_t given;       /* values on the coroutine's stack that the next resume passes on; Lua has room for some thousand */
    bool is_task : 1;    /* it is that of a struct task */
    bool sleeps : 1;     /* for the timer: sleep() or pace() */
    bool pacing : 1;     /* it is in pace() */
    bool unsent : 1;     /* the exchange is held back because connects failed */
};

enum strand_outcome {
    STRAND_WAITS,
    STRAND_RETURNED, /* the results are all there is on the coroutine's stack */
    STRAND_DIED,     /* the error object is on top of the coroutine's stack */
};

/* Gives a zeroed strand a coroutine. */
void strand_open(struct strand *strand, struct vu *vu);
/* Releases what it has; it waits for nothing. */
void strand_close(struct strand *strand);
/* Code of a script's runs on behalf of the strand from here until strand_leave: it can be found and stopped when it never ends, and its memory is limited. */
void strand_enter(struct strand *strand);
void strand_leave(struct strand *strand);
/* Runs the strand until it waits or ends. */
enum strand_outcome strand_resume(struct strand *strand);
/* Puts the strand into the ready queue. */
void strand_ready(struct strand *strand);
/* The same, before all others. */
void strand_ready_next(struct strand *strand);
/* It waits no longer: what it waits for is cancelled, and a request counted as interrupted. Touches no Lua state, so the coroutine is still where it was. */
void strand_abandon(struct strand *strand);
/* A new coroutine in place of one that is dead or abandoned. */
void strand_renew(struct strand *strand);

/* For the functions of api_*.c. */

/* The running strand, when it may wait; otherwise raises an error that says why not. */
struct strand *strand_that_waits(struct lua_State *L);
/* The running strand or NULL. */
struct strand *strand_running(struct lua_State *L);
/* Yields; when the strand is resumed, the call returns what `deliver` pushes. The arguments of the call stay on the stack meanwhile, and so alive. */
int strand_wait(struct lua_State *L, struct strand *strand, int (*deliver)(struct strand *, struct lua_State *));
/* What a coroutine of the script's own yields first when something in it waits: the wrappers of coroutine.resume and the like pass it on (lua/luabench/coroutines.lua). */
void strand_push_mark(struct lua_State *L);

/* Ways to end an iteration early: raised as an error that pcall catches and reports tell from a mistake in the script. */
#define ENDING_TYPE "luabench.ending"
enum ending { ENDING_FAIL, ENDING_STOP_USER, ENDING_STOP_RUN };
/* Raises it; `text` is on top of the stack (a string). */
int vu_raise(struct lua_State *L, enum ending ending);
/* When the value on top of the stack is such an error: true, and its text takes its place. */
bool vu_ending(struct lua_State *L, enum ending *ending);

/* Slots of the table of anchors; each has room for two values. */
unsigned anchor_take(struct vm *vm);
void anchor_give_back(struct vm *vm, unsigned slot);
/* Keeps the value on top of the main stack alive in the slot (`which`: 0 or 1), and pops it. */
void anchor_set(struct vm *vm, unsigned slot, int which);
/* Pushes it, onto any stack of the state. */
void anchor_push(struct vm *vm, struct lua_State *L, unsigned slot, int which);

#endif
