/* The processes that belong to a server, and what they use: read from /proc (proc(5)). */
#ifndef LUABENCH_TARGET_TREE_H
#define LUABENCH_TARGET_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_member {
    pid_t pid, parent;
    bool zombie;
    uint64_t began;  /* clock ticks after the machine did */
    double cpu;      /* seconds, with those of children that it has waited for */
    uint64_t memory; /* bytes resident */
};

struct tree {
    struct tree_member *members;
    size_t count, capacity;
};

/* What belongs to a server. */
struct tree_roots {
    pid_t pid;        /* its first process; 0: it is gone */
    const char *mark; /* what the environment of its orphans holds, NAME=VALUE; NULL: luabench has not started it */
    uint64_t since;   /* not 0: orphans that have wiped their environment are its own, too, when they have begun since then (clock ticks) */
};

/* Finds the first process and the orphans that luabench has adopted, with all their descendants. Looks at every process of the machine. */
void tree_find(struct tree *tree, const struct tree_roots *roots);
/* When a process has begun, in clock ticks after the machine did; 0: there is none. */
uint64_t tree_began(pid_t pid);
/* Reads anew what the members use; those that are gone are taken out. */
void tree_update(struct tree *tree);
/* Sums over the members. */
double tree_cpu(const struct tree *tree);
uint64_t tree_memory(const struct tree *tree);
/* The proportional set size in bytes: pages that several processes share are counted once. Slow, and takes the servers' memory locks. 0 when it cannot be read. */
uint64_t tree_proportional(const struct tree *tree);
void tree_free(struct tree *tree);
/* The process that listens on a TCP port of this machine; 0: none that can be seen. */
pid_t tree_listener(unsigned port);

#endif
