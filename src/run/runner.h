/* The run as a whole: workers, phases, signals, merging, and handing the results to the reports in Lua. */
#ifndef LUABENCH_RUN_RUNNER_H
#define LUABENCH_RUN_RUNNER_H

#include "script/vm.h"

/* Runs the plan that vm_command has read in the control state, and makes its reports; returns the exit status. `argc` and `argv` are main's: each worker reads the
 * command line and the script again in a state of its own. Ends the process itself when a thread is stuck in a script. */
int runner_run(struct vm *control, const struct plan *plan, int argc, char **argv);

#endif
