#include "run/schedule.h"

#include "base/clock.h"

static const struct stage_plan *stage_of(const struct user_changes *changes)
{
    return &changes->plan->stages[changes->stage];
}

static void enter_stage(struct user_changes *changes)
{
    changes->next = 0;
    changes->from = changes->to;
    if (changes->stage < changes->plan->stage_count)
        changes->to = (uint64_t)stage_of(changes)->level;
}

void schedule_changes(struct user_changes *changes, const struct scenario_plan *plan, struct share share)
{
    *changes = (struct user_changes){ .plan = plan, .share = share, .begun = plan->start_after };
    enter_stage(changes);
}

static void leave_stage(struct user_changes *changes)
{
    const struct stage_plan *stage = stage_of(changes);
    changes->begun = ns_after(ns_after(changes->begun, stage->over), stage->hold);
    changes->stage++;
    enter_stage(changes);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The `next` change of the stage. */
static struct user_change change_of(const struct user_changes *changes)
{
    bool begins = changes->to > changes->from;
    uint64_t k = changes->next, all = distance(changes->from, changes->to);
    __int128 after = (__int128)stage_of(changes)->over * (begins ? k : k + 1) / all;
    return (struct user_change){ .at = ns_after(changes->begun, (int64_t)after), .number = begins ? changes->from + k : changes->from - 1 - k, .begins = begins };
}

/* How many changes there are from the `next` one to the first that is the share's. */
static uint64_t foreign_changes(const struct user_changes *changes)
{
    unsigned count = changes->share.count, index = changes->share.index;
    unsigned at = (unsigned)(change_of(changes).number % count);
    return changes->to > changes->from ? (index + count - at) % count : (at + count - index) % count;
}

bool schedule_next_change(struct user_changes *changes, struct user_change *change)
{
    while (changes->stage < changes->plan->stage_count) {
        uint64_t all = distance(changes->from, changes->to);
        if (changes->next < all)
            changes->next += foreign_changes(changes);
        if (changes->next < all) {
            *change = change_of(changes);
            changes->next++;
            return true;
        }
        leave_stage(changes);
    }
    return false;
}

int64_t schedule_warm(const struct scenario_plan *scenario)
{
    return ns_after(scenario->start_after, scenario->warm_up);
}

int64_t schedule_measured(const struct plan *plan)
{
    int64_t first = NS_NEVER;
    bool any = false;
    for (size_t i = 0; i < plan->scenario_count; i++) {
        int64_t warm = schedule_warm(&plan->scenarios[i]);
        any = any || plan->scenarios[i].warm_up;
        first = warm < first ? warm : first;
    }
    return any ? first : 0;
}

int64_t schedule_end(const struct scenario_plan *scenario)
{
    return ns_after(scenario->start_after, scenario->duration);
}

int64_t schedule_deadline(const struct scenario_plan *scenario)
{
    return ns_after(schedule_end(scenario), scenario->graceful_stop);
}

int64_t schedule_last_deadline(const struct plan *plan)
{
    int64_t last = 0;
    for (size_t i = 0; i < plan->scenario_count; i++) {
        int64_t deadline = schedule_deadline(&plan->scenarios[i]);
        last = deadline > last ? deadline : last;
    }
    return last;
}

int64_t schedule_duration(const struct plan *plan)
{
    int64_t last = 0;
    for (size_t i = 0; i < plan->scenario_count; i++) {
        int64_t end = schedule_end(&plan->scenarios[i]);
        if (end > last)
            last = end;
    }
    return last;
}

bool schedule_is_warming(const struct scenario_plan *scenario, int64_t start, int64_t at)
{
    return scenario->warm_up_auto && start && at > ns_after(start, scenario->start_after) && at < ns_after(start, schedule_warm(scenario));
}

static int64_t at_most(int64_t measured, int64_t limit)
{
    return measured < limit ? measured : limit;
}

int64_t schedule_window(const struct scenario_plan *scenario, int64_t measured)
{
    return scenario->duration == NS_NEVER ? measured : at_most(measured, scenario->duration - scenario->warm_up);
}

int64_t schedule_whole_window(const struct plan *plan, int64_t measured)
{
    int64_t end = schedule_duration(plan);
    return end == NS_NEVER ? measured : at_most(measured, end - schedule_measured(plan));
}

bool schedule_claim(struct claims *claims, bool aside, uint64_t *sequence)
{
    uint64_t number = 0;
    if (!aside) {
        if (atomic_load_explicit(&claims->taken, memory_order_relaxed) >= claims->total)
            return false;
        number = atomic_fetch_add_explicit(&claims->taken, 1, memory_order_relaxed);
        if (number >= claims->total)
            return false;
    }
    if (claims->warm_up)
        number = atomic_fetch_add_explicit(&claims->numbered, 1, memory_order_relaxed);
    *sequence = share_member(claims->share, number) + 1;
    return true;
}
