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
    LOOK_BYTES = 32 << 20, /* read in one look: who prints without an end is not listened to without one */
    TAIL_BYTES = 8192,
    LONGEST_POLL_MS = 64,
    GIVE_UP_MS = 3000, /* after SIGKILL */
};

/* Starting */

struct failure {
    int error;
    bool in_chdir;
};

/* Those by which a user ends luabench. */
static void interruptions(sigset_t *set)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(set, ends[i]);
}

static void hold_interruptions(void)
{
    sigset_t set;
    interruptions(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    alarm(0); /* the script has been loaded */
}

/* Whether one waits; one that is ignored may, too. */
static bool interrupted(void)
{
    sigset_t set, pending;
    struct sigaction action;
    interruptions(&set);
    sigpending(&pending);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&set, number) == 1 && sigismember(&pending, number) == 1 && !sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN)
            return true;
    return false;
}

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
    hold_interruptions();
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
    made.began = tree_began(made.pid);
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
    char data[65536];
    ssize_t got = -1;
    for (size_t all = 0; process->output >= 0 && all < LOOK_BYTES; all += (size_t)got) {
        got = read(process->output, data, sizeof data);
        if (got <= 0)
            break;
        keep_tail(&process->tail, data, (size_t)got);
    }
    if (got || process->output < 0)
        return;
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
    tree_find(tree, &(struct tree_roots){ process->running ? process->pid : 0, process->mark, process->began });
    return process->running || tree->count > 0;
}

pid_t process_stop(struct process *process, int64_t timeout)
{
    struct tree tree = { 0 };
    int64_t now = clock_ns(), deadline = ns_after(now, timeout);
    int pause = 1;
    bool asked = false;
    for (; anything_left(process, &tree) && now < ns_after(deadline, GIVE_UP_MS * NS_PER_MS); now = clock_ns()) {
        if (now < deadline && interrupted())
            deadline = now;
        if (now >= deadline)
            signal_tree(process, &tree, SIGKILL);
        else if (!asked)
            signal_tree(process, &tree, SIGTERM);
        asked = true;
        poll(NULL, 0, pause);
        pause = pause < LONGEST_POLL_MS ? 2 * pause : pause;
    }
    pid_t left = tree.count ? tree.members[0].pid : process->running ? process->pid : 0;
    tree_free(&tree);
    return left;
}

void process_free(struct process *process)
{
    if (process->output >= 0)
        close(process->output);
    process->output = -1;
    buf_free(&process->tail);
}
