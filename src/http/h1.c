/* HTTP/1.1 as a client (RFC 9112). llhttp parses heads, and is paused at the end of each; where a body ends is found here. What must hold whatever version of
 * llhttp is used is checked here too:
 *   - the status has three digits, 100 to 599, and an unasked 101 is an error (RFC 9110 15.2.2)
 *   - responses to HEAD, and 1xx, 204 and 304, end with their head whatever their fields say (RFC 9112 6.3)
 *   - lines of a head end with CRLF; with `lenient` a bare LF is taken, and given to the parser as CRLF.
 *
 * A request that is sent again and again mostly gets the same head again and again. The request remembers the last one and what it meant, so that a head of the
 * same bytes need not be parsed. */
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "http/chunked.h"
#include "http/engine.h"
#include "http/h1_request.h"
#include "http/upload.h"

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
    uint8_t notes;   /* NOTE_* */
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
    bool over;          /* nothing can follow on this connection */
    struct meaning meaning; /* of the response being read */
    uint64_t left;          /* of its body, with FRAMING_LENGTH */
    struct chunked chunked; /* with FRAMING_CHUNKED */
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

static void h1_submit(struct codec *codec, struct exchange *exchange)
{
    struct h1 *h1 = h1_of(codec);
    bool last = h1_request_begin(exchange);
    list_append(&h1->flight, &exchange->link);
    codec->active++;
    if (last)
        codec->limit = 0;
}

static int h1_output(struct codec *codec, struct iovec vectors[CODEC_VECTORS])
{
    struct h1 *h1 = h1_of(codec);
    int count = 0;
    bool more = false;
    for (struct link *link = h1->flight.next; link != &h1->flight && count < CODEC_MORE && !more; link = link->next) {
        const struct exchange *exchange = container_of(link, struct exchange, link);
        if (exchange->written == exchange->length)
            continue;
        count += h1_request_vectors(exchange, vectors + count, CODEC_VECTORS - count, &more);
        if (exchange->upload && exchange->upload->why)
            codec->wrong = exchange->upload->why;
    }
    codec->due = more;
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

/* Heads */

static int on_headers_complete(llhttp_t *parser)
{
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = { .on_headers_complete = on_headers_complete };

/* What is wrong with the lines of a head, or NULL. */
static const char *check_lines(const char *head, size_t length, bool lenient)
{
    const char *end = head + length, *line = head;
    while (line < end) {
        const char *lf = memchr(line, '\n', (size_t)(end - line));
        if (!lf)
            return "the head does not end with a blank line";
        if (!lenient && (lf == head || lf[-1] != '\r'))
            return "a line of the head ends with LF instead of CRLF";
        if (*line == ':')
            return "a field of the head has no name";
        line = lf + 1;
    }
    return NULL;
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
    if (h1->parser.flags & F_CONTENT_LENGTH && h1->parser.flags & F_TRANSFER_ENCODING)
        return "both Content-Length and Transfer-Encoding";
    if (h1->parser.status_code == 101)
        return "101 Switching Protocols without having been asked";
    return check_lines(text, head->length, h1->codec.lenient);
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

/* The NOTE_* of a head. */
static uint8_t notes_of(const struct buf *head)
{
    const char *line = head->data, *end = head->data + head->length;
    uint8_t notes = 0;
    for (const char *newline; line < end; line = newline + 1) {
        newline = memchr(line, '\n', (size_t)(end - line));
        size_t left = (size_t)(end - line);
        if ((*line | 0x20) == 's' && left > 11 && !strncasecmp(line, "set-cookie:", 11))
            notes |= NOTE_COOKIE;
        else if ((*line | 0x20) == 'c' && left > 17 && !strncasecmp(line, "content-encoding:", 17))
            notes |= NOTE_ENCODED;
    }
    return notes;
}

/* The head of the response has been read: what follows it? */
static enum err begin_body(struct h1 *h1, struct exchange *exchange, const char **text)
{
    struct meaning *meaning = &h1->meaning;
    h1->phase = PHASE_BODY;
    exchange->notes = meaning->notes;
    if (exchange->request->head)
        meaning->framing = FRAMING_NONE;
    if (meaning->framing == FRAMING_EOF)
        meaning->keep = false;
    if (meaning->framing == FRAMING_CHUNKED)
        h1->chunked = (struct chunked){ .lenient = h1->codec.lenient };
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
    h1->meaning.notes = notes_of(&exchange->head);
    if (h1->meaning.status >= 200 && !h1->codec.lenient)
        remember(h1, exchange->request, &exchange->head);
    return begin_body(h1, exchange, text);
}

/* Feeds the parser; returns what it took. *complete: to the end of the head. Otherwise *wrong may say that it is none. */
static size_t parse(struct h1 *h1, const char *data, size_t length, bool *complete, const char **wrong)
{
    llhttp_errno_t code = llhttp_execute(&h1->parser, data, length);
    *complete = code == HPE_PAUSED;
    if (*complete)
        return (size_t)(llhttp_get_error_pos(&h1->parser) - data);
    if (code != HPE_OK)
        *wrong = llhttp_get_error_reason(&h1->parser);
    return length;
}

/* As parse(), up to the end of a line, which may be a bare LF: the parser is given CRLF then. */
static size_t parse_line(struct h1 *h1, const struct buf *head, const char *data, size_t length, bool *complete, const char **wrong)
{
    const char *lf = memchr(data, '\n', length);
    size_t before = lf ? (size_t)(lf - data) : 0;
    char previous = before ? lf[-1] : head->length ? head->data[head->length - 1] : '\0';
    if (!lf || previous == '\r')
        return parse(h1, data, lf ? before + 1 : length, complete, wrong);
    if (before)
        parse(h1, data, before, complete, wrong);
    if (!*wrong)
        parse(h1, "\r\n", 2, complete, wrong);
    return before + 1;
}

/* *length becomes what was taken. */
static enum err parse_head(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, const char **text)
{
    struct buf *head = &exchange->head;
    bool complete;
    size_t room = HEAD_MAX - head->length;
    if (!room) {
        *text = "the head is larger than 256 KiB";
        return ERR_TOO_LARGE;
    }
    if (*length > room)
        *length = room;
    *length = h1->codec.lenient ? parse_line(h1, head, data, *length, &complete, text) : parse(h1, data, *length, &complete, text);
    if (*text)
        return ERR_PROTOCOL;
    buf_append(head, data, *length);
    return complete ? head_complete(h1, exchange, text) : ERR_NONE;
}

static enum err start(struct h1 *h1, struct exchange *exchange, char first, int64_t now, const char **text)
{
    if (first == 0x15) { /* an alert: RFC 8446 5.1 */
        *text = "the server answered in TLS: https:// instead of http://?";
        return ERR_PROTOCOL;
    }
    if (first == 0) { /* the length of a SETTINGS frame: RFC 9113 3.4 */
        *text = "the server answered in HTTP/2: --http 2 (version = \"2\")?";
        return ERR_PROTOCOL;
    }
    if (exchange->written == 0 || first == '\r' || first == '\n') {
        h1->codec.unasked = exchange->written == 0;
        *text = exchange->written ? "a blank line where a response should begin" : "a response came before the request was sent";
        return ERR_PROTOCOL;
    }
    exchange->answered = true;
    exchange->first_byte = now;
    return ERR_NONE;
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

static enum err add_body(struct exchange *exchange, const char *data, size_t length, const char **text)
{
    exchange->body_size += length;
    if (exchange->body_size <= exchange->max_body && (exchange->discard || buf_append(&exchange->body, data, length)))
        return ERR_NONE;
    *text = "the body is larger than allowed";
    return ERR_TOO_LARGE;
}

static enum err read_chunked(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, const char **text)
{
    struct chunked *chunked = &h1->chunked;
    size_t taken = 0, size;
    const char *body;
    enum err error = ERR_NONE;
    while (!error && taken < *length && !chunked_done(chunked)) {
        taken += chunked_take(chunked, data + taken, *length - taken, &body, &size);
        *text = chunked->wrong;
        error = *text ? ERR_PROTOCOL : size ? add_body(exchange, body, size, text) : ERR_NONE;
    }
    *length = taken;
    return error;
}

static enum err read_counted(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, const char **text)
{
    if (*length > h1->left)
        *length = h1->left;
    h1->left -= *length;
    return add_body(exchange, data, *length, text);
}

/* Takes of the body what there is, and tells whether that completes it; *length becomes what was taken. */
static enum err read_body(struct h1 *h1, struct exchange *exchange, const char *data, size_t *length, bool *complete, const char **text)
{
    enum err error = ERR_NONE;
    switch (h1->meaning.framing) {
    case FRAMING_NONE:
        *length = 0;
        *complete = true;
        break;
    case FRAMING_LENGTH:
        error = read_counted(h1, exchange, data, length, text);
        *complete = !h1->left;
        break;
    case FRAMING_CHUNKED:
        error = read_chunked(h1, exchange, data, length, text);
        *complete = chunked_done(&h1->chunked);
        break;
    case FRAMING_EOF:
        error = add_body(exchange, data, *length, text);
        *complete = false;
        break;
    }
    return error;
}

/* One step, to the end of what was read or of a response; *length becomes what was taken. */
static enum err read_response(struct h1 *h1, const char *data, size_t *length, int64_t now, const char **text)
{
    struct exchange *exchange = first_of(h1);
    size_t head = 0, body = *length;
    enum err error = ERR_NONE;
    bool complete = false;
    if (h1->phase != PHASE_BODY) {
        head = *length;
        error = read_head(h1, exchange, data, &head, now, text);
        body -= head;
    }
    if (error || h1->phase != PHASE_BODY)
        body = 0;
    else
        error = read_body(h1, exchange, data + head, &body, &complete, text);
    *length = head + body;
    exchange->bytes_received += *length;
    if (complete && !error)
        message_complete(h1, exchange, now);
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
    if (length && !codec->active) { /* more than the response: not to be taken for the next one */
        codec->limit = 0;
        codec->unasked = true;
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
    if (codec->active && h1->phase == PHASE_BODY && h1->meaning.framing == FRAMING_EOF) {
        struct exchange *exchange = first_of(h1);
        if (!error)
            message_complete(h1, exchange, now);
        else if (error == ERR_CLOSED)
            snprintf(exchange->text, sizeof exchange->text, "without TLS's close_notify, so that the body may have been cut");
    }
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
    link_init(&h1->codec.returned);
    link_init(&h1->flight);
    llhttp_init(&h1->parser, HTTP_RESPONSE, &settings);
    return &h1->codec;
}
