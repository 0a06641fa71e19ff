/* HTTP/1.1 as a client (RFC 9112). llhttp parses heads and chunked bodies, and is paused at the end of each; the other bodies are counted here. What must hold
 * whatever version of llhttp is used is checked here too:
 *   - the status has three digits, 100 to 599, and an unasked 101 is an error (RFC 9110 15.2.2)
 *   - responses to HEAD, and 1xx, 204 and 304, end with their head whatever their fields say (RFC 9112 6.3)
 *   - lines of a head end with CRLF; with `lenient` a bare LF is taken, and given to the parser as CRLF.
 *
 * A request that is sent again and again mostly gets the same head again and again. The request remembers the last one and what it meant, so that a head of the
 * same bytes need not be parsed. */
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/engine.h"

enum {
    HEAD_MAX = 256 * 1024,
    SEEN_MAX = 4096, /* longer heads are not remembered */
};

enum phase {
    PHASE_START, /* no byte of the response has come */
    PHASE_HEAD,
    PHASE_BODY,
};

enum framing {
    FRAMING_NONE,
    FRAMING_LENGTH,
    FRAMING_CHUNKED,
    FRAMING_EOF,
};

/* What a head says. */
struct meaning {
    uint64_t length; /* of the body, with FRAMING_LENGTH */
    uint16_t status;
    uint8_t minor;
    uint8_t framing; /* enum framing, were the request not HEAD */
    bool keep;       /* the connection is usable after it */
};

struct seen {
    struct meaning meaning;
    size_t length;
    char head[];
};

struct h1 {
    struct codec codec;
    struct link flight; /* exchanges, the oldest first: that one is being answered */
    enum phase phase;
    enum err error;     /* set by on_body */
    struct meaning meaning; /* of the response being read */
    uint64_t left;          /* of its body, with FRAMING_LENGTH */
    bool over;              /* nothing can follow on this connection */
    llhttp_t parser;
};

static struct h1 *h1_of(const struct codec *codec)
{
    return container_of(codec, struct h1, codec);
}

static struct exchange *first_of(const struct h1 *h1)
{
    return container_of(h1->flight.next, struct exchange, link);
}

/* Requests */

static unsigned fields_of(const struct exchange *exchange)
{
    unsigned fields = exchange->request->fields;
    return exchange->lines_length ? fields | request_fields(exchange->lines, exchange->lines_length) : fields;
}

/* The blank line, and before it what the connection and the body need. */
static size_t write_tail(struct exchange *exchange, unsigned fields)
{
    size_t length = 0;
    char *tail = exchange->tail;
    if (exchange->content && !(fields & REQUEST_FRAMED))
        length += (size_t)snprintf(tail, sizeof exchange->tail, "Content-Length: %zu\r\n", exchange->content_length);
    if (exchange->close && !(fields & REQUEST_CLOSE))
        length += (size_t)snprintf(tail + length, sizeof exchange->tail - length, "Connection: close\r\n");
    memcpy(tail + length, "\r\n", 3);
    return length + 2;
}

static void h1_submit(struct codec *codec, struct exchange *exchange)
{
    struct h1 *h1 = h1_of(codec);
    unsigned fields = fields_of(exchange);
    size_t tail = write_tail(exchange, fields);
    exchange->written = 0;
    exchange->length = exchange->request->length + exchange->lines_length + tail + exchange->content_length;
    list_append(&h1->flight, &exchange->link);
    codec->active++;
    if (exchange->close || fields & REQUEST_CLOSE)
        codec->limit = 0;
}

/* Appends what of `data` lies beyond the first *skip bytes. */
static int add_vector(struct iovec *vectors, int count, const char *data, size_t length, size_t *skip)
{
    size_t skipped = *skip < length ? *skip : length;
    *skip -= skipped;
    if (skipped == length)
        return count;
    vectors[count] = (struct iovec){ .iov_base = (char *)data + skipped, .iov_len = length - skipped };
    return count + 1;
}

static int request_vectors(const struct exchange *exchange, struct iovec *vectors)
{
    const struct request *request = exchange->request;
    size_t skip = exchange->written, tail = exchange->length - exchange->content_length - exchange->lines_length - request->length;
    if (exchange->length == request->length + 2) /* the blank line follows the request's bytes */
        return add_vector(vectors, 0, request->bytes, exchange->length, &skip);
    int count = add_vector(vectors, 0, request->bytes, request->length, &skip);
    count = add_vector(vectors, count, exchange->lines, exchange->lines_length, &skip);
    count = add_vector(vectors, count, exchange->tail, tail, &skip);
    return add_vector(vectors, count, exchange->content, exchange->content_length, &skip);
}

static int h1_output(struct codec *codec, struct iovec vectors[CODEC_VECTORS])
{
    struct h1 *h1 = h1_of(codec);
    int count = 0;
    for (struct link *link = h1->flight.next; link != &h1->flight && count + 4 <= CODEC_VECTORS; link = link->next) {
        const struct exchange *exchange = container_of(link, struct exchange, link);
        if (exchange->written < exchange->length)
            count += request_vectors(exchange, vectors + count);
    }
    return count;
}

static void h1_wrote(struct codec *codec, size_t length, int64_t now)
{
    struct h1 *h1 = h1_of(codec);
    for (struct link *link = h1->flight.next; length; link = link->next) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        size_t left = exchange->length - exchange->written, taken = length < left ? length : left;
        if (!exchange->written && taken)
            exchange->sent = now;
        exchange->written += taken;
        exchange->bytes_sent += taken;
        length -= taken;
    }
}

/* Responses */

static int on_headers_complete(llhttp_t *parser)
{
    return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *parser)
{
    return HPE_PAUSED;
}

/* False: it is too large. */
static bool add_body(struct exchange *exchange, const char *data, size_t length)
{
    exchange->body_size += length;
    return exchange->body_size <= exchange->max_body && buf_append(&exchange->body, data, length);
}

static int on_body(llhttp_t *parser, const char *data, size_t length)
{
    struct h1 *h1 = container_of(parser, struct h1, parser);
    if (add_body(first_of(h1), data, length))
        return 0;
    h1->error = ERR_TOO_LARGE;
    return -1;
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* Heads */

/* Every LF of a head follows a CR. */
static bool has_bare_lf(const char *head, size_t length)
{
    const char *end = head + length, *lf = head;
    while ((lf = memchr(lf, '\n', (size_t)(end - lf)))) {
        if (lf == head || lf[-1] != '\r')
            return true;
        lf++;
    }
    return false;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What is wrong with a whole head that the parser has taken, or NULL. */
static const char *check_head(const struct h1 *h1, const struct buf *head)
{
    const char *text = head->data;
    if (head->length < 14 || memcmp(text, "HTTP/1.", 7) || text[8] != ' ')
        return "not an HTTP/1.x status line";
    if (text[9] < '1' || text[9] > '5' || !digit(text[10]) || !digit(text[11]) || !strchr(" \r\n", text[12]))
        return "the status is not a number from 100 to 599";
    if (text[head->length - 1] != '\n')
        return "the head does not end with a blank line";
    if (!h1->codec.lenient && has_bare_lf(text, head->length))
        return "a line of the head ends with LF instead of CRLF";
    if (h1->parser.flags & F_CONTENT_LENGTH && h1->parser.flags & F_TRANSFER_ENCODING)
        return "both Content-Length and Transfer-Encoding";
    if (h1->parser.status_code == 101)
        return "101 Switching Protocols without having been asked";
    return NULL;
}

/* RFC 9112 6.3 */
static enum framing framing_of(const llhttp_t *parser)
{
    if (parser->status_code < 200 || parser->status_code == 204 || parser->status_code == 304)
        return FRAMING_NONE;
    if (parser->flags & F_CHUNKED)
        return FRAMING_CHUNKED;
    if (parser->flags & F_TRANSFER_ENCODING)
        return FRAMING_EOF;
    return parser->flags & F_CONTENT_LENGTH ? FRAMING_LENGTH : FRAMING_EOF;
}

static struct meaning meaning_of(const llhttp_t *parser)
{
    /* a Transfer-Encoding in HTTP/1.0 may have been passed on by someone who does not know it: RFC 9112 6.1 */
    uint16_t close = parser->http_minor ? F_CONNECTION_CLOSE : F_TRANSFER_ENCODING;
    return (struct meaning){
        .length = parser->content_length,
        .status = parser->status_code,
        .minor = parser->http_minor,
        .framing = framing_of(parser),
        .keep = !(parser->flags & close) && (parser->http_minor || parser->flags & F_CONNECTION_KEEP_ALIVE),
    };
}

/* The head of the response has been read: what follows it? */
static enum err begin_body(struct h1 *h1, struct exchange *exchange, const char **text)
{
    struct meaning *meaning = &h1->meaning;
    h1->phase = PHASE_BODY;
    if (exchange->request->head)
        meaning->framing = FRAMING_NONE;
    if (meaning->framing == FRAMING_EOF)
        meaning->keep = false;
    if (meaning->framing != FRAMING_LENGTH)
        return ERR_NONE;
    h1->left = meaning->length;
    if (meaning->length <= exchange->max_body)
        return ERR_NONE;
    *text = "the announced body is larger than allowed";
    return ERR_TOO_LARGE;
}

/* Remembers the head just parsed, from the second response on: most requests that are made for one use are never answered twice. */
static void remember(const struct h1 *h1, struct request *request, const struct buf *head)
{
    struct seen *seen = request->seen;
    if (!request->answered || head->length > SEEN_MAX) {
        request->answered = true;
        return;
    }
    if (!seen || seen->length < head->length)
        seen = request->seen = mem_resize(seen, sizeof *seen + head->length);
    seen->meaning = h1->meaning;
    seen->length = head->length;
    memcpy(seen->head, head->data, head->length);
}

/* True when the bytes begin with the head that the request remembers. */
static bool recall(struct h1 *h1, struct exchange *exchange, const char *data, size_t length)
{
    const struct seen *seen = exchange->request->seen;
    if (!seen || length < seen->length || memcmp(data, seen->head, seen->length))
        return false;
    h1->meaning = seen->meaning;
    buf_append(&exchange->head, data, seen->length);
    return true;
}

static enum err head_complete(struct h1 *h1, struct exchange *exchange, const char **text)
{
    *text = check_head(h1, &exchange->head);
    if (*text)
        return ERR_PROTOCOL;
    h1->meaning = meaning_of(&h1->parser);
    if (h1->meaning.status >= 200)
        remember(h1, exchange->request, &exchange->head);
    return begin_body(h1, exchange, text);
}

/* Feeds the parser; returns what it took. *paused: the head or the chunked body is complete. Otherwise *error may be set. */
static size_t parse(struct h1 *h1, const char *data, size_t length, bool *paused, enum err *error, const char **text)
{
    llhttp_errno_t code = llhttp_execute(&h1->parser, data, length);
    *paused = code == HPE_PAUSED;
    if (code == HPE_OK)
        return length;
    if (*paused) {
        length = (size_t)(llhttp_get_error_pos(&h1->parser) - data);
        llhttp_resume(&h1->parser);
        return length;
    }
    *error = ERR_PROTOCOL;
    *text = llhttp_get_error_reason(&h1->parser);
    return 0;
}

static enum err start(struct h1 *h1, struct exchange *exchange, char first, int64_t now, const char **text)
{
    if (exchange->written == 0 || first == '\r' || first == '\n') {
        *text = exchange->written ? "a blank line where a response should begin" : "a response came before the request was sent";
        return ERR_PROTOCOL;
    }
    exchange->answered = true;
    exchange->first_byte = now;
    return ERR_NONE;
}

/* As parse(), up to the end of a line, which may be a bare LF: the parser is given CRLF then. */
static size_t parse_line(struct h1 *h1, const struct buf *head, const char *data, size_t length, bool *paused, enum err *error, const char **text)
{
    const char *lf = memchr(data, '\n', length);
    size_t before = lf ? (size_t)(lf - data) : 0;
    char previous = before ? lf[-1] : head->length ? head->data[head->length - 1] : '\0';
    if (!lf || previous == '\r')
        return parse(h1, data, lf ? before + 1 : length, paused, error, text);
    if (before)
        parse(h1, data, before, paused, error, text);
    if (!*error)
        parse(h1, "\r\n", 2, paused, error, text);
    return before + 1;
}

/* *length becomes what was taken. */
static enum err parse_head(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, const char **text)
{
    enum err error = ERR_NONE;
    struct buf *head = &exchange->head;
    bool complete;
    size_t room = HEAD_MAX - head->length;
    if (!room) {
        *text = "the head is larger than 256 KiB";
        return ERR_TOO_LARGE;
    }
    if (*length > room)
        *length = room;
    *length = h1->codec.lenient ? parse_line(h1, head, data, *length, &complete, &error, text) : parse(h1, data, *length, &complete, &error, text);
    if (error)
        return error;
    buf_append(head, data, *length);
    return complete ? head_complete(h1, exchange, text) : ERR_NONE;
}

static enum err read_head(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, int64_t now, const char **text)
{
    if (h1->phase == PHASE_START) {
        enum err error = start(h1, exchange, *data, now, text);
        if (error)
            return error;
        if (recall(h1, exchange, data, *length)) {
            *length = exchange->head.length;
            return begin_body(h1, exchange, text);
        }
        llhttp_reset(&h1->parser);
        h1->phase = PHASE_HEAD;
    }
    return parse_head(h1, exchange, data, length, text);
}

/* Bodies */

static void message_complete(struct h1 *h1, struct exchange *exchange, int64_t now)
{
    h1->phase = PHASE_START;
    if (h1->meaning.status < 200) {
        exchange->head.length = 0;
        exchange->first_byte = 0;
        return;
    }
    exchange->status = h1->meaning.status;
    exchange->minor_version = h1->meaning.minor;
    list_remove(&exchange->link);
    exchange_finish(exchange, h1->codec.finished, now);
    h1->codec.active--;
    if (!h1->meaning.keep)
        h1->codec.peer_ends = h1->codec.limit > 0;
    h1->over = !h1->meaning.keep || exchange->written < exchange->length; /* the rest of a request that was answered early is not sent */
    if (h1->over)
        h1->codec.limit = 0;
}

/* A body whose end is known here; *length becomes what was taken. */
static bool read_plain(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length)
{
    if (h1->meaning.framing == FRAMING_NONE) {
        *length = 0;
        return true;
    }
    if (h1->meaning.framing == FRAMING_LENGTH && *length > h1->left)
        *length = h1->left;
    if (!add_body(exchange, data, *length))
        h1->error = ERR_TOO_LARGE;
    h1->left -= *length;
    return h1->meaning.framing == FRAMING_LENGTH && !h1->left;
}

static enum err read_body(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, int64_t now, const char **text)
{
    bool complete;
    enum err error = ERR_NONE;
    if (h1->meaning.framing == FRAMING_CHUNKED)
        *length = parse(h1, data, *length, &complete, &error, text);
    else
        complete = read_plain(h1, exchange, data, length);
    if (h1->error) {
        *text = "the body is larger than allowed";
        return h1->error;
    }
    if (!error && complete)
        message_complete(h1, exchange, now);
    return error;
}

/* One step, to the end of what was read or of a response; *length becomes what was taken. */
static enum err read_response(struct h1 *h1, const char *data, size_t *length, int64_t now, const char **text)
{
    struct exchange *exchange = first_of(h1);
    size_t head = 0, body = *length;
    enum err error = ERR_NONE;
    if (h1->phase != PHASE_BODY) {
        head = *length;
        error = read_head(h1, exchange, data, &head, now, text);
        body -= head;
    }
    if (error || h1->phase != PHASE_BODY)
        body = 0;
    else
        error = read_body(h1, exchange, data + head, &body, now, text);
    *length = head + body;
    exchange->bytes_received += *length;
    return error;
}

static enum err h1_input(struct codec *codec, const char *data, size_t length, int64_t now, const char **text)
{
    struct h1 *h1 = h1_of(codec);
    while (length && codec->active && !h1->over) {
        size_t taken = length;
        enum err error = read_response(h1, data, &taken, now, text);
        if (error)
            return error;
        data += taken;
        length -= taken;
    }
    if (length && !h1->over) { /* more than the response: not to be taken for the next one */
        codec->limit = 0;
        codec->peer_ends = true;
    }
    return codec->active && h1->over ? ERR_CLOSED : ERR_NONE;
}

/* The end */

static bool h1_cancel(struct codec *codec, struct exchange *exchange)
{
    list_remove(&exchange->link);
    codec->active--;
    return exchange->written == 0;
}

static void h1_end(struct codec *codec, enum err error, int64_t now, struct link *unfinished)
{
    struct h1 *h1 = h1_of(codec);
    if (!error && codec->active && h1->phase == PHASE_BODY && h1->meaning.framing == FRAMING_EOF)
        message_complete(h1, first_of(h1), now);
    list_splice(unfinished, &h1->flight);
    codec->active = codec->limit = 0;
}

static void h1_free(struct codec *codec)
{
    free(h1_of(codec));
}

static const struct codec_ops h1_ops = {
    .submit = h1_submit,
    .input = h1_input,
    .output = h1_output,
    .wrote = h1_wrote,
    .cancel = h1_cancel,
    .end = h1_end,
    .free = h1_free,
};

struct codec *h1_new(struct link *finished, bool lenient)
{
    struct h1 *h1 = mem_zero(sizeof *h1);
    h1->codec = (struct codec){ .ops = &h1_ops, .finished = finished, .limit = 1, .lenient = lenient };
    link_init(&h1->flight);
    llhttp_init(&h1->parser, HTTP_RESPONSE, &settings);
    return &h1->codec;
}
