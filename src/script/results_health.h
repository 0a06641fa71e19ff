/* What a run has learnt about luabench itself, on its way into the control state (docs/core.md: `health`). */
#ifndef LUABENCH_SCRIPT_RESULTS_HEALTH_H
#define LUABENCH_SCRIPT_RESULTS_HEALTH_H

#include "metrics/health.h"

struct lua_State;
/* Sets the field `health` of the table on top of the stack; its hist object looks into `figures`. */
void results_push_health(struct lua_State *L, const struct health_figures *figures);

#endif
