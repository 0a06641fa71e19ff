/* Ending a Lua slice that never returns. No hook stops a compiled loop or a C function, so the thread is not stopped but parked for good by a signal; the runner then
 * ends its books and the process.
 *
 * The runner calls watch_locate first: where the interpreter still runs, the hook finds out which line is stuck, and parks the thread there. What does not stop
 * within a moment is parked by watch_park in the signal handler itself.
 *
 * watch_ask only asks where a long slice is: the hook writes it down, and the thread goes on. */
#ifndef LUABENCH_SCRIPT_WATCH_H
#define LUABENCH_SCRIPT_WATCH_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "script/vm.h"

enum { WATCH_WHERE = 256 };

struct watch {
    struct vm *vm;
    sem_t parked;            /* posted by the parked thread */
    volatile sig_atomic_t wanted; /* 0, or how the thread is to be parked: 1 at a Lua instruction, 2 in the signal handler; 3: it is only asked where it is */
    uint64_t slice;          /* of vm->slices, that is asked about */
    volatile sig_atomic_t answered; /* `where` is of a question that watch_answer has not been told of */
    char where[WATCH_WHERE]; /* "script.lua:7, in function 'spin'"; the scenario's line when it could not be told */
};

/* The signal that the functions below use; its handler is installed by watch_init, and `watch` must be set for each worker's thread by watch_thread. */
void watch_init(struct watch *watch, struct vm *vm);
/* Called once by the thread of watch->vm. */
void watch_thread(struct watch *watch);
/* Called by the runner. Asks where the thread is in its slice of that number (of vm->slices); does not wait. */
void watch_ask(struct watch *watch, pthread_t thread, uint64_t slice);
/* True when an answer has come: `where`, of WATCH_WHERE bytes, is as in the struct. */
bool watch_answer(struct watch *watch, char *where);
/* Called by the runner. Each sends the signal to `thread` and waits a moment; true when the thread is parked inside Lua. */
bool watch_locate(struct watch *watch, pthread_t thread);
bool watch_park(struct watch *watch, pthread_t thread);

#endif
