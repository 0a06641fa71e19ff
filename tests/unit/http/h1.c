/* The client's codec against a table of responses: fed whole, byte by byte, at every split in two and at random splits, and whatever the request has been
 * answered with before, the outcome is the one of the table. */
#include "http/h1.c"

#include "test.h"

#include "h1_cases.h"

struct outcome {
    enum err error;
    bool done, keep;
    int status;
};

/* What is being played. */
static struct link finished;
static struct exchange exchange;
static struct request request;
static struct outcome outcome;
static int wrong; /* cases of the present test */

static void begin(const struct response_case *c)
{
    memset(&exchange, 0, sizeof exchange);
    link_init(&finished);
    link_init(&exchange.link);
    request.bytes = "GET / HTTP/1.1\r\n\r\n";
    request.length = strlen(request.bytes) - 2;
    request.head = c->head;
    exchange.request = &request;
    exchange.max_body = c->max_body ? c->max_body : SIZE_MAX;
    outcome = (struct outcome){ 0 };
}

static void end(struct codec *codec)
{
    codec->ops->free(codec);
    buf_free(&exchange.head);
    buf_free(&exchange.body);
}

static int reset(void **state)
{
    wrong = 0;
    return 0;
}

static void forget(void)
{
    free(request.seen);
    memset(&request, 0, sizeof request);
}

static void send_all(struct codec *codec, int64_t now)
{
    struct iovec vectors[CODEC_VECTORS];
    int count;
    while ((count = codec->ops->output(codec, vectors)))
        for (int i = 0; i < count; i++)
            codec->ops->wrote(codec, vectors[i].iov_len, now);
}

/* As the connection does it. */
static bool feed(struct codec *codec, const char *data, size_t length, int64_t now)
{
    const char *text = NULL;
    if (!codec->active) {
        codec->limit = 0; /* unasked */
        return false;
    }
    char *copy = mem_text(data, length); /* of this size, so that the sanitizer sees a read beyond it */
    outcome.error = codec->ops->input(codec, copy, length, now, &text);
    free(copy);
    if (outcome.error == ERR_PROTOCOL)
        assert_non_null(text);
    return !outcome.error;
}

static void close_connection(struct codec *codec, enum ending ending)
{
    struct link unfinished;
    link_init(&unfinished);
    codec->ops->end(codec, ending == RST ? ERR_RESET : ERR_NONE, 99, &unfinished);
    if (!list_empty(&unfinished))
        outcome.error = ending == RST ? ERR_RESET : ERR_CLOSED;
}

static void conclude(struct codec *codec)
{
    outcome.done = !list_empty(&finished);
    outcome.keep = codec_capacity(codec) > 0;
    outcome.status = exchange.status;
}

/* Plays a case with the bytes cut into pieces of the lengths that next() gives. */
static void play(const struct response_case *c, size_t (*next)(void *context), void *context)
{
    size_t length = c->length ? c->length : strlen(c->bytes), at = 0;
    begin(c);
    struct codec *codec = h1_new(&finished, c->lenient);
    codec->ops->submit(codec, &exchange);
    send_all(codec, 1);
    bool going = true;
    for (int64_t now = 2; going && at < length; now++) {
        size_t piece = next(context);
        if (piece > length - at)
            piece = length - at;
        going = feed(codec, c->bytes + at, piece, now);
        at += piece;
    }
    if (going && c->ending != STAYS)
        close_connection(codec, c->ending);
    conclude(codec);
    const char *body = c->body ? c->body : "";
    bool right = outcome.error == c->error && outcome.done == !c->error && outcome.keep == (c->keep && !c->error) && outcome.status == c->status &&
                 (c->error || (exchange.body.length == strlen(body) && exchange.body_size == strlen(body) && !memcmp(exchange.body.data ? exchange.body.data : "", body, strlen(body))));
    if (!right)
        print_error("%s: error %s, %s, status %d, %s, body \"%.*s\"\n", c->name, err_name(outcome.error), outcome.done ? "done" : "not done", outcome.status,
                    outcome.keep ? "kept" : "not kept", (int)exchange.body.length, exchange.body.data ? exchange.body.data : "");
    end(codec);
    wrong += !right;
}

static size_t all_of_it(void *context)
{
    return SIZE_MAX;
}

static size_t one(void *context)
{
    return 1;
}

/* First *context bytes, then the rest. */
static size_t first_then_rest(void *context)
{
    size_t *first = context, piece = *first;
    *first = SIZE_MAX;
    return piece;
}

static size_t random_piece(void *context)
{
    return 1 + random_below(context, 30);
}

static void test_whole(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++, forget())
        play(&cases[i], all_of_it, NULL);
    assert_int_equal(wrong, 0);
}

static void test_byte_by_byte(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++, forget())
        play(&cases[i], one, NULL);
    assert_int_equal(wrong, 0);
}

static void test_split_in_two(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++, forget())
        for (size_t split = 1; split < strlen(cases[i].bytes); split++) {
            size_t first = split;
            play(&cases[i], first_then_rest, &first);
        }
    assert_int_equal(wrong, 0);
}

static void test_random_splits(void **state)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT(cases); i++, forget())
        for (int round = 0; round < 50; round++)
            play(&cases[i], random_piece, &seed);
    assert_int_equal(wrong, 0);
}

/* A head that the request remembers changes nothing. */
static void test_after_any_other(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t j = 0; j < COUNT(cases); j++) {
            for (int times = 0; times < 3; times++)
                play(&cases[i], all_of_it, NULL);
            play(&cases[j], all_of_it, NULL);
            play(&cases[j], one, NULL);
            forget();
        }
    assert_int_equal(wrong, 0);
}

/* Heads of many sizes */

static size_t up_to_64k(void *context)
{
    return 65536;
}

/* A response whose head has `fields` fields and is `length` bytes long. */
static char *large_head(size_t fields, size_t length)
{
    static const char end[] = "Content-Length: 2\r\n\r\n";
    struct buf text = { 0 };
    buf_printf(&text, OK_HEAD);
    for (size_t i = 0; i < fields; i++)
        buf_printf(&text, "X-%zu: %zu\r\n", i, i);
    assert_true(text.length + strlen("X: \r\n") + strlen(end) <= length);
    size_t filling = length - text.length - strlen("X: \r\n") - strlen(end);
    buf_printf(&text, "X: ");
    for (size_t i = 0; i < filling; i++)
        buf_append(&text, "y", 1);
    buf_printf(&text, "\r\n%shi", end);
    buf_append(&text, "", 1);
    return text.data;
}

static void test_large_heads(void **state)
{
    static const struct {
        size_t fields, length;
        bool allowed;
    } heads[] = { { 1, 5000, true }, { 1, 70000, true }, { 1000, 20000, true }, { 1, HEAD_MAX, true }, { 1, HEAD_MAX + 1, false }, { 1, 300000, false } };
    size_t (*const splits[])(void *) = { all_of_it, up_to_64k, one };
    for (size_t i = 0; i < COUNT(heads); i++)
        for (size_t j = 0; j < COUNT(splits); j++) {
            char *text = large_head(heads[i].fields, heads[i].length);
            struct response_case c = { "large head", text, "hi", .error = ERR_TOO_LARGE };
            if (heads[i].allowed)
                c = (struct response_case){ "large head", text, "hi", .status = 200, .keep = true };
            for (int times = 0; times < 3; times++)
                play(&c, splits[j], NULL);
            forget();
            free(text);
        }
    assert_int_equal(wrong, 0);
}

/* What else an exchange is told */

static struct codec *begin_get(void)
{
    static const struct response_case get = { .name = "GET" };
    begin(&get);
    struct codec *codec = h1_new(&finished, false);
    codec->ops->submit(codec, &exchange);
    return codec;
}

static void test_marks(void **state)
{
    struct codec *codec = begin_get();
    send_all(codec, 10);
    assert_true(feed(codec, "HTTP/1.1 100 Continue\r\n\r\n", 25, 20));
    assert_int_equal(exchange.first_byte, 0);
    assert_true(feed(codec, "HTTP/1.1 200 OK\r\n", 17, 30));
    assert_true(feed(codec, "Transfer-Encoding: chunked\r\n\r\n", 30, 40));
    assert_true(feed(codec, "2\r\nhi\r\n", 7, 50));
    assert_int_equal(exchange.finished, 0);
    assert_true(feed(codec, "0\r\n\r\n", 5, 60));
    assert_int_equal(exchange.sent, 10);
    assert_int_equal(exchange.first_byte, 30);
    assert_int_equal(exchange.finished, 60);
    assert_int_equal(exchange.bytes_sent, 18);
    assert_int_equal(exchange.bytes_received, 25 + 17 + 30 + 7 + 5);
    assert_int_equal(exchange.body_size, 2);
    assert_int_equal(exchange.head.length, 17 + 30);
    assert_int_equal(exchange.minor_version, 1);
    end(codec);
    forget();
}

static void test_answer_before_the_request(void **state)
{
    struct codec *codec = begin_get();
    assert_false(feed(codec, NEXT, strlen(NEXT), 5));
    assert_false(exchange.answered);
    assert_true(list_empty(&finished));
    close_connection(codec, FIN);
    end(codec);
    forget();
}

/* The response is complete while the request is half written: nothing can follow. */
static void test_early_answer(void **state)
{
    struct codec *codec = begin_get();
    struct iovec vectors[CODEC_VECTORS];
    assert_int_equal(codec->ops->output(codec, vectors), 1);
    codec->ops->wrote(codec, 5, 1);
    assert_true(feed(codec, NEXT, strlen(NEXT), 2));
    conclude(codec);
    assert_true(outcome.done && outcome.status == 200 && !outcome.keep);
    end(codec);
    forget();
}

static void test_cancel(void **state)
{
    struct codec *codec = begin_get();
    assert_true(codec->ops->cancel(codec, &exchange)); /* nothing was written */
    assert_int_equal(codec_capacity(codec), 1);
    codec->ops->submit(codec, &exchange);
    codec->ops->wrote(codec, 1, 1);
    assert_false(codec->ops->cancel(codec, &exchange));
    assert_false(link_listed(&exchange.link));
    assert_true(list_empty(&finished));
    end(codec);
    forget();
}

/* Several requests in flight on a connection: answered in order, and given back when it ends. */
static void test_pipeline(void **state)
{
    enum { ALL = 4 };
    static const char answers[] = NEXT "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n" NEXT;
    struct exchange exchanges[ALL] = { 0 };
    for (size_t piece = 1; piece < sizeof answers; piece++) {
        struct link unfinished;
        struct codec *codec = begin_get();
        link_init(&unfinished);
        codec->limit = ALL;
        assert_true(codec->ops->cancel(codec, &exchange));
        for (int i = 0; i < ALL; i++) {
            exchanges[i] = (struct exchange){ .request = &request, .max_body = SIZE_MAX };
            codec->ops->submit(codec, &exchanges[i]);
        }
        assert_int_equal(codec_capacity(codec), 0);
        send_all(codec, 1);
        for (size_t at = 0; at < sizeof answers - 1; at += piece)
            assert_true(feed(codec, answers + at, at + piece < sizeof answers ? piece : sizeof answers - 1 - at, 2));
        for (int i = 0; i < ALL - 1; i++) {
            assert_ptr_equal(list_shift(&finished), &exchanges[i].link);
            assert_int_equal(exchanges[i].status, i == 1 ? 404 : 200);
        }
        codec->ops->end(codec, ERR_NONE, 3, &unfinished);
        assert_ptr_equal(list_shift(&unfinished), &exchanges[ALL - 1].link);
        assert_true(list_empty(&unfinished) && list_empty(&finished));
        for (int i = 0; i < ALL; i++) {
            buf_free(&exchanges[i].head);
            buf_free(&exchanges[i].body);
        }
        end(codec);
        forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_whole, reset),
        cmocka_unit_test_setup(test_byte_by_byte, reset),
        cmocka_unit_test_setup(test_split_in_two, reset),
        cmocka_unit_test_setup(test_random_splits, reset),
        cmocka_unit_test_setup(test_after_any_other, reset),
        cmocka_unit_test_setup(test_large_heads, reset),
        cmocka_unit_test_setup(test_marks, reset),
        cmocka_unit_test_setup(test_answer_before_the_request, reset),
        cmocka_unit_test_setup(test_early_answer, reset),
        cmocka_unit_test_setup(test_cancel, reset),
        cmocka_unit_test_setup(test_pipeline, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
