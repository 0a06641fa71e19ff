/* A server under test: started by luabench or just watched, with what it used of CPU and memory over time. All of this belongs to one thread, the runner's. */
#ifndef LUABENCH_TARGET_TARGET_H
#define LUABENCH_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "target/process.h"
#include "target/tree.h"

struct target_sample {
    int64_t time;    /* ns, of the monotonic clock */
    double cpu;      /* seconds since the target was made known */
    uint64_t memory; /* bytes resident, of all its processes; a page that they share counts for each */
};

struct target {
    struct link link; /* in the list of all */
    bool own;         /* started by luabench: `process` is in use */
    struct process process;
    pid_t root;
    struct tree tree;
    double cpu_before; /* what a watched process had used when it became known */
    int64_t looked_at, found_at;
    struct target_sample *samples;
    size_t count, capacity;
};

/* Starts a server; NULL, and then errno and *failed are those of process_start. */
struct target *target_start(const struct process_options *options, const char **failed);
/* Watches a process that luabench did not start; NULL when there is none. */
struct target *target_watch(pid_t pid);
/* Looks at all targets when it is time: samples every 100 ms, reads what they print. Costs next to nothing in between. */
void targets_tick(void);
/* Takes a sample now. */
void target_look(struct target *target);
/* Forgets the samples so far. */
void target_forget(struct target *target);
/* False when its first process has ended. */
bool target_running(const struct target *target);
/* True when a server that luabench started has ended by itself. */
bool targets_ended(void);
/* Stops a server that luabench started, with everything that it started; lets go of one that it watches. 0, or a process that could not be ended (process_stop). */
pid_t target_stop(struct target *target, int64_t timeout);
/* Kills all servers that luabench started, for ends in which nothing can wait. */
void targets_kill(void);
/* Releases it; one that runs is killed first. */
void target_free(struct target *target);

#endif
