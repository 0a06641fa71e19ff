#define _GNU_SOURCE
#include "run/health.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { STALL_MS = 10 };

static const double busy_share = 0.7, full_share = 0.9;
static const double noticeable_steal = 0.01; /* of the machine: then it may be the cause of what has no other */
static const double most_of_it = 0.5; /* a cause has had this share of a stall */

/* Gauges */

static void add_stall(struct gauge *gauge, int64_t at, int64_t length, bool asleep)
{
    size_t added = atomic_load_explicit(&gauge->added, memory_order_relaxed);
    if (added - atomic_load_explicit(&gauge->taken, memory_order_acquire) == HEALTH_STALLS) {
        gauge->more++;
        return;
    }
    gauge->stalls[added % HEALTH_STALLS] = (struct stall){ .at = at, .length = length, .asleep = asleep, .cause = STALL_UNKNOWN };
    atomic_store_explicit(&gauge->added, added + 1, memory_order_release);
}

void gauge_polled(struct gauge *gauge, const struct loop *loop)
{
    hist_record(&gauge->away, loop->away);
    if (loop->away > STALL_MS * NS_PER_MS)
        add_stall(gauge, loop->entered - loop->away, loop->away, false);
    if (loop->overslept > STALL_MS * NS_PER_MS)
        add_stall(gauge, loop->returned - loop->overslept, loop->overslept, true);
}

void gauge_free(struct gauge *gauge)
{
    hist_free(&gauge->away);
}

/* What the kernel says */

static ssize_t read_start(int file, char *text, size_t size)
{
    ssize_t got = pread(file, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return got;
}

static bool read_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read_start(file, text, size) : -1;
    if (file >= 0)
        close(file);
    return got > 0;
}

static bool sample_thread(struct thread_health *thread, struct sample *sample)
{
    char text[100];
    sample->at = clock_ns();
    return thread->file >= 0 && read_start(thread->file, text, sizeof text) > 0 && sscanf(text, "%" SCNd64 " %" SCNd64, &sample->used, &sample->waited) == 2;
}

static int64_t read_retransmits(void)
{
    char text[8192];
    int64_t value = -1;
    if (!read_file("/proc/net/snmp", text, sizeof text))
        return -1;
    char *names = strstr(text, "Tcp:"), *values = names ? strstr(names + 1, "\nTcp:") : NULL;
    if (!values)
        return -1;
    char *name_at, *value_at, *name = strtok_r(names, " \n", &name_at);
    for (char *word = strtok_r(values + 1, " \n", &value_at); word && name; word = strtok_r(NULL, " \n", &value_at), name = strtok_r(NULL, " \n", &name_at))
        if (!strcmp(name, "RetransSegs"))
            value = strtoll(word, NULL, 10);
    return value;
}

static struct machine_sample sample_machine(void)
{
    char text[1024];
    uint64_t user, nice, system, idle, io, irq, soft, steal;
    struct machine_sample sample = { .retransmits = read_retransmits() };
    sample.known = read_file("/proc/stat", text, sizeof text) &&
                   sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &user, &nice, &system, &idle, &io, &irq,
                          &soft, &steal) == 8;
    if (sample.known) {
        sample.busy = user + nice + system + irq + soft;
        sample.stolen = steal;
        sample.all = sample.busy + idle + io + steal;
    }
    return sample;
}

/* Causes */

static struct sample *sample_number(struct thread_health *thread, size_t number)
{
    return &thread->samples[number % HEALTH_SAMPLES];
}

/* The samples nearest to the stall before and after it; the oldest there is when it began earlier. */
static void around(struct thread_health *thread, const struct stall *stall, struct sample *before, struct sample *after)
{
    size_t first = thread->sample_count > HEALTH_SAMPLES ? thread->sample_count - HEALTH_SAMPLES : 0;
    *before = *sample_number(thread, first);
    *after = *sample_number(thread, thread->sample_count - 1);
    for (size_t i = first; i < thread->sample_count; i++) {
        const struct sample *sample = sample_number(thread, i);
        if (sample->at <= stall->at)
            *before = *sample;
        if (sample->at >= stall->at + stall->length) {
            *after = *sample;
            return;
        }
    }
}

/* How much of the stall lies in times in which the runner did not run either. */
static int64_t stopped_during(const struct health *health, const struct stall *stall)
{
    int64_t sum = 0;
    for (size_t i = 0; i < HEALTH_GAPS && i < health->gap_count; i++) {
        int64_t from = health->gaps[i].from > stall->at ? health->gaps[i].from : stall->at;
        int64_t end = stall->at + stall->length, to = health->gaps[i].to < end ? health->gaps[i].to : end;
        sum += to > from ? to - from : 0;
    }
    return sum;
}

static enum stall_cause cause_of(const struct health *health, struct thread_health *thread, const struct stall *stall)
{
    struct sample before, after;
    around(thread, stall, &before, &after);
    double enough = most_of_it * (double)stall->length;
    int64_t beside = after.at - before.at - stall->length; /* time of the samples that the stall is not in */
    if ((double)(after.waited - before.waited) >= enough)
        return STALL_WAITING;
    bool idle = stall->asleep || (double)(after.used - before.used - beside) < enough;
    if (idle && (double)stopped_during(health, stall) >= enough)
        return STALL_STOPPED;
    return stall->asleep ? STALL_UNKNOWN : STALL_COMPUTING;
}

/* Keeps it if it is one of the longest. */
static void keep_stall(struct thread_health *thread, const struct stall *stall)
{
    struct stall *shortest = thread->kept;
    if (thread->kept_count < HEALTH_STALLS) {
        thread->kept[thread->kept_count++] = *stall;
        return;
    }
    thread->more++;
    for (size_t i = 1; i < HEALTH_STALLS; i++)
        if (thread->kept[i].length < shortest->length)
            shortest = &thread->kept[i];
    if (stall->length > shortest->length)
        *shortest = *stall;
}

/* Takes those that have been over before the last sample, or `all`: the others are of unknown cause. */
static void judge_stalls(const struct health *health, struct thread_health *thread, bool all)
{
    struct gauge *gauge = thread->gauge;
    size_t added = atomic_load_explicit(&gauge->added, memory_order_acquire);
    for (size_t i = atomic_load_explicit(&gauge->taken, memory_order_relaxed); i < added; i++) {
        struct stall stall = gauge->stalls[i % HEALTH_STALLS];
        if (thread->sample_count && sample_number(thread, thread->sample_count - 1)->at >= stall.at + stall.length)
            stall.cause = cause_of(health, thread, &stall);
        else if (!all)
            return;
        keep_stall(thread, &stall);
        atomic_store_explicit(&gauge->taken, i + 1, memory_order_release);
    }
}

/* Sampling */

static void close_second(struct health *health, struct thread_health *thread, const struct sample *now)
{
    struct health_figures *figures = &health->figures;
    double share = (double)(now->used - thread->second.used) / (double)(now->at - thread->second.at);
    thread->second = *now;
    figures->seconds++;
    figures->busy_seconds += share > busy_share;
    figures->full_seconds += share > full_share;
    if (share > figures->busiest)
        figures->busiest = share;
}

static void look_at(struct health *health, struct thread_health *thread)
{
    struct sample now;
    bool known = sample_thread(thread, &now);
    if (known)
        *sample_number(thread, thread->sample_count++) = now;
    if (known && now.at - thread->second.at >= NS_PER_SECOND)
        close_second(health, thread, &now);
    judge_stalls(health, thread, !known);
}

static void note_gap(struct health *health, int64_t now, int64_t period)
{
    if (now - health->last_tick > period + STALL_MS * NS_PER_MS) {
        size_t at = health->gap_count++ % HEALTH_GAPS;
        health->gaps[at].from = health->last_tick;
        health->gaps[at].to = now;
    }
    health->last_tick = now;
}

void health_tick(struct health *health, int64_t period)
{
    if (!health->active)
        return;
    note_gap(health, clock_ns(), period);
    for (unsigned i = 0; i < health->count; i++)
        look_at(health, &health->threads[i]);
}

void health_place(struct health *health, const char *where)
{
    struct health_figures *figures = &health->figures;
    for (size_t i = 0; i < figures->place_count; i++)
        if (!strcmp(figures->places[i].where, where)) {
            figures->places[i].seen++;
            return;
        }
    if (figures->place_count == HEALTH_PLACES)
        return;
    struct slow_place *place = &figures->places[figures->place_count++];
    snprintf(place->where, sizeof place->where, "%s", where);
    place->seen = 1;
}

/* Beginning and end */

static void open_thread(struct thread_health *thread, struct gauge *gauge, pid_t id)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)id);
    thread->gauge = gauge;
    thread->file = open(path, O_RDONLY | O_CLOEXEC);
    if (!sample_thread(thread, &thread->first)) {
        if (thread->file >= 0)
            close(thread->file);
        thread->file = -1;
    }
    thread->second = thread->first;
    *sample_number(thread, thread->sample_count++) = thread->first;
}

void health_begin(struct health *health, int64_t start, struct gauge *const *gauges, const pid_t *threads, unsigned count)
{
    *health = (struct health){ .active = true, .count = count, .last_tick = clock_ns(), .first = sample_machine() };
    health->figures.start = start;
    health->threads = mem_array(count, sizeof *health->threads);
    for (unsigned i = 0; i < count; i++)
        open_thread(&health->threads[i], gauges[i], threads[i]);
    if (read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", health->figures.clocksource, sizeof health->figures.clocksource))
        health->figures.clocksource[strcspn(health->figures.clocksource, "\n")] = '\0';
}

static int by_time(const void *a, const void *b)
{
    const struct stall *one = a, *other = b;
    return (one->at > other->at) - (one->at < other->at);
}

static void take_stalls(struct health *health, struct thread_health *thread, unsigned worker)
{
    struct health_figures *figures = &health->figures;
    judge_stalls(health, thread, true);
    qsort(thread->kept, thread->kept_count, sizeof *thread->kept, by_time);
    figures->stalls = mem_resize(figures->stalls, (figures->stall_count + thread->kept_count + 1) * sizeof *figures->stalls);
    for (size_t i = 0; i < thread->kept_count; i++) {
        figures->stalls[figures->stall_count] = thread->kept[i];
        figures->stalls[figures->stall_count++].worker = worker;
    }
    figures->more_stalls += thread->more + thread->gauge->more;
    hist_merge(&figures->away, &thread->gauge->away);
}

static double share_waited(struct thread_health *thread)
{
    const struct sample *last = sample_number(thread, thread->sample_count - 1);
    int64_t time = last->at - thread->first.at;
    return thread->file >= 0 && time > 0 ? (double)(last->waited - thread->first.waited) / (double)time : -1;
}

static void end_machine(struct health *health)
{
    struct health_figures *figures = &health->figures;
    struct machine_sample last = sample_machine();
    uint64_t all = last.all - health->first.all;
    bool known = last.known && health->first.known && all;
    figures->stolen = known ? (double)(last.stolen - health->first.stolen) / (double)all : -1;
    figures->machine = known ? (double)(last.busy - health->first.busy) / (double)all : -1;
    figures->retransmits = last.retransmits >= 0 && health->first.retransmits >= 0 ? last.retransmits - health->first.retransmits : -1;
    for (size_t i = 0; i < figures->stall_count; i++)
        if (figures->stalls[i].cause == STALL_UNKNOWN && figures->stolen > noticeable_steal)
            figures->stalls[i].cause = STALL_STOLEN;
}

void health_end(struct health *health)
{
    struct health_figures *figures = &health->figures;
    figures->waited = -1;
    health->active = false;
    for (unsigned i = 0; i < health->count; i++) {
        struct thread_health *thread = &health->threads[i];
        look_at(health, thread);
        double waited = share_waited(thread);
        if (waited > figures->waited)
            figures->waited = waited;
        take_stalls(health, thread, i);
    }
    end_machine(health);
}

void health_free(struct health *health)
{
    for (unsigned i = 0; i < health->count; i++)
        if (health->threads[i].file >= 0)
            close(health->threads[i].file);
    free(health->threads);
    free(health->figures.stalls);
    hist_free(&health->figures.away);
    *health = (struct health){ 0 };
}
