#include "run/schedule.h"

#include "base/clock.h"

uint64_t share_of(struct share share, uint64_t whole)
{
    return whole / share.count + (share.index < whole % share.count);
}

uint64_t share_member(struct share share, uint64_t k)
{
    return k * share.count + share.index;
}

int64_t schedule_user_start(const struct scenario_plan *scenario, uint64_t number)
{
    __int128 delay = (__int128)scenario->ramp_up * number / scenario->users;
    return ns_after(scenario->start_after, (int64_t)delay);
}

int64_t schedule_end(const struct scenario_plan *scenario)
{
    return ns_after(scenario->start_after, scenario->duration);
}

int64_t schedule_deadline(const struct scenario_plan *scenario)
{
    return ns_after(schedule_end(scenario), scenario->graceful_stop);
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

bool schedule_claim(struct claims *claims, uint64_t *sequence)
{
    if (atomic_load_explicit(&claims->taken, memory_order_relaxed) >= claims->total)
        return false;
    uint64_t number = atomic_fetch_add_explicit(&claims->taken, 1, memory_order_relaxed);
    *sequence = number + 1;
    return number < claims->total;
}
