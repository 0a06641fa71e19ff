#include "base/base64.h"

#include "test.h"

struct pair {
    const char *plain, *text;
};

/* RFC 4648, section 10, and the two last letters of the alphabet. */
static const struct pair pairs[] = {
    { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
    { "\xfb\xff\xbf", "+/+/" },
};

static void encodes_the_vectors_of_the_rfc(void **state)
{
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct buf out = { 0 };
        assert_true(base64_encode(&out, pairs[i].plain, strlen(pairs[i].plain)));
        assert_true(buf_append(&out, "", 1));
        assert_string_equal(out.data, pairs[i].text);
        buf_free(&out);
    }
}

static void decodes_the_vectors_of_the_rfc(void **state)
{
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct buf out = { 0 };
        assert_true(base64_decode(&out, pairs[i].text, strlen(pairs[i].text)));
        assert_true(buf_append(&out, "", 1));
        assert_string_equal(out.data, pairs[i].plain);
        buf_free(&out);
    }
}

static void refuses_what_encodes_nothing(void **state)
{
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zg===", "====", "=", "==", "Z===", "Zm8=Zm8=", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "Zh==", "Zm9=", "Zm9vZ", "Z=g=", "Zm\0v",
        "Zm9vZm\377v",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct buf out = { 0 };
        buf_append(&out, "kept", 4);
        size_t length = i == COUNT(bad) - 2 ? 4 : strlen(bad[i]);
        if (base64_decode(&out, bad[i], length))
            fail_msg("\"%s\" was decoded", bad[i]);
        assert_int_equal(out.length, 4);
        buf_free(&out);
    }
}

static void appends_to_what_is_there(void **state)
{
    struct buf out = { 0 };
    buf_append(&out, "a", 1);
    assert_true(base64_encode(&out, "f", 1));
    assert_int_equal(out.length, 5);
    assert_memory_equal(out.data, "aZg==", 5);
    assert_true(base64_decode(&out, "Zg==", 4));
    assert_memory_equal(out.data, "aZg==f", 6);
    buf_free(&out);
}

static void keeps_to_the_maximum(void **state)
{
    struct buf out = { .maximum = 7 };
    assert_false(base64_encode(&out, "abcd", 4));
    assert_int_equal(out.length, 0);
    assert_true(base64_encode(&out, "abc", 3));
    assert_true(base64_decode(&out, "Zm9v", 4));
    assert_false(base64_decode(&out, "Zg==", 4));
    assert_int_equal(out.length, 7);
    buf_free(&out);
}

static void gives_back_random_bytes(void **state)
{
    uint64_t seed = 1;
    for (size_t length = 0; length < 300; length++) {
        uint8_t bytes[300];
        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)random_next(&seed);
        struct buf text = { 0 }, back = { 0 };
        assert_true(base64_encode(&text, bytes, length));
        assert_int_equal(text.length, (length + 2) / 3 * 4);
        assert_true(base64_decode(&back, text.data, text.length));
        assert_int_equal(back.length, length);
        if (length)
            assert_memory_equal(back.data, bytes, length);
        buf_free(&text);
        buf_free(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_the_vectors_of_the_rfc), cmocka_unit_test(decodes_the_vectors_of_the_rfc), cmocka_unit_test(refuses_what_encodes_nothing),
        cmocka_unit_test(appends_to_what_is_there),       cmocka_unit_test(keeps_to_the_maximum),           cmocka_unit_test(gives_back_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
