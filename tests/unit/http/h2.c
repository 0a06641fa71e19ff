/* The client's HTTP/2 codec against the server's, over memory: contents of all sizes both ways, limits that change, and every fault that the server can play, each
 * with its exact outcome. What no server of nghttp2 would send is in h2_frames.c. */
#include <nghttp2/nghttp2.h>

#include "http/h2_client.h"

#include "h2_frames.h"
#include "h2_pair.h"

static const size_t sizes[] = { 0, 1, 4096, 4097, 16383, 16384, 16385, 65535, 65536, 200000 };

/* Bytes that differ from one exchange to the next. */
static char *pattern_of(size_t length, int number)
{
    char *data = malloc(length + 1);
    uint64_t seed = (uint64_t)number + 1;
    for (size_t i = 0; i < length; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        data[i] = (char)(seed >> 56);
    }
    return data;
}

/* Contents */

static void check_echoed(const struct exchange *exchange)
{
    size_t length = exchange->content_length;
    assert_true(is_finished(exchange, 200));
    assert_int_equal(exchange->minor_version, 20);
    assert_int_equal(exchange->body_size, length);
    assert_int_equal(exchange->body.length, length);
    assert_memory_equal(exchange->body.data ? exchange->body.data : "", exchange->content, length);
    assert_true(exchange->started <= exchange->sent && exchange->sent < exchange->first_byte && exchange->first_byte <= exchange->finished);
    assert_true(exchange->bytes_sent > length && exchange->bytes_sent < length + 200);
    assert_true(exchange->bytes_received > length && exchange->bytes_received < length + 200);
    assert_int_equal(exchange->written, exchange->length);
}

static void echo_on_32_streams(size_t length, size_t most)
{
    struct pair pair = { .most = most, .seed = length + 1 };
    char *contents[32];
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    for (int i = 0; i < 32; i++) {
        contents[i] = pattern_of(length, i);
        submit(&pair, i, contents[i], length);
    }
    assert_int_equal(pair.codec->active, 32);
    play(&pair);
    assert_false(pair.broken);
    assert_int_equal(length_of(&pair.finished), 32);
    assert_int_equal(pair.codec->active, 0);
    for (int i = 0; i < 32; i++) {
        check_echoed(&exchanges[i]);
        free(contents[i]);
    }
    pair_close(&pair);
}

static void test_contents(void **state)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        echo_on_32_streams(sizes[i], 30000);
        if (sizes[i] < 20000)
            echo_on_32_streams(sizes[i], 100);
    }
}

static void test_ten_megabytes(void **state)
{
    echo_on_32_streams(10000000, 400000);
}

/* Heads */

static char seen_head[70000];

static void keep_head(struct pair *pair, struct incoming *in)
{
    snprintf(seen_head, sizeof seen_head, "%.*s", (int)in->head.length, in->head.data);
    in->answer = (struct answer){ .status = 200, .type = { "text/plain", 10 }, .lines = "X-One: 1\r\nX-Two:2\r\n", .content = { "hi", 2, 2 } };
    h2_server_answer(pair->server, in);
}

static const char *head_of(const char *bytes, const char *lines, const char *content)
{
    struct pair pair = { .on_request = keep_head };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    pair_request.bytes = (char *)bytes;
    struct exchange *exchange = submit(&pair, 0, content, content ? strlen(content) : 0);
    exchange->lines = lines;
    exchange->lines_length = strlen(lines);
    play(&pair);
    assert_true(is_finished(exchange, 200));
    buf_append(&exchange->head, "", 1);
    assert_string_equal(exchange->head.data, "HTTP/2 200\r\nserver: luabench\r\ncontent-type: text/plain\r\nx-one: 1\r\nx-two: 2\r\ncontent-length: 2\r\n\r\n");
    pair_close(&pair);
    return seen_head;
}

static void test_heads(void **state)
{
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: example.com\r\n", "", NULL), "GET / HTTP/2\r\nhost: example.com\r\n\r\n");
    /* names in lower case, values as they are, without the blanks around them */
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h:81\r\nUser-Agent:  X y \r\nX-EMPTY:\r\n", "", NULL), "GET / HTTP/2\r\nhost: h:81\r\nuser-agent: X y\r\nx-empty: \r\n\r\n");
    /* what speaks of a connection */
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n"
                                "Transfer-Encoding: chunked\r\nTE: gzip\r\nAccept: a\r\n", "", NULL),
                        "GET / HTTP/2\r\nhost: h\r\naccept: a\r\n\r\n");
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\nHost: other\r\n", "", NULL), "GET / HTTP/2\r\nhost: h\r\nte: trailers\r\n\r\n");
    /* what is the exchange's own */
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n", "X-Own: One\r\nCONNECTION: close\r\nCookie: a=b; c=d\r\n", NULL),
                        "GET / HTTP/2\r\nhost: h\r\na: b\r\nx-own: One\r\ncookie: a=b; c=d\r\n\r\n");
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\n", "X-Own: One\r\n", "hello"), "GET / HTTP/2\r\nhost: h\r\nx-own: One\r\ncontent-length: 5\r\n\r\n");
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\n", "", ""), "GET / HTTP/2\r\nhost: h\r\ncontent-length: 0\r\n\r\n");
    assert_string_equal(head_of("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n", "", "hello"), "GET / HTTP/2\r\nhost: h\r\ncontent-length: 5\r\n\r\n");
}

/* A long head leaves in CONTINUATION frames. */
static void test_long_head(void **state)
{
    static char bytes[60000];
    strcpy(bytes, "GET / HTTP/1.1\r\nHost: h\r\n");
    for (size_t length; (length = strlen(bytes)) < 50000;)
        sprintf(bytes + length, "x%zu: %060zu\r\n", length, length);
    struct pair pair = { .on_request = keep_head };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    pair_request.bytes = bytes;
    struct exchange *exchange = submit(&pair, 0, NULL, 0);
    play(&pair);
    assert_true(is_finished(exchange, 200));
    assert_int_equal(exchange->written, exchange->length);
    assert_true(exchange->bytes_sent > 30000);
    assert_memory_equal(seen_head, "GET / HTTP/2\r\nhost: h\r\n", 23);
    assert_int_equal(strlen(seen_head), strlen(bytes));
    assert_memory_equal(seen_head + 23, bytes + 25, strlen(bytes) - 25);
    pair_close(&pair);
}

/* Few requests, each of them sent many times, with and without something of their own, in any order: the server gets the head that each stands for. */
static void answer_with_head(struct pair *pair, struct incoming *in)
{
    buf_append(&in->text, in->head.data, in->head.length);
    in->answer = (struct answer){ .status = 200, .content = { in->text.data, in->text.length, in->text.length } };
    h2_server_answer(pair->server, in);
}

struct asked {
    struct request request;
    char bytes[200], head[200]; /* as it is here, and as the server has it */
};

static void make_asked(struct asked *asked, int number, const char *method)
{
    static const char *const lines[] = { "", "accept: */*\r\n", "x-one: 1\r\nuser-agent: me\r\n", "authorization: secret\r\ncookie: a=b\r\n" };
    *asked = (struct asked){ .request = { .references = 1, .method = (char *)method, .path = number % 2 ? "/" : "/some/path?x=1", .origin = &pair_origin } };
    asked->request.head = !strcmp(method, "HEAD");
    snprintf(asked->bytes, sizeof asked->bytes, "%s / HTTP/1.1\r\nHost: h%d\r\n%s", method, number / 2, lines[number % 4]);
    snprintf(asked->head, sizeof asked->head, "%s %s HTTP/2\r\nhost: h%d\r\n%s", method, asked->request.path, number / 2, lines[number % 4]);
    asked->request.bytes = asked->bytes;
    asked->request.length = strlen(asked->bytes);
}

static void test_requests_again(void **state)
{
    static const char *const methods[] = { "GET", "POST", "PURGE", "HEAD", "DELETE" };
    struct pair pair = { .on_request = answer_with_head };
    struct asked asked[10];
    char expected[16][300];
    uint64_t seed = 11;
    for (int i = 0; i < 10; i++)
        make_asked(&asked[i], i, methods[i % 5]);
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    for (int round = 0; round < 2000; round++) {
        int count = 1 + (int)random_below(&seed, 10), kinds = round % 100 < 50 ? 2 : 10;
        pair.most = random_below(&seed, 3) ? 30000 : 20;
        for (int i = 0; i < count; i++) {
            struct asked *one = &asked[random_below(&seed, (uint64_t)kinds)];
            bool lines = !random_below(&seed, 8), content = !random_below(&seed, 8);
            exchanges[i] = (struct exchange){ .request = &one->request, .max_body = SIZE_MAX, .lines = lines ? "x-own: 5\r\n" : NULL, .lines_length = lines ? 10 : 0,
                                              .content = content ? "hi" : NULL, .content_length = content ? 2 : 0, .started = pair.now };
            link_init(&exchanges[i].link);
            pair.codec->ops->submit(pair.codec, &exchanges[i]);
            snprintf(expected[i], sizeof expected[i], "%s%s%s\r\n", one->head, lines ? "x-own: 5\r\n" : "", content ? "content-length: 2\r\n" : "");
        }
        int cancelled = random_below(&seed, 5) ? -1 : (int)random_below(&seed, (uint64_t)count);
        if (cancelled >= 0 && random_below(&seed, 2))
            move_up(&pair);
        if (cancelled >= 0 && !exchanges[cancelled].finished)
            pair.codec->ops->cancel(pair.codec, &exchanges[cancelled]);
        play(&pair);
        for (int i = 0; i < count; i++) {
            struct exchange *exchange = &exchanges[i];
            if (i != cancelled) {
                assert_true(is_finished(exchange, 200));
                assert_int_equal(exchange->written, exchange->length);
                assert_int_equal(exchange->body.length, exchange->request->head ? 0 : strlen(expected[i]));
                assert_memory_equal(exchange->body.data ? exchange->body.data : "", expected[i], exchange->body.length);
            }
            list_remove(&exchange->link);
            buf_free(&exchange->head);
            buf_free(&exchange->body);
        }
    }
    assert_int_equal(h2_of(pair.codec)->encoding, 0);
    pair_close(&pair);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(asked[i].request.references, 1);
        free(asked[i].request.fields_h2);
    }
}

/* Of few heads each comes many times, in any order, and the table that compresses them changes all the time. */
static char changing_lines[200];

static void answer_changing(struct pair *pair, struct incoming *in)
{
    in->answer = (struct answer){ .status = changing_lines[3] == '2' ? 404 : 200, .lines = changing_lines, .content = { "hello", 5, (uint64_t)(changing_lines[3] - '0') } };
    h2_server_answer(pair->server, in);
}

static void test_heads_that_change(void **state)
{
    struct pair pair = { .on_request = answer_changing };
    uint64_t seed = 3, times = 0;
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    for (int i = 0; i < 3000; i++) {
        char expected[400];
        unsigned few = (unsigned)random_below(&seed, 3), many = (unsigned)random_below(&seed, i % 400 < 200 ? 1 : 1000);
        pair.most = random_below(&seed, 2) ? 40 : 30000;
        snprintf(changing_lines, sizeof changing_lines, "a: %u\r\nb: %u\r\nset-cookie: %u\r\ndate: %lu\r\n", few, few + 1, many, (unsigned long)(times += !random_below(&seed, 50)));
        struct exchange *exchange = submit(&pair, 0, NULL, 0);
        play(&pair);
        int status = few == 2 ? 404 : 200;
        assert_true(is_finished(exchange, status));
        assert_int_equal(exchange->body_size, few);
        assert_int_equal(exchange->stream.announced, few);
        assert_int_equal(exchange->notes, NOTE_COOKIE);
        buf_append(&exchange->head, "", 1);
        snprintf(expected, sizeof expected, "HTTP/2 %d\r\nserver: luabench\r\n%scontent-length: %u\r\n\r\n", status, changing_lines, few);
        assert_string_equal(exchange->head.data, expected);
        buf_free(&exchange->head);
        buf_free(&exchange->body);
        list_shift(&pair.finished);
    }
    pair_close(&pair);
}

/* Limits */

static struct incoming *held[MOST_EXCHANGES];
static unsigned held_count, most_held;

static void hold(struct pair *pair, struct incoming *in)
{
    held[held_count++] = in;
    if (held_count > most_held)
        most_held = held_count;
}

/* Answers the oldest of those that are held. */
static void let_go(struct pair *pair)
{
    struct incoming *in = held[0];
    memmove(held, held + 1, --held_count * sizeof *held);
    in->answer.status = 204;
    h2_server_answer(pair->server, in);
    play(pair);
}

static int reset_held(void **state)
{
    held_count = most_held = 0;
    return 0;
}

static struct h2_server_options with_streams(uint32_t streams)
{
    struct h2_server_options options = H2_SERVER_OPTIONS;
    options.max_streams = streams;
    return options;
}

/* One stream until the peer has said how many; then as many as it says, however that changes. */
static void test_stream_limit(void **state)
{
    struct h2_server_options options = with_streams(3);
    struct pair pair = { .on_request = hold };
    pair_open(&pair, &options, 0);
    assert_int_equal(codec_capacity(pair.codec), 1);
    submit(&pair, 0, NULL, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    play(&pair);
    assert_int_equal(codec_capacity(pair.codec), 2);
    submit(&pair, 1, NULL, 0);
    submit(&pair, 2, NULL, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    play(&pair);
    assert_int_equal(held_count, 3);
    h2_server_limits(pair.server, 1, 65535); /* below what is open */
    play(&pair);
    let_go(&pair);
    let_go(&pair);
    assert_int_equal(codec_capacity(pair.codec), 0);
    h2_server_limits(pair.server, 0, 65535);
    play(&pair);
    let_go(&pair);
    assert_int_equal(length_of(&pair.finished), 3);
    assert_int_equal(pair.codec->active, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    assert_true(pair.codec->paused);
    h2_server_limits(pair.server, 100, 65535);
    play(&pair);
    assert_int_equal(codec_capacity(pair.codec), 100);
    assert_false(pair.codec->paused);
    assert_int_equal(length_of(&pair.returned), 0);
    pair_close(&pair);
}

/* Ours beside the peer's. */
static void test_own_stream_limit(void **state)
{
    struct pair pair = { .on_request = hold };
    pair_open(&pair, &H2_SERVER_OPTIONS, 10);
    play(&pair);
    assert_int_equal(codec_capacity(pair.codec), 10);
    h2_server_limits(pair.server, 5, 65535);
    play(&pair);
    assert_int_equal(codec_capacity(pair.codec), 5);
    pair_close(&pair);
}

/* An exchange that was given streams when there were more: it has not been written, and is not refused, but waits inside. */
static void test_limit_lowered_before_the_write(void **state)
{
    struct pair pair = { .on_request = hold };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    h2_server_limits(pair.server, 1, 65535);
    submit(&pair, 0, NULL, 0);
    submit(&pair, 1, NULL, 0);
    while (move_down(&pair))
        ;
    play(&pair);
    assert_int_equal(held_count, 1);
    let_go(&pair);
    assert_int_equal(held_count, 1);
    let_go(&pair);
    assert_true(is_finished(&exchanges[0], 204) && is_finished(&exchanges[1], 204));
    assert_true(exchanges[1].sent > exchanges[0].finished - 1);
    assert_int_equal(length_of(&pair.returned), 0);
    pair_close(&pair);
}

/* Content waits for the peer's window: none, a byte at a time, changed in between. */
static void test_windows(void **state)
{
    char *content = pattern_of(5000, 7);
    struct h2_server_options options = H2_SERVER_OPTIONS;
    struct pair pair = { .most = 1000 };
    options.window = 0;
    pair_open(&pair, &options, 0);
    play(&pair);
    struct exchange *exchange = submit(&pair, 0, content, 5000);
    play(&pair);
    assert_false(exchange->finished);
    assert_int_equal(exchange->stream.given, 0);
    assert_true(exchange->sent && exchange->written < exchange->length);
    h2_server_limits(pair.server, 100, 1);
    play(&pair);
    check_echoed(exchange);
    exchange = submit(&pair, 1, content, 5000);
    h2_server_limits(pair.server, 100, 100000);
    play(&pair);
    check_echoed(exchange);
    pair_close(&pair);
    free(content);
}

/* The window of the whole connection. */
static void test_connection_window(void **state)
{
    struct h2_server_options options = H2_SERVER_OPTIONS;
    struct pair pair = { 0 };
    options.connection_window = 0;
    pair_open(&pair, &options, 0);
    play(&pair);
    char *content = pattern_of(1000000, 7);
    for (int i = 0; i < 5; i++)
        submit(&pair, i, content, 1000000);
    play(&pair);
    for (int i = 0; i < 5; i++)
        check_echoed(&exchanges[i]);
    pair_close(&pair);
    free(content);
}

/* Faults */

static void test_goaway(void **state)
{
    struct h2_server_options options = H2_SERVER_OPTIONS;
    options.goaway_after = 4;
    struct pair pair = { 0 };
    pair_open(&pair, &options, 0);
    play(&pair);
    for (int i = 0; i < 10; i++)
        submit(&pair, i, NULL, 0);
    play(&pair);
    assert_int_equal(length_of(&pair.finished), 4);
    assert_int_equal(length_of(&pair.returned), 6);
    for (int i = 0; i < 10; i++)
        assert_true(i < 4 ? is_finished(&exchanges[i], 200) : !exchanges[i].finished && !exchanges[i].answered);
    assert_int_equal(pair.requests, 4);
    assert_int_equal(pair.codec->active, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    assert_true(pair.codec->peer_ends && !pair.codec->paused);
    assert_string_equal(pair.codec->farewell, "GOAWAY 0 NO_ERROR");
    assert_true(h2_server_ended(pair.server));
    pair_close(&pair);
}

/* Those that are begun go on, also while one is held up. */
static void test_goaway_with_work_left(void **state)
{
    struct pair pair = { .on_request = hold };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    for (int i = 0; i < 3; i++)
        submit(&pair, i, NULL, 0);
    play(&pair);
    h2_server_goaway(pair.server, NGHTTP2_ENHANCE_YOUR_CALM);
    play(&pair);
    assert_int_equal(codec_capacity(pair.codec), 0);
    assert_int_equal(pair.codec->active, 3);
    assert_string_equal(pair.codec->farewell, "GOAWAY 11 ENHANCE_YOUR_CALM");
    assert_false(h2_server_ended(pair.server));
    for (int i = 0; i < 3; i++)
        let_go(&pair);
    assert_int_equal(length_of(&pair.finished), 3);
    assert_true(h2_server_ended(pair.server));
    pair_close(&pair);
}

/* What is submitted and not yet written is handed back, too. */
static void test_goaway_before_the_write(void **state)
{
    struct pair pair = { 0 };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    h2_server_goaway(pair.server, 0);
    submit(&pair, 0, NULL, 0);
    while (move_down(&pair))
        ;
    assert_int_equal(length_of(&pair.returned), 1);
    assert_int_equal(exchanges[0].written, 0);
    assert_int_equal(pair.codec->active, 0);
    pair_close(&pair);
}

static uint32_t reset_code;

static void reset_it(struct pair *pair, struct incoming *in)
{
    h2_server_reset(pair->server, in, reset_code);
}

static bool reset_early(struct pair *pair, struct incoming *in)
{
    h2_server_reset(pair->server, in, reset_code);
    return true;
}

static void test_resets(void **state)
{
    static const char *const names[] = { "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
                                         "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED" };
    struct pair pair = { .on_request = reset_it, .on_head = reset_early };
    char expected[100], *content = pattern_of(100000, 1);
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    for (uint32_t code = 0; code < COUNT(names); code++)
        for (int i = 0; i < 2; i++) {
            reset_code = code;
            struct exchange *exchange = submit(&pair, 0, i ? content : NULL, i ? 100000 : 0);
            play(&pair);
            assert_int_equal(pair.codec->active, 0);
            if (code == NGHTTP2_REFUSED_STREAM) {
                assert_ptr_equal(list_shift(&pair.returned), &exchange->link);
                continue;
            }
            snprintf(expected, sizeof expected, "stream reset by the server: %u %s", code, names[code]);
            assert_string_equal(exchange->text, expected);
            assert_int_equal(exchange->error, ERR_RESET);
            assert_ptr_equal(list_shift(&pair.finished), &exchange->link);
        }
    assert_int_equal(codec_capacity(pair.codec), 1000);
    pair_close(&pair);
    free(content);
}

static bool too_large(struct pair *pair, struct incoming *in)
{
    in->answer = (struct answer){ .status = 413, .content = { "no", 2, 2 } };
    h2_server_answer(pair->server, in);
    return true;
}

/* An answer before the end of the request ends the upload, and is a whole answer. */
static void test_early_answer(void **state)
{
    struct pair pair = { .on_head = too_large };
    char *content = pattern_of(3000000, 1);
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    for (int i = 0; i < 20; i++) {
        struct exchange *exchange = submit(&pair, 0, content, 3000000);
        play(&pair);
        assert_true(is_finished(exchange, 413));
        assert_memory_equal(exchange->body.data, "no", 2);
        assert_true(exchange->bytes_sent < 2000000);
        assert_int_equal(pair.codec->active, 0);
        list_shift(&pair.finished);
        buf_free(&exchange->head);
        buf_free(&exchange->body);
    }
    pair.on_head = NULL;
    struct exchange *exchange = submit(&pair, 0, content, 3000000);
    play(&pair);
    check_echoed(exchange);
    pair_close(&pair);
    free(content);
}

static void refuse_body(struct pair *pair, struct incoming *in)
{
    in->answer.status = 200;
    h2_server_answer(pair->server, in);
}

static bool small_body(struct pair *pair, struct incoming *in)
{
    in->max_body = 70000;
    return false;
}

/* The server's own limit. */
static void test_server_refuses_a_body(void **state)
{
    struct pair pair = { .on_head = small_body, .on_request = refuse_body };
    char *content = pattern_of(3000000, 1);
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    submit(&pair, 0, content, 70000);
    submit(&pair, 1, content, 70001);
    submit(&pair, 2, content, 3000000);
    play(&pair);
    assert_true(is_finished(&exchanges[0], 200) && is_finished(&exchanges[1], 413) && is_finished(&exchanges[2], 413));
    pair_close(&pair);
    free(content);
}

/* Giving up */

static void test_cancel_before_the_write(void **state)
{
    struct pair pair = { 0 };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    uint64_t sent = pair.sent;
    struct exchange *exchange = submit(&pair, 0, NULL, 0);
    assert_true(pair.codec->ops->cancel(pair.codec, exchange));
    assert_false(link_listed(&exchange->link));
    play(&pair);
    assert_int_equal(pair.sent, sent); /* nothing of it has left */
    assert_int_equal(pair.codec->active, 0);
    pair_close(&pair);
}

static void test_cancel_while_it_is_answered(void **state)
{
    struct pair pair = { .on_request = hold };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    submit(&pair, 0, NULL, 0);
    submit(&pair, 1, NULL, 0);
    play(&pair);
    assert_true(pair.codec->ops->cancel(pair.codec, &exchanges[0]));
    assert_true(pair.codec->due);
    play(&pair);
    assert_int_equal(pair.gone, 1);
    held[0] = held[1];
    held_count = 1;
    let_go(&pair);
    assert_true(is_finished(&exchanges[1], 204));
    assert_false(exchanges[0].finished);
    pair_close(&pair);
}

/* Wherever a download or an upload is given up, its content may go at once, and the others are not disturbed. */
static void test_cancel_anywhere(void **state)
{
    uint64_t seed = 5;
    char *content = pattern_of(300000, 1);
    for (int round = 0; round < 200; round++) {
        struct pair pair = { .most = 20000, .seed = (uint64_t)round + 1 };
        pair_open(&pair, &H2_SERVER_OPTIONS, 0);
        play(&pair);
        char *own = pattern_of(200000, 2);
        submit(&pair, 0, content, 300000);
        struct exchange *exchange = submit(&pair, 1, own, 200000);
        submit(&pair, 2, content, 100000);
        for (uint64_t i = random_below(&seed, 100); i > 0 && !exchange->finished; i--)
            random_below(&seed, 3) ? move_up(&pair) : move_down(&pair);
        if (!exchange->finished)
            pair.codec->ops->cancel(pair.codec, exchange);
        memset(own, 0, 200000);
        free(own);
        exchange->content = NULL;
        play(&pair);
        check_echoed(&exchanges[0]);
        check_echoed(&exchanges[2]);
        assert_int_equal(pair.codec->active, 0);
        assert_false(pair.broken);
        assert_null(pair.refused);
        pair_close(&pair);
    }
    free(content);
}

static void test_end(void **state)
{
    struct pair pair = { .on_request = hold };
    struct link unfinished;
    link_init(&unfinished);
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    submit(&pair, 0, NULL, 0);
    submit(&pair, 1, "hello", 5);
    play(&pair);
    submit(&pair, 2, NULL, 0);
    pair.codec->ops->end(pair.codec, ERR_RESET, 1, &unfinished);
    assert_int_equal(length_of(&unfinished), 3);
    assert_int_equal(pair.codec->active, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    pair_close(&pair);
}

/* A connection that is closed after this request. */
static void test_last_request(void **state)
{
    struct pair pair = { 0 };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    exchanges[0].close = true;
    submit(&pair, 0, NULL, 0);
    pair.codec->ops->cancel(pair.codec, &exchanges[0]);
    assert_int_equal(codec_capacity(pair.codec), 1000);
    exchanges[0].close = true;
    pair.codec->ops->submit(pair.codec, &exchanges[0]);
    assert_int_equal(codec_capacity(pair.codec), 0);
    play(&pair);
    assert_true(is_finished(&exchanges[0], 200));
    assert_int_equal(codec_capacity(pair.codec), 0);
    assert_false(pair.codec->peer_ends || pair.codec->paused);
    pair_close(&pair);
}

/* Numbers of streams are used up after 2^30 requests. */
static void test_last_stream(void **state)
{
    struct pair pair = { 0 };
    pair_open(&pair, &H2_SERVER_OPTIONS, 0);
    play(&pair);
    nghttp2_session_set_next_stream_id(h2_of(pair.codec)->session, INT32_MAX);
    submit(&pair, 0, NULL, 0);
    submit(&pair, 1, NULL, 0);
    play(&pair);
    list_splice(&pair.returned, &pair.codec->returned);
    assert_true(is_finished(&exchanges[0], 200));
    assert_int_equal(length_of(&pair.returned), 1);
    assert_int_equal(exchanges[1].written, 0);
    assert_int_equal(codec_capacity(pair.codec), 0);
    assert_int_equal(pair.codec->active, 0);
    assert_false(pair.broken);
    pair_close(&pair);
}

/* Against hand-written frames */

struct script {
    struct pair pair;
    struct buf up; /* all that the client has written */
};

static void say(struct script *script, const char *words)
{
    struct buf frames = { 0 };
    const char *text = NULL;
    put_script(&frames, words);
    script->pair.broken = script->pair.codec->ops->input(script->pair.codec, frames.data, frames.length, ++script->pair.now, &text);
    buf_free(&frames);
}

/* What the client has to say now, as words. */
static const char *hear(struct script *script)
{
    struct codec *codec = script->pair.codec;
    struct iovec vectors[CODEC_VECTORS];
    struct buf bytes = { 0 };
    int count;
    while ((count = codec->ops->output(codec, vectors)) > 0)
        for (int i = 0; i < count; i++) {
            buf_append(&bytes, vectors[i].iov_base, vectors[i].iov_len);
            codec->ops->wrote(codec, vectors[i].iov_len, script->pair.now);
        }
    script->up.length = 0;
    read_frames(&script->up, bytes.data, bytes.length);
    buf_free(&bytes);
    buf_append(&script->up, "", 1);
    return script->up.data;
}

static void script_open(struct script *script)
{
    pair_open(&script->pair, &H2_SERVER_OPTIONS, 0);
    say(script, "S");
    hear(script);
}

static void script_close(struct script *script)
{
    pair_close(&script->pair);
    buf_free(&script->up);
}

static void test_preface(void **state)
{
    struct script script = { 0 };
    pair_open(&script.pair, &H2_SERVER_OPTIONS, 0);
    submit(&script.pair, 0, NULL, 0);
    assert_string_equal(hear(&script), "S 0; W 0 1073676289; H 1 es; ");
    assert_false(script.pair.codec->due);
    say(&script, "S");
    assert_true(script.pair.codec->due);
    assert_string_equal(hear(&script), "S 0 ack; ");
    say(&script, "P 12345678; S streams=5");
    assert_string_equal(hear(&script), "P 0 12345678 ack; S 0 ack; ");
    say(&script, "P 12345678 ack; H 1 es :status=200");
    assert_false(script.pair.codec->due);
    assert_string_equal(hear(&script), "");
    script_close(&script);
}

/* Small contents leave with their request. */
static void test_frames_of_a_content(void **state)
{
    struct script script = { 0 };
    char *content = pattern_of(40000, 1);
    script_open(&script);
    submit(&script.pair, 0, "hello", 5);
    submit(&script.pair, 1, content, 40000);
    assert_string_equal(hear(&script), "H 1; H 3; D 1 5 es; D 3 16384; D 3 16384; D 3 7232 es; ");
    submit(&script.pair, 2, content, 40000);
    assert_string_equal(hear(&script), "H 5; D 5 16384; D 5 9146; "); /* what is left of 65535 */
    say(&script, "W 0 1000");
    assert_string_equal(hear(&script), "D 5 1000; ");
    say(&script, "W 0 100000");
    assert_string_equal(hear(&script), "D 5 13470 es; ");
    script_close(&script);
    free(content);
}

static void test_early_answer_without_a_reset(void **state)
{
    struct script script = { 0 };
    char *content = pattern_of(100000, 1);
    script_open(&script);
    struct exchange *exchange = submit(&script.pair, 0, content, 100000);
    hear(&script);
    say(&script, "H 1 es :status=413");
    assert_true(is_finished(exchange, 413));
    free(content); /* nothing of it is looked at any more */
    assert_string_equal(hear(&script), "R 1 8; ");
    say(&script, "W 0 1000000; W 1 100000; R 1 0");
    assert_string_equal(hear(&script), "");
    script_close(&script);
}

static void test_what_a_cancel_says(void **state)
{
    struct script script = { 0 };
    script_open(&script);
    submit(&script.pair, 0, NULL, 0);
    hear(&script);
    script.pair.codec->ops->cancel(script.pair.codec, &exchanges[0]);
    assert_string_equal(hear(&script), "P 0 luabench; R 1 8; "); /* nothing has come since: is there anybody? */
    say(&script, "H 1 :status=200; D 1 es hi"); /* it was on its way */
    assert_string_equal(hear(&script), "");
    assert_false(script.pair.broken);
    submit(&script.pair, 0, NULL, 0);
    hear(&script);
    exchanges[0].max_body = 3;
    say(&script, "H 3 :status=200; D 3 hello; D 3 es hello");
    assert_int_equal(exchanges[0].error, ERR_TOO_LARGE);
    assert_string_equal(hear(&script), "R 3 8; ");
    script_close(&script);
}

/* The connection's window is refilled for what comes on streams that are given up: otherwise it would run dry. */
static void test_window_of_closed_streams(void **state)
{
    struct script script = { 0 };
    struct buf frames = { 0 };
    const char *text;
    script_open(&script);
    submit(&script.pair, 0, NULL, 0);
    hear(&script);
    say(&script, "H 1 :status=200");
    script.pair.codec->ops->cancel(script.pair.codec, &exchanges[0]);
    assert_string_equal(hear(&script), "R 1 8; ");
    for (int i = 0; i < 64; i++)
        put_script(&frames, "D 1 size=16384");
    for (int i = 0; i < 600; i++) /* 600 MiB; at 512 MiB it is refilled */
        assert_false(script.pair.codec->ops->input(script.pair.codec, frames.data, frames.length, ++script.pair.now, &text));
    assert_string_equal(hear(&script), "W 0 536870912; ");
    buf_free(&frames);
    script_close(&script);
}

/* A peer that asks and does not read what it is answered. */
static bool survives(const char *words, int times, bool reads)
{
    struct script script = { 0 };
    script_open(&script);
    for (int i = 0; i < times && !script.pair.broken; i++) {
        say(&script, words);
        if (reads)
            hear(&script);
        assert_true(h2_of(script.pair.codec)->out.frames.length <= H2_OUT_FULL + 100);
    }
    bool fine = !script.pair.broken;
    script_close(&script);
    return fine;
}

static void test_floods(void **state)
{
    assert_true(survives("P 12345678", 100000, true));
    assert_true(survives("S streams=100", 100000, true));
    assert_false(survives("P 12345678", 100000, false));
    assert_false(survives("S streams=100", 100000, false));
}

static void test_head_limit(void **state)
{
    struct script script = { 0 };
    struct buf words = { 0 };
    script_open(&script);
    submit(&script.pair, 0, NULL, 0);
    submit(&script.pair, 1, NULL, 0);
    hear(&script);
    for (int block = 0; block < 60; block++) { /* informational heads do not add up */
        buf_printf(&words, "H 1 :status=103");
        for (int i = 0; i < 10; i++)
            buf_printf(&words, " name%d=%0900d", i, i);
        buf_printf(&words, ";");
    }
    buf_printf(&words, "H 1 es :status=200; H 3 es :status=200");
    buf_append(&words, "", 1);
    say(&script, words.data);
    assert_true(is_finished(&exchanges[0], 200) && is_finished(&exchanges[1], 200));
    buf_free(&words);
    script_close(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_ten_megabytes),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_long_head),
        cmocka_unit_test(test_requests_again),
        cmocka_unit_test(test_heads_that_change),
        cmocka_unit_test_setup(test_stream_limit, reset_held),
        cmocka_unit_test_setup(test_own_stream_limit, reset_held),
        cmocka_unit_test_setup(test_limit_lowered_before_the_write, reset_held),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_connection_window),
        cmocka_unit_test(test_goaway),
        cmocka_unit_test_setup(test_goaway_with_work_left, reset_held),
        cmocka_unit_test(test_goaway_before_the_write),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_early_answer),
        cmocka_unit_test(test_server_refuses_a_body),
        cmocka_unit_test(test_cancel_before_the_write),
        cmocka_unit_test_setup(test_cancel_while_it_is_answered, reset_held),
        cmocka_unit_test(test_cancel_anywhere),
        cmocka_unit_test_setup(test_end, reset_held),
        cmocka_unit_test(test_last_request),
        cmocka_unit_test(test_last_stream),
        cmocka_unit_test(test_preface),
        cmocka_unit_test(test_frames_of_a_content),
        cmocka_unit_test(test_early_answer_without_a_reset),
        cmocka_unit_test(test_what_a_cancel_says),
        cmocka_unit_test(test_window_of_closed_streams),
        cmocka_unit_test(test_floods),
        cmocka_unit_test(test_head_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
