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
    double cpu;      /* seconds, with those of children that it has waited for */
    uint64_t memory; /* bytes resident */
};

struct tree {
    struct tree_member *members;
    size_t count, capacity;
};

/* Finds `root` (0: none) with all its descendants, and the orphans that luabench has adopted and that have `mark` (NAME=VALUE; NULL: none) in their environment, with
 * their descendants. Looks at every process of the machine. */
void tree_find(struct tree *tree, pid_t root, const char *mark);
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
