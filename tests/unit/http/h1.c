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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_whole, reset),
        cmocka_unit_test_setup(test_byte_by_byte, reset),
        cmocka_unit_test_setup(test_split_in_two, reset),
        cmocka_unit_test_setup(test_random_splits, reset),
        cmocka_unit_test_setup(test_after_any_other, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
