/* HTTP/1.1 as a client (RFC 9112), on llhttp. The parser runs over the bytes and is paused twice in a response, after the head and after the body; what must
 * hold whatever version of llhttp is used is checked here:
 *   - the status has three digits, 100 to 599, and an unasked 101 is an error (RFC 9110 15.2.2)
 *   - responses to HEAD, and 1xx, 204 and 304, end with their head whatever their fields say (RFC 9112 6.3)
 *   - lines of a head end with CRLF; with `lenient` a bare LF is taken, and given to the parser as CRLF. */
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/engine.h"

enum { HEAD_MAX = 256 * 1024 };

enum phase {
    PHASE_START, /* no byte of the response has come */
    PHASE_HEAD,
    PHASE_BODY,
};

struct h1 {
    struct codec codec;
    struct link flight; /* exchanges, the oldest first: that one is being answered */
    llhttp_t parser;
    enum phase phase;
    enum err error;     /* set by on_body */
    bool interim;       /* the response being read is a 1xx */
    bool keep;          /* the response being read leaves the connection usable */
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

static int on_body(llhttp_t *parser, const char *data, size_t length)
{
    struct h1 *h1 = container_of(parser, struct h1, parser);
    struct exchange *exchange = first_of(h1);
    exchange->body_size += length;
    if (exchange->body_size > exchange->max_body) {
        h1->error = ERR_TOO_LARGE;
        return -1;
    }
    buf_append(&exchange->body, data, length);
    return 0;
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

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

/* What is wrong with a whole head that the parser has taken, or NULL. */
static const char *check_head(const struct h1 *h1, const struct buf *head)
{
    const char *text = head->data;
    if (head->length < 16 || memcmp(text, "HTTP/1.", 7) || text[8] != ' ')
        return "not an HTTP/1.x status line";
    if (text[9] < '1' || text[9] > '5' || text[10] < '0' || text[10] > '9' || text[11] < '0' || text[11] > '9' || !strchr(" \r\n", text[12]))
        return "the status is not a number from 100 to 599";
    if (text[head->length - 1] != '\n')
        return "the head does not end with CRLF";
    if (!h1->codec.lenient && has_bare_lf(text, head->length))
        return "a line of the head ends with LF instead of CRLF";
    if (h1->parser.status_code == 101)
        return "101 Switching Protocols without having been asked";
    return NULL;
}

/* RFC 9112 6.3: these have no body whatever the fields say. */
static bool has_no_body(const struct h1 *h1, const struct exchange *exchange)
{
    int status = h1->parser.status_code;
    return exchange->request->head || status < 200 || status == 204 || status == 304;
}

static enum err head_complete(struct h1 *h1, struct exchange *exchange, const char **text)
{
    llhttp_t *parser = &h1->parser;
    *text = check_head(h1, &exchange->head);
    if (*text)
        return ERR_PROTOCOL;
    if (has_no_body(h1, exchange))
        parser->flags |= F_SKIPBODY;
    else if (parser->flags & F_CONTENT_LENGTH && parser->content_length > exchange->max_body)
        return ERR_TOO_LARGE;
    h1->interim = parser->status_code < 200;
    /* a Transfer-Encoding in HTTP/1.0 may have been added by someone who does not know it: RFC 9112 6.1 */
    h1->keep = llhttp_should_keep_alive(parser) && (parser->http_minor > 0 || !(parser->flags & F_TRANSFER_ENCODING));
    h1->phase = PHASE_BODY;
    return ERR_NONE;
}

static void message_complete(struct h1 *h1, struct exchange *exchange, int64_t now)
{
    h1->phase = PHASE_START;
    if (h1->interim) {
        exchange->head.length = 0;
        exchange->first_byte = 0;
        return;
    }
    exchange->status = h1->parser.status_code;
    exchange->minor_version = h1->parser.http_minor;
    list_remove(&exchange->link);
    exchange_finish(exchange, h1->codec.finished, now);
    h1->codec.active--;
    if (!h1->keep)
        h1->codec.peer_ends = h1->codec.limit > 0;
    if (exchange->written < exchange->length) /* answered early; the rest of the request is not sent */
        h1->keep = false;
    if (!h1->keep)
        h1->codec.limit = 0;
}

/* Feeds the parser; returns what it took, and sets *error. HPE_PAUSED in *code: the head or the message is complete. */
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
    *error = h1->error ? h1->error : ERR_PROTOCOL;
    *text = h1->error ? "the body is larger than allowed" : llhttp_get_error_reason(&h1->parser);
    return 0;
}

static enum err start(struct h1 *h1, struct exchange *exchange, char first, int64_t now, const char **text)
{
    if (exchange->written == 0 || first == '\r' || first == '\n') {
        *text = exchange->written ? "a blank line where a response should begin" : "a response came before the request was sent";
        return ERR_PROTOCOL;
    }
    llhttp_reset(&h1->parser);
    exchange->answered = true;
    exchange->first_byte = now;
    h1->phase = PHASE_HEAD;
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

static enum err read_head(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, const char **text)
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
    exchange->bytes_received += *length;
    if (error)
        return error;
    buf_append(head, data, *length);
    return complete ? head_complete(h1, exchange, text) : ERR_NONE;
}

static enum err read_body(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, int64_t now, const char **text)
{
    enum err error = ERR_NONE;
    bool complete;
    *length = parse(h1, data, *length, &complete, &error, text);
    exchange->bytes_received += *length;
    if (!error && complete)
        message_complete(h1, exchange, now);
    return error;
}

/* One step: up to the end of what was read or of a response. *length becomes what was taken. */
static enum err read_response(struct h1 *h1, const char *data, size_t *length, int64_t now, const char **text)
{
    struct exchange *exchange = first_of(h1);
    size_t head = 0, body;
    enum err error = ERR_NONE;
    if (h1->phase == PHASE_START)
        error = start(h1, exchange, *data, now, text);
    if (!error && h1->phase == PHASE_HEAD) {
        head = *length;
        error = read_head(h1, exchange, data, &head, text);
    }
    body = *length - head;
    *length = head;
    if (error || h1->phase != PHASE_BODY)
        return error;
    error = read_body(h1, exchange, data + head, &body, now, text);
    *length += body;
    return error;
}

static enum err h1_input(struct codec *codec, const char *data, size_t length, int64_t now, const char **text)
{
    struct h1 *h1 = h1_of(codec);
    while (length && codec->active && h1->keep) {
        size_t taken = length;
        enum err error = read_response(h1, data, &taken, now, text);
        if (error)
            return error;
        data += taken;
        length -= taken;
    }
    if (length && h1->keep) { /* more than the response: not to be taken for the next one */
        codec->limit = 0;
        codec->peer_ends = true;
    }
    return codec->active && !h1->keep ? ERR_CLOSED : ERR_NONE;
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
    if (!error && codec->active && h1->phase == PHASE_BODY && llhttp_finish(&h1->parser) == HPE_PAUSED)
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
    h1->keep = true;
    link_init(&h1->flight);
    llhttp_init(&h1->parser, HTTP_RESPONSE, &settings);
    return &h1->codec;
}
