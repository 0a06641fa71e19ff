#define _GNU_SOURCE
#include "script/results.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "script/api.h"
#include "script/results_health.h"
#include "script/table.h"

static void push_errors(lua_State *L, const uint64_t *errors)
{
    lua_newtable(L);
    for (int i = 1; i < ERR_COUNT; i++)
        if (errors[i])
            table_set_count(L, err_name(i), errors[i]);
}

/* Sets the table of tags that "TAG=VALUE\n..." stands for, and appends it to the label. */
static void set_tags(lua_State *L, const char *text, struct buf *label)
{
    lua_newtable(L);
    for (const char *separator = " {"; *text; separator = ", ") {
        size_t length = strcspn(text, "\n"), name = strcspn(text, "=");
        lua_pushlstring(L, text, name);
        lua_pushlstring(L, text + name + 1, length - name - 1);
        lua_rawset(L, -3);
        buf_printf(label, "%s%.*s", separator, (int)length, text);
        text += length + (text[length] == '\n');
    }
    lua_setfield(L, -2, "tags");
    buf_append(label, "}", 1);
}

/* A name with tags is "NAME\nTAG=VALUE\n..." in the metrics: it is shown as "NAME {TAG=VALUE, ...}". */
static void push_name(lua_State *L, const char *name)
{
    const char *tags = name ? strchr(name, '\n') : NULL;
    struct buf label = { 0 };
    if (!tags) {
        table_set_text(L, "name", name);
        return;
    }
    lua_pushlstring(L, name, (size_t)(tags - name));
    lua_setfield(L, -2, "base");
    buf_append(&label, name, (size_t)(tags - name));
    set_tags(L, tags + 1, &label);
    lua_pushlstring(L, label.data, label.length);
    lua_setfield(L, -2, "name");
    buf_free(&label);
}

static void push_slices(lua_State *L, const struct name_metrics *name);

static void push_named(lua_State *L, const struct name_metrics *name)
{
    lua_newtable(L);
    push_name(L, name->name);
    if (name->slices)
        push_slices(L, name);
    table_set_count(L, "started", name->started);
    table_set_count(L, "succeeded", name->succeeded);
    table_set_count(L, "failed", name->failed);
    table_set_count(L, "timed_out", name->timed_out);
    table_set_count(L, "interrupted", name->interrupted);
    table_set_count(L, "retried", name->retried);
    table_set_count(L, "redirected", name->redirected);
    table_set_count(L, "in_window", name->in_window);
    table_set_count(L, "responses", name->responses);
    table_set_count(L, "bytes_sent", name->bytes_sent);
    table_set_count(L, "bytes_received", name->bytes_received);
    push_errors(L, name->errors);
    lua_setfield(L, -2, "errors");
    lua_newtable(L);
    for (size_t i = 0; i < name->status_count; i++) {
        lua_pushnumber(L, (lua_Number)name->statuses[i].count);
        lua_rawseti(L, -2, name->statuses[i].status);
    }
    lua_setfield(L, -2, "statuses");
    table_set_hist(L, "latency", &name->latency);
    table_set_hist(L, "latency_from_intended", &name->latency_from_intended);
    table_set_hist(L, "service", &name->service);
    table_set_hist(L, "wait", &name->wait);
    table_set_hist(L, "blocked", &name->blocked);
    table_set_hist(L, "connect", &name->connect);
    table_set_hist(L, "tls", &name->tls);
}

/* By the index in the plan. */
static void push_slices(lua_State *L, const struct name_metrics *name)
{
    lua_newtable(L);
    for (size_t i = 0; i < name->slice_count; i++) {
        push_named(L, &name->slices[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "slices");
}

static void push_iterations(lua_State *L, const struct iteration_counts *counts)
{
    lua_newtable(L);
    table_set_count(L, "scheduled", counts->scheduled);
    table_set_count(L, "completed", counts->completed);
    table_set_count(L, "failed", counts->failed);
    table_set_count(L, "interrupted", counts->interrupted);
    table_set_count(L, "dropped", counts->dropped);
    table_set_count(L, "expired", counts->expired);
}

static void push_connections(lua_State *L, const struct connection_counts *counts)
{
    lua_newtable(L);
    table_set_count(L, "opened", counts->opened);
    table_set_count(L, "reused", counts->reused);
    table_set_count(L, "closed_by_peer", counts->closed_by_peer);
    table_set_count(L, "unasked", counts->unasked);
    table_set_count(L, "max_open", counts->max_open);
}

static void push_details(lua_State *L, const struct connection_details *details)
{
    lua_newtable(L);
    for (size_t i = 0; i < details->address_count; i++) {
        const struct address_metrics *address = &details->addresses[i];
        lua_newtable(L);
        table_set_text(L, "address", address->address);
        table_set_count(L, "opened", address->opened);
        table_set_count(L, "failed", address->failed);
        table_set_count(L, "requests", address->requests);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "by_address");
    lua_newtable(L);
    for (size_t i = 0; i < details->agreed_count; i++) {
        const struct agreed_metrics *agreed = &details->agreed[i];
        lua_newtable(L);
        table_set_text(L, "http", agreed->http);
        table_set_text(L, "tls", agreed->tls);
        table_set_text(L, "cipher", agreed->cipher);
        table_set_count(L, "opened", agreed->opened);
        table_set_count(L, "resumed", agreed->resumed);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "agreed");
}

/* What was left out of the figures. */
static void push_aside(lua_State *L, const struct aside_metrics *aside)
{
    lua_newtable(L);
    push_iterations(L, &aside->iterations);
    lua_setfield(L, -2, "iterations");
    push_named(L, &aside->requests);
    lua_setfield(L, -2, "requests");
    table_set_count(L, "outlasting", aside->outlasting);
}

static void push_groups(lua_State *L, const struct scenario_metrics *scenario)
{
    lua_newtable(L);
    for (size_t i = 0; i < scenario->group_count; i++) {
        const struct group_metrics *group = scenario->groups[i];
        lua_newtable(L);
        table_set_text(L, "name", group->name);
        table_set_hist(L, "duration", &group->duration);
        table_set_count(L, "cut", group->cut);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_arrivals(lua_State *L, const struct scenario_metrics *scenario)
{
    table_set_hist(L, "user_wait", &scenario->user_wait);
    table_set_hist(L, "schedule_slip", &scenario->schedule_slip);
    table_set_count(L, "backlog_max", scenario->backlog_max);
}

static void push_scenario(lua_State *L, const struct scenario_metrics *scenario, int64_t duration, int64_t window, int64_t warm_up, const struct name_metrics *total)
{
    lua_newtable(L);
    table_set_text(L, "name", scenario->name);
    table_set_count(L, "users", scenario->users);
    table_set_count(L, "users_max", scenario->users_max);
    table_set_number(L, "duration", ns_to_seconds(duration));
    table_set_number(L, "window", ns_to_seconds(window));
    table_set_number(L, "warmed", ns_to_seconds(warm_up));
    push_iterations(L, &scenario->iterations);
    lua_setfield(L, -2, "iterations");
    push_connections(L, &scenario->connections);
    push_details(L, &scenario->connection_details);
    lua_setfield(L, -2, "connections");
    table_set_hist(L, "iteration_duration", &scenario->iteration_duration);
    push_groups(L, scenario);
    lua_setfield(L, -2, "groups");
    push_aside(L, &scenario->warm_up);
    lua_setfield(L, -2, "warm_up");
    table_set_count(L, "completed_in_window", scenario->completed_in_window);
    table_set_hist(L, "latency_net", &scenario->latency_net);
    table_set_hist(L, "latency_refused", &scenario->latency_refused);
    table_set_hist(L, "unfinished", &scenario->unfinished);
    api_timeline_push(L, &scenario->timeline);
    lua_setfield(L, -2, "timeline");
    if (scenario->open)
        push_arrivals(L, scenario);
    lua_newtable(L);
    for (size_t i = 0; i < scenario->name_count; i++) {
        push_named(L, scenario->names[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "names");
    push_named(L, total);
    lua_setfield(L, -2, "total");
}

static void push_scenarios(lua_State *L, const struct results *results)
{
    lua_newtable(L);
    for (size_t i = 0; i < results->metrics->scenario_count; i++) {
        push_scenario(L, &results->metrics->scenarios[i], results->durations[i], results->windows ? results->windows[i] : results->durations[i], results->plan->scenarios[i].warm_up, &results->totals[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "scenarios");
    push_named(L, &results->totals[results->metrics->scenario_count]);
    lua_setfield(L, -2, "total");
}

/* The sum over the scenarios, and each of them in `scenarios`. */
static void push_check(lua_State *L, const struct check_metrics *check, size_t scenario_count)
{
    uint64_t passes = 0, fails = 0;
    const char *why = NULL;
    lua_newtable(L);
    lua_createtable(L, (int)scenario_count, 0);
    for (size_t s = 0; s < scenario_count; s++) {
        passes += check[s].passes;
        fails += check[s].fails;
        why = why ? why : check[s].why;
        lua_createtable(L, 0, 2);
        table_set_count(L, "passes", check[s].passes);
        table_set_count(L, "fails", check[s].fails);
        lua_rawseti(L, -2, (int)s + 1);
    }
    lua_setfield(L, -2, "scenarios");
    table_set_text(L, "name", check->name);
    table_set_count(L, "passes", passes);
    table_set_count(L, "fails", fails);
    table_set_text(L, "why", why);
}

static void push_checks(lua_State *L, const struct metrics *metrics)
{
    lua_newtable(L);
    for (size_t i = 0; i < metrics->check_count; i++) {
        push_check(L, metrics->checks[i], metrics->scenario_count);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "checks");
}

static void push_script_errors(lua_State *L, const struct metrics *metrics)
{
    lua_newtable(L);
    table_set_count(L, "count", metrics->script_error_count);
    lua_newtable(L);
    for (size_t i = 0; i < metrics->script_error_kinds; i++) {
        const struct script_error *error = &metrics->script_errors[i];
        lua_newtable(L);
        table_set_text(L, "scenario", error->scenario);
        table_set_text(L, "text", error->text);
        table_set_text(L, "traceback", error->traceback);
        table_set_count(L, "count", error->count);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "kinds");
    lua_setfield(L, -2, "script_errors");
}

static void push_error_texts(lua_State *L, const struct metrics *metrics)
{
    lua_newtable(L);
    for (int i = 0, count = 0; i < ERR_COUNT; i++)
        for (int k = 0; k < METRICS_ERROR_TEXTS && metrics->error_texts[i][k]; k++) {
            lua_newtable(L);
            table_set_text(L, "error", err_name((enum err)i));
            table_set_text(L, "text", metrics->error_texts[i][k]);
            lua_rawseti(L, -2, ++count);
        }
    lua_setfield(L, -2, "error_texts");
}

static void push_series_of(lua_State *L, const struct own_metric *metric)
{
    for (size_t i = 0; i < metric->count; i++) {
        const struct own_series *series = metric->series[i];
        lua_newtable(L);
        table_set_text(L, "key", series->key);
        table_set_count(L, "count", series->count);
        table_set_number(L, "sum", series->sum);
        table_set_number(L, "last", series->last);
        table_set_number(L, "last_at", ns_to_seconds(series->last_at));
        table_set_number(L, "min", series->min);
        table_set_number(L, "max", series->max);
        table_set_hist(L, "hist", &series->hist);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* By name, lists of series. */
static void push_own(lua_State *L, const struct own_metrics *own)
{
    lua_newtable(L);
    for (size_t i = 0; i < own->count; i++) {
        lua_newtable(L);
        push_series_of(L, own->metrics[i]);
        lua_setfield(L, -2, own->metrics[i]->name);
    }
    lua_setfield(L, -2, "metrics");
}

static void push_texts(lua_State *L, const char *const *texts, size_t count)
{
    lua_newtable(L);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, texts[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_failures(lua_State *L, const struct metrics *metrics)
{
    lua_newtable(L);
    table_set_count(L, "count", metrics->failed_on_purpose);
    push_texts(L, (const char *const *)metrics->failures, metrics->failure_count);
    lua_setfield(L, -2, "texts");
    lua_setfield(L, -2, "failures");
}

static void push_series(lua_State *L, const struct results *results)
{
    lua_newtable(L);
    for (size_t i = 0; i < results->series_count; i++) {
        const struct second *second = &results->series[i];
        lua_newtable(L);
        table_set_number(L, "time", second->time);
        table_set_count(L, "users", second->users);
        table_set_count(L, "requests", second->requests);
        table_set_count(L, "errors", second->errors);
        api_hist_push_encoded(L, &second->latency);
        lua_setfield(L, -2, "latency");
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "series");
}

/* The processor's name as the kernel knows it. */
static void cpu_model(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value + 2);
        break;
    }
    if (file)
        fclose(file);
}

static void push_machine(lua_State *L)
{
    char cpu[200];
    struct utsname system;
    struct sysinfo memory;
    cpu_model(cpu, sizeof cpu);
    lua_newtable(L);
    table_set_count(L, "cores", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    table_set_text(L, "cpu", cpu);
    if (!sysinfo(&memory))
        table_set_count(L, "memory", (uint64_t)memory.totalram * memory.mem_unit);
    if (!uname(&system)) {
        table_set_text(L, "kernel", system.release);
        table_set_text(L, "hostname", system.nodename);
    }
    lua_setfield(L, -2, "machine");
}

static void push_generator(lua_State *L, const struct results *results)
{
    lua_newtable(L);
    table_set_count(L, "threads", results->threads);
    table_set_number(L, "cpu_seconds", ns_to_seconds(results->cpu));
    table_set_number(L, "cpu", results->duration > 0 ? (double)results->cpu / (double)results->duration / results->threads : 0);
    table_set_hist(L, "lag", results->lag);
    lua_setfield(L, -2, "generator");
}

static void push_setup_failed(lua_State *L, const struct results *results)
{
    lua_newtable(L);
    table_set_text(L, "scenario", results->setup_failed);
    table_set_text(L, "text", results->setup_failure);
    lua_setfield(L, -2, "setup_failed");
}

static void push_stuck(lua_State *L, const struct stuck *stuck)
{
    lua_newtable(L);
    table_set_text(L, "scenario", stuck->scenario);
    table_set_text(L, "where", stuck->where);
    lua_setfield(L, -2, "stuck");
}

void results_push(lua_State *L, const struct results *results)
{
    lua_newtable(L);
    table_set_count(L, "started", (uint64_t)results->started_at);
    table_set_number(L, "duration", ns_to_seconds(results->duration));
    table_set_number(L, "window", ns_to_seconds(results->windows ? results->window : results->duration));
    table_set_bool(L, "interrupted", results->interrupted);
    table_set_bool(L, "server_ended", results->server_ended);
    table_set_text(L, "stopped", results->stopped);
    table_set_text(L, "unbalanced", results->unbalanced);
    if (results->setup_failed)
        push_setup_failed(L, results);
    push_aside(L, &results->metrics->setup);
    lua_setfield(L, -2, "setup");
    push_aside(L, &results->metrics->teardown);
    lua_setfield(L, -2, "teardown");
    if (results->stuck)
        push_stuck(L, results->stuck);
    push_machine(L);
    push_scenarios(L, results);
    push_texts(L, (const char *const *)results->metrics->methods.texts, results->metrics->methods.count);
    lua_setfield(L, -2, "methods");
    push_error_texts(L, results->metrics);
    push_checks(L, results->metrics);
    push_script_errors(L, results->metrics);
    push_own(L, &results->metrics->own);
    push_failures(L, results->metrics);
    push_series(L, results);
    push_generator(L, results);
    if (results->health)
        results_push_health(L, results->health);
    journal_outcomes_push(L, results->journals, results->journal_count);
    push_texts(L, results->notices, results->notice_count);
    lua_setfield(L, -2, "notices");
}

void live_state_push(lua_State *L, const struct live_state *state)
{
    lua_newtable(L);
    table_set_number(L, "elapsed", ns_to_seconds(state->elapsed));
    if (state->duration != NS_NEVER)
        table_set_number(L, "duration", ns_to_seconds(state->duration));
    if (state->progress >= 0)
        table_set_number(L, "progress", state->progress);
    table_set_text(L, "phase", state->stopping ? "stopping" : state->warming ? "warm_up" : "run");
    table_set_number(L, "rate", state->rate);
    table_set_count(L, "users", state->totals->users);
    table_set_count(L, "started", state->totals->started);
    table_set_count(L, "responses", state->totals->responses);
    table_set_count(L, "dropped", state->totals->dropped);
    push_errors(L, state->totals->errors);
    lua_setfield(L, -2, "errors");
    if (state->latency && state->latency->count) {
        table_set_number(L, "p50", hist_quantile(state->latency, 0.5) / 1e9);
        table_set_number(L, "p99", hist_quantile(state->latency, 0.99) / 1e9);
    }
}
