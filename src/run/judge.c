#include "run/judge.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/exporter.h"
#include "script/results.h"

/* All that the workers have published, in a fresh struct. */
static void merge_figures(struct judge *judge, struct metrics *all)
{
    plan_metrics_init(judge->plan, all);
    for (unsigned i = 0; i < judge->worker_count; i++)
        worker_figures(&judge->workers[i], all);
}

static int64_t *elapsed_of_scenarios(const struct judge *judge, int64_t elapsed)
{
    int64_t *durations = mem_array(judge->plan->scenario_count, sizeof *durations);
    for (size_t i = 0; i < judge->plan->scenario_count; i++) {
        const struct scenario_plan *scenario = &judge->plan->scenarios[i];
        int64_t length = elapsed - scenario->start_after - scenario->warm_up;
        durations[i] = length > 0 ? length : 0;
    }
    return durations;
}

static void export(struct judge *judge, const struct results *results)
{
    struct buf text = { 0 };
    vm_export(judge->control, results, &text);
    exporter_publish(judge->exporter, &text);
    buf_free(&text);
}

bool judge_tick(struct judge *judge)
{
    int64_t now = clock_ns();
    if (!(judge->plan->watched || judge->exporter) || now < judge->next || now <= judge->start)
        return false;
    judge->next = now + NS_PER_SECOND;
    size_t count = judge->plan->scenario_count;
    struct metrics all;
    struct hist lag = { 0 };
    struct name_metrics *totals = mem_array(count + 1, sizeof *totals);
    int64_t *durations = elapsed_of_scenarios(judge, now - judge->start);
    merge_figures(judge, &all);
    metrics_add_up(&all, totals);
    struct results results = { .duration = now - judge->start, .plan = judge->plan, .metrics = &all, .totals = totals, .durations = durations,
                               .threads = judge->worker_count, .lag = &lag };
    bool over = judge->plan->watched && vm_watch(judge->control, &results);
    if (judge->exporter)
        export(judge, &results);
    for (size_t i = 0; i <= count; i++)
        name_metrics_free(&totals[i]);
    free(totals);
    free(durations);
    metrics_free(&all);
    return over;
}
