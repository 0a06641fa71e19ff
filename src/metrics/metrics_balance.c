/* The books: every equation of metrics.h, checked at the end of a run. An imbalance is a bug of ours, so the text is made for whoever looks for it. */
#include "metrics/metrics.h"

#include <inttypes.h>
#include <stdio.h>

struct books {
    char *why;
    size_t size;
    const struct scenario_metrics *scenario;
    const struct name_metrics *name; /* NULL: the scenario itself */
};

/* Says where the two figures do not go together, and how. */
static bool off(const struct books *books, const char *figure, uint64_t value, const char *relation, const char *other, uint64_t other_value)
{
    const char *name = !books->name ? NULL : books->name->name ? books->name->name : "of the warm-up";
    snprintf(books->why, books->size, "scenario \"%s\"%s%s%s: %s = %" PRIu64 ", %s %s = %" PRIu64, books->scenario->name, name ? ", requests \"" : "",
             name ? name : "", name ? "\"" : "", figure, value, relation, other, other_value);
    return false;
}

static bool equal(const struct books *books, const char *figure, uint64_t value, const char *sum, uint64_t found)
{
    return value == found || off(books, figure, value, "but", sum, found);
}

static bool at_most(const struct books *books, const char *figure, uint64_t value, const char *limit, uint64_t most)
{
    return value <= most || off(books, figure, value, "more than", limit, most);
}

static uint64_t sum_of_errors(const struct name_metrics *name)
{
    uint64_t sum = 0;
    for (int i = 0; i < ERR_COUNT; i++)
        sum += name->errors[i];
    return sum;
}

static uint64_t sum_of_statuses(const struct name_metrics *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < name->status_count; i++)
        sum += name->statuses[i].count;
    return sum;
}

static bool classes_balance(const struct books *books)
{
    const struct name_metrics *name = books->name;
    uint64_t unsuccessful = name->failed + name->timed_out + name->interrupted;
    const uint64_t *errors = name->errors;
    return equal(books, "started", name->started, "succeeded + failed + timed_out + interrupted", name->succeeded + unsuccessful) &&
           equal(books, "failed + timed_out + interrupted", unsuccessful, "sum of errors", sum_of_errors(name)) &&
           equal(books, "errors called none", errors[ERR_NONE], "nothing", 0) &&
           equal(books, "timed_out", name->timed_out, "timeout + connect_timeout in errors", errors[ERR_TIMEOUT] + errors[ERR_CONNECT_TIMEOUT]) &&
           equal(books, "interrupted", name->interrupted, "interrupted in errors", errors[ERR_INTERRUPTED]);
}

static bool responses_balance(const struct books *books)
{
    const struct name_metrics *name = books->name;
    uint64_t refused = name->errors[ERR_STATUS] + name->errors[ERR_UNEXPECTED];
    uint64_t intended = name->latency_from_intended.count;
    return equal(books, "responses", name->responses, "succeeded + status and unexpected in errors", name->succeeded + refused) &&
           equal(books, "responses", name->responses, "sum of statuses", sum_of_statuses(name)) &&
           equal(books, "responses", name->responses, "values of latency", name->latency.count) &&
           equal(books, "responses", name->responses, "values of service", name->service.count) &&
           equal(books, "responses", name->responses, "values of wait", name->wait.count) &&
           equal(books, "responses", name->responses, "values of blocked", name->blocked.count) &&
           (!intended || equal(books, "responses", name->responses, "values of latency_from_intended", intended)) &&
           at_most(books, "values of connect", name->connect.count, "responses", name->responses) &&
           at_most(books, "values of tls", name->tls.count, "responses", name->responses);
}

static bool iterations_balance(const struct books *books, const struct iteration_counts *counts)
{
    uint64_t sum = counts->completed + counts->failed + counts->interrupted + counts->dropped + counts->expired;
    return equal(books, "iterations scheduled", counts->scheduled, "completed + failed + interrupted + dropped + expired", sum);
}

static bool arrivals_balance(const struct books *books)
{
    const struct scenario_metrics *scenario = books->scenario;
    return !scenario->open || equal(books, "iterations scheduled", scenario->iterations.scheduled, "values of schedule_slip", scenario->schedule_slip.count);
}

static bool warm_up_balances(struct books *books)
{
    books->name = &books->scenario->warm_up.requests;
    bool good = iterations_balance(books, &books->scenario->warm_up.iterations) && classes_balance(books) && responses_balance(books);
    books->name = NULL;
    return good;
}

static bool latencies_balance(const struct books *books)
{
    const struct scenario_metrics *scenario = books->scenario;
    uint64_t responses = 0, refused = 0, interrupted = 0;
    for (size_t i = 0; i < scenario->name_count; i++) {
        responses += scenario->names[i]->responses;
        refused += scenario->names[i]->errors[ERR_STATUS] + scenario->names[i]->errors[ERR_UNEXPECTED];
        interrupted += scenario->names[i]->interrupted;
    }
    return equal(books, "responses", responses, "values of latency_net", scenario->latency_net.count) &&
           equal(books, "status and unexpected in errors", refused, "values of latency_refused", scenario->latency_refused.count) &&
           at_most(books, "requests interrupted", interrupted, "values of unfinished", scenario->unfinished.count);
}

static bool scenario_balances(const struct scenario_metrics *scenario, char *why, size_t size)
{
    struct books books = { .why = why, .size = size, .scenario = scenario };
    if (!iterations_balance(&books, &scenario->iterations) || !arrivals_balance(&books) || !warm_up_balances(&books) ||
        !equal(&books, "iterations completed", scenario->iterations.completed, "values of iteration_duration", scenario->iteration_duration.count))
        return false;
    for (size_t i = 0; i < scenario->name_count; i++) {
        books.name = scenario->names[i];
        if (!classes_balance(&books) || !responses_balance(&books))
            return false;
    }
    books.name = NULL;
    return latencies_balance(&books);
}

/* Requests of setup or teardown, said to be of a scenario of that name. */
static bool aside_balances(const struct aside_metrics *aside, char *what, char *why, size_t size)
{
    struct scenario_metrics all = { .name = what };
    struct name_metrics requests = aside->requests;
    requests.name = "of all scenarios";
    struct books books = { .why = why, .size = size, .scenario = &all, .name = &requests };
    return classes_balance(&books) && responses_balance(&books);
}

static bool script_errors_balance(const struct metrics *metrics, char *why, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < metrics->script_error_kinds; i++)
        sum += metrics->script_errors[i].count;
    if (sum <= metrics->script_error_count)
        return true;
    snprintf(why, size, "script errors: the kinds add up to %" PRIu64 ", more than the count of %" PRIu64, sum, metrics->script_error_count);
    return false;
}

bool metrics_balance(const struct metrics *metrics, char *why, size_t size)
{
    for (size_t i = 0; i < metrics->scenario_count; i++)
        if (!scenario_balances(&metrics->scenarios[i], why, size))
            return false;
    return aside_balances(&metrics->setup, "(setup)", why, size) && aside_balances(&metrics->teardown, "(teardown)", why, size) &&
           script_errors_balance(metrics, why, size);
}
