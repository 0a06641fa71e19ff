#define _GNU_SOURCE
#include "target/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

/* Files of /proc */

/* The start of a file, ended by NUL; false when it cannot be read. */
static bool read_start(char *text, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool read_whole(struct buf *text, const char *path)
{
    char piece[4096];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((got = read(fd, piece, sizeof piece)) > 0)
        buf_append(text, piece, (size_t)got);
    close(fd);
    return buf_append(text, "", 1);
}

static bool read_member(struct tree_member *member, pid_t pid)
{
    char path[40], text[1024], state;
    unsigned long used, in_kernel;
    long children, children_in_kernel, pages;
    unsigned long long began;
    int parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_start(text, sizeof text, path))
        return false;
    const char *after_name = strrchr(text, ')'); /* a name may hold blanks and parentheses */
    if (!after_name || sscanf(after_name, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %*d %*d %llu %*u %ld", &state, &parent, &used, &in_kernel,
                              &children, &children_in_kernel, &began, &pages) != 8)
        return false;
    double ticks = (double)used + (double)in_kernel + (double)children + (double)children_in_kernel;
    *member = (struct tree_member){ .pid = pid, .parent = parent, .zombie = state == 'Z' || state == 'X', .began = began, .cpu = ticks / (double)sysconf(_SC_CLK_TCK),
                                    .memory = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) };
    return true;
}

uint64_t tree_began(pid_t pid)
{
    struct tree_member member;
    return read_member(&member, pid) ? member.began : 0;
}

/* Whether an orphan is one of those with the mark. Some servers write their title over the environment, or start others without one: of those it is known when they began. */
static bool is_marked(const struct tree_member *member, const struct tree_roots *roots)
{
    char path[40];
    struct buf environment = { 0 };
    size_t name = strcspn(roots->mark, "=") + 1;
    bool found = false, other = false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)member->pid);
    if (!member->zombie && read_whole(&environment, path))
        for (size_t at = 0; at < environment.length && !found; at += strlen(environment.data + at) + 1) {
            found = !strcmp(environment.data + at, roots->mark);
            other = other || !strncmp(environment.data + at, roots->mark, name);
        }
    buf_free(&environment);
    return found || (!other && !member->zombie && roots->since && member->began >= roots->since);
}

/* The next process in the listing of /proc; 0 at its end. */
static pid_t next_process(DIR *listing)
{
    struct dirent *entry;
    while ((entry = readdir(listing)))
        if (isdigit((unsigned char)entry->d_name[0]))
            return (pid_t)atoi(entry->d_name);
    return 0;
}

/* Trees */

static void add(struct tree *tree, const struct tree_member *member)
{
    if (tree->count == tree->capacity) {
        tree->capacity = tree->capacity ? tree->capacity * 2 : 64;
        tree->members = mem_resize(tree->members, tree->capacity * sizeof *tree->members);
    }
    tree->members[tree->count++] = *member;
}

static void read_all(struct tree *tree)
{
    struct tree_member member;
    pid_t pid;
    DIR *listing = opendir("/proc");
    while (listing && (pid = next_process(listing)))
        if (read_member(&member, pid))
            add(tree, &member);
    if (listing)
        closedir(listing);
}

static bool holds(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].pid == pid)
            return true;
    return false;
}

static bool belongs(const struct tree *tree, const struct tree_member *member, const struct tree_roots *roots)
{
    if (member->pid == roots->pid || holds(tree, member->parent))
        return true;
    return roots->mark && member->parent == getpid() && is_marked(member, roots);
}

/* A process whose environment is gone with it can only have been adopted: an ended orphan has to be waited for. */
void tree_find(struct tree *tree, const struct tree_roots *roots)
{
    struct tree all = { 0 };
    bool more = true;
    read_all(&all);
    tree->count = 0;
    while (more) {
        more = false;
        for (size_t i = 0; i < all.count; i++)
            if (!holds(tree, all.members[i].pid) && belongs(tree, &all.members[i], roots)) {
                add(tree, &all.members[i]);
                more = true;
            }
    }
    tree_free(&all);
}

void tree_update(struct tree *tree)
{
    size_t kept = 0;
    for (size_t i = 0; i < tree->count; i++)
        if (read_member(&tree->members[kept], tree->members[i].pid))
            kept++;
    tree->count = kept;
}

double tree_cpu(const struct tree *tree)
{
    double sum = 0;
    for (size_t i = 0; i < tree->count; i++)
        sum += tree->members[i].cpu;
    return sum;
}

uint64_t tree_memory(const struct tree *tree)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < tree->count; i++)
        sum += tree->members[i].zombie ? 0 : tree->members[i].memory;
    return sum;
}

uint64_t tree_proportional(const struct tree *tree)
{
    uint64_t sum = 0, kilobytes;
    char path[40], text[2048];
    for (size_t i = 0; i < tree->count; i++) {
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)tree->members[i].pid);
        const char *line = read_start(text, sizeof text, path) ? strstr(text, "\nPss:") : NULL;
        if (line && sscanf(line, "\nPss: %" SCNu64, &kilobytes) == 1)
            sum += kilobytes * 1024;
    }
    return sum;
}

void tree_free(struct tree *tree)
{
    free(tree->members);
    *tree = (struct tree){ 0 };
}

/* Who listens */

enum { LISTENING = 0x0a };

/* The inode of the socket that listens on `port`, in /proc/net/tcp or tcp6; 0: none. */
static unsigned long listening_inode(const char *path, unsigned port)
{
    struct buf text = { 0 };
    unsigned long found = 0, inode;
    unsigned local, state;
    if (!read_whole(&text, path))
        return 0;
    for (const char *line = strchr(text.data, '\n'); line && !found; line = strchr(line + 1, '\n'))
        if (sscanf(line + 1, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %lu", &local, &state, &inode) == 3 && local == port && state == LISTENING)
            found = inode;
    buf_free(&text);
    return found;
}

static bool has_socket(pid_t pid, unsigned long inode)
{
    char path[40], wanted[40], link[40];
    struct dirent *entry;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *listing = opendir(path);
    while (listing && !found && (entry = readdir(listing))) {
        ssize_t length = readlinkat(dirfd(listing), entry->d_name, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        found = !strcmp(link, wanted);
    }
    if (listing)
        closedir(listing);
    return found;
}

pid_t tree_listener(unsigned port)
{
    unsigned long inode = listening_inode("/proc/net/tcp", port);
    pid_t pid = 0;
    if (!inode)
        inode = listening_inode("/proc/net/tcp6", port);
    DIR *listing = inode ? opendir("/proc") : NULL;
    while (listing && (pid = next_process(listing)) && !has_socket(pid, inode))
        continue;
    if (listing)
        closedir(listing);
    return pid;
}
