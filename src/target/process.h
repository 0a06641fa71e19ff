/* A server that luabench starts: a command in a process group of its own, what it prints, and its end together with everything that it has started, also what has
 * left its group and whose parent is gone: luabench adopts such orphans (PR_SET_CHILD_SUBREAPER), and knows them by a mark in their environment. */
#ifndef LUABENCH_TARGET_PROCESS_H
#define LUABENCH_TARGET_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "target/tree.h"

struct process_options {
    char *const *argv; /* the program, looked for in PATH, and its arguments; ends with NULL */
    char *const *env;  /* NAME=VALUE, beside luabench's own environment; ends with NULL; NULL: none */
    const char *cwd;   /* where it runs; NULL: here */
};

struct process {
    pid_t pid;
    uint64_t began;     /* clock ticks after the machine did */
    bool running;       /* as last seen by process_look */
    int status;         /* waitpid's, when it is not running */
    char mark[48];      /* NAME=VALUE in the environment of everything that it starts */
    int output;         /* read end of its standard output and error; -1: closed */
    struct buf tail;    /* the last of what it printed */
    double reaped_cpu;  /* seconds that processes used which have ended as children of luabench */
};

/* Starts it. 0, or an errno with *process untouched and in *failed what could not be done ("cannot start", "cannot enter"). From the first start on interruptions are held back in
 * this thread until they are read (run/signals.h): none may end luabench while a server is there that it has to end. */
int process_start(struct process *process, const struct process_options *options, const char **failed);
/* Reads what it has printed, a bounded part of it, and sees whether it has ended. Never waits. */
void process_look(struct process *process);
/* Takes the end of those in `tree`, as found earlier, that luabench has adopted and that have ended since: nobody can see any more whose they were. */
void process_reap_orphans(struct process *process, const struct tree *tree);
/* Asks everything that belongs to it to end (SIGTERM), kills what is left after `timeout` ns or when an interruption waits, and returns when nothing is left: 0. What cannot be killed
 * (somebody else's, or stuck in the kernel) is left alone after some seconds: one of these. */
pid_t process_stop(struct process *process, int64_t timeout);
void process_free(struct process *process);

#endif
