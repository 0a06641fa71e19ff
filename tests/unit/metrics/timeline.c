#include "metrics/timeline.h"

#include <math.h>

#include "test.h"

enum { MS = 1000000 };

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", found, expected);
}

static void nothing_is_recorded_before_it_begins(void **state)
{
    struct timeline timeline = { 0 };
    timeline_due(&timeline, 5);
    timeline_response(&timeline, 5, 1);
    assert_int_equal(timeline.count, 0);
    timeline_begin(&timeline, 1000, 0);
    timeline_due(&timeline, 999);
    timeline_ended(&timeline, 999);
    timeline_response(&timeline, 999, 1);
    assert_int_equal(timeline.count, 0);
    assert_int_equal(timeline_responses(&timeline, 0, 100), 0);
    assert_true(isnan(timeline_quantile(&timeline, 0, 100, 0.5)));
    timeline_free(&timeline);
}

static void each_slot_counts_its_own(void **state)
{
    struct timeline timeline = { 0 };
    timeline_begin(&timeline, 50, 0);
    for (int64_t i = 0; i < 30; i++) {
        timeline_due(&timeline, 50 + i * MS);
        timeline_response(&timeline, 50 + i * MS, (i + 1) * MS);
    }
    timeline_ended(&timeline, 50 + 25 * MS);
    timeline_due(&timeline, 50); /* back again */
    assert_int_equal(timeline.count, 3);
    assert_int_equal(timeline.slots[0].due, 11);
    assert_int_equal(timeline.slots[1].due, 10);
    assert_int_equal(timeline.slots[2].ended, 1);
    assert_int_equal(timeline_responses(&timeline, 1, 2), 20);
    assert_int_equal(timeline_responses(&timeline, 1, 1000), 20);
    assert_near(timeline_upto(&timeline, 1, 1, 15.5 * MS), 5, 0.02);
    assert_near(timeline_upto(&timeline, 0, 3, 30.5 * MS), 30, 1e-9);
    assert_near(timeline_quantile(&timeline, 2, 1, 0.5), 25 * MS, 0.02);
    timeline_free(&timeline);
}

/* Counters get wider as they need it: 255 and 256, 65535 and 65536, alone and added. */
static void counters_of_any_size(void **state)
{
    static const unsigned sizes[] = { 1, 255, 256, 257, 65535, 65536, 70000 };
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct timeline one = { 0 }, other = { 0 }, all = { 0 };
        timeline_begin(&one, 0, 0);
        timeline_begin(&other, 0, 0);
        for (unsigned i = 0; i < sizes[k]; i++)
            timeline_response(&one, 5, i % 2 ? 3 : 100 * MS);
        timeline_response(&other, 5, 3);
        assert_true(timeline_merge(&all, &one) && timeline_merge(&all, &other) && timeline_merge(&all, &one));
        assert_near(timeline_upto(&one, 0, 1, 50 * MS), sizes[k] / 2, 0);
        assert_near(timeline_upto(&all, 0, 1, 50 * MS), 2 * (sizes[k] / 2) + 1, 0);
        assert_int_equal(timeline_responses(&all, 0, 1), 2 * sizes[k] + 1);
        assert_near(timeline_upto(&all, 0, 1, 1000 * MS), 2 * sizes[k] + 1, 0);
        timeline_free(&one);
        timeline_free(&other);
        timeline_free(&all);
    }
}

static void a_long_run_has_wider_slots(void **state)
{
    struct timeline timeline = { 0 };
    timeline_begin(&timeline, 0, 0);
    uint64_t seconds = 100;
    for (uint64_t i = 0; i < seconds * 1000; i++) {
        timeline_due(&timeline, (int64_t)i * MS);
        timeline_response(&timeline, (int64_t)i * MS, (int64_t)(1 + i % 100) * MS);
    }
    assert_int_equal(timeline.width, 320 * MS); /* 100 s / 512 = 195 ms: the next of 10 * 2^k */
    assert_int_equal(timeline.count, 313);
    assert_int_equal(timeline.slots[0].due, 320);
    assert_int_equal(timeline_responses(&timeline, 0, 313), seconds * 1000);
    assert_near(timeline_quantile(&timeline, 0, 313, 0.9), 90 * MS, 0.016);
    timeline_free(&timeline);
}

static void a_known_length_gives_the_width_at_once(void **state)
{
    struct timeline timeline = { 0 };
    static const struct { int64_t length, width; } cases[] = { { 0, 10 }, { 5119, 10 }, { 5120, 20 }, { 60000, 160 }, { 100000, 320 } }; /* ms */
    for (size_t i = 0; i < COUNT(cases); i++) {
        timeline_begin(&timeline, 3, cases[i].length * MS);
        assert_int_equal(timeline.width, cases[i].width * MS);
        timeline_due(&timeline, 3);
    }
    timeline_free(&timeline);
}

static void threads_add_whatever_their_widths(void **state)
{
    struct timeline a = { 0 }, b = { 0 }, all = { 0 };
    timeline_begin(&b, 7, 0);
    timeline_begin(&a, 7, 0);
    for (int64_t i = 0; i < 600; i++)
        timeline_response(&a, 7 + i * 10 * MS, 5 * MS);
    timeline_response(&b, 7 + 5 * MS, 3 * MS);
    assert_int_equal(a.width, 20 * MS);
    assert_true(timeline_merge(&all, &b));
    assert_true(timeline_merge(&all, &a));
    assert_int_equal(all.width, 20 * MS);
    assert_int_equal(timeline_responses(&all, 0, 1), 3);
    assert_int_equal(timeline_responses(&all, 0, 512), 601);
    struct timeline other = { 0 };
    timeline_begin(&other, 8, 0);
    assert_false(timeline_merge(&all, &other));
    timeline_free(&a);
    timeline_free(&b);
    timeline_free(&all);
    timeline_free(&other);
}

/* Against sorted values: quantiles to the width of a counter, shares by interpolation. */
static void quantiles_are_those_of_the_values(void **state)
{
    struct timeline timeline = { 0 };
    uint64_t seed = 1;
    timeline_begin(&timeline, 0, 0);
    for (int i = 0; i < 100000; i++)
        timeline_response(&timeline, i, (int64_t)random_below(&seed, 10 * MS));
    for (double q = 0.05; q < 1; q += 0.05) {
        assert_near(timeline_quantile(&timeline, 0, 1, q), q * 10 * MS, 0.03);
        assert_near(timeline_upto(&timeline, 0, 1, q * 10 * MS), q * 100000, 0.03);
    }
    timeline_free(&timeline);
}

static void any_latency_has_a_counter(void **state)
{
    struct timeline timeline = { 0 };
    timeline_begin(&timeline, 0, 0);
    static const int64_t latencies[] = { -5, 0, 1, 127, 128, 129, INT64_C(1) << 46, INT64_C(1) << 50, INT64_MAX };
    for (size_t i = 0; i < COUNT(latencies); i++)
        timeline_response(&timeline, 0, latencies[i]);
    assert_int_equal(timeline_responses(&timeline, 0, 1), COUNT(latencies));
    timeline_free(&timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recorded_before_it_begins),
        cmocka_unit_test(each_slot_counts_its_own),
        cmocka_unit_test(counters_of_any_size), cmocka_unit_test(a_long_run_has_wider_slots),
        cmocka_unit_test(a_known_length_gives_the_width_at_once),
        cmocka_unit_test(threads_add_whatever_their_widths),
        cmocka_unit_test(quantiles_are_those_of_the_values),
        cmocka_unit_test(any_latency_has_a_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
