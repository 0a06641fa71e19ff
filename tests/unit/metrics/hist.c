#include "metrics/hist.h"

#include <float.h>
#include <math.h>

#include "test.h"

/* The width of the counter of `value`, by the definition of the layout: 1 below 2048, then an octave is divided by 1024. */
static int64_t width_of(int64_t value)
{
    int64_t width = 1;
    while (value / width >= 2048)
        width *= 2;
    return width;
}

static int64_t low_of(int64_t value)
{
    return value / width_of(value) * width_of(value);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%.17g is not %.17g", found, expected);
}

/* The values of a test, and what they should give. */
struct sample {
    int64_t *values;
    size_t count;
};

static struct sample new_sample(size_t count)
{
    return (struct sample){ .values = calloc(count, sizeof(int64_t)), .count = count };
}

static struct hist hist_of(const struct sample *sample)
{
    struct hist hist = { 0 };
    for (size_t i = 0; i < sample->count; i++)
        hist_record(&hist, sample->values[i]);
    return hist;
}

static long double sample_mean(const struct sample *sample)
{
    __int128 sum = 0;
    for (size_t i = 0; i < sample->count; i++)
        sum += sample->values[i];
    return (long double)sum / (long double)sample->count;
}

/* Two passes, with 64 bits of mantissa. */
static long double sample_stddev(const struct sample *sample)
{
    long double mean = sample_mean(sample), sum = 0;
    for (size_t i = 0; i < sample->count; i++)
        sum += ((long double)sample->values[i] - mean) * ((long double)sample->values[i] - mean);
    return sqrtl(sum / (long double)sample->count);
}

static void check_quantiles(const struct hist *hist, const struct sample *sample, uint64_t denominator)
{
    for (uint64_t numerator = 0; numerator <= denominator; numerator++) {
        uint64_t rank = (numerator * sample->count + denominator - 1) / denominator;
        int64_t exact = sample->values[rank ? rank - 1 : 0];
        double found = hist_quantile(hist, (double)numerator / (double)denominator);
        bool extreme = rank <= 1 || rank == sample->count;
        double allowed = extreme ? 0 : (double)(width_of(exact) / 2);
        if (!(fabs(found - (double)exact) <= allowed))
            fail_msg("quantile %d/%d of %zu: %.17g, exactly %jd", (int)numerator, (int)denominator, sample->count, found, (intmax_t)exact);
        assert_true(found >= (double)hist->min && found <= (double)hist->max);
    }
}

static void check_counts(const struct hist *hist, const struct sample *sample)
{
    for (size_t i = 0; i < sample->count; i += 1 + sample->count / 20) {
        for (int64_t value = sample->values[i] - 1; value <= sample->values[i] + 1; value++) {
            uint64_t expected = 0;
            for (size_t k = 0; k < sample->count; k++)
                expected += low_of(sample->values[k]) <= value;
            uint64_t found = hist_count_upto(hist, value);
            if (value >= hist->min && value < hist->max)
                assert_int_equal(found, expected);
            else
                assert_int_equal(found, value < hist->min ? 0 : sample->count);
        }
    }
}

/* Every figure of the histogram against sorting, and the sample is gone. */
static void check(struct sample sample)
{
    struct hist hist = hist_of(&sample);
    qsort(sample.values, sample.count, sizeof *sample.values, ascending);
    assert_int_equal(hist.count, sample.count);
    assert_int_equal(hist.min, sample.values[0]);
    assert_int_equal(hist.max, sample.values[sample.count - 1]);
    assert_near(hist_mean(&hist), (double)sample_mean(&sample), 2 * DBL_EPSILON);
    assert_near(hist_stddev(&hist), (double)sample_stddev(&sample), 4 * DBL_EPSILON);
    check_quantiles(&hist, &sample, 1000);
    if (sample.count <= 3000)
        check_quantiles(&hist, &sample, sample.count);
    check_counts(&hist, &sample);
    hist_free(&hist);
    free(sample.values);
}

static void agrees_with_sorting_on_uniform_values(void **state)
{
    uint64_t seed = 1;
    static const int64_t ranges[] = { 1, 2, 100, 2047, 2048, 2049, 5000, 1000000, INT64_C(1) << 40, HIST_HIGHEST };
    for (size_t i = 0; i < COUNT(ranges); i++) {
        struct sample sample = new_sample(20000);
        for (size_t k = 0; k < sample.count; k++)
            sample.values[k] = (int64_t)random_below(&seed, (uint64_t)ranges[i] + 1);
        check(sample);
    }
}

static void agrees_with_sorting_over_all_octaves(void **state)
{
    uint64_t seed = 2;
    struct sample sample = new_sample(20000);
    for (size_t k = 0; k < sample.count; k++)
        sample.values[k] = (int64_t)random_below(&seed, UINT64_C(1) << (1 + random_below(&seed, HIST_VALUE_BITS)));
    check(sample);
}

static void agrees_with_sorting_on_few_values(void **state)
{
    uint64_t seed = 3;
    for (size_t count = 1; count <= 40; count++) {
        struct sample sample = new_sample(count);
        for (size_t k = 0; k < count; k++)
            sample.values[k] = (int64_t)random_below(&seed, UINT64_C(1) << (1 + random_below(&seed, HIST_VALUE_BITS)));
        check(sample);
    }
}

static void agrees_with_sorting_at_the_ends_of_octaves(void **state)
{
    struct sample sample = new_sample((HIST_VALUE_BITS - 1) * 3 + 2);
    size_t at = 0;
    sample.values[at++] = 0;
    sample.values[at++] = HIST_HIGHEST;
    for (int bits = 1; bits < HIST_VALUE_BITS; bits++)
        for (int64_t off = -1; off <= 1; off++)
            sample.values[at++] = (INT64_C(1) << bits) + off;
    assert_int_equal(at, sample.count);
    check(sample);
}

static void agrees_with_sorting_on_two_distant_lumps(void **state)
{
    struct sample sample = new_sample(10001);
    for (size_t k = 0; k < sample.count; k++)
        sample.values[k] = k % 100 ? 1000000 : INT64_C(3600000000000);
    check(sample);
}

static void agrees_with_sorting_on_equal_values(void **state)
{
    struct sample sample = new_sample(1000);
    for (size_t k = 0; k < sample.count; k++)
        sample.values[k] = INT64_C(123456789012);
    check(sample);
}

static void stddev_does_not_cancel(void **state)
{
    /* 1..n has mean (n + 1) / 2 and variance (n^2 - 1) / 12, wherever it is moved to */
    static const int64_t offsets[] = { 0, 1000000000, INT64_C(1) << 46 };
    for (size_t i = 0; i < COUNT(offsets); i++) {
        for (int64_t n = 1; n <= 2001; n = n * 3 / 2 + 1) {
            struct hist hist = { 0 };
            for (int64_t v = 1; v <= n; v++)
                hist_record(&hist, offsets[i] + v);
            assert_near(hist_mean(&hist), (double)offsets[i] + (double)(n + 1) / 2, DBL_EPSILON);
            assert_near(hist_stddev(&hist), sqrt((double)(n * n - 1) / 12), 4 * DBL_EPSILON);
            hist_free(&hist);
        }
    }
}

static void stddev_of_one_among_millions(void **state)
{
    /* one value a step beside the n - 1 others: variance (n - 1) / n^2, on whichever side */
    const double n = 1e9;
    for (int64_t step = -1; step <= 1; step += 2) {
        struct hist hist = { 0 };
        hist_record_many(&hist, 5000000, (uint64_t)n - 1);
        hist_record(&hist, 5000000 + step);
        assert_near(hist_stddev(&hist), sqrt(n - 1) / n, 4 * DBL_EPSILON);
        hist_free(&hist);
    }
}

static void ranks_are_exact_where_doubles_are_not(void **state)
{
    /* 0.07 * 100 > 7 and 0.29 * 100 < 29 in doubles */
    struct hist hist = { 0 };
    for (int64_t v = 1; v <= 1000; v++)
        hist_record(&hist, v);
    for (int64_t k = 1; k <= 1000; k++)
        assert_int_equal((int64_t)hist_quantile(&hist, (double)k / 1000), k);
    for (int64_t k = 1; k <= 100; k++)
        assert_int_equal((int64_t)hist_quantile(&hist, (double)k / 100), 10 * k);
    assert_int_equal((int64_t)hist_quantile(&hist, 0.0701), 71);
    hist_free(&hist);
}

static void quantiles_outside_are_the_ends(void **state)
{
    struct hist hist = { 0 };
    hist_record(&hist, 3000001);
    hist_record(&hist, 5000001);
    hist_record(&hist, 7000001);
    assert_int_equal((int64_t)hist_quantile(&hist, -1), 3000001);
    assert_int_equal((int64_t)hist_quantile(&hist, 0), 3000001);
    assert_int_equal((int64_t)hist_quantile(&hist, 1), 7000001);
    assert_int_equal((int64_t)hist_quantile(&hist, 2), 7000001);
    hist_free(&hist);
}

static void nothing_recorded_is_not_a_number(void **state)
{
    struct hist hist = { 0 };
    hist_record_many(&hist, 5, 0);
    assert_int_equal(hist.count, 0);
    assert_true(isnan(hist_quantile(&hist, 0.5)));
    assert_true(isnan(hist_mean(&hist)));
    assert_true(isnan(hist_stddev(&hist)));
    assert_int_equal(hist_count_upto(&hist, INT64_MAX), 0);
    hist_free(&hist);
}

struct counter {
    int64_t low, high;
    uint64_t count;
};

struct counters {
    struct counter list[8];
    size_t count;
};

static void collect(void *context, int64_t low, int64_t high, uint64_t count)
{
    struct counters *counters = context;
    assert_true(counters->count < COUNT(counters->list));
    counters->list[counters->count++] = (struct counter){ low, high, count };
}

static struct counters counters_of(const struct hist *hist)
{
    struct counters counters = { 0 };
    hist_each(hist, collect, &counters);
    return counters;
}

static void assert_counter(struct counter found, int64_t low, int64_t high, uint64_t count)
{
    assert_int_equal(found.low, low);
    assert_int_equal(found.high, high);
    assert_int_equal(found.count, count);
}

static void octaves_meet(void **state)
{
    for (int bits = HIST_FIRST_BITS; bits < HIST_VALUE_BITS; bits++) {
        struct hist hist = { 0 };
        int64_t edge = INT64_C(1) << bits, before = INT64_C(1) << (bits - HIST_FIRST_BITS), after = 2 * before;
        hist_record(&hist, edge - 1);
        hist_record(&hist, edge);
        hist_record(&hist, edge + after - 1);
        hist_record(&hist, edge + after);
        struct counters counters = counters_of(&hist);
        assert_int_equal(counters.count, 3);
        assert_counter(counters.list[0], edge - before, edge - 1, 1);
        assert_counter(counters.list[1], edge, edge + after - 1, 2);
        assert_counter(counters.list[2], edge + after, edge + 2 * after - 1, 1);
        hist_free(&hist);
    }
}

static void values_beyond_the_last_octave_are_kept_there(void **state)
{
    struct hist hist = { 0 };
    hist_record(&hist, HIST_HIGHEST);
    hist_record(&hist, HIST_HIGHEST + 1);
    hist_record(&hist, INT64_C(1) << 60);
    struct counters counters = counters_of(&hist);
    assert_int_equal(counters.count, 1);
    assert_counter(counters.list[0], HIST_HIGHEST + 1 - (INT64_C(1) << 36), HIST_HIGHEST, 3);
    assert_int_equal(hist.max, INT64_C(1) << 60);
    assert_int_equal((int64_t)hist_quantile(&hist, 1), INT64_C(1) << 60);
    assert_int_equal((int64_t)hist_quantile(&hist, 0.5), hist.min);
    assert_near(hist_mean(&hist), (0x1p60 + 0x1p48 - 1) / 3, DBL_EPSILON);
    hist_free(&hist);
}

static void squares_that_do_not_fit_are_said(void **state)
{
    struct hist hist = { 0 }, other = { 0 };
    hist_record(&hist, INT64_MAX);
    assert_near(hist_stddev(&hist), 0, 0);
    for (int i = 0; i < 4; i++)
        hist_record(&hist, INT64_MAX);
    assert_near(hist_mean(&hist), 0x1p63, DBL_EPSILON);
    assert_true(isnan(hist_stddev(&hist)));
    hist_record(&other, 7);
    hist_merge(&other, &hist);
    assert_true(isnan(hist_stddev(&other)));
    hist_subtract(&hist, &(struct hist){ 0 });
    assert_true(isnan(hist_stddev(&hist)));
    hist_free(&hist);
    hist_record_many(&hist, HIST_HIGHEST, UINT64_C(1) << 33); /* 2^127 */
    assert_near(hist_stddev(&hist), 0, 0);
    hist_record_many(&hist, HIST_HIGHEST, UINT64_C(1) << 34);
    assert_true(isnan(hist_stddev(&hist)));
    hist_free(&hist);
    hist_free(&other);
}

static void negative_values_are_zero(void **state)
{
    struct hist hist = { 0 };
    hist_record(&hist, -1);
    hist_record(&hist, INT64_MIN);
    hist_record_many(&hist, -5, 3);
    hist_record(&hist, 10);
    assert_int_equal(hist.count, 6);
    assert_int_equal(hist.min, 0);
    assert_near(hist_mean(&hist), 10.0 / 6, DBL_EPSILON);
    assert_counter(counters_of(&hist).list[0], 0, 0, 5);
    hist_free(&hist);
}

static void assert_same_counters(const struct hist *a, const struct hist *b)
{
    static const uint64_t none[1 << HIST_FIRST_BITS];
    assert_int_equal(a->count, b->count);
    assert_true(a->sum == b->sum);
    assert_true(a->squares == b->squares);
    for (unsigned page = 0; page < HIST_PAGES; page++) {
        size_t size = (page ? 1 << HIST_PAGE_BITS : 1 << HIST_FIRST_BITS) * sizeof(uint64_t);
        assert_memory_equal(a->pages[page] ? a->pages[page] : none, b->pages[page] ? b->pages[page] : none, size);
    }
}

static void assert_same(const struct hist *a, const struct hist *b)
{
    assert_same_counters(a, b);
    if (a->count) {
        assert_int_equal(a->min, b->min);
        assert_int_equal(a->max, b->max);
    }
}

/* Any value, one in a hundred beyond the last octave. */
static int64_t any_value(uint64_t *seed)
{
    uint64_t bits = random_below(seed, 100) ? random_below(seed, HIST_VALUE_BITS + 1) : 55;
    return (int64_t)random_below(seed, UINT64_C(1) << bits);
}

static void record_random(struct hist *hist, uint64_t *seed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hist_record(hist, any_value(seed));
}

static void recording_many_is_recording_often(void **state)
{
    uint64_t seed = 4;
    struct hist once = { 0 }, often = { 0 };
    for (int i = 0; i < 500; i++) {
        int64_t value = any_value(&seed);
        uint64_t times = random_below(&seed, 50);
        hist_record_many(&once, value, times);
        for (uint64_t k = 0; k < times; k++)
            hist_record(&often, value);
    }
    assert_same(&once, &often);
    hist_free(&once);
    hist_free(&often);
}

static void merging_is_recording_all_in_one(void **state)
{
    uint64_t seed = 5;
    for (int round = 0; round < 50; round++) {
        struct hist parts[5] = { 0 }, merged = { 0 }, all = { 0 };
        for (size_t i = 0; i < COUNT(parts); i++) {
            size_t count = random_below(&seed, 4) ? random_below(&seed, 300) : 0;
            uint64_t again = seed;
            record_random(&parts[i], &seed, count);
            record_random(&all, &again, count);
        }
        for (size_t i = 0; i < COUNT(parts); i++)
            hist_merge(&merged, &parts[i]);
        assert_same(&merged, &all);
        for (size_t i = 0; i < COUNT(parts); i++)
            hist_free(&parts[i]);
        hist_free(&merged);
        hist_free(&all);
    }
}

static void merging_leaves_the_source_alone(void **state)
{
    uint64_t seed = 6, again = 6;
    struct hist from = { 0 }, copy = { 0 }, into = { 0 };
    record_random(&from, &seed, 1000);
    record_random(&copy, &again, 1000);
    hist_merge(&into, &from);
    hist_merge(&into, &from);
    assert_same(&from, &copy);
    assert_int_equal(into.count, 2000);
    hist_free(&from);
    hist_free(&copy);
    hist_free(&into);
}

/* The extremes after a subtraction are those of the counters: the true one lies in the same counter, and not outside. */
static void assert_extremes(const struct hist *hist, const struct hist *later)
{
    assert_true(hist->min <= later->min && hist->min >= low_of(later->min < HIST_HIGHEST ? later->min : HIST_HIGHEST));
    assert_true(hist->max >= later->max);
    if (later->max <= HIST_HIGHEST && hist->max <= HIST_HIGHEST)
        assert_true(hist->max < low_of(later->max) + width_of(later->max));
}

static void subtracting_leaves_what_was_recorded_since(void **state)
{
    uint64_t seed = 7;
    for (int round = 0; round < 50; round++) {
        struct hist hist = { 0 }, earlier = { 0 }, later = { 0 };
        record_random(&hist, &seed, random_below(&seed, 300));
        hist_merge(&earlier, &hist);
        size_t count = 1 + random_below(&seed, 100);
        uint64_t again = seed;
        record_random(&hist, &seed, count);
        record_random(&later, &again, count);
        hist_subtract(&hist, &earlier);
        assert_same_counters(&hist, &later);
        assert_extremes(&hist, &later);
        hist_free(&hist);
        hist_free(&earlier);
        hist_free(&later);
    }
}

static void subtracting_all_leaves_nothing_and_recording_goes_on(void **state)
{
    struct hist hist = { 0 }, earlier = { 0 };
    hist_record(&hist, 5000);
    hist_record(&hist, 7);
    hist_merge(&earlier, &hist);
    hist_subtract(&hist, &earlier);
    assert_int_equal(hist.count, 0);
    assert_true(isnan(hist_quantile(&hist, 0.5)));
    assert_int_equal(counters_of(&hist).count, 0);
    hist_record(&hist, 5001);
    hist_record(&hist, 5000);
    assert_int_equal(hist.min, 5000);
    assert_int_equal(hist.max, 5001);
    hist_free(&hist);
    hist_free(&earlier);
}

static void clearing_keeps_the_pages(void **state)
{
    uint64_t seed = 8;
    struct hist hist = { 0 }, fresh = { 0 };
    record_random(&hist, &seed, 3000);
    const uint64_t *page = hist.pages[0];
    hist_clear(&hist);
    assert_int_equal(hist.count, 0);
    assert_true(isnan(hist_stddev(&hist)));
    hist_record(&hist, 0);
    hist_record(&fresh, 0);
    assert_same(&hist, &fresh);
    assert_ptr_equal(hist.pages[0], page);
    hist_free(&hist);
    hist_free(&fresh);
    hist_clear(&hist);
    hist_record(&hist, 9);
    assert_int_equal(hist.min, 9);
    assert_int_equal(hist.max, 9);
    hist_free(&hist);
}

static void pages_are_made_on_first_touch(void **state)
{
    struct hist hist = { 0 };
    hist_record(&hist, 1000000); /* between 2^19 and 2^20: page 19 - 10 */
    for (unsigned page = 0; page < HIST_PAGES; page++)
        assert_int_equal(hist.pages[page] != NULL, page == 9);
    hist_free(&hist);
    for (unsigned page = 0; page < HIST_PAGES; page++)
        assert_null(hist.pages[page]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_sorting_on_uniform_values),
        cmocka_unit_test(agrees_with_sorting_over_all_octaves),
        cmocka_unit_test(agrees_with_sorting_on_few_values),
        cmocka_unit_test(agrees_with_sorting_at_the_ends_of_octaves),
        cmocka_unit_test(agrees_with_sorting_on_two_distant_lumps),
        cmocka_unit_test(agrees_with_sorting_on_equal_values),
        cmocka_unit_test(stddev_does_not_cancel),
        cmocka_unit_test(stddev_of_one_among_millions),
        cmocka_unit_test(ranks_are_exact_where_doubles_are_not),
        cmocka_unit_test(quantiles_outside_are_the_ends),
        cmocka_unit_test(nothing_recorded_is_not_a_number),
        cmocka_unit_test(octaves_meet),
        cmocka_unit_test(values_beyond_the_last_octave_are_kept_there),
        cmocka_unit_test(squares_that_do_not_fit_are_said),
        cmocka_unit_test(negative_values_are_zero),
        cmocka_unit_test(recording_many_is_recording_often),
        cmocka_unit_test(merging_is_recording_all_in_one),
        cmocka_unit_test(merging_leaves_the_source_alone),
        cmocka_unit_test(subtracting_leaves_what_was_recorded_since),
        cmocka_unit_test(subtracting_all_leaves_nothing_and_recording_goes_on),
        cmocka_unit_test(clearing_keeps_the_pages),
        cmocka_unit_test(pages_are_made_on_first_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
