/* The server's codec, fed whole, byte by byte and in random pieces: what it makes of requests (RFC 9110, RFC 9112) and how it writes answers. */
#include "http/h1_server.h"

#include <inttypes.h>
#include <stdio.h>

#include "test.h"

/* A codec with a router that notes every event in `log`, and what it sends in `sent`. */
struct peer {
    struct h1_server *h1;
    struct buf log, sent;
    struct answer answer; /* of every request; status 0: 200 without content */
    size_t max_body;      /* 0: the codec's */
    uint64_t seed;        /* not 0: writes take random lengths */
};

static void peer_open(struct peer *peer)
{
    peer->h1 = h1_server_new();
}

static void peer_close(struct peer *peer)
{
    h1_server_free(peer->h1);
    buf_free(&peer->log);
    buf_free(&peer->sent);
}

static void write_all(struct peer *peer)
{
    struct iovec vectors[H1_SERVER_VECTORS];
    for (int count; (count = h1_server_output(peer->h1, vectors)) > 0;) {
        size_t wrote = 0, limit = peer->seed ? random_below(&peer->seed, 3000) : SIZE_MAX;
        for (int i = 0; i < count && wrote < limit; i++) {
            size_t length = vectors[i].iov_len < limit - wrote ? vectors[i].iov_len : limit - wrote;
            buf_append(&peer->sent, vectors[i].iov_base, length);
            wrote += length;
        }
        h1_server_wrote(peer->h1, wrote);
    }
}

static void note(struct peer *peer, const struct incoming *in)
{
    buf_printf(&peer->log, "%.*s %.*s 1.%d%s", (int)in->method.length, in->method.data, (int)in->path.length, in->path.data, in->minor_version,
               in->keep_alive ? "" : " close");
    if (in->type.length)
        buf_printf(&peer->log, " (%.*s)", (int)in->type.length, in->type.data);
    if (in->received)
        buf_printf(&peer->log, " [%.*s]", (int)in->body.length, in->body.data ? in->body.data : "");
    buf_printf(&peer->log, "; ");
}

static void handle(struct peer *peer, enum h1_server_event event)
{
    struct incoming *in = h1_server_incoming(peer->h1);
    if (event == H1_SERVER_HEAD) {
        in->keep_body = true;
        in->max_body = peer->max_body ? peer->max_body : in->max_body;
        event = h1_server_accept(peer->h1);
    }
    if (event == H1_SERVER_MORE)
        return;
    assert_false(h1_server_reading(peer->h1));
    if (event == H1_SERVER_REFUSED) {
        assert_non_null(in->why);
        buf_printf(&peer->log, "%d; ", in->answer.status);
    } else {
        note(peer, in);
        in->answer = peer->answer;
        if (!in->answer.status)
            in->answer.status = 200;
    }
    h1_server_answer(peer->h1);
    write_all(peer);
}

/* A copy of the piece, so that a sanitizer sees who reads beyond it or after it is gone. */
static void feed_piece(struct peer *peer, const char *data, size_t length)
{
    char *copy = malloc(length);
    memcpy(copy, data, length);
    for (size_t at = 0, taken; at < length && !h1_server_ended(peer->h1); at += taken) {
        taken = SIZE_MAX;
        enum h1_server_event event = h1_server_input(peer->h1, copy + at, length - at, &taken);
        assert_true(taken <= length - at);
        if (event == H1_SERVER_MORE)
            assert_int_equal(taken, length - at);
        handle(peer, event);
    }
    free(copy);
    write_all(peer);
}

/* `most` is the longest piece; 0: all at once. */
static void feed(struct peer *peer, const char *data, size_t length, size_t most, uint64_t *seed)
{
    for (size_t at = 0; at < length && !h1_server_ended(peer->h1);) {
        size_t piece = most == 1 ? 1 : most ? 1 + random_below(seed, most) : length;
        if (piece > length - at)
            piece = length - at;
        feed_piece(peer, data + at, piece);
        at += piece;
    }
}

static const char *text_of(struct buf *buf)
{
    buf_append(buf, "", 1);
    buf->length--;
    return buf->data;
}

struct reading {
    const char *name, *input, *log;
};

#define HOST "Host: x\r\n"

static const struct reading readings[] = {
    { "GET", "GET /a HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1; " },
    { "no request yet", "\r\n\r\n", "" },
    { "half a request", "GET /a HTTP/1.1\r\n" HOST, "" },
    { "empty lines before (9112 2.2)", "\r\n\r\nGET /a HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1; " },
    { "pipelined", "GET /a HTTP/1.1\r\n" HOST "\r\nHEAD /b HTTP/1.1\r\n" HOST "\r\n\r\nGET /c HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1; HEAD /b 1.1; GET /c 1.1; " },
    { "HTTP/1.0 closes (9112 9.3)", "GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.0\r\n\r\n", "GET /a 1.0 close; " },
    { "HTTP/1.0 keep-alive", "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n", "GET /a 1.0; GET /b 1.0 close; " },
    { "HTTP/1.1 close", "GET /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1 close; " },
    { "close among others", "GET /a HTTP/1.1\r\n" HOST "connection: foo, Close\r\n\r\n", "GET /a 1.1 close; " },
    { "a later minor version is 1.1 (9110 2.5)", "GET /a HTTP/1.7\r\n" HOST "\r\n", "GET /a 1.7; " },
    { "Content-Length", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Type:\t text/x ;q=1 \r\n\r\nhelloGET /b HTTP/1.1\r\n" HOST "\r\n",
      "POST /a 1.1 (text/x ;q=1) [hello]; GET /b 1.1; " },
    { "Content-Length 0", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "POST /a 1.1; GET /b 1.1; " },
    { "GET with a body", "GET /a HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nGET", "GET /a 1.1 [GET]; " },
    { "chunked (9112 7.1)",
      "PUT /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;name;other=\"a;b\"\r\n,\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
      "GET /b HTTP/1.1\r\n" HOST "\r\n", "PUT /a 1.1 [hello,0123456789]; GET /b 1.1; " },
    { "chunked and empty", "PUT /a HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "PUT /a 1.1; " },
    { "any token is a method", "BrEw-it!~ /pot HTTP/1.1\r\n" HOST "\r\nG /a HTTP/1.1\r\n" HOST "\r\n", "BrEw-it!~ /pot 1.1; G /a 1.1; " },
    { "every method of IANA's is treated alike", "PURGE /a HTTP/1.1\r\n" HOST "\r\nSOURCE /b HTTP/1.1\r\n" HOST "\r\nDESCRIBE /c HTTP/1.1\r\n" HOST "\r\n",
      "PURGE /a 1.1; SOURCE /b 1.1; DESCRIBE /c 1.1; " },
    { "no tunnel", "CONNECT /a HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "CONNECT /a 1.1; GET /b 1.1; " },
    { "query", "GET /a/b?c=/d HTTP/1.1\r\n" HOST "\r\n", "GET /a/b 1.1; " },
    { "absolute form (9112 3.2.2)", "GET http://h:80/a/b?c HTTP/1.1\r\n" HOST "\r\nGET https://h HTTP/1.1\r\n" HOST "\r\n", "GET /a/b 1.1; GET / 1.1; " },
    { "asterisk form", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * 1.1; " },
    { "an upgrade is ignored (9110 7.8)", "GET /a HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1; GET /b 1.1; " },
    { "empty header values", "GET /a HTTP/1.1\r\nHost:\r\nX:\r\nContent-Type: \r\n\r\n", "GET /a 1.1; " },
    { "a refusal is the last answer", "GET /a HTTP/1.1\r\n" HOST "\r\nnonsense\r\nGET /b HTTP/1.1\r\n" HOST "\r\n", "GET /a 1.1; 400; " },
    { "not HTTP", "hello there\r\n", "400; " },
    { "a TLS client", "\x16\x03\x01\x02", "400; " },
    { "no method", " / HTTP/1.1\r\n" HOST "\r\n", "400; " },
    { "method too long", "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\n" HOST "\r\n", "400; " },
    { "no target", "GET  HTTP/1.1\r\n" HOST "\r\n", "400; " },
    { "control character in the target", "GET /a\x01 HTTP/1.1\r\n" HOST "\r\n", "400; " },
    { "HTTP/0.9", "GET /a\r\n\r\n", "505; " },
    { "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505; " },
    { "HTTP/3.1", "GET /a HTTP/3.1\r\n" HOST "\r\n", "505; " },
    { "no version", "GET /a HTTP/x\r\n" HOST "\r\n", "400; " },
    { "no Host (9112 3.2)", "GET /a HTTP/1.1\r\n\r\n", "400; " },
    { "two Hosts", "GET /a HTTP/1.1\r\n" HOST HOST "\r\n", "400; " },
    { "HTTP/1.0 needs no Host", "GET /a HTTP/1.0\r\n\r\n", "GET /a 1.0 close; " },
    { "blank before the colon (9112 5.1)", "GET /a HTTP/1.1\r\n" HOST "X : y\r\n\r\n", "400; " },
    { "blank in a name", "GET /a HTTP/1.1\r\n" HOST "X y: z\r\n\r\n", "400; " },
    { "no name", "GET /a HTTP/1.1\r\n" HOST ": y\r\n\r\n", "400; " },
    { "no colon", "GET /a HTTP/1.1\r\n" HOST "X\r\n\r\n", "400; " },
    { "folded line (9112 5.2)", "GET /a HTTP/1.1\r\n" HOST "X: y\r\n z\r\n\r\n", "400; " },
    { "bare CR (9112 2.2)", "GET /a HTTP/1.1\r\n" HOST "X: y\rz\r\n\r\n", "400; " },
    { "bare CR in an empty value", "GET /a HTTP/1.1\r\n" HOST "X:\ry\r\n\r\n", "400; " },
    { "bare CR at the end", "GET /a HTTP/1.1\r\n" HOST "X: y\r\n\rX", "400; " },
    { "NUL", "GET /a HTTP/1.1\r\n" HOST "X: \001\r\n\r\n", "400; " },
    { "Content-Length is no number", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5x\r\n\r\n", "400; " },
    { "Content-Length below zero", "POST /a HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\n", "400; " },
    { "Content-Length beyond 64 bits", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551616\r\n\r\n", "400; " },
    { "two lengths", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", "400; " },
    { "length and chunks (9112 6.1)", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "400; " },
    { "coding without end (9112 6.3)", "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", "400; " },
    { "chunk size is no number", "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nx\r\n", "400; " },
    { "chunk size beyond 64 bits", "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", "400; " },
    { "unknown expectation (9110 10.1.1)", "POST /a HTTP/1.1\r\n" HOST "Expect: 200-ok\r\nContent-Length: 5\r\n\r\n", "417; " },
    { "larger than 64 MiB", "POST /a HTTP/1.1\r\n" HOST "Content-Length: 67108865\r\n\r\n", "413; " },
};

/* Feeds the input in one way and compares the log. */
static void read_once(const struct reading *reading, size_t length, size_t most, uint64_t *seed)
{
    struct peer peer = { 0 };
    peer_open(&peer);
    feed(&peer, reading->input, length, most, seed);
    if (strcmp(text_of(&peer.log), reading->log))
        fail_msg("%s (pieces of at most %zu): %s instead of %s", reading->name, most, peer.log.data, reading->log);
    peer_close(&peer);
}

static void reads_requests(void **state)
{
    uint64_t seed = 2;
    for (size_t i = 0; i < COUNT(readings); i++) {
        size_t length = strlen(readings[i].input);
        read_once(&readings[i], length, 0, &seed);
        read_once(&readings[i], length, 1, &seed);
        for (int n = 0; n < 100; n++)
            read_once(&readings[i], length, 2 + random_below(&seed, 40), &seed);
    }
}

static void reads_nul_bytes_as_errors(void **state)
{
    static const char input[] = "GET /a HTTP/1.1\r\nHost: \0\r\n\r\n";
    const struct reading reading = { "NUL", input, "400; " };
    uint64_t seed = 3;
    read_once(&reading, sizeof input - 1, 0, &seed);
    read_once(&reading, sizeof input - 1, 1, &seed);
}

/* All requests of the table that are understood and keep the connection, on one connection. */
static void goes_on_after_any_request(void **state)
{
    struct buf input = { 0 }, expected = { 0 };
    for (size_t i = 0; i < COUNT(readings); i++) {
        const char *log = readings[i].log;
        if (!*log || strstr(log, "close") || (*log >= '0' && *log <= '9') || strstr(log, "400"))
            continue;
        buf_append(&input, readings[i].input, strlen(readings[i].input));
        buf_append(&expected, log, strlen(log));
    }
    uint64_t seed = 4;
    for (size_t most = 0; most < 200; most++) {
        struct peer peer = { .seed = most };
        peer_open(&peer);
        feed(&peer, input.data, input.length, most, &seed);
        assert_string_equal(text_of(&peer.log), text_of(&expected));
        peer_close(&peer);
    }
    buf_free(&input);
    buf_free(&expected);
}

static void fill(struct buf *buf, size_t length)
{
    assert_true(buf_reserve(buf, length));
    memset(buf->data + buf->length, 'a', length);
    buf->length += length;
}

/* A request whose line or header lines are filled up so that the head has `length` bytes. */
static void filled_head(struct buf *buf, size_t length, bool in_line)
{
    static const char begin[] = "GET /", middle[] = " HTTP/1.1\r\nHost: x", end[] = "\r\n\r\n";
    size_t filling = length - (sizeof begin - 1) - (sizeof middle - 1) - (sizeof end - 1);
    buf_append(buf, begin, sizeof begin - 1);
    fill(buf, in_line ? filling : 0);
    buf_append(buf, middle, sizeof middle - 1);
    fill(buf, in_line ? 0 : filling);
    buf_append(buf, end, sizeof end - 1);
    assert_int_equal(buf->length, length);
}

static void limits_heads(void **state)
{
    static const struct {
        size_t more;
        bool in_line;
        const char *log;
    } cases[] = { { 0, false, "GET" }, { 1, false, "431; " }, { 0, true, "GET" }, { 1, true, "431; " }, { 200000, false, "431; " }, { 200000, true, "414; " } };
    static const size_t mosts[] = { 0, 1, 100, 70000 };
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT(cases) * COUNT(mosts); i++) {
        struct buf input = { 0 };
        struct peer peer = { 0 };
        peer_open(&peer);
        filled_head(&input, H1_SERVER_MAX_HEAD + cases[i % COUNT(cases)].more, cases[i % COUNT(cases)].in_line);
        feed(&peer, input.data, input.length, mosts[i / COUNT(cases)], &seed);
        const char *expected = cases[i % COUNT(cases)].log;
        assert_memory_equal(text_of(&peer.log), expected, strlen(expected));
        peer_close(&peer);
        buf_free(&input);
    }
}

static void limits_bodies(void **state)
{
    static const struct {
        const char *input, *log;
    } cases[] = {
        { "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789", "POST / 1.1 [0123456789]; " },
        { "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n0123456789a", "413; " },
        { "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n", "POST / 1.1 [0123456789]; " },
        { "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n7\r\n456789a\r\n0\r\n\r\n", "413; " },
        { "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\n0123456789a", "413; " },
    };
    uint64_t seed = 6;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t most = 0; most < 20; most++) {
            struct peer peer = { .max_body = 10 };
            peer_open(&peer);
            feed(&peer, cases[i].input, strlen(cases[i].input), most, &seed);
            assert_string_equal(text_of(&peer.log), cases[i].log);
            peer_close(&peer);
        }
    }
}

static void asks_for_awaited_bodies(void **state)
{
    static const char head[] = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n", interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct peer peer = { 0 };
    uint64_t seed = 7;
    peer_open(&peer);
    feed(&peer, head, sizeof head - 1, 1, &seed);
    assert_string_equal(text_of(&peer.sent), interim);
    feed(&peer, "ab", 2, 0, &seed);
    assert_string_equal(text_of(&peer.log), "POST / 1.1 [ab]; ");
    assert_memory_equal(text_of(&peer.sent) + sizeof interim - 1, "HTTP/1.1 200 OK\r\n", 17);
    peer_close(&peer);
}

static void asks_nobody_who_does_not_wait(void **state)
{
    static const char *const heads[] = {
        "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",            /* RFC 9110 10.1.1: not to HTTP/1.0 */
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 67108865\r\n\r\n", /* refused at once */
    };
    uint64_t seed = 8;
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct peer peer = { 0 };
        peer_open(&peer);
        feed(&peer, heads[i], strlen(heads[i]), 0, &seed);
        assert_null(strstr(text_of(&peer.sent), "100 Continue"));
        peer_close(&peer);
    }
}

#define SLICE(text) ((struct slice){ text, sizeof text - 1 })
#define TEN "0123456789"

struct writing {
    const char *head; /* of the request */
    struct answer answer;
    const char *sent;
};

#define ONE_ONE " / HTTP/1.1\r\nHost: x\r\n\r\n"
#define OK_HEAD "HTTP/1.1 200 OK\r\nServer: luabench\r\n"

static const struct writing writings[] = {
    { "GET" ONE_ONE, { .status = 200, .type = { "a/b", 3 }, .content = { TEN, 10, 10 } }, OK_HEAD "Content-Type: a/b\r\nContent-Length: 10\r\n\r\n" TEN },
    { "HEAD" ONE_ONE, { .status = 200, .type = { "a/b", 3 }, .content = { TEN, 10, 10 } }, OK_HEAD "Content-Type: a/b\r\nContent-Length: 10\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 200, .content = { TEN, 10, 25 } }, OK_HEAD "Content-Length: 25\r\n\r\n" TEN TEN "01234" },
    { "GET" ONE_ONE, { .status = 200 }, OK_HEAD "Content-Length: 0\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 404, .lines = "X: y\r\n", .content = { TEN, 10, 10 } }, "HTTP/1.1 404 Not Found\r\nServer: luabench\r\nX: y\r\nContent-Length: 10\r\n\r\n" TEN },
    { "GET" ONE_ONE, { .status = 204 }, "HTTP/1.1 204 No Content\r\nServer: luabench\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 304 }, "HTTP/1.1 304 Not Modified\r\nServer: luabench\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 299 }, "HTTP/1.1 299 \r\nServer: luabench\r\nContent-Length: 0\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 200, .content = { TEN, 10, 6 }, .piece = 3 }, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\n012\r\n3\r\n345\r\n0\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 200, .content = { TEN, 10, 24 }, .piece = 12 },
      OK_HEAD "Transfer-Encoding: chunked\r\n\r\nc\r\n" TEN "01\r\nc\r\n23456789" "0123\r\n0\r\n\r\n" },
    { "GET" ONE_ONE, { .status = 200, .content = { TEN, 10, 0 }, .piece = 3 }, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
    { "HEAD" ONE_ONE, { .status = 200, .content = { TEN, 10, 6 }, .piece = 3 }, OK_HEAD "Transfer-Encoding: chunked\r\n\r\n" },
    { "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", { .status = 200 }, OK_HEAD "Content-Length: 0\r\nConnection: close\r\n\r\n" },
    { "GET / HTTP/1.0\r\n\r\n", { .status = 200 }, OK_HEAD "Content-Length: 0\r\nConnection: close\r\n\r\n" },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", { .status = 200 }, OK_HEAD "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n" },
    /* RFC 9112 6.1: no chunks to HTTP/1.0, so the end of the connection ends the content */
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", { .status = 200, .content = { TEN, 10, 6 }, .piece = 3 }, OK_HEAD "Connection: close\r\n\r\n012345" },
};

static void writes_answers(void **state)
{
    uint64_t seed = 9;
    for (size_t i = 0; i < COUNT(writings); i++) {
        struct peer peer = { .answer = writings[i].answer };
        peer_open(&peer);
        feed(&peer, writings[i].head, strlen(writings[i].head), 0, &seed);
        assert_string_equal(text_of(&peer.sent), writings[i].sent);
        assert_int_equal(h1_server_ended(peer.h1), strstr(writings[i].sent, "Connection: close") != NULL);
        peer_close(&peer);
    }
}

/* The same content by the obvious loop. */
static void spell_out(struct buf *buf, const struct answer *answer)
{
    for (uint64_t i = 0; i < answer->content.length; i++) {
        if (answer->piece && i % answer->piece == 0)
            buf_printf(buf, "%s%zx\r\n", i ? "\r\n" : "", answer->piece);
        buf_append(buf, answer->content.data + i % answer->content.size, 1);
    }
    if (answer->piece)
        buf_printf(buf, "%s0\r\n\r\n", answer->content.length ? "\r\n" : "");
}

static void writes_large_contents_in_any_pieces(void **state)
{
    static const size_t pieces[] = { 0, 1, 7, 255, 256, 4096, 5000, 65536 };
    static char data[10007];
    uint64_t seed = 10;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)random_next(&seed);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        size_t length = pieces[i] ? pieces[i] * (1 + 100000 / pieces[i]) : 123456;
        struct peer peer = { .answer = { .status = 200, .content = { data, sizeof data, length }, .piece = pieces[i] }, .seed = 11 };
        struct buf expected = { 0 };
        peer_open(&peer);
        feed(&peer, "GET" ONE_ONE "GET" ONE_ONE, 2 * strlen("GET" ONE_ONE), 0, &seed);
        spell_out(&expected, &peer.answer);
        size_t head = (size_t)(strstr(text_of(&peer.sent), "\r\n\r\n") + 4 - peer.sent.data);
        assert_int_equal(peer.sent.length, 2 * (head + expected.length));
        assert_memory_equal(peer.sent.data + head, expected.data, expected.length);
        assert_memory_equal(peer.sent.data + head + expected.length, peer.sent.data, head + expected.length);
        peer_close(&peer);
        buf_free(&expected);
    }
}

/* Answers that were given but not written pile up, small contents with their heads, for one write. */
static void gathers_small_answers(void **state)
{
    static const char request[] = "GET" ONE_ONE;
    struct h1_server *h1 = h1_server_new();
    struct iovec vectors[H1_SERVER_VECTORS];
    size_t taken;
    assert_int_equal(h1_server_output(h1, vectors), 0);
    for (size_t n = 1; n <= 1000; n++) {
        assert_true(h1_server_reading(h1));
        assert_int_equal(h1_server_input(h1, request, sizeof request - 1, &taken), H1_SERVER_REQUEST);
        h1_server_incoming(h1)->answer = (struct answer){ .status = 200, .content = { TEN, 10, 10 } };
        h1_server_answer(h1);
        assert_int_equal(h1_server_output(h1, vectors), 1);
        assert_int_equal(vectors[0].iov_len, h1_server_backlog(h1));
        assert_int_equal(h1_server_backlog(h1), n * strlen(OK_HEAD "Content-Length: 10\r\n\r\n" TEN));
    }
    h1_server_wrote(h1, vectors[0].iov_len);
    assert_int_equal(h1_server_output(h1, vectors), 0);
    h1_server_free(h1);
}

static void points_at_large_contents(void **state)
{
    static const char request[] = "GET" ONE_ONE;
    static char data[100000];
    struct h1_server *h1 = h1_server_new();
    struct iovec vectors[H1_SERVER_VECTORS];
    size_t taken;
    h1_server_input(h1, request, sizeof request - 1, &taken);
    h1_server_incoming(h1)->answer = (struct answer){ .status = 200, .content = { data, sizeof data, sizeof data } };
    h1_server_answer(h1);
    assert_false(h1_server_reading(h1));
    assert_int_equal(h1_server_output(h1, vectors), 2);
    assert_ptr_equal(vectors[1].iov_base, data);
    assert_int_equal(vectors[1].iov_len, sizeof data);
    h1_server_wrote(h1, vectors[0].iov_len + 1);
    assert_int_equal(h1_server_output(h1, vectors), 1);
    assert_ptr_equal(vectors[0].iov_base, data + 1);
    assert_false(h1_server_reading(h1));
    h1_server_wrote(h1, sizeof data - 1);
    assert_true(h1_server_reading(h1));
    h1_server_free(h1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_requests),
        cmocka_unit_test(reads_nul_bytes_as_errors),
        cmocka_unit_test(goes_on_after_any_request),
        cmocka_unit_test(limits_heads),
        cmocka_unit_test(limits_bodies),
        cmocka_unit_test(asks_for_awaited_bodies),
        cmocka_unit_test(asks_nobody_who_does_not_wait),
        cmocka_unit_test(writes_answers),
        cmocka_unit_test(writes_large_contents_in_any_pieces),
        cmocka_unit_test(gathers_small_answers),
        cmocka_unit_test(points_at_large_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
