/* How many worker threads a run has. */
#ifndef LUABENCH_RUN_THREADS_H
#define LUABENCH_RUN_THREADS_H

#include "script/plan.h"

/* As many as the plan says, or cores that this process may use; never more than it has users, or connections that they share: each worker needs one of both. */
unsigned threads_choose(const struct plan *plan);
/* The users that this process has of scenarios of that model. */
uint64_t threads_users(const struct plan *plan, enum model model);

#endif
