#include "run/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

enum { BLOCK_MS = 200, SHORTEST_SECOND_MS = 100 };

void progress_init(struct progress_state *progress, struct vm *control, const struct plan *plan, struct run *run, struct worker *workers, unsigned worker_count)
{
    *progress = (struct progress_state){
        .control = control, .plan = plan, .run = run, .workers = workers, .worker_count = worker_count, .next_second = NS_NEVER, .next_update = NS_NEVER,
    };
    for (size_t i = 0; i < plan->scenario_count; i++)
        progress->has_warm_up = progress->has_warm_up || plan->scenarios[i].warm_up;
    spool_init(&progress->spool);
}

void progress_begin(struct progress_state *progress)
{
    const struct plan *plan = progress->plan;
    int64_t start = progress->run->start;
    progress->next_second = start + NS_PER_SECOND;
    progress->next_update = plan->progress == PROGRESS_BLOCK ? start : start + plan->interval;
    progress->warm = start + schedule_measured(plan);
}

static void replace(struct metrics_totals *totals, const struct metrics_totals *fresh)
{
    metrics_totals_free(totals);
    *totals = *fresh;
}

static void gather(struct progress_state *progress)
{
    struct metrics_totals counted = { 0 }, warm_up = { 0 };
    for (unsigned i = 0; i < progress->worker_count; i++)
        worker_totals(&progress->workers[i], &counted, &warm_up);
    if (progress->has_warm_up) {
        metrics_totals_merge(&warm_up, &counted);
        replace(&progress->shown.now, &warm_up);
    }
    replace(&progress->counted.now, &counted);
}

static struct tally *shown(struct progress_state *progress)
{
    return progress->has_warm_up ? &progress->shown : &progress->counted;
}

static uint64_t all_errors(const struct metrics_totals *totals)
{
    return totals->failed + totals->timed_out;
}

static struct second *add_second(struct progress_state *progress)
{
    if (progress->series_count == progress->series_capacity) {
        progress->series_capacity = progress->series_capacity ? progress->series_capacity * 2 : 64;
        progress->series = mem_resize(progress->series, progress->series_capacity * sizeof *progress->series);
        progress->latencies = mem_resize(progress->latencies, progress->series_capacity * sizeof *progress->latencies);
    }
    struct second *second = &progress->series[progress->series_count++];
    memset(second, 0, sizeof *second);
    return second;
}

/* The latency of the second in the tally that ends now. */
static void latency_of_second(const struct tally *tally, struct hist *into)
{
    hist_free(into);
    hist_merge(into, &tally->now.latency);
    hist_subtract(into, &tally->at_second.latency);
}

static void keep_second(struct progress_state *progress, int64_t end)
{
    const struct tally *tally = &progress->counted;
    struct second *second = add_second(progress);
    struct hist latency = { 0 };
    struct buf encoded = { 0 };
    second->time = ns_to_seconds(end - progress->run->start);
    second->users = tally->now.users;
    second->requests = tally->now.responses - tally->at_second.responses;
    second->errors = all_errors(&tally->now) - all_errors(&tally->at_second);
    latency_of_second(tally, &latency);
    hist_encode(&latency, &encoded);
    progress->latencies[progress->series_count - 1] = spool_put(&progress->spool, encoded.data, encoded.length);
    buf_free(&encoded);
    hist_free(&latency);
}

static void next_second(struct tally *tally)
{
    metrics_totals_free(&tally->at_second);
    metrics_totals_merge(&tally->at_second, &tally->now);
}

/* Closes the second that ends at `end` and lasted `length` ns; one of the warm-up alone is not kept. */
static void close_second(struct progress_state *progress, int64_t end, int64_t length)
{
    struct tally *tally = shown(progress);
    if (end > progress->warm)
        keep_second(progress, end);
    latency_of_second(tally, &progress->last_second);
    progress->rate = (double)(tally->now.responses - tally->at_second.responses) * 1e9 / (double)length;
    progress->has_second = true;
    next_second(&progress->counted);
    if (progress->has_warm_up)
        next_second(&progress->shown);
}

static double share_done(const struct progress_state *progress, int64_t elapsed, int64_t duration)
{
    if (duration != NS_NEVER)
        return elapsed >= duration ? 1 : (double)elapsed / (double)duration;
    uint64_t taken = 0, total = 0;
    for (size_t i = 0; i < progress->plan->scenario_count; i++) {
        const struct scenario_plan *scenario = &progress->plan->scenarios[i];
        uint64_t all = scenario->iterations;
        if (all == NO_LIMIT && scenario->iterations_per_user != NO_LIMIT)
            all = scenario->iterations_per_user * scenario->users;
        if (all == NO_LIMIT)
            return -1;
        total += all;
    }
    taken = progress->counted.now.iterations;
    return total ? (taken >= total ? 1 : (double)taken / (double)total) : -1;
}

static void update(struct progress_state *progress, int64_t now, bool stopping)
{
    int64_t elapsed = now > progress->run->start ? now - progress->run->start : 0, duration = schedule_duration(progress->plan);
    const struct metrics_totals *totals = &shown(progress)->now;
    struct live_state state = {
        .elapsed = elapsed,
        .duration = duration,
        .progress = share_done(progress, elapsed, duration),
        .warming = now < progress->warm,
        .stopping = stopping,
        .rate = progress->has_second || elapsed <= 0 ? progress->rate : (double)totals->responses * 1e9 / (double)elapsed,
        .totals = totals,
        .latency = progress->has_second ? &progress->last_second : &totals->latency,
    };
    vm_live_update(progress->control, &state);
}

static void show_lines(struct progress_state *progress)
{
    struct buf lines = { 0 };
    uint64_t dropped = lines_take(&progress->run->lines, &lines);
    for (size_t at = 0; at < lines.length; at += strlen(lines.data + at) + 1)
        vm_live_notice(progress->control, lines.data + at, strlen(lines.data + at));
    buf_free(&lines);
    if (!dropped)
        return;
    char text[80];
    int length = snprintf(text, sizeof text, "(%llu more lines of the script are not shown)", (unsigned long long)dropped);
    vm_live_notice(progress->control, text, (size_t)length);
}

void progress_tick(struct progress_state *progress, bool stopping)
{
    int64_t now = clock_ns();
    show_lines(progress);
    bool second = now >= progress->next_second;
    bool due = progress->plan->progress != PROGRESS_NONE && now >= progress->next_update;
    if (second || due)
        gather(progress);
    if (second) {
        close_second(progress, progress->next_second, NS_PER_SECOND);
        progress->next_second += NS_PER_SECOND;
    }
    if (!due)
        return;
    update(progress, now, stopping);
    int64_t step = progress->plan->progress == PROGRESS_BLOCK ? BLOCK_MS * NS_PER_MS : progress->plan->interval;
    while (progress->next_update <= now)
        progress->next_update += step;
}

/* Whether what is left since the last full second is worth one of its own: it is long, or something happened in it. */
static bool has_rest(const struct progress_state *progress, int64_t length)
{
    const struct tally *tally = &progress->counted;
    return !progress->has_second || length >= SHORTEST_SECOND_MS * NS_PER_MS || tally->now.responses != tally->at_second.responses ||
           all_errors(&tally->now) != all_errors(&tally->at_second);
}

void progress_done(struct progress_state *progress)
{
    int64_t now = clock_ns(), begun = progress->next_second - NS_PER_SECOND;
    gather(progress);
    if (progress->next_second != NS_NEVER && has_rest(progress, now - begun))
        close_second(progress, now, now - begun);
    show_lines(progress);
    vm_live_done(progress->control);
}

void progress_fetch(struct progress_state *progress)
{
    for (size_t i = 0; i < progress->series_count; i++)
        if (!spool_get(&progress->spool, progress->latencies[i], &progress->series[i].latency))
            hist_encode(&(struct hist){ 0 }, &progress->series[i].latency);
    spool_free(&progress->spool);
}

void progress_free(struct progress_state *progress)
{
    for (size_t i = 0; i < progress->series_count; i++)
        buf_free(&progress->series[i].latency);
    free(progress->series);
    free(progress->latencies);
    spool_free(&progress->spool);
    hist_free(&progress->last_second);
    struct tally *tallies[] = { &progress->counted, &progress->shown };
    for (size_t i = 0; i < 2; i++) {
        metrics_totals_free(&tallies[i]->now);
        metrics_totals_free(&tallies[i]->at_second);
    }
}
