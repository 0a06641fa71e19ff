/* The closed model: users come, iterate one iteration after another, and go, as the stages say. */
#include "base/clock.h"
#include "base/mem.h"
#include "run/group.h"

enum { CHANGES_AT_ONCE = 1000 };

static void on_change(struct timer *timer);

void closed_open(struct group *group)
{
    timer_init(&group->timer, on_change);
    schedule_changes(&group->changes, group->plan, group->share);
    group->has_change = schedule_next_change(&group->changes, &group->change);
    if (group->plan->staged)
        group->places = mem_array(share_of(group->share, group->plan->users) + 1, sizeof *group->places);
}

/* Looks for changes at the scenario's start, also when there are none: it ends then. */
void closed_start(struct group *group)
{
    timers_set(&group->vm->loop->timers, &group->timer, group_time(group, group->plan->start_after));
}

bool closed_more(const struct group *group)
{
    return !group->stopping && group->has_change;
}

/* The number of the next iteration; false when there is none left for anybody. Those of the warm-up are not claimed. */
static bool claim(struct group *group, int64_t due, uint64_t *sequence)
{
    if (group->plan->iterations != NO_LIMIT)
        return schedule_claim(group->claims, scenario_is_aside(group->metrics, due), sequence);
    *sequence = share_member(group->share, group->sequence++) + 1;
    return true;
}

void closed_next(struct group *group, struct vu *vu, int64_t due)
{
    uint64_t sequence;
    bool used_up = vu->iteration - vu->aside >= group->plan->iterations_per_user;
    if (group->stopping || vu->leaving || used_up || !claim(group, due, &sequence)) {
        group_leave(group, vu);
        return;
    }
    iterations_or_aside(group->metrics, due)->scheduled++;
    group_begin(group, vu, sequence, due, LATE_UNKNOWN);
}

static struct place *place_of(const struct group *group, uint64_t number)
{
    return group->places ? &group->places[number / group->share.count] : NULL;
}

static void begin_user(struct group *group, uint64_t number, int64_t due)
{
    struct vu *vu = group_new_user(group, number);
    struct place *place = place_of(group, number);
    if (place)
        place->vu = vu;
    if (++group->metrics->users > group->metrics->users_max)
        group->metrics->users_max = group->metrics->users;
    closed_next(group, vu, due);
}

void closed_user_gone(struct group *group, uint64_t number)
{
    struct place *place = place_of(group, number);
    group->metrics->users--;
    if (!place)
        return;
    bool again = place->again && !group->stopping;
    *place = (struct place){ 0 };
    if (again)
        begin_user(group, number, clock_ns());
}

static void change_user(struct group *group, const struct user_change *change, int64_t due)
{
    struct place *place = place_of(group, change->number);
    struct vu *vu = place ? place->vu : NULL;
    if (!vu && change->begins) {
        begin_user(group, change->number, due);
    } else if (vu && change->begins) { /* it has not gone yet */
        place->again = vu->phase == PHASE_STOP;
        vu->leaving = place->again;
    } else if (vu) {
        place->again = false;
        group_retire(group, vu);
    }
}

/* Makes the changes that are due, a bounded number at a time so that orders are heard in between, and sets the timer for the next one. */
static void on_change(struct timer *timer)
{
    struct group *group = container_of(timer, struct group, timer);
    int64_t now = clock_ns();
    for (int made = 0; !group->stopping && group->has_change; made++) {
        struct user_change change = group->change;
        int64_t due = group_time(group, change.at);
        if (due > now || made == CHANGES_AT_ONCE) {
            timers_set(&group->vm->loop->timers, timer, due > now ? due : clock_ns() + 1);
            return;
        }
        group->has_change = schedule_next_change(&group->changes, &group->change);
        change_user(group, &change, due);
    }
    group_check_end(group);
}
