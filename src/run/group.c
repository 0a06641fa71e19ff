#include "run/group.h"

#include <stdlib.h>

#include "base/clock.h"

enum {
    FIRST_REST_MS = 1, /* after a failed iteration, doubling to: */
    LAST_REST_MS = 100,
};

int64_t group_time(const struct group *group, int64_t offset)
{
    return ns_after(group->start, offset);
}

void group_check_end(struct group *group)
{
    bool more = group_is_open(group) ? open_more(group) : closed_more(group);
    if (group->ended || more || !list_empty(&group->users))
        return;
    struct timer *timers[] = { &group->timer, &group->warm_timer, &group->end_timer, &group->grace_timer };
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        timers_clear(timers[i]);
    group->ended = true;
    if (group->start)
        group->duration = clock_ns() - group_time(group, group->plan->start_after);
    --*group->active;
}

/* Users */

struct vu *group_new_user(struct group *group, uint64_t number)
{
    struct vu *vu = vu_new(group->vm, group->index, number + 1);
    list_append(&group->users, &vu->all);
    return vu;
}

static void end_user(struct group *group, struct vu *vu)
{
    uint64_t number = vu->id - 1;
    vu_free(vu);
    if (group_is_open(group))
        open_user_gone(group, number);
    else
        closed_user_gone(group, number);
    group_check_end(group);
}

void group_leave(struct group *group, struct vu *vu)
{
    bool was_there = vu->welcome && (vu->iteration || vu_has(vu, PHASE_START));
    vu->leaving = true;
    strand_abandon(&vu->main); /* it may be resting */
    if (was_there && vu_has(vu, PHASE_STOP) && !group->interrupting)
        vu_begin(vu, PHASE_STOP, clock_ns());
    else
        end_user(group, vu);
}

/* Iterations */

static struct iteration_counts *counts_of(const struct group *group, const struct vu *vu)
{
    return iterations_or_aside(group->metrics, vu->due);
}

/* The number of a user's iteration tells whether it has one: those in on_start before the first arrival have not. */
static bool in_iteration(const struct vu *vu)
{
    return vu->sequence;
}

void group_begin(struct group *group, struct vu *vu, uint64_t sequence, int64_t due, int64_t late)
{
    if (group->plan->fresh && vu->iteration)
        vu_replace(vu);
    vu->iteration++;
    vu->aside += scenario_is_aside(group->metrics, due);
    vu->sequence = sequence;
    vu->late = late;
    vu_begin(vu, vu->welcome ? PHASE_RUN : PHASE_START, due);
}

/* By how much the worker came late to an arrival, once; of one that had to wait for a user it is known already. */
static void record_slip(struct group *group, struct vu *vu, int64_t now)
{
    if (group_is_open(group) && in_iteration(vu) && !vu->slip_known && !scenario_is_aside(group->metrics, vu->due))
        hist_record(&group->metrics->schedule_slip, vu->late == LATE_UNKNOWN ? now - vu->due : vu->late);
    vu->slip_known = true;
}

static void end_iteration(struct group *group, const struct vu *vu, int64_t now)
{
    if (group_is_open(group)) {
        group->metrics->users--;
        if (!scenario_is_aside(group->metrics, vu->due))
            timeline_ended(&group->metrics->timeline, now);
    }
    if (group->plan->fresh && vu->client != vu->scenario->client)
        client_reset(vu->client);
}

/* Returns when that was. */
static int64_t count_completed(struct group *group, struct vu *vu)
{
    int64_t now = clock_ns();
    counts_of(group, vu)->completed++;
    group->metrics->completed_in_window += is_in_window(group->metrics, vu->due, now);
    if (!scenario_is_aside(group->metrics, vu->due))
        hist_record(&group->metrics->iteration_duration, now - (group_is_open(group) ? vu->due : vu->began));
    vu->iteration_failures = 0;
    end_iteration(group, vu, now);
    return now;
}

static void count_failed(struct group *group, struct vu *vu, int64_t now)
{
    counts_of(group, vu)->failed++;
    end_iteration(group, vu, now);
}

static int64_t rest_after_failure(unsigned failures)
{
    int64_t ms = FIRST_REST_MS;
    while (failures-- > 1 && ms < LAST_REST_MS)
        ms *= 2;
    return (ms < LAST_REST_MS ? ms : LAST_REST_MS) * NS_PER_MS;
}

static void iteration_failed(struct group *group, struct vu *vu)
{
    int64_t now = clock_ns();
    count_failed(group, vu, now);
    if (group_is_open(group))
        open_next(group, vu, now);
    else if (group->stopping || vu->leaving)
        group_leave(group, vu);
    else
        vu_rest(vu, now + rest_after_failure(++vu->iteration_failures));
}

static void iteration_completed(struct group *group, struct vu *vu)
{
    int64_t now = count_completed(group, vu);
    if (group_is_open(group)) {
        open_next(group, vu, now);
    } else if (!vu->waited) {
        list_append(&group->vm->yielded, &vu->main.link); /* the others first */
    } else {
        vu->goes_on = now;
        closed_next(group, vu, vu->next_due ? vu->next_due : now);
    }
}

static void iteration_ended(struct group *group, struct vu *vu, enum vu_outcome outcome)
{
    switch (outcome) {
    case VU_WAITS: break;
    case VU_COMPLETED: iteration_completed(group, vu); break;
    case VU_FAILED: iteration_failed(group, vu); break;
    case VU_LEAVES:
        count_completed(group, vu);
        group_leave(group, vu);
        break;
    case VU_STOPS_RUN:
        counts_of(group, vu)->interrupted++;
        end_iteration(group, vu, clock_ns());
        end_user(group, vu);
        break;
    }
}

static void start_ended(struct group *group, struct vu *vu, enum vu_outcome outcome)
{
    vu->welcome = outcome == VU_COMPLETED;
    if (!in_iteration(vu)) {
        group->preparing--;
        if (outcome == VU_COMPLETED || outcome == VU_FAILED)
            open_next(group, vu, clock_ns());
        else
            end_user(group, vu);
    } else if (vu->welcome) {
        vu_begin(vu, PHASE_RUN, vu->due);
    } else {
        iteration_ended(group, vu, outcome);
    }
}

void group_ran(struct group *group, struct strand *strand)
{
    struct vu *vu = strand->vu;
    enum phase phase = vu->phase;
    if (phase == PHASE_NONE && !strand->is_task) {
        closed_next(group, vu, vu->next_due ? vu->next_due : clock_ns());
        return;
    }
    enum vu_outcome outcome = vu_resume(strand);
    if (!vu->slip_known)
        record_slip(group, vu, vu->began); /* vu_resume has found out */
    if (outcome == VU_WAITS)
        return;
    switch (phase) {
    case PHASE_START: start_ended(group, vu, outcome); break;
    case PHASE_STOP: end_user(group, vu); break;
    case PHASE_NONE: group_leave(group, vu); break; /* a task of on_start's has ended it */
    default: iteration_ended(group, vu, outcome);
    }
}

/* The ends */

void group_retire(struct group *group, struct vu *vu)
{
    vu->leaving = true;
    if (vu->phase == PHASE_NONE) {
        group_leave(group, vu);
    } else if (vu->phase == PHASE_RUN && vu->main.pacing) {
        if (vu_complete(vu) == VU_COMPLETED)
            count_completed(group, vu);
        else
            count_failed(group, vu, clock_ns());
        group_leave(group, vu);
    }
}

void group_stop(struct group *group)
{
    struct link *next;
    group->stopping = true;
    for (struct link *link = group->users.next; link != &group->users; link = next) {
        next = link->next;
        group_retire(group, container_of(link, struct vu, all));
    }
    group_check_end(group);
}

static void count_interrupted(struct group *group, struct vu *vu)
{
    bool running = vu->phase == PHASE_RUN || (vu->phase == PHASE_START && in_iteration(vu));
    if (vu->phase == PHASE_START && !in_iteration(vu))
        group->preparing--;
    if (!running)
        return;
    int64_t now = clock_ns();
    counts_of(group, vu)->interrupted++;
    record_slip(group, vu, now);
    end_iteration(group, vu, now);
}

static void interrupt_user(struct group *group, struct vu *vu)
{
    count_interrupted(group, vu);
    vu_interrupt(vu);
    end_user(group, vu);
}

void group_interrupt(struct group *group)
{
    group->interrupting = true;
    if (group_is_open(group))
        open_interrupt(group);
    group_stop(group);
    while (!list_empty(&group->users))
        interrupt_user(group, container_of(group->users.next, struct vu, all));
    group_check_end(group);
}

void group_abandon(struct group *group)
{
    if (group_is_open(group))
        open_interrupt(group);
    for (struct link *link = group->users.next; link != &group->users; link = link->next) {
        struct vu *vu = container_of(link, struct vu, all);
        count_interrupted(group, vu);
        vu_abandon(vu);
    }
    if (!group->ended && group->start)
        group->duration = clock_ns() - group_time(group, group->plan->start_after);
}

static void on_warm(struct timer *timer)
{
    struct group *group = container_of(timer, struct group, warm_timer);
    group->vm->scenarios[group->index].warming = false;
    group->metrics->users_max = group->metrics->users;
    group->metrics->backlog_max = group->backlog.count;
}

static void on_end(struct timer *timer)
{
    struct group *group = container_of(timer, struct group, end_timer);
    if (!group_is_open(group)) /* what is due in the open model before the end is started, however late */
        group_stop(group);
    if (!group->ended)
        timers_set(&group->vm->loop->timers, &group->grace_timer, group_time(group, schedule_deadline(group->plan)));
}

/* How long (ns) figures will be taken; 0: not known. The same for all threads. */
static int64_t window_length(const struct group *group)
{
    return group->plan->duration == NS_NEVER ? 0 : group->plan->duration;
}

void group_measure(struct group *group, int64_t at)
{
    if (!schedule_is_warming(group->plan, group->start, at))
        return;
    group->metrics->aside_before = at;
    timeline_begin(&group->metrics->timeline, at, window_length(group));
    timers_set(&group->vm->loop->timers, &group->warm_timer, at);
}

static void on_grace(struct timer *timer)
{
    group_interrupt(container_of(timer, struct group, grace_timer));
}

/* The beginning */

void group_open(struct group *group, struct vm *vm, size_t index, struct share share, struct claims *claims, size_t *active)
{
    const struct scenario_plan *plan = vm->scenarios[index].plan;
    *group = (struct group){ .vm = vm, .index = index, .plan = plan, .metrics = vm->scenarios[index].metrics, .share = share, .claims = claims, .active = active };
    link_init(&group->users);
    link_init(&group->idle);
    timer_init(&group->warm_timer, on_warm);
    timer_init(&group->end_timer, on_end);
    timer_init(&group->grace_timer, on_grace);
    ++*active;
    if (group_is_open(group))
        open_open(group);
    else
        closed_open(group);
}

void group_close(struct group *group)
{
    free(group->places);
    free(group->free_numbers);
    free(group->backlog.items);
    arrivals_free(&group->arrivals);
}

void group_prepare(struct group *group)
{
    if (group->plan->warm_up) {
        group->metrics->aside_before = NS_NEVER;
        group->vm->scenarios[group->index].warming = true;
    }
    if (group_is_open(group))
        open_prepare(group);
}

void group_start(struct group *group, int64_t start)
{
    const struct scenario_plan *plan = group->plan;
    struct timers *timers = &group->vm->loop->timers;
    group->start = start;
    int64_t measured = group_time(group, schedule_warm(plan));
    if (plan->warm_up) {
        group->metrics->aside_before = measured;
        timers_set(timers, &group->warm_timer, measured);
    }
    timeline_begin(&group->metrics->timeline, measured, window_length(group));
    if (plan->duration != NS_NEVER) {
        group->metrics->window_end = group_time(group, schedule_end(plan));
        timers_set(timers, &group->end_timer, group->metrics->window_end);
    }
    if (group_is_open(group))
        open_start(group);
    else
        closed_start(group);
}
