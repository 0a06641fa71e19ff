/* The program: reads the command line, does what it asks for, and ends with its status. */
#include <stdlib.h>
#include <string.h>

#include "run/limits.h"
#include "run/runner.h"
#include "run/signals.h"
#include "script/vm.h"
#include "serve/serve.h"

enum { LOADING_SECONDS = 10 };

static int serve(const struct serve_plan *plan)
{
    struct serve_options options = {
        .host = plan->host,
        .port = plan->port,
        .threads = plan->threads,
        .http = plan->http,
        .tls = plan->tls,
        .cert_out = plan->cert_out,
        .goaway_after = plan->goaway_after,
        .streams = plan->streams,
        .window = plan->window,
        .read_rate = plan->read_rate,
    };
    return serve_run(&options);
}

/* Whether the option is there, whatever its value: it must be known before the command line is read. */
static bool has_option(char **argv, const char *option)
{
    size_t length = strlen(option);
    for (; *argv; argv++)
        if (!strncmp(*argv, option, length) && (!(*argv)[length] || (*argv)[length] == '='))
            return true;
    return false;
}

/* A comparison is many runs, one after another. */
static int run(struct vm *control, int argc, char **argv, struct command *command)
{
    int status;
    do
        status = runner_run(control, &command->plan, argc, argv);
    while (vm_continue(control, status, command) && command->action == ACTION_RUN);
    return command->action == ACTION_EXIT ? command->status : status;
}

int main(int argc, char **argv)
{
    struct command command;
    limits_files();
    signals_loading(LOADING_SECONDS);
    struct vm *control = vm_new(VM_CONTROL, limits_memory() || has_option(argv, "--script-memory"));
    int status;

    vm_command(control, argc, argv, &command);
    switch (command.action) {
    case ACTION_RUN: status = run(control, argc, argv, &command); break;
    case ACTION_SERVE:
        signals_loaded();
        status = serve(&command.serve);
        break;
    default: status = command.status;
    }
    vm_free(control);
    command_free(&command);
    return status;
}
