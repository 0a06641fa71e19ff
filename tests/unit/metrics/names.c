#include "metrics/names.h"

#include <stdio.h>

#include "test.h"

static size_t index_of(struct names *names, const char *text)
{
    return names_index(names, text, strlen(text));
}

static void gives_indices_in_order_of_first_use(void **state)
{
    struct names names;
    names_init(&names, 10);
    assert_int_equal(index_of(&names, "b"), 0);
    assert_int_equal(index_of(&names, "a"), 1);
    assert_int_equal(index_of(&names, "b"), 0);
    assert_int_equal(index_of(&names, ""), 2);
    assert_int_equal(index_of(&names, "a"), 1);
    assert_int_equal(index_of(&names, ""), 2);
    assert_int_equal(names.count, 3);
    assert_string_equal(names.texts[1], "a");
    names_free(&names);
}

static void tells_apart_beginnings(void **state)
{
    struct names names;
    names_init(&names, 10);
    assert_int_equal(names_index(&names, "abc", 3), 0);
    assert_int_equal(names_index(&names, "abc", 2), 1);
    assert_int_equal(names_index(&names, "abcd", 4), 2);
    assert_int_equal(names_index(&names, "abcdef", 3), 0);
    assert_string_equal(names.texts[1], "ab");
    names_free(&names);
}

/* 500 bytes are the limit; a character of several bytes is not cut in two, and what is cut is known again. */
static void long_names_are_cut(void **state)
{
    struct names names;
    char text[2000];
    names_init(&names, 10);
    memset(text, 'a', sizeof text);
    memcpy(text + 495, "\xc3\xa9\xc3\xa9", 4);
    assert_int_equal(names_index(&names, text, 500), 0);
    assert_int_equal(strlen(names.texts[0]), 500);
    assert_int_equal(names_index(&names, text, 501), 1);
    assert_int_equal(strlen(names.texts[1]), 500);
    assert_string_equal(names.texts[1] + 493, "aa\xc3\xa9...");
    assert_int_equal(names_index(&names, text, 2000), 1);
    assert_int_equal(names_index(&names, names.texts[1], 500), 1);
    memcpy(text + 1990, "\nk=v", 4);
    assert_int_equal(names_index(&names, text, 1994), 2);
    assert_string_equal(names.texts[2] + 493, "aa\xc3\xa9...\nk=v");
    names_free(&names);
}

static void a_name_ends_at_its_first_nul(void **state)
{
    struct names names;
    names_init(&names, 10);
    assert_int_equal(names_index(&names, "a\0b", 3), 0);
    assert_int_equal(names_index(&names, "a\0c", 3), 0);
    assert_int_equal(names_index(&names, "a", 1), 0);
    names_free(&names);
}

static void copies_the_text(void **state)
{
    struct names names;
    char text[] = "GET /";
    names_init(&names, 10);
    assert_int_equal(index_of(&names, text), 0);
    text[0] = 'P';
    assert_int_equal(index_of(&names, "GET /"), 0);
    assert_int_equal(index_of(&names, text), 1);
    names_free(&names);
}

static void what_is_beyond_the_limit_is_other(void **state)
{
    struct names names;
    names_init(&names, 2);
    assert_int_equal(index_of(&names, "a"), 0);
    assert_int_equal(index_of(&names, "b"), 1);
    assert_int_equal(names.count, 2);
    assert_int_equal(index_of(&names, "c"), 2);
    assert_string_equal(names.texts[2], "(other)");
    assert_int_equal(index_of(&names, "d"), 2);
    assert_int_equal(index_of(&names, "(other)"), 2);
    assert_int_equal(index_of(&names, "a"), 0);
    assert_int_equal(names.count, 3);
    names_free(&names);
}

static void a_name_that_is_other_already_takes_the_rest(void **state)
{
    struct names names;
    names_init(&names, 2);
    assert_int_equal(index_of(&names, "(other)"), 0);
    assert_int_equal(index_of(&names, "b"), 1);
    assert_int_equal(index_of(&names, "c"), 0);
    assert_int_equal(names.count, 2);
    names_free(&names);
}

static void many_names_are_all_found(void **state)
{
    enum { LIMIT = 5000 };
    struct names names;
    names_init(&names, LIMIT);
    char text[32];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < LIMIT; i++) {
            snprintf(text, sizeof text, "GET /items/%zu", i * i);
            assert_int_equal(index_of(&names, text), i);
        }
    }
    for (size_t i = LIMIT; i < 2 * LIMIT; i++) {
        snprintf(text, sizeof text, "GET /items/%zu", i * i);
        assert_int_equal(index_of(&names, text), LIMIT);
    }
    assert_int_equal(names.count, LIMIT + 1);
    names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_indices_in_order_of_first_use),
        cmocka_unit_test(tells_apart_beginnings), cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(a_name_ends_at_its_first_nul),
        cmocka_unit_test(copies_the_text),
        cmocka_unit_test(what_is_beyond_the_limit_is_other),
        cmocka_unit_test(a_name_that_is_other_already_takes_the_rest),
        cmocka_unit_test(many_names_are_all_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
