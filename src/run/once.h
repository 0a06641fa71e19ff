/* setup and teardown: functions of scenarios that run once, in one state, before the load and after it. */
#ifndef LUABENCH_RUN_ONCE_H
#define LUABENCH_RUN_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "script/vm.h"

/* What came of the setups. */
struct once {
    struct buf *shared;      /* by scenario: what its setup returned, as value_encode writes it */
    bool *begun;             /* by scenario: its setup was called, or there is none */
    const char *scenario;    /* whose setup failed; NULL: none */
    char *failure;           /* why; owned */
    char *notice;            /* the first teardown that ended by fail(), in words; owned. Errors in one are counted with those of the script */
};

void once_init(struct once *once, size_t scenarios);
void once_free(struct once *once, size_t scenarios);
/* Runs the setups in order; a function given to several scenarios runs once. Ends at the first that fails, with `once` saying so, and when *interrupted (which another
 * thread may set) is not 0. */
void once_setup(struct vm *vm, struct once *once, const _Atomic int *interrupted);
/* Runs the teardowns of scenarios whose setup was begun. */
void once_teardown(struct vm *vm, struct once *once, const _Atomic int *interrupted);
/* True when there is something to run. */
bool once_needed(const struct vm *vm);

#endif
