/* The client's HTTP/2 codec against a table of hand-written answers, most of which no library would send: fed whole, byte by byte and at random splits, each has
 * the outcome of the table. */
#include "base/mem.h"
#include "http/engine.h"
#include "h2_frames.h"

/* What is said of a case: how the exchange ended, and how the connection stands. */
struct answer_case {
    const char *name, *script;
    enum err error;     /* of the exchange; ERR_CLOSED: it has not ended */
    const char *text;   /* what is said about the error, its beginning */
    int status;
    const char *body;
    unsigned room;      /* further exchanges that may be submitted after that */
    enum err broken;    /* what the connection has been ended with */
    const char *method; /* NULL: GET */
    size_t max_body;    /* 0: no limit */
    const char *head;   /* NULL: not looked at */
    bool returned;      /* the exchange was handed back */
};

#define OPEN "S; "
enum { ANY = UINT32_MAX }; /* room without a limit */

static const struct answer_case cases[] = {
    { "a head alone", OPEN "H 1 es :status=200", .status = 200, .body = "", .room = ANY, .head = "HTTP/2 200\r\n\r\n" },
    { "a head and a body", OPEN "H 1 :status=200 content-length=5; D 1 es hello", .status = 200, .body = "hello", .room = ANY,
      .head = "HTTP/2 200\r\ncontent-length: 5\r\n\r\n" },
    { "a body in pieces", OPEN "H 1 :status=404 server=x date=now; D 1 he; D 1 llo; D 1 es", .status = 404, .body = "hello", .room = ANY,
      .head = "HTTP/2 404\r\nserver: x\r\ndate: now\r\n\r\n" },
    { "padding", OPEN "H 1 pad=7 :status=200; D 1 pad=0 he; D 1 pad=255 llo; D 1 es pad=9", .status = 200, .body = "hello", .room = ANY },
    { "empty DATA", OPEN "H 1 :status=200; D 1; D 1; D 1 hi; D 1; D 1 es", .status = 200, .body = "hi", .room = ANY },
    { "trailers", OPEN "H 1 :status=200; D 1 hi; H 1 es grpc-status=0 x=y", .status = 200, .body = "hi", .room = ANY, .head = "HTTP/2 200\r\n\r\n" },
    { "trailers without a body", OPEN "H 1 :status=200; H 1 es x=y", .status = 200, .body = "", .room = ANY },
    { "103, then 200", OPEN "H 1 :status=103 link=x; H 1 es :status=200 a=b", .status = 200, .body = "", .room = ANY, .head = "HTTP/2 200\r\na: b\r\n\r\n" },
    { "several 1xx", OPEN "H 1 :status=100; H 1 :status=102; H 1 :status=103 a=b; H 1 :status=200; D 1 es hi", .status = 200, .body = "hi", .room = ANY },
    { "CONTINUATION", OPEN "H 1 part :status=200; C 1 part a=b; C 1 part; C 1 c=d; D 1 es hi", .status = 200, .body = "hi", .room = ANY,
      .head = "HTTP/2 200\r\na: b\r\nc: d\r\n\r\n" },
    { "CONTINUATION with the end of the stream", OPEN "H 1 es part :status=200; C 1 a=b", .status = 200, .body = "", .room = ANY },
    { "several fields of a name", OPEN "H 1 es :status=200 set-cookie=a set-cookie=b", .status = 200, .body = "", .room = ANY,
      .head = "HTTP/2 200\r\nset-cookie: a\r\nset-cookie: b\r\n\r\n" },
    { "an empty value", OPEN "H 1 es :status=200 x=", .status = 200, .body = "", .room = ANY, .head = "HTTP/2 200\r\nx: \r\n\r\n" },
    { "SETTINGS, PING, unknown frames and PRIORITY between", OPEN "P 12345678; H 1 :status=200; X 99 255 1 hello; X 2 0 1 abcde; S streams=9; D 1 es hi; S ack",
      .status = 200, .body = "hi", .room = 9 },
    { "HEAD", OPEN "H 1 es :status=200 content-length=1000", .method = "HEAD", .status = 200, .body = "", .room = ANY },
    { "HEAD of something larger than allowed", OPEN "H 1 es :status=200 content-length=1000", .method = "HEAD", .max_body = 10, .status = 200, .body = "", .room = ANY },
    { "204", OPEN "H 1 es :status=204", .status = 204, .body = "", .room = ANY },
    { "304 with a length", OPEN "H 1 es :status=304 content-length=1000", .max_body = 10, .status = 304, .body = "", .room = ANY },
    { "599", OPEN "H 1 es :status=599", .status = 599, .body = "", .room = ANY },

    /* wrong responses: the stream ends, the connection lives */
    { "HEAD with a body", OPEN "H 1 :status=200; D 1 es hi", .method = "HEAD", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "204 with a body", OPEN "H 1 :status=204; D 1 es hi", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a body shorter than announced", OPEN "H 1 :status=200 content-length=5; D 1 es hi", .error = ERR_PROTOCOL, .text = "Content-Length says 5 bytes, and 2 came",
      .room = ANY },
    { "a body longer than announced", OPEN "H 1 :status=200 content-length=1; D 1 hello", .error = ERR_PROTOCOL, .text = "", .room = ANY },
    { "an announced body that does not come", OPEN "H 1 es :status=200 content-length=5", .error = ERR_PROTOCOL, .text = "Content-Length says 5 bytes, and 0 came",
      .room = ANY },
    { "a length that is no number", OPEN "H 1 :status=200 content-length=five", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "two lengths", OPEN "H 1 :status=200 content-length=5 content-length=6", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: Invalid HTTP header", .room = ANY },
    { "no status", OPEN "H 1 es server=x", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "two of them", OPEN "H 1 es :status=200 :status=200", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a late one", OPEN "H 1 es server=x :status=200", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a short status", OPEN "H 1 es :status=20", .error = ERR_PROTOCOL, .text = "", .room = ANY },
    { "a long status", OPEN "H 1 es :status=2000", .error = ERR_PROTOCOL, .text = "", .room = ANY },
    { "a status of letters", OPEN "H 1 es :status=abc", .error = ERR_PROTOCOL, .text = "", .room = ANY },
    { "600", OPEN "H 1 es :status=600", .error = ERR_PROTOCOL, .text = "the status is not a number from 100 to 599", .room = ANY },
    { "099", OPEN "H 1 es :status=099", .error = ERR_PROTOCOL, .text = "the status is not a number from 100 to 599", .room = ANY },
    { "101", OPEN "H 1 es :status=101", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "1xx that ends the stream", OPEN "H 1 es :status=103", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a name in upper case", OPEN "H 1 es :status=200 Server=x", .error = ERR_PROTOCOL,
      .text = "PROTOCOL_ERROR: Invalid HTTP header field was received: name: [Server], value: [x]", .room = ANY },
    { "connection", OPEN "H 1 es :status=200 connection=close", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "transfer-encoding", OPEN "H 1 es :status=200 transfer-encoding=chunked", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a field of requests", OPEN "H 1 es :status=200 :path=/", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "status in a trailer", OPEN "H 1 :status=200; H 1 es :status=200", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "a trailer that does not end the stream", OPEN "H 1 :status=200; H 1 a=b", .error = ERR_PROTOCOL, .text = "PROTOCOL_ERROR", .room = ANY },
    { "DATA after 1xx", OPEN "H 1 :status=100; D 1 es hi", .error = ERR_PROTOCOL, .text = "", .room = ANY },
    { "a window beyond its limit", OPEN "W 1 0x7fffffff", .error = ERR_PROTOCOL, .text = "FLOW_CONTROL_ERROR", .room = ANY },

    /* limits */
    { "as large as allowed", OPEN "H 1 :status=200; D 1 hello; D 1 es hello", .max_body = 10, .status = 200, .body = "hellohello", .room = ANY },
    { "too large", OPEN "H 1 :status=200; D 1 hello; D 1 hello_; D 1 es more", .max_body = 10, .error = ERR_TOO_LARGE, .text = "the body is larger than allowed", .room = ANY },
    { "announced as too large", OPEN "H 1 :status=200 content-length=11; D 1 es hello_world", .max_body = 10, .error = ERR_TOO_LARGE,
      .text = "the announced body is larger than allowed", .room = ANY },

    /* resets */
    { "CANCEL at once", OPEN "R 1 8", .error = ERR_RESET, .text = "stream reset by the server: 8 CANCEL", .room = ANY },
    { "INTERNAL_ERROR after the head", OPEN "H 1 :status=200; R 1 2", .error = ERR_RESET, .text = "stream reset by the server: 2 INTERNAL_ERROR", .room = ANY },
    { "in the body", OPEN "H 1 :status=200 content-length=9; D 1 hi; R 1 1", .error = ERR_RESET, .text = "stream reset by the server: 1 PROTOCOL_ERROR", .room = ANY },
    { "NO_ERROR before the end", OPEN "H 1 :status=200; D 1 hi; R 1 0", .error = ERR_RESET, .text = "stream reset by the server: 0 NO_ERROR", .room = ANY },
    { "a code that nobody knows", OPEN "R 1 0x12345678", .error = ERR_RESET, .text = "stream reset by the server: 305419896 unknown", .room = ANY },
    { "after the end", OPEN "H 1 es :status=200; R 1 8; R 1 0", .status = 200, .body = "", .room = ANY },
    { "DATA behind the end", OPEN "H 1 es :status=200; D 1 hi; D 1 es", .status = 200, .body = "", .room = ANY },
    { "a head behind the end", OPEN "H 1 es :status=200; H 1 es :status=200", .status = 200, .body = "", .room = ANY },
    { "HTTP_1_1_REQUIRED", OPEN "R 1 13", .error = ERR_RESET, .text = "stream reset by the server: 13 HTTP_1_1_REQUIRED", .room = ANY },
    { "REFUSED_STREAM", OPEN "R 1 7", .returned = true, .error = ERR_CLOSED, .room = ANY },

    /* GOAWAY */
    { "GOAWAY that excludes it", OPEN "G 0 0", .returned = true, .error = ERR_CLOSED, .room = 0 },
    { "GOAWAY that includes it", OPEN "G 1 0; H 1 :status=200; D 1 es hi", .status = 200, .body = "hi", .room = 0 },
    { "GOAWAY in two steps", OPEN "G 0x7fffffff 0; H 1 :status=200; G 1 0; D 1 es hi", .status = 200, .body = "hi", .room = 0 },
    { "GOAWAY in two steps that excludes it in the end", OPEN "G 0x7fffffff 0; G 0 0", .returned = true, .error = ERR_CLOSED, .room = 0 },
    { "GOAWAY after it", OPEN "H 1 es :status=200; G 1 11", .status = 200, .body = "", .room = 0 },
    { "GOAWAY twice", OPEN "G 1 0; G 1 0; H 1 es :status=200", .status = 200, .body = "", .room = 0 },
    { "SETTINGS after GOAWAY", OPEN "G 1 0; S streams=50; H 1 es :status=200", .status = 200, .body = "", .room = 0 },

    /* limits on streams */
    { "no stream", OPEN "S streams=0; H 1 es :status=200", .status = 200, .body = "", .room = 0 },
    { "one stream", "S streams=1; H 1 es :status=200", .status = 200, .body = "", .room = 1 },
    { "none, then a hundred", "S streams=0; H 1 es :status=200; S streams=100", .status = 200, .body = "", .room = 100 },
    { "one while it is open", "S streams=1; H 1 :status=200", .error = ERR_CLOSED, .room = 0 },
    { "two while it is open", "S streams=2; H 1 :status=200", .error = ERR_CLOSED, .room = 1 },

    /* wrong connections */
    { "no SETTINGS", "H 1 es :status=200", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: SETTINGS expected" },
    { "HTTP/1.1", "raw HTTP/1.1_400_Bad_Request;", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "" },
    { "SETTINGS on a stream", OPEN "X 4 0 1", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: SETTINGS: stream_id != 0" },
    { "SETTINGS of a wrong size", OPEN "X 4 0 0 abc", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "FRAME_SIZE_ERROR" },
    { "a window that is too large", OPEN "S window=0x80000000", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "FLOW_CONTROL_ERROR" },
    { "a frame that is too large", OPEN "H 1 :status=200; D 1 size=16385", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "FRAME_SIZE_ERROR: too large frame size" },
    { "PUSH_PROMISE", OPEN "S ack; X 5 4 1 abcdef", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: PUSH_PROMISE: push disabled" },
    { "DATA on a stream that is not there", OPEN "D 3 hi", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: DATA: stream in idle" },
    { "DATA before a head", OPEN "D 1 es hi", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: DATA: stream not opened" },
    { "DATA on no stream", OPEN "D 0 hi", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: DATA: stream_id == 0" },
    { "a head on a stream of the server's", OPEN "H 2 :status=200", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR" },
    { "more padding than there is", OPEN "X 0 8 1 z", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "" },
    { "more padding than there is in a head", OPEN "X 1 12 1 z", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: HEADERS: invalid padding" },
    { "GOAWAY that takes more than the one before", OPEN "G 1 0; G 3 0", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: GOAWAY: invalid last_stream_id" },
    { "GOAWAY behind a stream of the server's", OPEN "G 2 0", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: GOAWAY: invalid last_stream_id" },
    { "WINDOW_UPDATE of a stream by nothing", OPEN "W 1 0", .error = ERR_CLOSED, .broken = ERR_PROTOCOL,
      .text = "PROTOCOL_ERROR: WINDOW_UPDATE: window_size_increment == 0" },
    { "WINDOW_UPDATE by nothing", OPEN "W 0 0", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: WINDOW_UPDATE: window_size_increment == 0" },
    { "the connection's window beyond its limit", OPEN "W 0 0x7fffffff", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "FLOW_CONTROL_ERROR" },
    { "something between HEADERS and CONTINUATION", OPEN "H 1 part :status=200; P 12345678", .error = ERR_CLOSED, .broken = ERR_PROTOCOL,
      .text = "PROTOCOL_ERROR: unexpected non-CONTINUATION frame or stream_id is invalid" },
    { "CONTINUATION alone", OPEN "C 1 a=b", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: CONTINUATION: unexpected" },
    { "RST_STREAM of a stream that is not there", OPEN "R 3 8", .error = ERR_CLOSED, .broken = ERR_PROTOCOL, .text = "PROTOCOL_ERROR: RST_STREAM: stream in idle" },
};

/* What is being played. */
static struct link finished, unfinished;
static struct exchange exchange;
static struct origin origin;
static struct request get = { .references = 1, .method = "GET", .path = "/", .bytes = "GET / HTTP/1.1\r\nHost: example.com\r\n", .origin = &origin };
static struct request head = { .references = 1, .method = "HEAD", .path = "/", .bytes = "HEAD / HTTP/1.1\r\nHost: example.com\r\n", .origin = &origin, .head = true };
static char text[200]; /* about the connection */
static enum err broken;
static int wrong;

static void forget_fields(struct request *request)
{
    assert_int_equal(request->references, 1);
    free(request->fields_h2);
    request->fields_h2 = NULL;
}

static void begin(const struct answer_case *c)
{
    exchange = (struct exchange){ .request = c->method ? &head : &get, .max_body = c->max_body ? c->max_body : SIZE_MAX };
    link_init(&exchange.link);
    link_init(&finished);
    link_init(&unfinished);
    exchange.request->length = strlen(exchange.request->bytes);
    broken = ERR_NONE;
    *text = '\0';
}

static void send_all(struct codec *codec, int64_t now)
{
    struct iovec vectors[CODEC_VECTORS];
    int count;
    while ((count = codec->ops->output(codec, vectors)))
        for (int i = 0; i < count; i++)
            codec->ops->wrote(codec, vectors[i].iov_len, now);
    assert_false(codec->due);
}

/* A copy of this size, so that the sanitizer sees a read beyond it. */
static bool feed(struct codec *codec, const char *data, size_t length, int64_t now)
{
    const char *why = NULL;
    char *copy = mem_text(data, length);
    broken = codec->ops->input(codec, copy, length, now, &why);
    free(copy);
    if (broken)
        snprintf(text, sizeof text, "%s", why);
    if (codec->due)
        send_all(codec, now);
    return !broken;
}

static bool same(const struct buf *buf, const char *expected)
{
    return buf->length == strlen(expected) && !memcmp(buf->data ? buf->data : "", expected, buf->length);
}

static bool as_expected(const struct answer_case *c, struct codec *codec)
{
    bool done = !list_empty(&finished), returned = !list_empty(&codec->returned);
    const char *said = c->broken ? text : exchange.text;
    if (broken != c->broken || returned != c->returned || done != (c->error != ERR_CLOSED) || (done && exchange.error != c->error))
        return false;
    if (exchange.status != c->status || (c->text && strncmp(said, c->text, strlen(c->text))) || (c->text && !*said))
        return false;
    if (c->status && (!same(&exchange.body, c->body) || exchange.body_size != strlen(c->body) || exchange.minor_version != 20))
        return false;
    if (c->status && (exchange.sent != 1 || exchange.first_byte < 2 || exchange.finished < exchange.first_byte || !exchange.answered))
        return false;
    return (!c->head || same(&exchange.head, c->head)) && (c->broken || codec_capacity(codec) == c->room);
}

static void report(const struct answer_case *c, struct codec *codec)
{
    print_error("%s: %s, error %s \"%s\", status %d, body \"%.*s\", head \"%.*s\", room %u, connection %s \"%s\"%s\n", c->name,
                list_empty(&finished) ? "not ended" : "ended", err_name(exchange.error), exchange.text, exchange.status, (int)exchange.body.length,
                exchange.body.data ? exchange.body.data : "", (int)exchange.head.length, exchange.head.data ? exchange.head.data : "", codec_capacity(codec),
                err_name(broken), text, list_empty(&codec->returned) ? "" : ", returned");
    wrong++;
}

/* The exchange is in exactly one place, and the codec's books balance. */
static void close_books(struct codec *codec)
{
    unsigned inside = codec->active, places = !list_empty(&finished) + !list_empty(&codec->returned);
    codec->ops->end(codec, ERR_NONE, 99, &unfinished);
    places += !list_empty(&unfinished);
    assert_int_equal(places, 1);
    assert_int_equal(inside, !list_empty(&unfinished));
    codec->ops->free(codec);
    forget_fields(&get);
    forget_fields(&head);
    buf_free(&exchange.head);
    buf_free(&exchange.body);
}

static void play(const struct answer_case *c, size_t (*next)(void *context), void *context)
{
    struct buf frames = { 0 };
    begin(c);
    put_script(&frames, c->script);
    struct codec *codec = h2_new(&finished, 0);
    codec->ops->submit(codec, &exchange);
    send_all(codec, 1);
    assert_int_equal(codec_capacity(codec), 0);
    bool going = true;
    size_t at = 0;
    for (int64_t now = 2; going && at < frames.length; now++) {
        size_t piece = next(context);
        piece = piece < frames.length - at ? piece : frames.length - at;
        going = feed(codec, frames.data + at, piece, now);
        at += piece;
    }
    if (!as_expected(c, codec))
        report(c, codec);
    close_books(codec);
    buf_free(&frames);
}

/* Some builds of nghttp2 1.52 take each call in which the head of a CONTINUATION is not complete for one more of these frames, of which they allow eight. */
static bool may_be_minced(const struct answer_case *c)
{
    return !strstr(c->script, "; C ") && !strstr(c->script, " part ");
}

/* A script of stream 1 as one of stream `id`. */
static const char *moved(const char *script, int id)
{
    static char to[20000];
    size_t length = 0;
    for (; *script; script++) {
        to[length++] = *script;
        if (strchr("HDCRW", *script) && !strncmp(script + 1, " 1", 2) && (script[3] == ' ' || script[3] == ';' || !script[3])) {
            length += (size_t)sprintf(to + length, " %d", id);
            script += 2;
        }
    }
    to[length] = '\0';
    return to;
}

/* One response on a connection that has carried others: stream `id` gets the answer of the case, and what comes of it is the same. */
static bool answer_on(struct codec *codec, const struct answer_case *c, int id, size_t most, uint64_t *seed)
{
    struct buf frames = { 0 };
    begin(c);
    codec->ops->submit(codec, &exchange);
    send_all(codec, 1);
    put_script(&frames, moved(c->script + (strncmp(c->script, OPEN, strlen(OPEN)) ? 0 : strlen(OPEN)), id));
    size_t at = 0;
    for (bool going = true; going && at < frames.length;) {
        size_t piece = most ? 1 + random_below(seed, most) : frames.length;
        piece = piece < frames.length - at ? piece : frames.length - at;
        going = feed(codec, frames.data + at, piece, 2);
        at += piece;
    }
    buf_free(&frames);
    bool right = as_expected(c, codec);
    if (!right)
        report(c, codec);
    buf_free(&exchange.head);
    buf_free(&exchange.body);
    return right && list_empty(&codec->returned) && c->error != ERR_CLOSED;
}

static bool is_repeatable(const struct answer_case *c)
{
    return c->room == ANY && !c->returned && !c->broken && !strstr(c->script, "G ");
}

/* Heads that a connection remembers (http/h2_heads.h) change nothing: each case after each good one, on one connection. */
static void play_after(const struct answer_case *first, size_t most)
{
    uint64_t seed = 1;
    int id = 3;
    const struct answer_case greeting = { .name = "the first", .script = OPEN "H 1 es :status=200", .status = 200, .body = "", .room = ANY };
    link_init(&finished);
    struct codec *codec = h2_new(&finished, 0);
    feed(codec, (const char[]){ 0, 0, 0, 4, 0, 0, 0, 0, 0 }, 9, 1);
    answer_on(codec, &greeting, 1, 0, &seed);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (!is_repeatable(&cases[i]) || (most && !may_be_minced(&cases[i])))
            continue;
        for (int times = 0; times < 2; times++, id += 2)
            answer_on(codec, first, id, most, &seed);
        for (int times = 0; times < 2; times++, id += 2)
            answer_on(codec, &cases[i], id, most, &seed);
    }
    codec->ops->free(codec);
    forget_fields(&get);
    forget_fields(&head);
}

static size_t all_of_it(void *context)
{
    return SIZE_MAX;
}

static size_t one(void *context)
{
    return 1;
}

static size_t random_piece(void *context)
{
    return 1 + random_below(context, 30);
}

static size_t large_piece(void *context)
{
    return 10 + random_below(context, 30);
}

static int reset(void **state)
{
    wrong = 0;
    return 0;
}

static void test_whole(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        play(&cases[i], all_of_it, NULL);
    assert_int_equal(wrong, 0);
}

static void test_byte_by_byte(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (may_be_minced(&cases[i]))
            play(&cases[i], one, NULL);
    assert_int_equal(wrong, 0);
}

static void test_random_splits(void **state)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int round = 0; round < 50; round++)
            play(&cases[i], may_be_minced(&cases[i]) ? random_piece : large_piece, &seed);
    assert_int_equal(wrong, 0);
}

static void test_after_any_other(void **state)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (cases[i].status && is_repeatable(&cases[i]) && may_be_minced(&cases[i])) {
            play_after(&cases[i], 0);
            play_after(&cases[i], 60);
        }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_whole, reset),
        cmocka_unit_test_setup(test_byte_by_byte, reset),
        cmocka_unit_test_setup(test_random_splits, reset),
        cmocka_unit_test_setup(test_after_any_other, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
