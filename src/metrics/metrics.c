#include "metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void metrics_init(struct metrics *metrics, const char *const *scenario_names, size_t scenario_count)
{
    *metrics = (struct metrics){ .scenario_count = scenario_count };
    metrics->scenarios = mem_array(scenario_count, sizeof *metrics->scenarios);
    for (size_t i = 0; i < scenario_count; i++) {
        metrics->scenarios[i].name = mem_text(scenario_names[i], strlen(scenario_names[i]));
        metrics->scenarios[i].names = mem_array(METRICS_NAMES + 1, sizeof(struct name_metrics *));
        names_init(&metrics->scenarios[i].name_index, METRICS_NAMES);
        metrics->scenarios[i].groups = mem_array(METRICS_GROUPS + 1, sizeof(struct group_metrics *));
        names_init(&metrics->scenarios[i].group_index, METRICS_GROUPS);
        metrics->scenarios[i].aside_before = INT64_MIN;
        metrics->scenarios[i].window_end = INT64_MAX;
        metrics->scenarios[i].aside = &metrics->scenarios[i].warm_up;
    }
    metrics->checks = mem_array(METRICS_CHECKS + 1, sizeof *metrics->checks);
    names_init(&metrics->check_index, METRICS_CHECKS);
    metrics->script_errors = mem_array(METRICS_ERRORS, sizeof *metrics->script_errors);
    metrics->failures = mem_array(METRICS_TEXTS, sizeof *metrics->failures);
}

void name_metrics_free(struct name_metrics *name)
{
    for (size_t i = 0; i < name->slice_count; i++)
        name_metrics_free(&name->slices[i]);
    free(name->slices);
    free(name->statuses);
#define X(hist) hist_free(&name->hist);
    NAME_HISTS(X)
#undef X
    *name = (struct name_metrics){ 0 };
}

static void free_groups(struct scenario_metrics *scenario)
{
    for (size_t i = 0; i < scenario->group_count; i++) {
        hist_free(&scenario->groups[i]->duration);
        free(scenario->groups[i]);
    }
    names_free(&scenario->group_index);
    free(scenario->groups);
}

static void free_scenario(struct scenario_metrics *scenario)
{
    free_groups(scenario);
    hist_free(&scenario->user_wait);
    hist_free(&scenario->schedule_slip);
    hist_free(&scenario->latency_net);
    hist_free(&scenario->latency_refused);
    hist_free(&scenario->unfinished);
    timeline_free(&scenario->timeline);
    name_metrics_free(&scenario->warm_up.requests);
    for (size_t i = 0; i < scenario->name_count; i++) {
        name_metrics_free(scenario->names[i]);
        free(scenario->names[i]);
    }
    names_free(&scenario->name_index);
    details_free(&scenario->connection_details);
    hist_free(&scenario->iteration_duration);
    free(scenario->names);
    free(scenario->name);
}

static void free_checks(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->check_count; i++) {
        for (size_t s = 0; s < metrics->scenario_count; s++)
            free(metrics->checks[i][s].why);
        free(metrics->checks[i]);
    }
    names_free(&metrics->check_index);
    free(metrics->checks);
}

static void free_script_errors(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->script_error_kinds; i++) {
        free(metrics->script_errors[i].scenario);
        free(metrics->script_errors[i].text);
        free(metrics->script_errors[i].traceback);
    }
    free(metrics->script_errors);
}

void metrics_free(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->scenario_count; i++)
        free_scenario(&metrics->scenarios[i]);
    free(metrics->scenarios);
    free_checks(metrics);
    free_script_errors(metrics);
    for (size_t i = 0; i < metrics->failure_count; i++)
        free(metrics->failures[i]);
    free(metrics->failures);
    own_free(&metrics->own);
    if (metrics->methods.limit)
        names_free(&metrics->methods);
    name_metrics_free(&metrics->setup.requests);
    name_metrics_free(&metrics->teardown.requests);
    for (int i = 0; i < ERR_COUNT; i++)
        for (int k = 0; k < METRICS_ERROR_TEXTS; k++)
            free(metrics->error_texts[i][k]);
    *metrics = (struct metrics){ 0 };
}

struct name_metrics *metrics_name(struct metrics *metrics, size_t scenario, const char *name, size_t length)
{
    struct scenario_metrics *of = &metrics->scenarios[scenario];
    size_t index = names_index(&of->name_index, name, length);
    if (index == of->name_count) {
        of->names[of->name_count] = mem_zero(sizeof *of->names[0]);
        of->names[of->name_count]->scenario = of;
        of->names[of->name_count++]->name = of->name_index.texts[index];
    }
    return of->names[index];
}

static void keep_method(struct metrics *metrics, const char *method)
{
    if (!metrics->methods.limit)
        names_init(&metrics->methods, METRICS_METHODS);
    names_index(&metrics->methods, method, strlen(method));
}

uint64_t metrics_slices(struct metrics *metrics, const char *method, const char *group)
{
    keep_method(metrics, method);
    return slices_of(metrics->slices, method, group);
}

static void make_slices(struct name_metrics *name, size_t count)
{
    if (name->slices)
        return;
    name->slices = mem_array(count, sizeof *name->slices);
    name->slice_count = count;
}

struct name_metrics *metrics_slice(const struct metrics *metrics, struct name_metrics *name, size_t slice)
{
    make_slices(name, metrics->slices->count);
    return &name->slices[slice];
}

/* The counter of a status, made on first use. Nearly always it is the first one. */
static uint64_t *status_counter(struct name_metrics *name, int status)
{
    for (size_t i = 0; i < name->status_count; i++)
        if (name->statuses[i].status == status)
            return &name->statuses[i].count;
    name->statuses = mem_resize(name->statuses, (name->status_count + 1) * sizeof *name->statuses);
    struct status_count *added = &name->statuses[name->status_count++];
    *added = (struct status_count){ .status = status };
    return &added->count;
}

void metrics_status(struct name_metrics *name, int status)
{
    ++*status_counter(name, status);
}

struct check_metrics *metrics_check(struct metrics *metrics, const char *name, size_t length)
{
    size_t index = names_index(&metrics->check_index, name, length);
    if (index == metrics->check_count) {
        struct check_metrics *added = mem_array(metrics->scenario_count, sizeof *added);
        for (size_t s = 0; s < metrics->scenario_count; s++)
            added[s].name = metrics->check_index.texts[index];
        metrics->checks[metrics->check_count++] = added;
    }
    return metrics->checks[index];
}

struct group_metrics *metrics_group(struct metrics *metrics, size_t scenario, const char *name, size_t length)
{
    struct scenario_metrics *of = &metrics->scenarios[scenario];
    size_t index = names_index(&of->group_index, name, length);
    if (index == of->group_count) {
        of->groups[of->group_count] = mem_zero(sizeof *of->groups[0]);
        of->groups[of->group_count++]->name = of->group_index.texts[index];
    }
    return of->groups[index];
}

static char *copy_of(const char *text)
{
    return text ? mem_text(text, strlen(text)) : NULL;
}

/* Counts `count` errors of one kind; true when the kind is new and was kept. */
static bool count_errors(struct metrics *metrics, const struct script_error *error)
{
    metrics->script_error_count += error->count;
    for (size_t i = 0; i < metrics->script_error_kinds; i++) {
        struct script_error *known = &metrics->script_errors[i];
        if (!strcmp(known->text, error->text) && !strcmp(known->scenario, error->scenario)) {
            known->count += error->count;
            return false;
        }
    }
    if (metrics->script_error_kinds == METRICS_ERRORS)
        return false;
    metrics->script_errors[metrics->script_error_kinds++] = (struct script_error){
        .scenario = copy_of(error->scenario), .text = copy_of(error->text), .traceback = copy_of(error->traceback), .count = error->count
    };
    return true;
}

bool metrics_script_error(struct metrics *metrics, size_t scenario, const char *text, const char *traceback)
{
    /* count_errors copies the texts and does not write to them */
    return count_errors(metrics, &(struct script_error){
        .scenario = metrics->scenarios[scenario].name, .text = (char *)text, .traceback = (char *)traceback, .count = 1 });
}

static void keep_failure(struct metrics *metrics, const char *text)
{
    for (size_t i = 0; i < metrics->failure_count; i++)
        if (!strcmp(metrics->failures[i], text))
            return;
    if (metrics->failure_count < METRICS_TEXTS)
        metrics->failures[metrics->failure_count++] = copy_of(text);
}

void metrics_failure(struct metrics *metrics, const char *text)
{
    metrics->failed_on_purpose++;
    if (text)
        keep_failure(metrics, text);
}

void metrics_error_text(struct metrics *metrics, enum err error, const char *text)
{
    char **texts = metrics->error_texts[error];
    for (int i = 0; i < METRICS_ERROR_TEXTS; i++) {
        if (!texts[i])
            texts[i] = copy_of(text);
        if (!strcmp(texts[i], text))
            return;
    }
}

static void merge_error_texts(struct metrics *into, const struct metrics *from)
{
    for (int i = 0; i < ERR_COUNT; i++)
        for (int k = 0; k < METRICS_ERROR_TEXTS && from->error_texts[i][k]; k++)
            metrics_error_text(into, (enum err)i, from->error_texts[i][k]);
}

/* Adds up two structs of `size` bytes that hold nothing but uint64_t. */
static void add_counts(void *into, const void *from, size_t size)
{
    uint64_t *sums = into;
    const uint64_t *counts = from;
    for (size_t i = 0; i < size / sizeof *sums; i++)
        sums[i] += counts[i];
}

void name_metrics_merge(struct name_metrics *into, const struct name_metrics *from)
{
#define X(counter) into->counter += from->counter;
    NAME_COUNTERS(X)
#undef X
    add_counts(into->errors, from->errors, sizeof into->errors);
    for (size_t i = 0; i < from->status_count; i++)
        *status_counter(into, from->statuses[i].status) += from->statuses[i].count;
#define X(hist) hist_merge(&into->hist, &from->hist);
    NAME_HISTS(X)
#undef X
    if (from->slices)
        make_slices(into, from->slice_count);
    for (size_t i = 0; i < from->slice_count; i++)
        name_metrics_merge(&into->slices[i], &from->slices[i]);
}

static void merge_aside(struct aside_metrics *into, const struct aside_metrics *from)
{
    name_metrics_merge(&into->requests, &from->requests);
    add_counts(&into->iterations, &from->iterations, sizeof into->iterations);
    into->outlasting += from->outlasting;
}

static void merge_groups(struct metrics *metrics, size_t index, const struct scenario_metrics *from)
{
    for (size_t i = 0; i < from->group_count; i++) {
        const struct group_metrics *group = from->groups[i];
        struct group_metrics *into = metrics_group(metrics, index, group->name, strlen(group->name));
        hist_merge(&into->duration, &group->duration);
        into->cut += group->cut;
    }
}

static void merge_scenario(struct metrics *metrics, size_t index, const struct scenario_metrics *from)
{
    struct scenario_metrics *into = &metrics->scenarios[index];
    for (size_t i = 0; i < from->name_count; i++) {
        const char *name = from->names[i]->name;
        name_metrics_merge(metrics_name(metrics, index, name, strlen(name)), from->names[i]);
    }
    add_counts(&into->iterations, &from->iterations, sizeof into->iterations);
    add_counts(&into->connections, &from->connections, sizeof into->connections);
    details_merge(&into->connection_details, &from->connection_details);
    into->users += from->users;
    into->users_max += from->users_max;
    into->backlog_max += from->backlog_max;
    hist_merge(&into->iteration_duration, &from->iteration_duration);
    hist_merge(&into->user_wait, &from->user_wait);
    hist_merge(&into->schedule_slip, &from->schedule_slip);
    hist_merge(&into->latency_net, &from->latency_net);
    hist_merge(&into->latency_refused, &from->latency_refused);
    hist_merge(&into->unfinished, &from->unfinished);
    into->completed_in_window += from->completed_in_window;
    merge_groups(metrics, index, from);
    merge_aside(&into->warm_up, &from->warm_up);
}

static void merge_check(struct metrics *metrics, const struct check_metrics *from)
{
    struct check_metrics *into = metrics_check(metrics, from->name, strlen(from->name));
    for (size_t s = 0; s < metrics->scenario_count; s++) {
        into[s].passes += from[s].passes;
        into[s].fails += from[s].fails;
        if (!into[s].why)
            into[s].why = copy_of(from[s].why);
    }
}

void metrics_merge(struct metrics *into, const struct metrics *from)
{
    for (size_t i = 0; i < from->scenario_count; i++)
        merge_scenario(into, i, &from->scenarios[i]);
    for (size_t i = 0; i < from->check_count; i++)
        merge_check(into, from->checks[i]);
    uint64_t errors = into->script_error_count + from->script_error_count;
    for (size_t i = 0; i < from->script_error_kinds; i++)
        count_errors(into, &from->script_errors[i]);
    into->script_error_count = errors; /* also those of kinds that were not kept */
    for (size_t i = 0; i < from->failure_count; i++)
        keep_failure(into, from->failures[i]);
    into->failed_on_purpose += from->failed_on_purpose;
    own_merge(&into->own, &from->own);
    for (size_t i = 0; i < from->methods.count; i++)
        keep_method(into, from->methods.texts[i]);
    merge_aside(&into->setup, &from->setup);
    merge_aside(&into->teardown, &from->teardown);
    merge_error_texts(into, from);
}

void metrics_merge_timelines(struct metrics *into, const struct metrics *from)
{
    for (size_t i = 0; i < from->scenario_count; i++)
        timeline_merge(&into->scenarios[i].timeline, &from->scenarios[i].timeline);
}

void metrics_add_up(const struct metrics *metrics, struct name_metrics *totals)
{
    struct name_metrics *all = &totals[metrics->scenario_count];
    for (size_t s = 0; s < metrics->scenario_count; s++) {
        for (size_t i = 0; i < metrics->scenarios[s].name_count; i++)
            name_metrics_merge(&totals[s], metrics->scenarios[s].names[i]);
        name_metrics_merge(all, &totals[s]);
    }
}

static void total_name(struct metrics_totals *totals, const struct name_metrics *name)
{
#define X(counter) totals->counter += name->counter;
    TOTALS_OF_NAMES(X)
#undef X
    add_counts(totals->errors, name->errors, sizeof totals->errors);
    hist_merge(&totals->latency, name->latency_from_intended.count ? &name->latency_from_intended : &name->latency);
}

/* Empties the totals and keeps the pages. */
static void clear_totals(struct metrics_totals *totals)
{
    struct hist latency = totals->latency;
    hist_clear(&latency);
    *totals = (struct metrics_totals){ .latency = latency };
}

static void total_iterations(struct metrics_totals *totals, const struct iteration_counts *counts)
{
    totals->iterations += counts->completed + counts->failed + counts->interrupted;
    totals->dropped += counts->dropped;
}

void metrics_total(const struct metrics *metrics, struct metrics_totals *totals)
{
    clear_totals(totals);
    for (size_t i = 0; i < metrics->scenario_count; i++) {
        const struct scenario_metrics *scenario = &metrics->scenarios[i];
        totals->users += scenario->users;
        total_iterations(totals, &scenario->iterations);
        for (size_t k = 0; k < scenario->name_count; k++)
            total_name(totals, scenario->names[k]);
    }
}

void metrics_total_warm_up(const struct metrics *metrics, struct metrics_totals *totals)
{
    clear_totals(totals);
    for (size_t i = 0; i < metrics->scenario_count; i++) {
        total_iterations(totals, &metrics->scenarios[i].warm_up.iterations);
        total_name(totals, &metrics->scenarios[i].warm_up.requests);
    }
}

void metrics_totals_merge(struct metrics_totals *into, const struct metrics_totals *from)
{
#define X(counter) into->counter += from->counter;
    TOTALS_OF_NAMES(X)
    TOTALS_OF_SCENARIOS(X)
#undef X
    add_counts(into->errors, from->errors, sizeof into->errors);
    hist_merge(&into->latency, &from->latency);
}

void metrics_totals_free(struct metrics_totals *totals)
{
    hist_free(&totals->latency);
    *totals = (struct metrics_totals){ 0 };
}
