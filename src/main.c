/* The program: reads the command line, does what it asks for, and ends with its status. */
#include <stdlib.h>

#include "run/runner.h"
#include "script/vm.h"
#include "serve/serve.h"

enum { LOADING_SECONDS = 10 };

static int serve(const struct command *command)
{
    struct serve_options options = { .host = command->host, .port = command->port, .threads = command->threads };
    return serve_run(&options);
}

int main(int argc, char **argv)
{
    struct command command;
    struct vm *control = vm_new(VM_CONTROL);
    int status;

    runner_raise_limits();
    runner_loading(LOADING_SECONDS);
    vm_command(control, argc, argv, &command);
    switch (command.action) {
    case ACTION_RUN: status = runner_run(control, &command.plan, argc, argv); break;
    case ACTION_SERVE:
        runner_loaded();
        status = serve(&command);
        break;
    default: status = command.status;
    }
    vm_free(control);
    command_free(&command);
    return status;
}
