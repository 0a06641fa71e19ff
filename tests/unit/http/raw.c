/* Where requests that are written out begin and end. The cases are made by hand from RFC 9112. */
#include "http/raw.h"

#include "test.h"

struct raw_case {
    const char *text;
    size_t lengths[4]; /* of the requests in it; 0: no more */
    const char *why;   /* of what follows them, or NULL */
};

static const struct raw_case cases[] = {
    { "GET / HTTP/1.1\r\n\r\n", { 18 }, NULL },
    { "GET / HTTP/1.1\nHost: a\n\n", { 24 }, NULL },
    { "GET / HTTP/1.1\r\n\r\nHEAD /a HTTP/1.0\r\n\r\n", { 18, 20 }, NULL },
    { "\r\nGET / HTTP/1.1\r\n\r\n", { 20 }, NULL },
    { "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n", { 41, 18 }, NULL },
    { "POST / HTTP/1.1\r\ncontent-length:0\r\n\r\n", { 37 }, NULL },
    { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", { 60, 18 }, NULL },
    { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n", { 58 }, NULL },
    { "GET http://other/a b HTTP/1.1\r\n\r\n", { 33 }, NULL },
    { "", { 0 }, NULL },
    { "GET / HTTP/1.1\r\n", { 0 }, "incomplete request" },
    { "GET / HTTP/1.1", { 0 }, "incomplete request" },
    { "GET / HTTP/1.1\r\nA: b\r\n", { 0 }, "incomplete request" },
    { "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabc", { 0 }, "incomplete request" },
    { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", { 0 }, "incomplete request" },
    { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc", { 0 }, "incomplete request" },
    { "POST / HTTP/1.1\r\nContent-Length: 4x\r\n\r\nabcd", { 0 }, "invalid content length" },
    { "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", { 0 }, "invalid content length" },
    { "GET / HTTP/1.1\r\n\r\nrubbish\r\n\r\n", { 18 }, "invalid method" },
    { "G(T / HTTP/1.1\r\n\r\n", { 0 }, "invalid method" },
    { "GET /\r\n\r\n", { 0 }, "invalid request line" },
    { "GET / HTTP/2\r\n\r\n", { 0 }, "invalid request line" },
};

static void check(const struct raw_case *each)
{
    struct raw_request request;
    const char *text = each->text;
    size_t left = strlen(text);
    for (size_t i = 0; each->lengths[i]; i++) {
        assert_true(raw_next(&request, text, left));
        assert_int_equal(request.length, each->lengths[i]);
        text += request.length;
        left -= request.length;
    }
    if (each->why) {
        assert_false(raw_next(&request, text, left));
        assert_string_equal(request.why, each->why);
        assert_true(request.at >= text && request.at <= text + left);
    } else {
        assert_int_equal(left, 0);
    }
}

static void texts_are_taken_apart(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check(&cases[i]);
}

/* Each text is copied to memory that ends where it does: reading beyond is found by the sanitizer. */
static void every_beginning_is_safe(void **state)
{
    struct raw_request request;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t length = 0; length <= strlen(cases[i].text); length++) {
            char *copy = malloc(length ? length : 1);
            memcpy(copy, cases[i].text, length);
            if (raw_next(&request, copy, length))
                assert_true(request.length > 0 && request.length <= length);
            free(copy);
        }
    }
}

static void the_parts_are_known(void **state)
{
    struct raw_request request;
    const char *text = "HEAD /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    assert_true(raw_next(&request, text, strlen(text)));
    assert_true(request.head);
    assert_memory_equal(request.method, "HEAD", request.method_length);
    assert_int_equal(request.path_length, 4);
    assert_memory_equal(request.path, "/a?b", 4);
    assert_int_equal(request.lines_length, strlen("Host: x\r\nContent-Length: 2\r\n"));
    assert_string_equal(request.body, "hi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_taken_apart),
        cmocka_unit_test(every_beginning_is_safe),
        cmocka_unit_test(the_parts_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
