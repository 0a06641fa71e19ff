#define _GNU_SOURCE
#include "target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "target/tree.h"

enum {
    PIPE_BYTES = 1 << 20, /* what it may print between two looks without waiting */
    TAIL_BYTES = 8192,
    POLL_MS = 10,
};

/* Starting */

struct failure {
    int error;
    bool in_chdir;
};

static char **environment_with(char *const *env, char *mark)
{
    size_t count = 0, more = 0;
    while (environ[count])
        count++;
    while (env && env[more])
        more++;
    char **all = mem_array(count + more + 2, sizeof *all);
    size_t length = 0;
    for (size_t i = 0; i < more; i++)
        all[length++] = env[i];
    all[length++] = mark;
    for (size_t i = 0; i < count; i++) { /* what is set anew goes before: the first of a name counts */
        bool again = false;
        size_t name = strcspn(environ[i], "=") + 1;
        for (size_t k = 0; k < more + 1; k++)
            again = again || !strncmp(all[k], environ[i], name);
        if (!again)
            all[length++] = environ[i];
    }
    return all;
}

__attribute__((noreturn)) static void fail_child(int report, int error, bool in_chdir)
{
    struct failure failure = { error, in_chdir };
    if (write(report, &failure, sizeof failure) < 0)
        _exit(126);
    _exit(127);
}

static void default_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
}

__attribute__((noreturn)) static void run_child(const struct process_options *options, char **environment, int output, int report)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever happens to luabench */
    default_signals();
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        fail_child(report, errno, false);
    if (options->cwd && chdir(options->cwd))
        fail_child(report, errno, true);
    environ = environment;
    execvp(options->argv[0], options->argv);
    fail_child(report, errno, false);
}

/* Whether the child has become the program: 0, or why not. Waits until one of the two is known. */
static struct failure read_report(int report, pid_t pid)
{
    struct failure failure = { 0 };
    ssize_t got;
    do
        got = read(report, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof failure)
        waitpid(pid, NULL, 0);
    return failure;
}

int process_start(struct process *process, const struct process_options *options, const char **failed)
{
    static unsigned started;
    struct process made = { .running = true };
    int output[2], report[2];
    *failed = "cannot start";
    if (pipe2(output, O_CLOEXEC))
        return errno;
    if (pipe2(report, O_CLOEXEC)) {
        int error = errno;
        close(output[0]);
        close(output[1]);
        return error;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    fcntl(output[0], F_SETPIPE_SZ, PIPE_BYTES);
    snprintf(made.mark, sizeof made.mark, "LUABENCH_TARGET=%d.%u", (int)getpid(), ++started);
    char **environment = environment_with(options->env, made.mark);
    made.pid = fork();
    int error = errno;
    if (made.pid == 0)
        run_child(options, environment, output[1], report[1]);
    free(environment);
    close(output[1]);
    close(report[1]);
    struct failure failure = made.pid > 0 ? read_report(report[0], made.pid) : (struct failure){ .error = error };
    close(report[0]);
    if (failure.error) {
        close(output[0]);
        *failed = failure.in_chdir ? "cannot enter" : *failed;
        return failure.error;
    }
    made.output = output[0];
    *process = made;
    return 0;
}

/* Looking */

static void keep_tail(struct buf *tail, const char *data, size_t length)
{
    buf_append(tail, data, length);
    if (tail->length > 2 * TAIL_BYTES)
        buf_consume(tail, tail->length - TAIL_BYTES);
}

static void read_output(struct process *process)
{
    char data[16384];
    ssize_t got;
    while (process->output >= 0 && (got = read(process->output, data, sizeof data)) != 0) {
        if (got < 0)
            return;
        keep_tail(&process->tail, data, (size_t)got);
    }
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
}

static double cpu_of(const struct rusage *usage)
{
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6 + (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6;
}

/* Takes the end of a child of luabench, if it has come. */
static bool reap(struct process *process, pid_t pid, int *status)
{
    struct rusage usage;
    if (wait4(pid, status, WNOHANG, &usage) != pid)
        return false;
    process->reaped_cpu += cpu_of(&usage);
    return true;
}

void process_reap_orphans(struct process *process, const struct tree *tree)
{
    int status;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].parent == getpid() && tree->members[i].pid != process->pid)
            reap(process, tree->members[i].pid, &status);
}

void process_look(struct process *process)
{
    if (process->running && reap(process, process->pid, &process->status))
        process->running = false;
    read_output(process);
}

/* Ending */

static void signal_tree(const struct process *process, const struct tree *tree, int number)
{
    if (process->running)
        kill(-process->pid, number);
    for (size_t i = 0; i < tree->count; i++)
        if (!tree->members[i].zombie)
            kill(tree->members[i].pid, number);
}

/* Whether anything of it is left; `tree` is what. */
static bool anything_left(struct process *process, struct tree *tree)
{
    process_look(process);
    process_reap_orphans(process, tree);
    tree_find(tree, process->running ? process->pid : 0, process->mark);
    return process->running || tree->count > 0;
}

void process_stop(struct process *process, int64_t timeout)
{
    struct tree tree = { 0 };
    int64_t deadline = ns_after(clock_ns(), timeout);
    bool asked = false;
    while (anything_left(process, &tree)) {
        if (clock_ns() >= deadline)
            signal_tree(process, &tree, SIGKILL);
        else if (!asked)
            signal_tree(process, &tree, SIGTERM);
        asked = true;
        poll(NULL, 0, POLL_MS);
    }
    tree_free(&tree);
}

void process_kill(const struct process *process)
{
    struct tree tree = { 0 };
    tree_find(&tree, process->running ? process->pid : 0, process->mark);
    signal_tree(process, &tree, SIGKILL);
    tree_free(&tree);
}

void process_free(struct process *process)
{
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
    buf_free(&process->tail);
}
