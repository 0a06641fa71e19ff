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
        .control = control, .plan = plan, .run = run, .workers = workers, .worker_count = worker_count, .next_second = run->start + NS_PER_SECOND,
    };
    progress->next_update = plan->progress == PROGRESS_BLOCK ? run->start : run->start + plan->interval;
}

static void gather(struct progress_state *progress)
{
    struct metrics_totals fresh = { 0 };
    for (unsigned i = 0; i < progress->worker_count; i++)
        worker_totals(&progress->workers[i], &fresh);
    metrics_totals_free(&progress->now);
    progress->now = fresh;
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
    }
    struct second *second = &progress->series[progress->series_count++];
    memset(second, 0, sizeof *second);
    return second;
}

/* Closes the second that ends at `end` and lasted `length` ns. */
static void close_second(struct progress_state *progress, int64_t end, int64_t length)
{
    struct metrics_totals *now = &progress->now, *before = &progress->at_second;
    struct second *second = add_second(progress);
    second->time = ns_to_seconds(end - progress->run->start);
    second->users = now->users;
    second->requests = now->responses - before->responses;
    second->errors = all_errors(now) - all_errors(before);
    hist_free(&progress->last_second);
    hist_merge(&progress->last_second, &now->latency);
    hist_subtract(&progress->last_second, &before->latency);
    hist_encode(&progress->last_second, &second->latency);
    progress->rate = (double)second->requests * 1e9 / (double)length;
    progress->has_second = true;
    metrics_totals_free(before);
    *before = (struct metrics_totals){ 0 };
    metrics_totals_merge(before, now);
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
    taken = progress->now.iterations;
    return total ? (taken >= total ? 1 : (double)taken / (double)total) : -1;
}

static void update(struct progress_state *progress, int64_t now, bool stopping)
{
    int64_t elapsed = now - progress->run->start, duration = schedule_duration(progress->plan);
    struct live_state state = {
        .elapsed = elapsed,
        .duration = duration,
        .progress = share_done(progress, elapsed, duration),
        .stopping = stopping,
        .rate = progress->has_second || elapsed <= 0 ? progress->rate : (double)progress->now.responses * 1e9 / (double)elapsed,
        .totals = &progress->now,
        .latency = progress->has_second ? &progress->last_second : &progress->now.latency,
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

void progress_done(struct progress_state *progress)
{
    int64_t now = clock_ns(), begun = progress->next_second - NS_PER_SECOND;
    gather(progress);
    if (now - begun >= SHORTEST_SECOND_MS * NS_PER_MS || !progress->has_second)
        close_second(progress, now, now - begun);
    show_lines(progress);
    vm_live_done(progress->control);
}

void progress_free(struct progress_state *progress)
{
    for (size_t i = 0; i < progress->series_count; i++)
        buf_free(&progress->series[i].latency);
    free(progress->series);
    hist_free(&progress->last_second);
    metrics_totals_free(&progress->now);
    metrics_totals_free(&progress->at_second);
}
