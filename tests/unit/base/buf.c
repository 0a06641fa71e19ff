#include "base/buf.h"

#include "test.h"

static void starts_without_memory(void **state)
{
    struct buf buf = { 0 };
    assert_true(buf_append(&buf, "", 0));
    assert_null(buf.data);
    assert_int_equal(buf.length, 0);
    buf_free(&buf);
}

static void grows_and_keeps_its_bytes(void **state)
{
    struct buf buf = { 0 };
    uint64_t seed = 1;
    static uint8_t model[100000];
    size_t length = 0;
    while (length < sizeof model - 1000) {
        uint8_t piece[1000];
        size_t size = random_below(&seed, sizeof piece);
        for (size_t i = 0; i < size; i++)
            piece[i] = (uint8_t)random_next(&seed);
        memcpy(model + length, piece, size);
        length += size;
        assert_true(buf_append(&buf, piece, size));
        assert_int_equal(buf.length, length);
        assert_true(buf.capacity >= length);
    }
    assert_memory_equal(buf.data, model, length);
    buf_free(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.capacity, 0);
}

static void reserves_without_appending(void **state)
{
    struct buf buf = { 0 };
    assert_true(buf_reserve(&buf, 1000));
    assert_true(buf.capacity >= 1000);
    assert_int_equal(buf.length, 0);
    const char *before = buf.data;
    assert_true(buf_append(&buf, before, 0));
    for (int i = 0; i < 1000; i++)
        assert_true(buf_append(&buf, "x", 1));
    assert_ptr_equal(buf.data, before);
    buf_free(&buf);
}

static void stops_at_its_maximum(void **state)
{
    struct buf buf = { .maximum = 10 };
    assert_true(buf_append(&buf, "0123456789", 10));
    assert_false(buf_append(&buf, "x", 1));
    assert_false(buf_printf(&buf, "%d", 5));
    assert_false(buf_reserve(&buf, 1));
    assert_true(buf_append(&buf, "", 0));
    assert_int_equal(buf.length, 10);
    assert_memory_equal(buf.data, "0123456789", 10);
    buf_free(&buf);
}

static void printf_fills_it_to_the_maximum(void **state)
{
    struct buf buf = { .maximum = 10 };
    assert_true(buf_append(&buf, "01234", 5));
    assert_true(buf_printf(&buf, "%d", 56789));
    assert_int_equal(buf.length, 10);
    assert_memory_equal(buf.data, "0123456789", 10);
    buf_free(&buf);
}

static void refuses_sizes_beyond_all_memory(void **state)
{
    struct buf buf = { 0 };
    assert_true(buf_append(&buf, "abc", 3));
    assert_false(buf_reserve(&buf, SIZE_MAX));
    assert_false(buf_reserve(&buf, SIZE_MAX - 2));
    assert_int_equal(buf.length, 3);
    buf_free(&buf);
}

static void printf_appends(void **state)
{
    struct buf buf = { 0 };
    assert_true(buf_printf(&buf, "%s", ""));
    assert_true(buf_printf(&buf, "%s=%d", "a", 1));
    assert_true(buf_printf(&buf, ";%0*d", 500, 7));
    assert_int_equal(buf.length, 504);
    assert_memory_equal(buf.data, "a=1;000", 7);
    assert_int_equal(buf.data[503], '7');
    buf_free(&buf);
}

static void consumes_from_the_front(void **state)
{
    struct buf buf = { 0 };
    buf_append(&buf, "abcdef", 6);
    buf_consume(&buf, 0);
    assert_int_equal(buf.length, 6);
    buf_consume(&buf, 2);
    assert_int_equal(buf.length, 4);
    assert_memory_equal(buf.data, "cdef", 4);
    buf_consume(&buf, 4);
    assert_int_equal(buf.length, 0);
    buf_free(&buf);
}

static void consuming_nothing_of_nothing_is_fine(void **state)
{
    struct buf buf = { 0 };
    buf_consume(&buf, 0);
    assert_int_equal(buf.length, 0);
}

static void clear_keeps_small_memory_and_gives_back_large(void **state)
{
    struct buf buf = { .maximum = 5000 };
    buf_append(&buf, "abc", 3);
    const char *before = buf.data;
    buf_clear(&buf, 1000);
    assert_int_equal(buf.length, 0);
    assert_ptr_equal(buf.data, before);
    buf_reserve(&buf, 2000);
    buf_clear(&buf, 1000);
    assert_null(buf.data);
    assert_int_equal(buf.capacity, 0);
    assert_int_equal(buf.maximum, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_without_memory),
        cmocka_unit_test(grows_and_keeps_its_bytes),
        cmocka_unit_test(reserves_without_appending),
        cmocka_unit_test(stops_at_its_maximum),
        cmocka_unit_test(printf_fills_it_to_the_maximum),
        cmocka_unit_test(refuses_sizes_beyond_all_memory),
        cmocka_unit_test(printf_appends),
        cmocka_unit_test(consumes_from_the_front),
        cmocka_unit_test(consuming_nothing_of_nothing_is_fine),
        cmocka_unit_test(clear_keeps_small_memory_and_gives_back_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
