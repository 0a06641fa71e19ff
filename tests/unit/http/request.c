/* Prepared requests, and what the codec writes for them. */
#include "http/h1_request.h"
#include "peer.h"

struct render_case {
    const char *method, *url, *lines, *host;
    const char *bytes; /* without the blank line */
};

static const struct render_case render_cases[] = {
    { "GET", "http://a.example", "", NULL, "GET / HTTP/1.1\r\nHost: a.example\r\n" },
    { "GET", "http://a.example?x=1#f", "", NULL, "GET /?x=1 HTTP/1.1\r\nHost: a.example\r\n" },
    { "GET", "http://A.Example:80/b", "", NULL, "GET /b HTTP/1.1\r\nHost: A.Example\r\n" },
    { "POST", "http://a.example:81/b?c", "X: y\r\nZ: 1\r\n", NULL, "POST /b?c HTTP/1.1\r\nHost: a.example:81\r\nX: y\r\nZ: 1\r\n" },
    { "GET", "http://user:pw@[::1]:8080/", "", NULL, "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n" },
    { "PURGE", "http://[::1]/", "", NULL, "PURGE / HTTP/1.1\r\nHost: [::1]\r\n" },
    { "GET", "http://a.example:81/", "", "other.example", "GET / HTTP/1.1\r\nHost: other.example\r\n" },
};

static struct request *prepare(const struct render_case *c, const char **why)
{
    return request_of(c->method, c->url, c->lines, c->host, why);
}

static void renders(void **state)
{
    for (size_t i = 0; i < COUNT(render_cases); i++) {
        const char *why;
        struct request *request = prepare(&render_cases[i], &why);
        assert_non_null(request);
        assert_int_equal(request->length, strlen(render_cases[i].bytes));
        assert_memory_equal(request->bytes, render_cases[i].bytes, request->length);
        assert_memory_equal(request->bytes + request->length, "\r\n", 2);
        assert_string_equal(request->method, render_cases[i].method);
        request_release(request);
    }
}

static void refuses(void **state)
{
    static const struct render_case wrong[] = {
        { "GET", "a.example", "", NULL, NULL },         { "", "http://a/", "", NULL, NULL },       { "G ET", "http://a/", "", NULL, NULL },
        { "GET\r\n", "http://a/", "", NULL, NULL },     { "GET:", "http://a/", "", NULL, NULL },   { "G\xc3\x84", "http://a/", "", NULL, NULL },
        { "CONNECT", "http://a/", "", NULL, NULL },     { "GET", "http://a/", "", "a\r\nX: y", NULL },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const char *why = NULL;
        assert_null(prepare(&wrong[i], &why));
        assert_non_null(why);
    }
}

/* RFC 9110 9.2.2 */
static void knows_methods(void **state)
{
    static const struct {
        const char *method;
        bool idempotent, head;
    } methods[] = { { "GET", true, false },     { "HEAD", true, true },    { "PUT", true, false },    { "DELETE", true, false }, { "OPTIONS", true, false },
                    { "TRACE", true, false },   { "POST", false, false },  { "PATCH", false, false }, { "get", false, false },   { "PURGE", false, false } };
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct request *request = request_to(methods[i].method, "a", 80);
        assert_int_equal(request->idempotent, methods[i].idempotent);
        assert_int_equal(request->head, methods[i].head);
        request_release(request);
    }
}

static void finds_fields(void **state)
{
    static const struct {
        const char *lines;
        unsigned fields;
    } all[] = {
        { "", 0 },
        { "X: y\r\n", 0 },
        { "Connection: close\r\n", REQUEST_CLOSE },
        { "X: y\r\nconnection:CLOSE\r\n", REQUEST_CLOSE },
        { "Connection: keep-alive, close\r\n", REQUEST_CLOSE },
        { "Connection: close,TE\r\n", REQUEST_CLOSE },
        { "Connection: keep-alive\r\n", 0 },
        { "Connection: closed, disclose\r\n", 0 },
        { "X-Connection: close\r\n", 0 },
        { "Connections: close\r\n", 0 },
        { "Connection\r\n", 0 },
        { "Content-Length: 5\r\n", REQUEST_FRAMED },
        { "content-length:5\r\nConnection: close\r\n", REQUEST_FRAMED | REQUEST_CLOSE },
        { "Transfer-Encoding: chunked\r\n", REQUEST_FRAMED },
        { "Content-Type: x\r\nTE: y\r\n", 0 },
        { "c", 0 },
    };
    for (size_t i = 0; i < COUNT(all); i++)
        assert_int_equal(request_fields(all[i].lines, strlen(all[i].lines)), all[i].fields);
}

static void knows_origins(void **state)
{
    static const char *const same[] = { "http://host.example/", "http://HOST.Example:80", "http://u@host.example/x" };
    static const char *const others[] = { "http://host.example:81/", "http://host.example.net/", "http://host/", "http://[::1]/" };
    struct origin *first = NULL;
    const char *why;
    for (size_t i = 0; i < COUNT(same); i++) {
        struct request *request = request_of("GET", same[i], "", NULL, &why);
        assert_true(!first || first == request->origin);
        first = request->origin;
        request_release(request);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        struct request *request = request_of("GET", others[i], "", NULL, &why);
        assert_ptr_not_equal(request->origin, first);
        request_release(request);
    }
}

/* All that is written, in steps of `step` bytes. */
static void written(struct exchange *exchange, size_t step, struct buf *out)
{
    struct iovec vectors[H1_REQUEST_VECTORS];
    int count;
    bool more = false;
    while ((count = h1_request_vectors(exchange, vectors, H1_REQUEST_VECTORS, &more))) {
        assert_false(more);
        size_t taken = vectors[0].iov_len < step ? vectors[0].iov_len : step;
        assert_true(count <= H1_REQUEST_VECTORS && taken);
        buf_append(out, vectors[0].iov_base, taken);
        exchange->written += taken;
    }
}

struct write_case {
    const char *prepared, *lines, *content;
    bool close;
    const char *bytes;
    bool last;
};

static const struct write_case write_cases[] = {
    { "", NULL, NULL, false, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", false },
    { "X: y\r\n", NULL, NULL, false, "GET /x HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", false },
    { "", "X: y\r\n", NULL, false, "GET /x HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", false },
    { "", NULL, "hello", false, "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", false },
    { "", NULL, "", false, "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", false },
    { "A: b\r\n", "X: y\r\n", "hello", false, "GET /x HTTP/1.1\r\nHost: a\r\nA: b\r\nX: y\r\nContent-Length: 5\r\n\r\nhello", false },
    { "", NULL, NULL, true, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true },
    { "", "X: y\r\n", "hi", true, "GET /x HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", true },
    { "Connection: close\r\n", NULL, NULL, true, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true },
    { "Connection: close\r\n", NULL, NULL, false, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true },
    { "", "Connection: close\r\n", NULL, false, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true },
    { "Content-Length: 9\r\n", NULL, "hello", false, "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello", false },
    { "", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", false, "GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false },
};

static void play_write(const struct write_case *c, size_t step)
{
    struct buf out = { 0 };
    const char *why;
    struct exchange *exchange = pool_exchange(pool);
    exchange->request = request_of("GET", "http://a/x", c->prepared, NULL, &why);
    exchange->lines = c->lines;
    exchange->lines_length = c->lines ? strlen(c->lines) : 0;
    exchange->content = c->content;
    exchange->content_length = c->content ? strlen(c->content) : 0;
    exchange->close = c->close;
    assert_int_equal(h1_request_begin(exchange), c->last);
    assert_int_equal(exchange->length, strlen(c->bytes));
    written(exchange, step, &out);
    assert_int_equal(out.length, strlen(c->bytes));
    assert_memory_equal(out.data, c->bytes, out.length);
    buf_free(&out);
    pool_recycle(pool, exchange);
}

static void writes(void **state)
{
    for (size_t i = 0; i < COUNT(write_cases); i++)
        for (size_t step = 1; step < 100; step++)
            play_write(&write_cases[i], step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(renders), TEST(refuses), TEST(knows_methods), TEST(finds_fields), TEST(knows_origins), TEST(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
