#include "metrics/metrics.h"

#include <stdio.h>

#include "test.h"

static const char *const scenarios[] = { "browse", "buy" };

static struct name_metrics *name_of(struct metrics *metrics, size_t scenario, const char *name)
{
    return metrics_name(metrics, scenario, name, strlen(name));
}

static struct check_metrics *check_of(struct metrics *metrics, const char *name)
{
    return metrics_check(metrics, name, strlen(name));
}

/* A whole response with that status; accepted below 400. */
static void respond(struct name_metrics *name, int status, int64_t ns)
{
    name->started++;
    name->responses++;
    name->bytes_sent += 100;
    name->bytes_received += (uint64_t)ns % 1000;
    metrics_status(name, status);
    if (status < 400) {
        name->succeeded++;
    } else {
        name->failed++;
        name->errors[ERR_STATUS]++;
    }
    hist_record(&name->latency, ns);
    hist_record(&name->service, ns - ns / 4);
    hist_record(&name->wait, ns / 2);
    hist_record(&name->blocked, ns / 8);
}

static void fail_with(struct name_metrics *name, enum err err)
{
    name->started++;
    name->errors[err]++;
    if (err == ERR_TIMEOUT || err == ERR_CONNECT_TIMEOUT)
        name->timed_out++;
    else if (err == ERR_INTERRUPTED)
        name->interrupted++;
    else
        name->failed++;
}

static void iterate(struct scenario_metrics *scenario, int64_t ns)
{
    scenario->iterations.scheduled++;
    scenario->iterations.completed++;
    hist_record(&scenario->iteration_duration, ns);
}

static void figures_are_kept_by_scenario_and_name(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    struct name_metrics *a = name_of(&metrics, 0, "GET /a"), *b = name_of(&metrics, 0, "GET /b"), *other = name_of(&metrics, 1, "GET /a");
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(a, other);
    assert_ptr_equal(name_of(&metrics, 0, "GET /a"), a);
    assert_ptr_equal(metrics_name(&metrics, 0, "GET /abc", 6), a);
    assert_ptr_equal(metrics.scenarios[0].names[0], a);
    assert_ptr_equal(metrics.scenarios[0].names[1], b);
    assert_int_equal(metrics.scenarios[0].name_count, 2);
    assert_int_equal(metrics.scenarios[1].name_count, 1);
    assert_string_equal(a->name, "GET /a");
    assert_string_equal(metrics.scenarios[1].name, "buy");
    metrics_free(&metrics);
}

static void names_beyond_the_limit_share_other(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    char text[32];
    struct name_metrics *first = NULL;
    for (int i = 0; i < METRICS_NAMES + 100; i++) {
        snprintf(text, sizeof text, "GET /%d", i);
        struct name_metrics *name = name_of(&metrics, 0, text);
        name->started++;
        first = first ? first : name;
        assert_string_equal(name->name, i < METRICS_NAMES ? text : "(other)");
    }
    assert_int_equal(metrics.scenarios[0].name_count, METRICS_NAMES + 1);
    assert_int_equal(metrics.scenarios[0].names[METRICS_NAMES]->started, 100);
    assert_ptr_equal(name_of(&metrics, 0, "GET /0"), first);
    assert_int_equal(metrics.scenarios[1].name_count, 0);
    metrics_free(&metrics);
}

static void statuses_are_counted(void **state)
{
    struct name_metrics name = { 0 };
    static const int statuses[] = { 200, 404, 200, 999, 200, 404, 100 };
    for (size_t i = 0; i < COUNT(statuses); i++)
        metrics_status(&name, statuses[i]);
    static const struct status_count expected[] = { { 200, 3 }, { 404, 2 }, { 999, 1 }, { 100, 1 } };
    assert_int_equal(name.status_count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(name.statuses[i].status, expected[i].status);
        assert_int_equal(name.statuses[i].count, expected[i].count);
    }
    name_metrics_free(&name);
}

static void checks_beyond_the_limit_share_other(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    char text[32];
    for (int i = 0; i < METRICS_CHECKS + 50; i++) {
        snprintf(text, sizeof text, "check %d", i);
        check_of(&metrics, text)->passes++;
        check_of(&metrics, text)->fails += 2;
    }
    assert_int_equal(metrics.check_count, METRICS_CHECKS + 1);
    assert_string_equal(metrics.checks[7]->name, "check 7");
    assert_int_equal(metrics.checks[7]->passes, 1);
    assert_int_equal(metrics.checks[7]->fails, 2);
    assert_string_equal(metrics.checks[METRICS_CHECKS]->name, "(other)");
    assert_int_equal(metrics.checks[METRICS_CHECKS]->passes, 50);
    metrics_free(&metrics);
}

static void script_errors_are_told_by_scenario_and_text(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    assert_true(metrics_script_error(&metrics, 0, "a.lua:1: x", "stack 1"));
    assert_false(metrics_script_error(&metrics, 0, "a.lua:1: x", "stack 2"));
    assert_true(metrics_script_error(&metrics, 1, "a.lua:1: x", NULL));
    assert_true(metrics_script_error(&metrics, 0, "a.lua:2: x", ""));
    assert_int_equal(metrics.script_error_kinds, 3);
    assert_int_equal(metrics.script_error_count, 4);
    assert_int_equal(metrics.script_errors[0].count, 2);
    assert_string_equal(metrics.script_errors[0].traceback, "stack 1");
    assert_string_equal(metrics.script_errors[1].scenario, "buy");
    metrics_free(&metrics);
}

static void kinds_of_script_errors_beyond_the_limit_are_counted_alone(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    char text[32];
    for (int i = 0; i < METRICS_ERRORS + 5; i++) {
        snprintf(text, sizeof text, "error %d", i);
        assert_int_equal(metrics_script_error(&metrics, 0, text, ""), i < METRICS_ERRORS);
    }
    assert_false(metrics_script_error(&metrics, 0, "error 3", ""));
    assert_int_equal(metrics.script_error_kinds, METRICS_ERRORS);
    assert_int_equal(metrics.script_error_count, METRICS_ERRORS + 6);
    assert_int_equal(metrics.script_errors[3].count, 2);
    char why[300];
    assert_true(metrics_balance(&metrics, why, sizeof why));
    metrics_free(&metrics);
}

static void the_first_failures_keep_their_texts(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    char text[32];
    for (int i = 0; i < 2 * (METRICS_TEXTS + 5); i++) {
        snprintf(text, sizeof text, "no luck %d", i / 2);
        metrics_failure(&metrics, text);
    }
    metrics_failure(&metrics, NULL);
    assert_int_equal(metrics.failed_on_purpose, 2 * (METRICS_TEXTS + 5) + 1);
    assert_int_equal(metrics.failure_count, METRICS_TEXTS);
    assert_string_equal(metrics.failures[METRICS_TEXTS - 1], "no luck 9");
    metrics_free(&metrics);
}

/* One thing that happens in a run, to as many metrics as are given: to a worker's, and to those that saw everything. */
static void happen(struct metrics **metrics, size_t count, uint64_t *seed)
{
    uint64_t what = random_below(seed, 12), detail = random_next(seed);
    size_t scenario = detail % 2;
    char text[32];
    snprintf(text, sizeof text, "GET /%d", (int)(detail / 2 % 40));
    for (size_t i = 0; i < count; i++) {
        struct scenario_metrics *of = &metrics[i]->scenarios[scenario];
        if (what < 6) {
            respond(name_of(metrics[i], scenario, text), 200 + (int)(detail / 100 % 250), (int64_t)(detail >> 30));
        } else if (what == 6) {
            fail_with(name_of(metrics[i], scenario, text), (enum err)(1 + detail / 100 % (ERR_STATUS - 1)));
        } else if (what == 7) {
            iterate(of, (int64_t)(detail >> 20));
        } else if (what == 8) {
            struct check_metrics *check = check_of(metrics[i], text);
            detail & 4 ? check->passes++ : check->fails++;
        } else if (what == 9) {
            metrics_script_error(metrics[i], scenario, text, "");
        } else if (what == 10) {
            metrics_failure(metrics[i], text);
        } else {
            of->connections.opened++;
            of->connections.max_open++;
            of->users_max++;
            of->iterations.scheduled++;
            of->iterations.dropped++;
            name_of(metrics[i], scenario, text)->retried++;
            hist_record(&name_of(metrics[i], scenario, text)->connect, (int64_t)(detail >> 40));
        }
    }
}

static void assert_same_hist(const struct hist *a, const struct hist *b)
{
    struct buf x = { 0 }, y = { 0 };
    hist_encode(a, &x);
    hist_encode(b, &y);
    assert_int_equal(x.length, y.length);
    assert_memory_equal(x.data, y.data, x.length);
    assert_int_equal(a->count, b->count);
    assert_true(a->sum == b->sum && a->squares == b->squares);
    if (a->count)
        assert_true(a->min == b->min && a->max == b->max);
    buf_free(&x);
    buf_free(&y);
}

static uint64_t count_of_status(const struct name_metrics *name, int status)
{
    for (size_t i = 0; i < name->status_count; i++)
        if (name->statuses[i].status == status)
            return name->statuses[i].count;
    return 0;
}

static void assert_same_name(const struct name_metrics *a, const struct name_metrics *b)
{
#define X(counter) assert_int_equal(a->counter, b->counter);
    NAME_COUNTERS(X)
#undef X
    assert_memory_equal(a->errors, b->errors, sizeof a->errors);
    assert_int_equal(a->status_count, b->status_count);
    for (size_t i = 0; i < a->status_count; i++)
        assert_int_equal(a->statuses[i].count, count_of_status(b, a->statuses[i].status));
#define X(hist) assert_same_hist(&a->hist, &b->hist);
    NAME_HISTS(X)
#undef X
}

static void assert_same_scenario(struct metrics *merged, struct metrics *all, size_t index)
{
    const struct scenario_metrics *a = &merged->scenarios[index], *b = &all->scenarios[index];
    assert_memory_equal(&a->iterations, &b->iterations, sizeof a->iterations);
    assert_memory_equal(&a->connections, &b->connections, sizeof a->connections);
    assert_int_equal(a->users_max, b->users_max);
    assert_same_hist(&a->iteration_duration, &b->iteration_duration);
    assert_int_equal(a->name_count, b->name_count);
    for (size_t i = 0; i < a->name_count; i++)
        assert_same_name(a->names[i], name_of(all, index, a->names[i]->name));
}

static void merging_is_counting_all_in_one(void **state)
{
    enum { WORKERS = 3 };
    uint64_t seed = 1;
    for (int round = 0; round < 3; round++) {
        struct metrics workers[WORKERS], all, merged;
        metrics_init(&all, scenarios, 2);
        metrics_init(&merged, scenarios, 2);
        for (size_t i = 0; i < WORKERS; i++)
            metrics_init(&workers[i], scenarios, 2);
        for (int i = 0; i < 1000; i++)
            happen((struct metrics *[]){ &workers[random_below(&seed, WORKERS)], &all }, 2, &seed);
        for (size_t i = 0; i < WORKERS; i++)
            metrics_merge(&merged, &workers[i]);
        for (size_t i = 0; i < 2; i++)
            assert_same_scenario(&merged, &all, i);
        assert_int_equal(merged.check_count, all.check_count);
        for (size_t i = 0; i < all.check_count; i++) {
            assert_int_equal(check_of(&merged, all.checks[i]->name)->passes, all.checks[i]->passes);
            assert_int_equal(check_of(&merged, all.checks[i]->name)->fails, all.checks[i]->fails);
        }
        assert_int_equal(merged.script_error_count, all.script_error_count);
        assert_int_equal(merged.script_error_kinds, all.script_error_kinds);
        assert_int_equal(merged.failed_on_purpose, all.failed_on_purpose);
        assert_int_equal(merged.failure_count, all.failure_count);
        for (size_t i = 0; i < WORKERS; i++)
            metrics_free(&workers[i]);
        metrics_free(&all);
        metrics_free(&merged);
    }
}

static void merging_keeps_the_first_reason_and_owns_its_texts(void **state)
{
    struct metrics a, b, into;
    metrics_init(&into, scenarios, 2);
    metrics_init(&a, scenarios, 2);
    metrics_init(&b, scenarios, 2);
    check_of(&a, "ok")->fails++;
    check_of(&b, "ok")->fails++;
    check_of(&b, "ok")->why = strdup("it was blue");
    metrics_script_error(&a, 1, "text", "traceback");
    metrics_script_error(&b, 1, "text", "another");
    metrics_failure(&b, "on purpose");
    metrics_merge(&into, &a);
    metrics_merge(&into, &b);
    metrics_free(&a);
    metrics_free(&b);
    assert_string_equal(check_of(&into, "ok")->why, "it was blue");
    assert_int_equal(check_of(&into, "ok")->fails, 2);
    assert_int_equal(into.script_error_kinds, 1);
    assert_int_equal(into.script_errors[0].count, 2);
    assert_string_equal(into.script_errors[0].traceback, "traceback");
    assert_string_equal(into.failures[0], "on purpose");
    metrics_free(&into);
}

static void merging_beyond_the_limit_fills_other(void **state)
{
    struct metrics a, b;
    metrics_init(&a, scenarios, 1);
    metrics_init(&b, scenarios, 1);
    char text[32];
    for (int i = 0; i < METRICS_NAMES + 10; i++) {
        snprintf(text, sizeof text, "GET /%d", i);
        respond(name_of(&a, 0, text), 200, 1000);
        snprintf(text, sizeof text, "GET /%d", i + 100);
        respond(name_of(&b, 0, text), 200, 1000);
    }
    metrics_merge(&a, &b);
    /* a: 0..499 and 10 others; b: 100..599 and 10 others, of which 500..599 have no place in a */
    assert_int_equal(a.scenarios[0].name_count, METRICS_NAMES + 1);
    assert_string_equal(a.scenarios[0].names[METRICS_NAMES]->name, "(other)");
    assert_int_equal(a.scenarios[0].names[METRICS_NAMES]->started, 10 + 100 + 10);
    assert_int_equal(name_of(&a, 0, "GET /100")->latency.count, 2);
    assert_int_equal(name_of(&a, 0, "GET /99")->latency.count, 1);
    metrics_free(&a);
    metrics_free(&b);
}

static void script_errors_beyond_the_limit_survive_merging(void **state)
{
    struct metrics a, b;
    metrics_init(&a, scenarios, 1);
    metrics_init(&b, scenarios, 1);
    char text[32];
    for (int i = 0; i < METRICS_ERRORS + 5; i++) {
        snprintf(text, sizeof text, "a %d", i);
        metrics_script_error(&a, 0, text, "");
        snprintf(text, sizeof text, "b %d", i);
        metrics_script_error(&b, 0, text, "");
    }
    metrics_merge(&a, &b);
    assert_int_equal(a.script_error_kinds, METRICS_ERRORS);
    assert_int_equal(a.script_error_count, 2 * (METRICS_ERRORS + 5));
    metrics_free(&a);
    metrics_free(&b);
}

/* The first scenario's first name is "GET /a". */
static void fill(struct metrics *metrics)
{
    metrics_init(metrics, scenarios, 2);
    struct name_metrics *name = name_of(metrics, 0, "GET /a");
    for (int64_t i = 1; i <= 20; i++)
        respond(name, i % 5 ? 200 : 503, i * 1000000);
    for (enum err err = ERR_NONE + 1; err < ERR_COUNT; err++)
        if (err != ERR_STATUS && err != ERR_UNEXPECTED)
            fail_with(name, err);
    respond(name, 200, 5);
    name->succeeded--;
    name->failed++;
    name->errors[ERR_UNEXPECTED]++;
    hist_record(&name->connect, 7);
    hist_record(&name->tls, 7);
    iterate(&metrics->scenarios[0], 1000);
    metrics->scenarios[0].iterations = (struct iteration_counts){ .scheduled = 15, .completed = 1, .failed = 2, .interrupted = 3, .dropped = 4, .expired = 5 };
    respond(name_of(metrics, 1, "GET /b"), 200, 77);
    hist_record_many(&metrics->scenarios[0].latency_net, 1, 21);
    hist_record_many(&metrics->scenarios[0].latency_refused, 1, 5);
    hist_record_many(&metrics->scenarios[0].unfinished, 1, 1);
    hist_record_many(&metrics->scenarios[1].latency_net, 1, 1);
    metrics_script_error(metrics, 0, "text", "traceback");
}

static void assert_balances(const struct metrics *metrics)
{
    char why[500] = "";
    if (!metrics_balance(metrics, why, sizeof why))
        fail_msg("%s", why);
}

static void true_books_balance(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    assert_balances(&metrics);
    metrics_free(&metrics);
    fill(&metrics);
    assert_balances(&metrics);
    struct name_metrics *name = metrics.scenarios[0].names[0];
    hist_merge(&name->latency_from_intended, &name->latency);
    assert_balances(&metrics);
    metrics_free(&metrics);
}

static void merged_books_balance(void **state)
{
    struct metrics metrics, merged;
    metrics_init(&merged, scenarios, 2);
    for (int i = 0; i < 3; i++) {
        fill(&metrics);
        metrics_merge(&merged, &metrics);
        metrics_free(&metrics);
    }
    assert_balances(&merged);
    metrics_free(&merged);
}

/* Makes one thing wrong; `says` must be in what metrics_balance says of it. */
struct flaw {
    void (*make)(struct metrics *metrics, struct name_metrics *name);
    const char *says;
};

#define FLAW(name, statement) \
    static void name(struct metrics *metrics, struct name_metrics *named) \
    { \
        statement; \
    }

FLAW(one_more_started, named->started++)
FLAW(one_more_succeeded, named->succeeded++)
FLAW(one_more_failed, (named->failed++, named->started++))
FLAW(one_more_error, named->errors[ERR_RESET]++)
FLAW(an_error_called_none, (named->errors[ERR_NONE]++, named->errors[ERR_RESET]--))
FLAW(a_timeout_called_failed, (named->timed_out--, named->failed++))
FLAW(an_interruption_called_failed, (named->interrupted--, named->failed++))
FLAW(one_more_response, named->responses++)
FLAW(one_more_status, metrics_status(named, 204))
FLAW(one_more_latency, hist_record(&named->latency, 1))
FLAW(one_more_service, hist_record(&named->service, 1))
FLAW(one_more_wait, hist_record(&named->wait, 1))
FLAW(one_more_blocked, hist_record(&named->blocked, 1))
FLAW(one_intended, hist_record(&named->latency_from_intended, 1))
FLAW(too_many_connects, hist_record_many(&named->connect, 1, 21))
FLAW(too_many_handshakes, hist_record_many(&named->tls, 1, 21))
FLAW(one_more_scheduled, metrics->scenarios[0].iterations.scheduled++)
FLAW(one_more_expired, metrics->scenarios[0].iterations.expired++)
FLAW(one_more_duration, hist_record(&metrics->scenarios[0].iteration_duration, 1))
FLAW(a_forgotten_script_error, metrics->script_error_count--)
FLAW(one_more_of_the_warm_up, metrics->scenarios[0].warm_up.iterations.scheduled++)
FLAW(one_more_asked_in_the_warm_up, metrics->scenarios[0].warm_up.requests.started++)
FLAW(an_arrival_without_its_slip, metrics->scenarios[0].open = true)
FLAW(one_more_net_latency, hist_record(&metrics->scenarios[0].latency_net, 1))
FLAW(one_more_refused, hist_record(&metrics->scenarios[0].latency_refused, 1))
FLAW(an_interruption_without_its_age, hist_clear(&metrics->scenarios[0].unfinished))
FLAW(one_more_in_setup, metrics->setup.requests.started++)
FLAW(one_more_in_teardown, metrics->teardown.requests.responses++)
FLAW(one_more_in_the_second, metrics->scenarios[1].names[0]->started++)

static const struct flaw flaws[] = {
    { one_more_started, "scenario \"browse\", requests \"GET /a\": started = 35, but succeeded + failed + timed_out + interrupted = 34" },
    { one_more_succeeded, "\"GET /a\": started = 34, but succeeded + failed + timed_out + interrupted = 35" },
    { one_more_failed, "\"GET /a\": failed + timed_out + interrupted = 19, but sum of errors = 18" },
    { one_more_error, "\"GET /a\": failed + timed_out + interrupted = 18, but sum of errors = 19" },
    { an_error_called_none, "errors called none = 1" },
    { a_timeout_called_failed, "timed_out = 1, but timeout + connect_timeout in errors = 2" },
    { an_interruption_called_failed, "interrupted = 0, but interrupted in errors = 1" },
    { one_more_response, "responses = 22, but succeeded + status and unexpected in errors = 21" },
    { one_more_status, "responses = 21, but sum of statuses = 22" },
    { one_more_latency, "responses = 21, but values of latency = 22" },
    { one_more_service, "responses = 21, but values of service = 22" },
    { one_more_wait, "responses = 21, but values of wait = 22" },
    { one_more_blocked, "responses = 21, but values of blocked = 22" },
    { one_intended, "responses = 21, but values of latency_from_intended = 1" },
    { too_many_connects, "values of connect = 22, more than responses = 21" },
    { too_many_handshakes, "values of tls = 22, more than responses = 21" },
    { one_more_scheduled, "scenario \"browse\": iterations scheduled = 16, but completed + failed + interrupted + dropped + expired = 15" },
    { one_more_expired, "scenario \"browse\": iterations scheduled = 15, but completed + failed + interrupted + dropped + expired = 16" },
    { one_more_duration, "iterations completed = 1, but values of iteration_duration = 2" },
    { a_forgotten_script_error, "the kinds add up to 1, more than the count of 0" },
    { one_more_of_the_warm_up, "\"of the warm-up\": iterations scheduled = 1, but completed + failed + interrupted + dropped + expired = 0" },
    { one_more_asked_in_the_warm_up, "scenario \"browse\", requests \"of the warm-up\": started = 1, but succeeded" },
    { one_more_net_latency, "scenario \"browse\": responses = 21, but values of latency_net = 22" },
    { one_more_refused, "status and unexpected in errors = 5, but values of latency_refused = 6" },
    { an_interruption_without_its_age, "requests interrupted = 1, more than values of unfinished = 0" },
    { an_arrival_without_its_slip, "iterations scheduled = 15, but values of schedule_slip = 0" },
    { one_more_in_setup, "scenario \"(setup)\", requests \"of all scenarios\": started = 1, but" },
    { one_more_in_teardown, "scenario \"(teardown)\", requests \"of all scenarios\": responses = 1, but" },
    { one_more_in_the_second, "scenario \"buy\", requests \"GET /b\": started = 2, but succeeded + failed + timed_out + interrupted = 1" },
};

static void every_flaw_in_the_books_is_named(void **state)
{
    for (size_t i = 0; i < COUNT(flaws); i++) {
        struct metrics metrics;
        char why[500] = "";
        fill(&metrics);
        flaws[i].make(&metrics, metrics.scenarios[0].names[0]);
        assert_false(metrics_balance(&metrics, why, sizeof why));
        if (!strstr(why, flaws[i].says))
            fail_msg("\"%s\" does not say \"%s\"", why, flaws[i].says);
        metrics_free(&metrics);
    }
}

static void a_long_reason_is_cut(void **state)
{
    struct metrics metrics;
    char why[20];
    fill(&metrics);
    metrics.scenarios[0].names[0]->started++;
    assert_false(metrics_balance(&metrics, why, sizeof why));
    assert_string_equal(why, "scenario \"browse\", ");
    metrics_free(&metrics);
}

static void totals_add_up_and_can_be_taken_again(void **state)
{
    struct metrics metrics;
    struct metrics_totals totals = { 0 }, both = { 0 };
    fill(&metrics);
    metrics.scenarios[0].users = 3;
    metrics.scenarios[1].users = 4;
    for (int i = 0; i < 2; i++) {
        metrics_total(&metrics, &totals);
        assert_int_equal(totals.users, 7);
        assert_int_equal(totals.started, 35);
        assert_int_equal(totals.succeeded, 17);
        assert_int_equal(totals.failed, 15);
        assert_int_equal(totals.timed_out, 2);
        assert_int_equal(totals.interrupted, 1);
        assert_int_equal(totals.responses, 22);
        assert_int_equal(totals.iterations, 6);
        assert_int_equal(totals.dropped, 4);
        assert_int_equal(totals.errors[ERR_STATUS], 4);
        assert_int_equal(totals.bytes_sent, 2200);
        assert_int_equal(totals.latency.count, 22);
        assert_int_equal(totals.latency.max, 20000000);
        assert_int_equal(totals.latency.min, 5);
    }
    metrics_totals_merge(&both, &totals);
    metrics_totals_merge(&both, &totals);
    assert_int_equal(both.users, 14);
    assert_int_equal(both.started, 70);
    assert_int_equal(both.iterations, 12);
    assert_int_equal(both.errors[ERR_STATUS], 8);
    assert_int_equal(both.latency.count, 44);
    metrics_totals_free(&both);
    metrics_totals_free(&totals);
    metrics_free(&metrics);
}

static void totals_take_the_intended_latency_where_there_is_one(void **state)
{
    struct metrics metrics;
    struct metrics_totals totals = { 0 };
    metrics_init(&metrics, scenarios, 2);
    struct name_metrics *open = name_of(&metrics, 0, "GET /"), *closed = name_of(&metrics, 1, "GET /");
    respond(open, 200, 1000);
    hist_record(&open->latency_from_intended, 9000);
    respond(closed, 200, 50);
    metrics_total(&metrics, &totals);
    assert_int_equal(totals.latency.count, 2);
    assert_int_equal(totals.latency.max, 9000);
    assert_int_equal(totals.latency.min, 50);
    metrics_totals_free(&totals);
    metrics_free(&metrics);
}

static void a_total_over_names_starts_from_zero(void **state)
{
    struct metrics metrics;
    struct name_metrics total = { 0 };
    fill(&metrics);
    name_metrics_merge(&total, metrics.scenarios[0].names[0]);
    name_metrics_merge(&total, metrics.scenarios[1].names[0]);
    assert_int_equal(total.started, 35);
    assert_int_equal(count_of_status(&total, 200), 18);
    assert_int_equal(count_of_status(&total, 503), 4);
    assert_int_equal(total.latency.count, 22);
    name_metrics_free(&total);
    metrics_free(&metrics);
}

/* What was due before `aside_before` goes into the warm-up, or wherever `aside` points. */
static void what_is_aside_is_told_by_when_it_was_due(void **state)
{
    struct metrics metrics;
    metrics_init(&metrics, scenarios, 2);
    struct scenario_metrics *scenario = &metrics.scenarios[1];
    struct name_metrics *name = name_of(&metrics, 1, "GET /");
    assert_ptr_equal(name_or_aside(name, INT64_MIN), name);
    assert_ptr_equal(iterations_or_aside(scenario, 0), &scenario->iterations);
    scenario->aside_before = 1000;
    assert_ptr_equal(name_or_aside(name, 999), &scenario->warm_up.requests);
    assert_ptr_equal(name_or_aside(name, 1000), name);
    assert_ptr_equal(iterations_or_aside(scenario, 999), &scenario->warm_up.iterations);
    struct name_metrics *other = name_of(&metrics, 0, "GET /");
    assert_ptr_equal(name_or_aside(other, 0), other);
    scenario->aside = &metrics.setup;
    assert_ptr_equal(name_or_aside(name, 0), &metrics.setup.requests);
    metrics_free(&metrics);
}

/* A warm-up is in the totals that are shown, and in no other. */
static void warm_ups_are_apart_and_add_up(void **state)
{
    struct metrics metrics, merged;
    struct metrics_totals totals = { 0 }, warm = { 0 };
    metrics_init(&merged, scenarios, 2);
    for (int i = 1; i <= 2; i++) {
        metrics_init(&metrics, scenarios, 2);
        metrics.scenarios[0].aside_before = 100;
        respond(name_or_aside(name_of(&metrics, 0, "GET /"), 50), 200, 1000);
        respond(name_or_aside(name_of(&metrics, 0, "GET /"), 150), 200, 2000);
        hist_record(&metrics.scenarios[0].latency_net, 2000);
        metrics.scenarios[0].warm_up.iterations.scheduled++;
        metrics.scenarios[0].warm_up.iterations.completed++;
        metrics_merge(&merged, &metrics);
        metrics_free(&metrics);
    }
    assert_balances(&merged);
    metrics_total(&merged, &totals);
    metrics_total_warm_up(&merged, &warm);
    assert_int_equal(totals.responses, 2);
    assert_int_equal(totals.latency.min, 2000);
    assert_int_equal(totals.iterations, 0);
    assert_int_equal(warm.responses, 2);
    assert_int_equal(warm.latency.max, 1000);
    assert_int_equal(warm.iterations, 2);
    metrics_totals_free(&totals);
    metrics_totals_free(&warm);
    metrics_free(&merged);
}

static void groups_merge_by_scenario_and_name(void **state)
{
    struct metrics metrics, merged;
    metrics_init(&merged, scenarios, 2);
    for (int i = 1; i <= 3; i++) {
        metrics_init(&metrics, scenarios, 2);
        struct group_metrics *group = metrics_group(&metrics, (size_t)i % 2, "checkout", 8);
        assert_ptr_equal(metrics_group(&metrics, (size_t)i % 2, "checkout", 8), group);
        hist_record(&group->duration, i);
        group->cut = (uint64_t)i;
        metrics_merge(&merged, &metrics);
        metrics_free(&metrics);
    }
    assert_int_equal(merged.scenarios[0].group_count, 1);
    assert_int_equal(merged.scenarios[0].groups[0]->duration.count, 1);
    assert_int_equal(merged.scenarios[1].groups[0]->duration.count, 2);
    assert_int_equal(merged.scenarios[1].groups[0]->cut, 4);
    assert_string_equal(merged.scenarios[1].groups[0]->name, "checkout");
    for (int i = 0; i < METRICS_GROUPS + 20; i++) {
        char name[20];
        metrics_group(&merged, 0, name, (size_t)snprintf(name, sizeof name, "group %d", i))->cut++;
    }
    assert_int_equal(merged.scenarios[0].group_count, METRICS_GROUPS + 1);
    assert_string_equal(merged.scenarios[0].groups[METRICS_GROUPS]->name, NAMES_OTHER);
    assert_int_equal(merged.scenarios[0].groups[METRICS_GROUPS]->cut, 21);
    metrics_free(&merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_kept_by_scenario_and_name),
        cmocka_unit_test(names_beyond_the_limit_share_other),
        cmocka_unit_test(statuses_are_counted),
        cmocka_unit_test(checks_beyond_the_limit_share_other),
        cmocka_unit_test(script_errors_are_told_by_scenario_and_text),
        cmocka_unit_test(kinds_of_script_errors_beyond_the_limit_are_counted_alone),
        cmocka_unit_test(the_first_failures_keep_their_texts),
        cmocka_unit_test(merging_is_counting_all_in_one),
        cmocka_unit_test(merging_keeps_the_first_reason_and_owns_its_texts),
        cmocka_unit_test(merging_beyond_the_limit_fills_other),
        cmocka_unit_test(script_errors_beyond_the_limit_survive_merging),
        cmocka_unit_test(true_books_balance),
        cmocka_unit_test(merged_books_balance),
        cmocka_unit_test(every_flaw_in_the_books_is_named),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(totals_add_up_and_can_be_taken_again),
        cmocka_unit_test(totals_take_the_intended_latency_where_there_is_one),
        cmocka_unit_test(a_total_over_names_starts_from_zero),
        cmocka_unit_test(what_is_aside_is_told_by_when_it_was_due),
        cmocka_unit_test(warm_ups_are_apart_and_add_up),
        cmocka_unit_test(groups_merge_by_scenario_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
