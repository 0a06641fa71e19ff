/* A task: another strand of a user, made by spawn(). It ends with the iteration that made it; one made in on_start ends with the user. Others wait for it, and get
 * what its function returned, or its error. An error that nobody has waited for fails the iteration. Functions of scripts: script/api_task.c. */
#ifndef LUABENCH_SCRIPT_TASK_H
#define LUABENCH_SCRIPT_TASK_H

#include "script/vu.h"

enum task_state {
    TASK_RUNS,
    TASK_RETURNED, /* the results are on its coroutine's stack */
    TASK_FAILED,   /* its error object is on top of it */
};

struct task {
    struct strand strand;
    struct link all;      /* vu->tasks */
    struct link waiters;  /* strands, by strand->link */
    struct task **handle; /* in the Lua object, which may outlive this struct; NULL: it has been collected */
    enum task_state state;
    bool of_user;         /* made in on_start */
    bool heeded;          /* its error was given to somebody */
};

/* A task of the user, whose function is the value at index `first` of L, and what follows its arguments; they are taken off. It is ready. */
struct task *task_new(struct vu *vu, struct lua_State *L, int first);
/* The task's strand has run until `outcome`. What a stop_user() or stop_run() in it means for the user, else VU_WAITS. */
enum vu_outcome task_ran(struct task *task, enum strand_outcome outcome);
/* Cancels it: who waits for it is told. */
void task_cancel(struct task *task);
/* The object was collected. */
void task_forget(struct task *task);
/* Pushes what waiting for a task that is over gives: true and the results; false and the error. Returns how many. */
int task_push_outcome(struct task *task, struct lua_State *L);
/* The time of a strand that waits for a task is over. */
void task_timed_out(struct strand *strand);
/* Ends the user's tasks, those of on_start too when `all`. Errors that nobody has waited for are counted; false when there was one. */
bool task_end_all(struct vu *vu, bool all);
/* The part of it that touches no Lua state. */
void task_abandon_all(struct vu *vu);
/* Releases what is kept for further tasks. */
void task_free_spare(struct vm *vm);

#endif
