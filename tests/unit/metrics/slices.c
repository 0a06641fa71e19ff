#include "metrics/slices.h"

#include "metrics/metrics.h"
#include "test.h"

static struct slice kinds[] = {
    { .method = "POST" },
    { .group = "pay" },
    { .method = "GET", .group = "pay/card" },
    { .first = 500, .last = 599 },
    { .error = ERR_TIMEOUT },
};
static const struct slices all = { .list = kinds, .count = sizeof kinds / sizeof *kinds };

static void are_chosen_by_method_and_group(void **state)
{
    assert_int_equal(slices_of(&all, "GET", NULL), 8 | 16);
    assert_int_equal(slices_of(&all, "POST", NULL), 1 | 8 | 16);
    assert_int_equal(slices_of(&all, "GET", "pay"), 2 | 8 | 16);
    assert_int_equal(slices_of(&all, "GET", "pay/card"), 2 | 4 | 8 | 16);
    assert_int_equal(slices_of(&all, "GET", "payment"), 8 | 16);
    assert_int_equal(slices_of(&all, "GET", "pa"), 8 | 16);
}

static void have_what_ended_so(void **state)
{
    assert_true(slice_has(&kinds[0], 0, ERR_TIMEOUT));
    assert_true(slice_has(&kinds[3], 500, ERR_STATUS));
    assert_true(slice_has(&kinds[3], 599, ERR_NONE));
    assert_false(slice_has(&kinds[3], 499, ERR_STATUS));
    assert_false(slice_has(&kinds[3], 0, ERR_RESET));
    assert_true(slice_has(&kinds[4], 0, ERR_TIMEOUT));
    assert_false(slice_has(&kinds[4], 200, ERR_NONE));
}

static void add_up_over_workers(void **state)
{
    const char *names[] = { "a" };
    struct metrics one, two;
    struct name_metrics totals[2] = { { 0 } };
    metrics_init(&one, names, 1);
    metrics_init(&two, names, 1);
    one.slices = two.slices = &all;
    assert_int_equal(metrics_slices(&two, "PUT", NULL), 8 | 16);
    metrics_slice(&two, metrics_name(&two, 0, "x", 1), 3)->started = 2;
    metrics_slice(&two, metrics_name(&two, 0, "y", 1), 3)->started = 3;
    metrics_merge(&one, &two);
    metrics_merge(&one, &two);
    metrics_add_up(&one, totals);
    assert_int_equal(metrics_name(&one, 0, "x", 1)->slices[3].started, 4);
    assert_int_equal(totals[1].slices[3].started, 10);
    assert_int_equal(totals[1].slices[0].started, 0);
    assert_int_equal(one.methods.count, 1);
    assert_string_equal(one.methods.texts[0], "PUT");
    name_metrics_free(&totals[0]);
    name_metrics_free(&totals[1]);
    metrics_free(&one);
    metrics_free(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_chosen_by_method_and_group),
        cmocka_unit_test(have_what_ended_so),
        cmocka_unit_test(add_up_over_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
