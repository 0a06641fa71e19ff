#include "run/warm.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum { BIN_MS = 100 };

void warm_begin(struct warm *warm, struct vm *control, const struct plan *plan, struct worker *workers, unsigned worker_count, int64_t start)
{
    *warm = (struct warm){ .control = control, .plan = plan, .workers = workers, .worker_count = worker_count, .start = start, .next = NS_NEVER };
    for (size_t i = 0; i < plan->scenario_count; i++) {
        int64_t end = ns_after(start, schedule_warm(&plan->scenarios[i]));
        if (!plan->scenarios[i].warm_up_auto)
            continue;
        warm->next = start + BIN_MS * NS_PER_MS;
        warm->deadline = end > warm->deadline ? end : warm->deadline;
    }
}

static void keep(struct warm *warm, double median)
{
    if (warm->count == warm->capacity) {
        warm->capacity = warm->capacity ? 2 * warm->capacity : 64;
        warm->medians = mem_resize(warm->medians, warm->capacity * sizeof *warm->medians);
    }
    warm->medians[warm->count++] = median;
}

/* The latencies since the last bin; true when there are any. */
static bool close_bin(struct warm *warm)
{
    struct metrics_totals counted = { 0 }, warm_up = { 0 };
    struct hist now = { 0 };
    for (unsigned i = 0; i < warm->worker_count; i++)
        worker_totals(&warm->workers[i], &counted, &warm_up);
    hist_merge(&now, &warm_up.latency);
    hist_subtract(&now, &warm->before);
    bool any = now.count;
    if (any)
        keep(warm, hist_quantile(&now, 0.5) / 1e9);
    hist_free(&now);
    hist_free(&warm->before);
    warm->before = warm_up.latency;
    warm_up.latency = (struct hist){ 0 };
    metrics_totals_free(&counted);
    metrics_totals_free(&warm_up);
    return any;
}

bool warm_tick(struct warm *warm)
{
    int64_t now = clock_ns();
    if (now < warm->next)
        return false;
    warm->next = now >= warm->deadline ? NS_NEVER : now + BIN_MS * NS_PER_MS;
    if (!close_bin(warm) || warm->next == NS_NEVER || !vm_settled(warm->control, warm->medians, warm->count))
        return false;
    warm->next = NS_NEVER;
    return true;
}

void warm_settle(const struct plan *plan, int64_t start, int64_t measured)
{
    for (size_t i = 0; i < plan->scenario_count; i++)
        if (schedule_is_warming(&plan->scenarios[i], start, measured))
            plan->scenarios[i].warm_up = measured - start - plan->scenarios[i].start_after;
}

void warm_free(struct warm *warm)
{
    hist_free(&warm->before);
    free(warm->medians);
}
