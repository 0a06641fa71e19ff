#include "target/target.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum { SAMPLE_MS = 100, FIND_MS = 500 };

static struct link targets = { &targets, &targets };

static struct target *new_target(pid_t root)
{
    struct target *target = mem_zero(sizeof *target);
    link_init(&target->link);
    target->root = root;
    target->process.output = -1;
    return target;
}

static struct target *add(struct target *target)
{
    list_append(&targets, &target->link);
    target_look(target);
    return target;
}

struct target *target_start(const struct process_options *options, const char **failed)
{
    struct process process;
    int error = process_start(&process, options, failed);
    if (error) {
        errno = error;
        return NULL;
    }
    struct target *target = new_target(process.pid);
    target->own = true;
    target->process = process;
    return add(target);
}

struct target *target_watch(pid_t pid)
{
    struct target *target = new_target(pid);
    tree_find(&target->tree, &(struct tree_roots){ .pid = pid });
    if (!target->tree.count) {
        target_free(target);
        return NULL;
    }
    target->cpu_before = tree_cpu(&target->tree);
    return add(target);
}

/* Samples */

static void keep(struct target *target, struct target_sample sample)
{
    if (target->count == target->capacity) {
        target->capacity = target->capacity ? target->capacity * 2 : 256;
        target->samples = mem_resize(target->samples, target->capacity * sizeof *target->samples);
    }
    target->samples[target->count++] = sample;
}

/* Who belongs to it is looked up less often than what they use: it means to read all of /proc. When the first process has ended, the others are orphans, to be found at once. */
static void read_tree(struct target *target, int64_t now)
{
    bool alive = !target->own || target->process.running;
    if (target->own)
        process_reap_orphans(&target->process, &target->tree);
    if (alive && now - target->found_at < FIND_MS * NS_PER_MS) {
        tree_update(&target->tree);
        return;
    }
    tree_find(&target->tree, &(struct tree_roots){ .pid = alive ? target->root : 0, .mark = target->own ? target->process.mark : NULL });
    target->found_at = now;
}

void target_look(struct target *target)
{
    int64_t now = clock_ns();
    if (target->own)
        process_look(&target->process);
    read_tree(target, now);
    target->looked_at = now;
    keep(target, (struct target_sample){ now, tree_cpu(&target->tree) + target->process.reaped_cpu - target->cpu_before, tree_memory(&target->tree) });
}

void targets_tick(void)
{
    for (struct link *link = targets.next; link != &targets; link = link->next) {
        struct target *target = container_of(link, struct target, link);
        if (clock_ns() - target->looked_at >= SAMPLE_MS * NS_PER_MS)
            target_look(target);
    }
}

void target_forget(struct target *target)
{
    target->count = 0;
}

/* Ends */

bool target_running(const struct target *target)
{
    return target->own ? target->process.running : target->tree.count > 0;
}

bool targets_ended(void)
{
    for (struct link *link = targets.next; link != &targets; link = link->next) {
        const struct target *target = container_of(link, struct target, link);
        if (target->own && !target->process.running)
            return true;
    }
    return false;
}

pid_t target_stop(struct target *target, int64_t timeout)
{
    list_remove(&target->link);
    return target->own ? process_stop(&target->process, timeout) : 0;
}

void targets_kill(void)
{
    for (struct link *link = targets.next; link != &targets; link = link->next) {
        struct target *target = container_of(link, struct target, link);
        if (target->own)
            process_stop(&target->process, 0);
    }
}

void target_free(struct target *target)
{
    if (link_listed(&target->link))
        target_stop(target, 0);
    process_free(&target->process);
    tree_free(&target->tree);
    free(target->samples);
    free(target);
}
