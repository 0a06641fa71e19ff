/* The open model: iterations begin when they are due, whatever the server does. Users are there to carry them out: an arrival takes the free user that was used last, or
 * a new one; when all are busy it waits in the backlog, its latency counted from when it was due, or it is dropped. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/group.h"

static struct share at_most(struct share share, uint64_t members)
{
    return (struct share){ share.index, share.count < members ? share.count : (unsigned)members };
}

/* Processes and workers that would have no user leave the arrivals to the others. False: this worker is one of them. */
static bool take_part(struct group *group, struct share process)
{
    struct share worker = { (group->share.index - process.index) / process.count, group->share.count / process.count };
    process = at_most(process, group->plan->users);
    if (process.index >= process.count)
        return false;
    worker = at_most(worker, share_of(process, group->plan->users));
    group->share = share_within(process, worker);
    return worker.index < worker.count;
}

void open_open(struct group *group)
{
    timer_init(&group->timer, NULL);
    group->next_due = NS_NEVER;
    if (!take_part(group, group->vm->share))
        return;
    group->user_limit = share_of(group->share, group->plan->users);
    group->free_numbers = mem_array(group->user_limit, sizeof *group->free_numbers);
    arrivals_init(&group->arrivals, group->plan, group->share, group->vm->seed, group->index);
    group->has_next = arrivals_next(&group->arrivals, &group->next);
}

bool open_more(const struct group *group)
{
    return !group->stopping && (group->has_next || group->backlog.count || group->preparing);
}

/* Users */

static struct vu *make_user(struct group *group)
{
    if (group->user_count == group->user_limit)
        return NULL;
    group->user_count++;
    uint64_t number = group->free_number_count ? group->free_numbers[--group->free_number_count] : share_member(group->share, group->made++);
    return group_new_user(group, number);
}

void open_prepare(struct group *group)
{
    uint64_t wanted = group->plan->min_users ? share_of(group->share, group->plan->min_users) : 1;
    for (uint64_t i = 0; i < wanted && group->has_next; i++) {
        struct vu *vu = make_user(group);
        if (!vu)
            return;
        if (vu->welcome) {
            list_prepend(&group->idle, &vu->main.link);
            continue;
        }
        group->preparing++;
        vu->slip_known = true;
        vu_begin(vu, PHASE_START, clock_ns());
    }
}

/* The backlog */

static void push(struct backlog *backlog, struct waiting waiting)
{
    if (backlog->count == backlog->capacity) {
        size_t capacity = backlog->capacity ? 2 * backlog->capacity : 256;
        struct waiting *items = mem_array(capacity, sizeof *items);
        for (size_t i = 0; i < backlog->count; i++)
            items[i] = backlog->items[(backlog->first + i) % backlog->capacity];
        free(backlog->items);
        *backlog = (struct backlog){ .items = items, .count = backlog->count, .capacity = capacity };
    }
    backlog->items[(backlog->first + backlog->count++) % backlog->capacity] = waiting;
}

static struct waiting shift(struct backlog *backlog)
{
    struct waiting waiting = backlog->items[backlog->first];
    backlog->first = (backlog->first + 1) % backlog->capacity;
    backlog->count--;
    return waiting;
}

static struct iteration_counts *counts_of(const struct group *group, int64_t due)
{
    return iterations_or_aside(group->metrics, due);
}

static void count_scheduled(struct group *group, int64_t due)
{
    counts_of(group, due)->scheduled++;
    timeline_due(&group->metrics->timeline, due);
}

/* The worker has come to an arrival for which there is no user. */
static void count_late(struct group *group, int64_t due, int64_t now)
{
    count_scheduled(group, due);
    if (!scenario_is_aside(group->metrics, due))
        hist_record(&group->metrics->schedule_slip, now - due);
}

/* An arrival has ended without having begun. */
static void count_ended(struct group *group, int64_t due, int64_t now)
{
    if (!scenario_is_aside(group->metrics, due))
        timeline_ended(&group->metrics->timeline, now);
}

static void count_unfinished(struct group *group, int64_t due, int64_t now)
{
    counts_of(group, due)->interrupted++;
    count_ended(group, due, now);
    if (!scenario_is_aside(group->metrics, due))
        hist_record(&group->metrics->unfinished, now - due);
}

/* Those that have waited longer than the timeout are not started any more. */
static void expire(struct group *group, int64_t now)
{
    struct backlog *backlog = &group->backlog;
    while (backlog->count && now - backlog->items[backlog->first].due > group->plan->http.timeout) {
        int64_t due = shift(backlog).due;
        counts_of(group, due)->expired++;
        count_ended(group, due, now);
    }
}

/* Arrivals */

static void begin(struct group *group, struct vu *vu, uint64_t sequence, int64_t due, int64_t late)
{
    if (++group->metrics->users > group->metrics->users_max)
        group->metrics->users_max = group->metrics->users;
    group_begin(group, vu, sequence, due, late);
}

static void wait_for_user(struct group *group, struct waiting waiting)
{
    struct backlog *backlog = &group->backlog;
    count_late(group, waiting.due, waiting.seen);
    if (group->plan->overflow == OVERFLOW_DROP) {
        counts_of(group, waiting.due)->dropped++;
        count_ended(group, waiting.due, waiting.seen);
        return;
    }
    push(backlog, waiting);
    if (backlog->count > group->metrics->backlog_max)
        group->metrics->backlog_max = backlog->count;
}

static void arrive(struct group *group, int64_t due, uint64_t sequence, int64_t now)
{
    struct link *link = list_shift(&group->idle);
    struct vu *vu = link ? container_of(link, struct vu, main.link) : make_user(group);
    if (!vu) {
        wait_for_user(group, (struct waiting){ due, now, sequence });
        return;
    }
    count_scheduled(group, due);
    vu->slip_known = false;
    begin(group, vu, sequence, due, LATE_UNKNOWN);
}

void open_next(struct group *group, struct vu *vu, int64_t now)
{
    if (vu->leaving) {
        group_leave(group, vu);
        return;
    }
    expire(group, now);
    if (group->backlog.count) {
        struct waiting waiting = shift(&group->backlog);
        if (!scenario_is_aside(group->metrics, waiting.due))
            hist_record(&group->metrics->user_wait, now - waiting.seen);
        vu->slip_known = true;
        begin(group, vu, waiting.sequence, waiting.due, waiting.seen - waiting.due);
    } else if (open_more(group)) {
        list_prepend(&group->idle, &vu->main.link);
    } else {
        group_leave(group, vu);
    }
}

void open_user_gone(struct group *group, uint64_t number)
{
    group->user_count--;
    group->free_numbers[group->free_number_count++] = number;
    if (group->backlog.count && !group->stopping) /* another one takes what waits: there may be nobody else who would */
        open_next(group, make_user(group), clock_ns());
}

/* There are no more arrivals: users with nothing to do leave. */
static void end_idle(struct group *group)
{
    struct link *link;
    while ((link = list_shift(&group->idle)))
        group_leave(group, container_of(link, struct vu, main.link));
    group_check_end(group);
}

void open_turn(struct group *group, int64_t now)
{
    expire(group, now);
    for (int starts = 0; group->has_next; starts++) {
        group->next_due = group_time(group, group->plan->start_after + group->next.due);
        if (group->next_due > now || starts == OPEN_STARTS)
            return;
        int64_t due = group->next_due;
        uint64_t sequence = group->next.sequence;
        group->has_next = arrivals_next(&group->arrivals, &group->next);
        arrive(group, due, sequence, now);
    }
    group->next_due = NS_NEVER;
    end_idle(group);
}

void open_start(struct group *group)
{
    group->next_due = group->start;
}

void open_interrupt(struct group *group)
{
    int64_t now = clock_ns();
    expire(group, now);
    while (group->backlog.count)
        count_unfinished(group, shift(&group->backlog).due, now);
    for (; group->has_next && group->start; group->has_next = arrivals_next(&group->arrivals, &group->next)) {
        int64_t due = group_time(group, group->plan->start_after + group->next.due);
        if (due > now)
            break;
        count_late(group, due, now);
        count_unfinished(group, due, now);
    }
    group->has_next = false;
    group->next_due = NS_NEVER;
}
