#include "http/h1_server.h"

#include <llhttp.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "http/h1_answer.h"

enum {
    MAX_METHOD = 32,
    KEPT = 4096, /* bytes of each buffer that a connection keeps from one request to the next */
};

enum state {
    BETWEEN,  /* no byte of a request yet */
    METHOD,   /* in the method */
    HEAD,     /* behind it */
    ACCEPT,   /* a head is complete: h1_server_accept is due */
    BODY,
    ANSWER,   /* h1_server_answer is due */
    CONTENT,  /* the answer's content is being written */
    ENDED,
};

struct h1_server {
    struct incoming incoming;
    struct h1_answer writer;
    enum state state;
    struct buf head; /* a head that did not come in one piece, or that has a body behind it */
    llhttp_t parser;
    bool whole;     /* the parser has seen the end of the request */
    bool too_large; /* the parser was stopped by a body beyond max_body */
};

static int on_headers_complete(llhttp_t *parser)
{
    struct h1_server *h1 = parser->data;
    parser->upgrade = 0; /* RFC 9110 7.8: an upgrade that is not wanted is ignored */
    h1->incoming.minor_version = parser->http_minor;
    h1->incoming.keep_alive = llhttp_should_keep_alive(parser);
    return parser->flags & F_CHUNKED || parser->content_length ? HPE_PAUSED : 0;
}

static int on_body(llhttp_t *parser, const char *data, size_t length)
{
    struct h1_server *h1 = parser->data;
    struct incoming *incoming = &h1->incoming;
    if (length > incoming->max_body - incoming->received) {
        h1->too_large = true;
        return HPE_USER;
    }
    incoming->received += length;
    if (incoming->keep_body)
        buf_append(&incoming->body, data, length);
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    struct h1_server *h1 = parser->data;
    h1->whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

struct h1_server *h1_server_new(void)
{
    struct h1_server *h1 = mem_zero(sizeof *h1);
    llhttp_init(&h1->parser, HTTP_REQUEST, &callbacks);
    h1->parser.data = h1;
    h1->parser.lenient_flags |= LENIENT_VERSION; /* so that a wrong version is 505, not just wrong */
    return h1;
}

void h1_server_free(struct h1_server *h1)
{
    h1_answer_free(&h1->writer);
    buf_free(&h1->incoming.body);
    buf_free(&h1->incoming.text);
    buf_free(&h1->head);
    free(h1);
}

struct incoming *h1_server_incoming(struct h1_server *h1)
{
    return &h1->incoming;
}

static enum h1_server_event refuse(struct h1_server *h1, int status, const char *why)
{
    h1->incoming.answer = (struct answer){ .status = status };
    h1->incoming.why = why;
    h1->incoming.keep_alive = false;
    h1->state = ANSWER;
    return H1_SERVER_REFUSED;
}

static enum h1_server_event refuse_syntax(struct h1_server *h1)
{
    const char *why = llhttp_get_error_reason(&h1->parser);
    return refuse(h1, 400, why ? why : "not a request of HTTP/1.1");
}

/* RFC 9110 5.6.2 */
static bool is_token_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_word(struct slice slice, const char *word)
{
    return slice.length == strlen(word) && !strncasecmp(slice.data, word, slice.length);
}

static void begin(struct h1_server *h1)
{
    struct incoming *incoming = &h1->incoming;
    incoming->answer = (struct answer){ 0 };
    incoming->head = incoming->method = incoming->target = incoming->path = incoming->type = (struct slice){ 0 };
    incoming->minor_version = 1;
    incoming->is_head = incoming->keep_alive = incoming->awaits_continue = incoming->keep_body = false;
    incoming->max_body = H1_SERVER_MAX_BODY;
    incoming->received = 0;
    incoming->page = incoming->why = NULL;
    h1->whole = h1->too_large = false;
    h1->state = METHOD;
}

/* The path of a target in origin form or absolute form (RFC 9112 3.2). */
static struct slice path_of(struct slice target)
{
    const char *end = target.data + target.length, *from = target.data;
    if (target.length && *from != '/' && *from != '*') {
        const char *colon = memchr(from, ':', target.length);
        if (!colon || end - colon < 3 || memcmp(colon, "://", 3))
            return target;
        from = memchr(colon + 3, '/', (size_t)(end - colon - 3));
        if (!from)
            return (struct slice){ "/", 1 };
    }
    size_t length = 0;
    while (from + length < end && from[length] != '?' && from[length] != '#')
        length++;
    return (struct slice){ from, length };
}

/* Whatever there is of a request line: the method up to the first blank, the target up to the next one. */
static void read_request_line(struct incoming *incoming, size_t length)
{
    const char *line = incoming->head.data, *end = line + length;
    const char *blank = memchr(line, ' ', length);
    incoming->method = (struct slice){ line, (size_t)(blank - line) };
    incoming->is_head = slice_is(incoming->method, "HEAD");
    const char *from = blank;
    while (from < end && *from == ' ')
        from++;
    const char *to = from;
    while (to < end && (unsigned char)*to > ' ')
        to++;
    incoming->target = (struct slice){ from, (size_t)(to - from) };
    incoming->path = path_of(incoming->target);
}

static struct slice trimmed(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (struct slice){ from, (size_t)(end - from) };
}

/* Takes what is needed of one header line; NULL, or what is wrong with it. */
static const char *read_field(struct incoming *incoming, const char *line, const char *end, unsigned *hosts, bool *expectation)
{
    const char *colon = line;
    while (colon < end && is_token_char((unsigned char)*colon))
        colon++;
    if (colon == end || *colon != ':' || colon == line) /* folded lines (RFC 9112 5.2) and blanks before the colon (5.1) too */
        return "a header line does not begin with a name and a colon";
    struct slice name = { line, (size_t)(colon - line) };
    if (is_word(name, "host")) {
        ++*hosts;
    } else if (is_word(name, "content-type")) {
        incoming->type = trimmed(colon + 1, end);
    } else if (is_word(name, "expect")) {
        bool known = is_word(trimmed(colon + 1, end), "100-continue");
        *expectation = *expectation && known;
        incoming->awaits_continue = known && incoming->minor_version;
    }
    return NULL;
}

/* The line feed that ends the line at `line`; NULL when there is none, or a carriage return elsewhere than before it (RFC 9112 2.2). */
static const char *line_end(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    const char *cr = newline ? memchr(line, '\r', (size_t)(newline - line)) : NULL;
    return cr && cr != newline - 1 ? NULL : newline;
}

/* Reads the header lines up to the blank one; NULL, or what is wrong with them. The parser lets some things pass, depending on how it was built. */
static const char *read_fields(struct incoming *incoming, const char *line, bool *expectation)
{
    const char *end = incoming->head.data + incoming->head.length, *newline;
    unsigned hosts = 0;
    for (;; line = newline + 1) {
        newline = line_end(line, end);
        if (!newline)
            return "a line of the head does not end with CR LF";
        if (newline == line || newline == line + (*line == '\r'))
            break;
        const char *why = read_field(incoming, line, newline, &hosts, expectation);
        if (why)
            return why;
    }
    if (hosts > 1 || (!hosts && incoming->minor_version)) /* RFC 9112 3.2 */
        return hosts ? "more than one Host" : "no Host";
    return NULL;
}

/* Reads the head that the parser has found well-formed. H1_SERVER_REFUSED, or H1_SERVER_REQUEST when it is all right. */
static enum h1_server_event read_head(struct h1_server *h1)
{
    struct incoming *incoming = &h1->incoming;
    const char *line = incoming->head.data, *newline = line_end(line, line + incoming->head.length);
    bool expectation = true;
    if (!newline)
        return refuse(h1, 400, "the request line does not end with CR LF");
    read_request_line(incoming, (size_t)(newline - line));
    if (h1->parser.http_major != 1)
        return refuse(h1, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    const char *why = read_fields(incoming, newline + 1, &expectation);
    if (why)
        return refuse(h1, 400, why);
    return expectation ? H1_SERVER_REQUEST : refuse(h1, 417, "the only expectation that is known is 100-continue");
}

/* A head of `length` bytes lies at `data`. */
static enum h1_server_event complete_head(struct h1_server *h1, const char *data, size_t length)
{
    if (!h1->head.length && !h1->whole) { /* the body may come later, when `data` is gone */
        buf_append(&h1->head, data, length);
        data = h1->head.data;
    }
    h1->incoming.head = (struct slice){ data, length };
    if (read_head(h1) == H1_SERVER_REFUSED)
        return H1_SERVER_REFUSED;
    h1->state = h1->whole ? ANSWER : ACCEPT;
    return h1->whole ? H1_SERVER_REQUEST : H1_SERVER_HEAD;
}

/* The first byte from `from` on that does not belong to the method. */
static size_t method_end(const char *data, size_t from, size_t length)
{
    while (from < length && is_token_char((unsigned char)data[from]))
        from++;
    return from;
}

/* Finds the end of the method in data[0..length), of which the first `from` bytes are known to belong to it. False when it is none.
 * The parser knows only some methods and is given GET in place of all of them. */
static bool take_method(struct h1_server *h1, const char *data, size_t *from, size_t length)
{
    *from = method_end(data, *from, length);
    if (*from > MAX_METHOD || (*from < length && (!*from || data[*from] != ' ')))
        return false;
    if (*from < length) {
        llhttp_reset(&h1->parser);
        llhttp_execute(&h1->parser, "GET", 3);
        h1->state = HEAD;
    }
    return true;
}

static enum h1_server_event take_head(struct h1_server *h1, const char *data, size_t length, size_t *taken)
{
    size_t before = h1->head.length, room = H1_SERVER_MAX_HEAD - before;
    bool full = length >= room;
    if (full)
        length = room;
    if (before)
        buf_append(&h1->head, data, length);
    const char *view = before ? h1->head.data : data;
    size_t have = before + length, from = before;
    *taken = length;
    if (h1->state == METHOD && !take_method(h1, view, &from, have))
        return refuse(h1, 400, "not a request of HTTP/1.1: it does not begin with a method");
    if (h1->state == HEAD) {
        llhttp_errno_t error = llhttp_execute(&h1->parser, view + from, have - from);
        if (error == HPE_PAUSED) {
            size_t end = (size_t)(llhttp_get_error_pos(&h1->parser) - view);
            *taken = end - before;
            return complete_head(h1, view, end);
        }
        if (error)
            return refuse_syntax(h1);
    }
    if (full)
        return memchr(view, '\n', have) ? refuse(h1, 431, "the header lines are longer than 64 KiB") : refuse(h1, 414, "the request line is longer than 64 KiB");
    if (!before)
        buf_append(&h1->head, data, length);
    return H1_SERVER_MORE;
}

static enum h1_server_event refuse_large(struct h1_server *h1)
{
    return refuse(h1, 413, "the body is too large");
}

enum h1_server_event h1_server_accept(struct h1_server *h1)
{
    struct incoming *incoming = &h1->incoming;
    bool chunked = h1->parser.flags & F_CHUNKED;
    if (!chunked && h1->parser.content_length > incoming->max_body)
        return refuse_large(h1);
    if (incoming->awaits_continue)
        h1_answer_interim(&h1->writer, "HTTP/1.1 100 Continue\r\n\r\n");
    llhttp_resume(&h1->parser);
    h1->state = BODY;
    return H1_SERVER_MORE;
}

static enum h1_server_event take_body(struct h1_server *h1, const char *data, size_t length, size_t *taken)
{
    llhttp_errno_t error = llhttp_execute(&h1->parser, data, length);
    *taken = length;
    if (!error)
        return H1_SERVER_MORE;
    if (error != HPE_PAUSED)
        return h1->too_large ? refuse_large(h1) : refuse_syntax(h1);
    *taken = (size_t)(llhttp_get_error_pos(&h1->parser) - data);
    h1->state = ANSWER;
    return H1_SERVER_REQUEST;
}

enum h1_server_event h1_server_input(struct h1_server *h1, const char *data, size_t length, size_t *taken)
{
    size_t skipped = 0;
    if (h1->state == BODY)
        return take_body(h1, data, length, taken);
    if (h1->state == BETWEEN) { /* RFC 9112 2.2: empty lines before a request are ignored */
        while (skipped < length && (data[skipped] == '\r' || data[skipped] == '\n'))
            skipped++;
        *taken = skipped;
        if (skipped == length)
            return H1_SERVER_MORE;
        begin(h1);
    }
    enum h1_server_event event = take_head(h1, data + skipped, length - skipped, taken);
    *taken += skipped;
    return event;
}

/* The answer is complete but for what lies in the writer's buffer. */
static void finish(struct h1_server *h1)
{
    struct incoming *incoming = &h1->incoming;
    buf_clear(&incoming->body, KEPT);
    buf_clear(&incoming->text, KEPT);
    buf_clear(&h1->head, KEPT);
    h1->state = incoming->keep_alive ? BETWEEN : ENDED;
}

void h1_server_answer(struct h1_server *h1)
{
    struct incoming *incoming = &h1->incoming;
    if ((incoming->answer.piece && !incoming->minor_version) || incoming->answer.end != ANSWER_WHOLE)
        incoming->keep_alive = false; /* the end of the connection ends the content */
    h1_answer_begin(&h1->writer, incoming);
    h1->state = CONTENT;
    if (h1_answer_done(&h1->writer))
        finish(h1);
}

int h1_server_output(struct h1_server *h1, struct iovec vectors[H1_SERVER_VECTORS])
{
    return h1_answer_vectors(&h1->writer, vectors, H1_SERVER_VECTORS);
}

void h1_server_wrote(struct h1_server *h1, size_t length)
{
    h1_answer_wrote(&h1->writer, length);
    if (h1->state == CONTENT && h1_answer_done(&h1->writer))
        finish(h1);
}

bool h1_server_reading(const struct h1_server *h1)
{
    return h1->state <= HEAD || h1->state == BODY;
}

size_t h1_server_backlog(const struct h1_server *h1)
{
    return h1->writer.out.length - h1->writer.written;
}

bool h1_server_ended(const struct h1_server *h1)
{
    return h1->state == ENDED;
}
