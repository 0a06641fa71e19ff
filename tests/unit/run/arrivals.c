#include "run/arrivals.h"

#include <math.h>

#include "base/clock.h"
#include "test.h"

#define S(seconds) ((int64_t)((seconds) * 1e9))

enum { MOST = 1300000 };

/* The arrivals of `count` shares, each put into its place. */
struct union_of {
    struct arrival *all;
    size_t count;
};

static void assert_share(struct arrivals *arrivals, struct union_of *into, struct share share)
{
    struct arrival arrival, before = { -1, 0 };
    while (arrivals_next(arrivals, &arrival)) {
        assert_true(arrival.sequence >= 1 && arrival.sequence <= MOST);
        assert_true((arrival.sequence - 1) % share.count == share.index);
        assert_true(arrival.due >= before.due && arrival.sequence > before.sequence);
        assert_int_equal(into->all[arrival.sequence - 1].sequence, 0); /* nobody else's */
        into->all[arrival.sequence - 1] = before = arrival;
        into->count++;
    }
    assert_false(arrivals_next(arrivals, &arrival));
}

static struct union_of draw(const struct scenario_plan *plan, unsigned shares, uint64_t seed)
{
    struct union_of result = { .all = calloc(MOST, sizeof *result.all) };
    for (unsigned i = 0; i < shares; i++) {
        struct arrivals arrivals;
        struct share share = { i, shares };
        arrivals_init(&arrivals, plan, share, seed, 0);
        assert_share(&arrivals, &result, share);
        arrivals_free(&arrivals);
    }
    for (size_t i = 0; i < result.count; i++) {
        assert_int_equal(result.all[i].sequence, i + 1); /* no gap */
        assert_true(!i || result.all[i].due >= result.all[i - 1].due);
    }
    return result;
}

static void assert_same(struct union_of a, struct union_of b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.all, b.all, a.count * sizeof *a.all);
}

static struct scenario_plan constant(struct stage_plan *stages, size_t count)
{
    return (struct scenario_plan){ .model = MODEL_OPEN, .stages = stages, .stage_count = count, .iterations = NO_LIMIT };
}

static void constant_arrivals_are_half_a_gap_off_the_ends(void **state)
{
    struct stage_plan stage = { .level = 1000, .hold = S(3) };
    struct scenario_plan plan = constant(&stage, 1);
    struct union_of found = draw(&plan, 3, 1);
    assert_int_equal(found.count, 3000);
    for (size_t i = 0; i < found.count; i++)
        assert_in_range(found.all[i].due, (int64_t)i * 1000000 + 499999, (int64_t)i * 1000000 + 500001);
    free(found.all);
}

/* "count = round(L(D))", whatever the length. */
static void constant_arrivals_are_counted_by_rounding(void **state)
{
    static const struct {
        double rate, seconds;
        size_t count;
    } cases[] = { { 0.5, 10, 5 }, { 1, 0.4, 0 }, { 1, 0.6, 1 }, { 3, 0.8, 2 }, { 3, 0.9, 3 }, { 10, 0.25, 2 }, { 0.1, 3600, 360 }, { 99999, 3, 299997 }, { 7, 1.0 / 7, 1 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct stage_plan stage = { .level = cases[i].rate, .hold = S(cases[i].seconds) };
        struct scenario_plan plan = constant(&stage, 1);
        struct union_of found = draw(&plan, 2, 1);
        assert_int_equal(found.count, cases[i].count);
        free(found.all);
    }
}

/* In a ramp from 0 the k-th of constant arrivals is due at sqrt(2 (k + 1/2) / slope). */
static void constant_arrivals_follow_a_ramp(void **state)
{
    struct stage_plan stages[] = { { .level = 1000, .over = S(10) }, { .level = 0, .over = S(10) } };
    struct scenario_plan plan = constant(stages, 2);
    struct union_of found = draw(&plan, 4, 1);
    assert_int_equal(found.count, 10000);
    for (size_t k = 0; k < 5000; k++) {
        double up = sqrt(2 * ((double)k + 0.5) / 100);
        assert_true(fabs((double)found.all[k].due / 1e9 - up) < 2e-9);
        assert_true(fabs((double)found.all[9999 - k].due / 1e9 - (20 - up)) < 1e-6); /* the way down is the way up from its end */
    }
    free(found.all);
}

/* Of arrivals in any stages, those up to any time are L(t) to within one. */
static void constant_arrivals_keep_the_area(void **state)
{
    uint64_t seed = 3;
    for (int round = 0; round < 100; round++) {
        struct stage_plan stages[5];
        size_t count = 1 + random_below(&seed, COUNT(stages));
        for (size_t i = 0; i < count; i++)
            stages[i] = (struct stage_plan){ .level = (double)random_below(&seed, 3000), .over = (int64_t)random_below(&seed, 5) * S(0.7), .hold = (int64_t)random_below(&seed, 5) * S(0.3) };
        struct scenario_plan plan = constant(stages, count);
        struct shape shape;
        shape_init(&shape, stages, count);
        struct union_of found = draw(&plan, 1 + (unsigned)random_below(&seed, 7), 1);
        assert_int_equal(found.count, llround(shape.area) - (shape.area - floor(shape.area) == 0.5));
        for (size_t i = 0; i < found.count; i++)
            assert_true(fabs(shape_area(&shape, (double)found.all[i].due / 1e9) - ((double)i + 0.5)) < 1e-5);
        shape_free(&shape);
        free(found.all);
    }
}

static void iterations_limit_what_follows_the_warm_up(void **state)
{
    struct stage_plan stage = { .level = 100, .hold = NS_NEVER };
    for (enum arrivals_kind kind = ARRIVALS_CONSTANT; kind <= ARRIVALS_POISSON_EXACT; kind++) {
        struct scenario_plan plan = constant(&stage, 1);
        plan.arrivals = kind;
        plan.iterations = 777;
        struct union_of found = draw(&plan, 3, 4);
        assert_int_equal(found.count, 777);
        free(found.all);
        plan.warm_up = S(2);
        found = draw(&plan, 3, 4);
        size_t warm = 0;
        while (found.all[warm].due < plan.warm_up)
            warm++;
        assert_int_equal(found.count - warm, 777);
        assert_true(kind == ARRIVALS_POISSON ? warm > 140 && warm < 260 : warm == 200);
        free(found.all);
    }
}

/* D of Kolmogorov and Smirnov of sorted values in 0..1 against the uniform law. */
static double kolmogorov(const double *sorted, size_t count)
{
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs(sorted[i] - (double)i / (double)count));
        worst = fmax(worst, fabs(sorted[i] - (double)(i + 1) / (double)count));
    }
    return worst;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The gaps, measured in area, are exponential: 1 - exp(-gap) is uniform. 1.95 / sqrt(n) is the bound of the test at 0.1%. */
static void assert_exponential_gaps(struct union_of found, const struct scenario_plan *plan)
{
    struct shape shape;
    double *values = calloc(found.count, sizeof *values), before = 0;
    shape_init(&shape, plan->stages, plan->stage_count);
    for (size_t i = 0; i < found.count; i++) {
        double area = shape_area(&shape, (double)found.all[i].due / 1e9);
        values[i] = -expm1(before - area);
        before = area;
    }
    qsort(values, found.count, sizeof *values, by_size);
    assert_true(kolmogorov(values, found.count) < 1.95 / sqrt((double)found.count));
    shape_free(&shape);
    free(values);
}

static void poisson_arrivals_have_exponential_gaps(void **state)
{
    struct stage_plan steady = { .level = 10000, .hold = S(10) }, ramp[] = { { .level = 20000, .over = S(5) }, { .level = 5000, .over = S(4) } };
    struct stage_plan minute = { .level = 20000, .hold = S(60) };
    struct scenario_plan plans[] = { constant(&steady, 1), constant(ramp, 2), constant(&minute, 1) };
    const double counts[] = { 1e5, 1e5, 1.2e6 };
    for (size_t i = 0; i < COUNT(plans); i++) {
        plans[i].arrivals = ARRIVALS_POISSON;
        struct union_of found = draw(&plans[i], 2, 11);
        assert_true(fabs((double)found.count - counts[i]) < 4 * sqrt(counts[i]));
        assert_exponential_gaps(found, &plans[i]);
        free(found.all);
    }
}

static void poisson_exact_has_the_number_and_the_gaps(void **state)
{
    struct stage_plan steady = { .level = 10000, .hold = S(10) };
    struct scenario_plan plan = constant(&steady, 1);
    plan.arrivals = ARRIVALS_POISSON_EXACT;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct union_of found = draw(&plan, 3, seed);
        assert_int_equal(found.count, 100000);
        assert_true(found.all[99999].due <= S(10));
        assert_exponential_gaps(found, &plan);
        double *places = calloc(found.count, sizeof *places);
        for (size_t i = 0; i < found.count; i++)
            places[i] = (double)found.all[i].due / 1e10;
        assert_true(kolmogorov(places, found.count) < 1.95 / sqrt(1e5));
        free(places);
        free(found.all);
    }
}

/* The count of poisson arrivals varies as it should: variance equals mean. Over 300 seeds the variance of 100 is within 4 standard deviations of its estimate. */
static void poisson_counts_vary(void **state)
{
    struct stage_plan steady = { .level = 100, .hold = S(1) };
    struct scenario_plan plan = constant(&steady, 1);
    plan.arrivals = ARRIVALS_POISSON;
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct union_of found = draw(&plan, 1, seed);
        sum += (double)found.count;
        squares += (double)found.count * (double)found.count;
        free(found.all);
    }
    double mean = sum / 300, variance = squares / 300 - mean * mean;
    assert_true(fabs(mean - 100) < 4 * 10 / sqrt(300));
    assert_true(fabs(variance - 100) < 4 * 100 * sqrt(2.0 / 300));
}

static void the_number_of_shares_changes_nothing(void **state)
{
    struct stage_plan stages[] = { { .level = 800, .over = S(2), .hold = S(1) }, { .level = 100, .hold = S(3) } };
    for (enum arrivals_kind kind = ARRIVALS_CONSTANT; kind <= ARRIVALS_POISSON_EXACT; kind++) {
        struct scenario_plan plan = constant(stages, 2);
        plan.arrivals = kind;
        plan.warm_up = S(0.5);
        struct union_of alone = draw(&plan, 1, 42);
        for (unsigned shares = 2; shares <= 9; shares++) {
            struct union_of together = draw(&plan, shares, 42);
            assert_same(alone, together);
            free(together.all);
        }
        struct union_of other = draw(&plan, 1, 43);
        assert_true(kind == ARRIVALS_CONSTANT || memcmp(alone.all, other.all, 50 * sizeof *other.all));
        free(other.all);
        free(alone.all);
    }
}

/* No drift: after 1e9 arrivals the due time is that of the index, to the nanosecond. */
static void time_is_computed_from_the_index(void **state)
{
    struct stage_plan stage = { .level = 3000, .hold = NS_NEVER };
    struct scenario_plan plan = constant(&stage, 1);
    struct arrivals arrivals;
    struct arrival arrival;
    arrivals_init(&arrivals, &plan, (struct share){ 0, 1 }, 1, 0);
    arrivals.next = 1000000000;
    assert_true(arrivals_next(&arrivals, &arrival));
    int64_t exact = (int64_t)(((__int128)2000000001 * 1000000000) / 6000);
    assert_in_range(arrival.due, exact - 1, exact + 1);
    arrivals_free(&arrivals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_arrivals_are_half_a_gap_off_the_ends),
        cmocka_unit_test(constant_arrivals_are_counted_by_rounding),
        cmocka_unit_test(constant_arrivals_follow_a_ramp),
        cmocka_unit_test(constant_arrivals_keep_the_area),
        cmocka_unit_test(iterations_limit_what_follows_the_warm_up),
        cmocka_unit_test(poisson_arrivals_have_exponential_gaps),
        cmocka_unit_test(poisson_exact_has_the_number_and_the_gaps),
        cmocka_unit_test(poisson_counts_vary),
        cmocka_unit_test(the_number_of_shares_changes_nothing),
        cmocka_unit_test(time_is_computed_from_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
