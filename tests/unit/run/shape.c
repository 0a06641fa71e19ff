#include "run/shape.h"

#include <math.h>

#include "base/clock.h"
#include "test.h"

#define S(seconds) ((int64_t)((seconds) * 1e9))

static void one_constant_stage(void **state)
{
    struct stage_plan stages[] = { { .level = 250, .hold = S(4) } };
    struct shape shape;
    shape_init(&shape, stages, 1);
    assert_true(shape.length == 4 && shape.area == 1000);
    assert_true(shape_level(&shape, 0) == 250 && shape_level(&shape, 3.9) == 250 && shape_level(&shape, 4.1) == 0);
    assert_true(shape_area(&shape, 2) == 500 && shape_area(&shape, 99) == 1000);
    assert_true(shape_when(&shape, 500) == 2 && shape_when(&shape, 1000) == 4 && isinf(shape_when(&shape, 1000.5)));
    shape_free(&shape);
}

static void one_without_an_end(void **state)
{
    struct stage_plan stages[] = { { .level = 10, .hold = NS_NEVER } };
    struct shape shape;
    shape_init(&shape, stages, 1);
    assert_true(isinf(shape.length) && isinf(shape.area));
    assert_true(shape_when(&shape, 1e7) == 1e6 && shape_area(&shape, 1e6) == 1e7);
    shape_free(&shape);
}

/* The figures are those of triangles and rectangles. */
static void ramps_holds_and_jumps(void **state)
{
    struct stage_plan stages[] = {
        { .level = 0, .hold = S(5) },                 /* nothing */
        { .level = 100, .over = S(10), .hold = S(2) }, /* 500 + 200 */
        { .level = 40, .hold = S(10) },               /* jumps: 400 */
        { .level = 0, .over = S(20) },                /* 400 */
    };
    struct shape shape;
    shape_init(&shape, stages, COUNT(stages));
    assert_true(shape.length == 47 && shape.area == 1500);
    assert_true(shape_area(&shape, 5) == 0 && shape_area(&shape, 10) == 125 && shape_area(&shape, 15) == 500 && shape_area(&shape, 17) == 700);
    assert_true(shape_level(&shape, 10) == 50 && shape_level(&shape, 16) == 100 && shape_level(&shape, 17.5) == 40 && shape_level(&shape, 37) == 20);
    assert_true(shape_when(&shape, 125) == 10 && shape_when(&shape, 500) == 15 && shape_when(&shape, 900) == 22 && shape_when(&shape, 1500) == 47);
    shape_free(&shape);
}

static double random_part(uint64_t *seed)
{
    return (double)random_below(seed, 1000000) / 1e6;
}

/* The area is the sum of the levels of many small steps, and when() is its inverse, for any stages. */
static void area_and_its_inverse_agree(void **state)
{
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        struct stage_plan stages[6];
        size_t count = 1 + random_below(&seed, COUNT(stages));
        for (size_t i = 0; i < count; i++)
            stages[i] = (struct stage_plan){ .level = random_below(&seed, 4) ? random_part(&seed) * 5000 : 0,
                .over = (int64_t)random_below(&seed, 3) * S(random_part(&seed) * 9 + 0.1), .hold = (int64_t)random_below(&seed, 3) * S(random_part(&seed) * 9 + 0.1) };
        stages[count - 1].hold = S(1);
        struct shape shape;
        shape_init(&shape, stages, count);
        double sum = 0, step = shape.length / 20000;
        for (int i = 0; i < 20000; i++)
            sum += shape_level(&shape, (i + 0.5) * step) * step;
        assert_true(fabs(sum - shape.area) <= 5000 * step * 6 + 1e-9); /* a jump within a step */
        for (int i = 0; i < 200 && shape.area > 0; i++) {
            double area = random_part(&seed) * shape.area, when = shape_when(&shape, area);
            assert_true(when >= 0 && when <= shape.length);
            assert_true(fabs(shape_area(&shape, when) - area) < 1e-9 * (1 + shape.area));
        }
        shape_free(&shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_constant_stage),
        cmocka_unit_test(one_without_an_end),
        cmocka_unit_test(ramps_holds_and_jumps),
        cmocka_unit_test(area_and_its_inverse_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
