#include "base/rng.h"

#include <math.h>

#include "test.h"

/* The first numbers of xoshiro256++ from the state 1, 2, 3, 4, as in the tests of Rust's rand_xoshiro, which has them from the authors' C program. */
static void gives_the_reference_sequence(void **state)
{
    static const uint64_t expected[] = { 41943041, 58720359, 3588806011781223, 3591011842654386, UINT64_C(9228616714210784205), UINT64_C(9973669472204895162),
                                         UINT64_C(14011001112246962877), UINT64_C(12406186145184390807), UINT64_C(15849039046786891736), UINT64_C(10450023813501588000) };
    struct rng rng = { { 1, 2, 3, 4 } };
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_true(rng_bits(&rng) == expected[i]);
}

static void streams_are_told_apart_by_their_names(void **state)
{
    static const uint64_t names[][3] = { { 1, 2, 3 }, { 1, 2, 4 }, { 1, 3, 2 }, { 2, 1, 3 }, { 0, 0, 0 }, { 1, 0, 0 } };
    uint64_t first[2 * COUNT(names)];
    for (size_t i = 0; i < 2 * COUNT(names); i++) {
        struct rng rng, same;
        rng_seed(&rng, names[i / 2], 2 + i % 2);
        rng_seed(&same, names[i / 2], 2 + i % 2);
        first[i] = rng_bits(&rng);
        assert_true(first[i] == rng_bits(&same));
        for (size_t k = 0; k < i; k++)
            assert_true(first[i] != first[k] || (!(i % 2) && !memcmp(names[i / 2], names[k / 2], 16)));
    }
}

static void uniform_numbers_fill_the_range(void **state)
{
    enum { N = 200000, CELLS = 20 };
    int cells[CELLS] = { 0 };
    struct rng rng;
    rng_seed(&rng, (uint64_t[]){ 7 }, 1);
    for (int i = 0; i < N; i++) {
        double u = rng_uniform(&rng);
        assert_true(u >= 0 && u < 1);
        cells[(int)(u * CELLS)]++;
    }
    double chi = 0;
    for (int i = 0; i < CELLS; i++)
        chi += (cells[i] - (double)N / CELLS) * (cells[i] - (double)N / CELLS) / ((double)N / CELLS);
    assert_true(chi < 43.8); /* chi-square with 19 degrees: 99.9% */
}

static void whole_numbers_are_even(void **state)
{
    int cells[3] = { 0 };
    struct rng rng;
    rng_seed(&rng, (uint64_t[]){ 8 }, 1);
    for (int i = 0; i < 300000; i++)
        cells[rng_below(&rng, 3)]++;
    for (int i = 0; i < 3; i++)
        assert_true(abs(cells[i] - 100000) < 4 * 258); /* 4 standard deviations */
    assert_int_equal(rng_below(&rng, 1), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(rng_below(&rng, UINT64_C(1) << 63) < UINT64_C(1) << 63);
}

static void exponentials_have_mean_and_variance_1(void **state)
{
    enum { N = 200000 };
    double sum = 0, squares = 0;
    struct rng rng;
    rng_seed(&rng, (uint64_t[]){ 9 }, 1);
    for (int i = 0; i < N; i++) {
        double e = rng_exponential(&rng);
        assert_true(e >= 0 && isfinite(e));
        sum += e;
        squares += e * e;
    }
    assert_true(fabs(sum / N - 1) < 4 / sqrt(N));
    assert_true(fabs(squares / N - 2) < 4 * sqrt(20.0 / N)); /* the variance of E^2 is 24 - 4 */
}

static void fills_any_length(void **state)
{
    struct rng rng;
    for (size_t length = 0; length < 40; length++) {
        unsigned char bytes[48] = { 0 };
        size_t touched = 0;
        rng_seed(&rng, (uint64_t[]){ length }, 1);
        rng_fill(&rng, bytes, length);
        for (size_t i = 0; i < sizeof bytes; i++) {
            touched += bytes[i] != 0;
            assert_true(i < length || !bytes[i]);
        }
        assert_true(touched + 3 >= length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_reference_sequence),
        cmocka_unit_test(streams_are_told_apart_by_their_names),
        cmocka_unit_test(uniform_numbers_fill_the_range),
        cmocka_unit_test(whole_numbers_are_even),
        cmocka_unit_test(exponentials_have_mean_and_variance_1),
        cmocka_unit_test(fills_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
