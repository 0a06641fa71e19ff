/* What an HTTP/2 peer sends to a client: heads, bodies, resets, and what concerns the whole connection. A head is kept as the text that HTTP/1 would have sent, so
 * that what is above reads both in the same way. Framing, the order of frames and the form of fields are nghttp2's to check; what it does not say is checked here. */
#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <stdarg.h>
#include <stdio.h>

#include "http/h2_client.h"
#include "http/upload.h"

enum {
    HEAD_MAX = 256 * 1024,
    RESERVED = 1 << 20, /* most bytes that are reserved for a body because it was announced */
};

/* Endings */

/* The exchange ends with an error; its stream, if it lives, is nobody's from now on. */
__attribute__((format(printf, 4, 5))) static void fail(struct h2 *h2, struct exchange *exchange, enum err error, const char *format, ...)
{
    va_list args;
    h2_leave(h2, exchange);
    exchange->error = error;
    va_start(args, format);
    vsnprintf(exchange->text, sizeof exchange->text, format, args);
    va_end(args);
    exchange_finish(exchange, h2->codec.finished, h2->now);
}

/* The same, and its stream is reset. */
static void refuse(struct h2 *h2, struct exchange *exchange, enum err error, const char *what)
{
    nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, exchange->stream.id, error == ERR_TOO_LARGE ? NGHTTP2_CANCEL : NGHTTP2_PROTOCOL_ERROR);
    fail(h2, exchange, error, "%s", what);
}

static bool has_body(const struct exchange *exchange)
{
    return !exchange->request->head && exchange->stream.status != 204 && exchange->stream.status != 304;
}

/* The body has another length than was announced. nghttp2 finds that, unless it has not seen the head. */
static bool is_of_wrong_length(const struct exchange *exchange)
{
    uint64_t announced = exchange->stream.announced;
    return exchange->stream.status >= 200 && announced != UINT64_MAX && announced != exchange->body_size && has_body(exchange);
}

static void fail_length(struct h2 *h2, struct exchange *exchange)
{
    fail(h2, exchange, ERR_PROTOCOL, "Content-Length says %" PRIu64 " bytes, and %" PRIu64 " came", exchange->stream.announced, exchange->body_size);
}

static void complete(struct h2 *h2, struct exchange *exchange)
{
    if (is_of_wrong_length(exchange)) {
        fail_length(h2, exchange);
        return;
    }
    exchange->status = exchange->stream.status;
    exchange->minor_version = 20;
    h2_leave(h2, exchange);
    exchange_finish(exchange, h2->codec.finished, h2->now);
}

/* Those that have no stream yet come last. */
static int32_t id_at(const struct link *link)
{
    int32_t id = container_of(link, struct exchange, link)->stream.id;
    return id ? id : INT32_MAX;
}

/* The peer has not processed it. They are kept in the order in which they were sent, which is not that in which nghttp2 closes streams. */
static void give_back(struct h2 *h2, struct exchange *exchange)
{
    struct link *list = &h2->codec.returned, *last = list->previous;
    h2_leave(h2, exchange);
    while (last != list && id_at(last) > exchange->stream.id)
        last = last->previous;
    list_prepend(last, &exchange->link);
}

/* Heads */

/* The head as it was before. */
static void recall(struct exchange *exchange, const struct h2_head *head)
{
    buf_append(&exchange->head, head->text.data, head->text.length);
    exchange->stream.status = head->status;
    exchange->stream.announced = head->announced;
    exchange->notes = head->notes;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2 *h2 = user_data;
    struct exchange *exchange = h2_find(h2, frame->hd.stream_id);
    h2->reading = NULL;
    if (!exchange || exchange->stream.status >= 200) /* a trailer */
        return 0;
    if (!exchange->sent) {
        refuse(h2, exchange, ERR_PROTOCOL, "a response came before the request was sent");
        return 0;
    }
    exchange->answered = true;
    exchange->first_byte = h2->now;
    exchange->head.length = 0;
    exchange->notes = 0;
    h2->reading = exchange;
    if (h2->recalled)
        recall(exchange, h2->recalled);
    return 0;
}

static bool digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* UINT64_MAX: not a number; nghttp2 refuses that. */
static uint64_t decimal(const uint8_t *text, size_t length)
{
    uint64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (!digit(text[i]) || number > UINT64_MAX / 10 - 1)
            return UINT64_MAX;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    return length ? number : UINT64_MAX;
}

/* :status, the first field and the only one of its kind. False: it is none. */
static bool add_status(struct exchange *exchange, const uint8_t *value, size_t length)
{
    if (length != 3 || value[0] < '1' || value[0] > '5' || !digit(value[1]) || !digit(value[2]))
        return false;
    exchange->stream.status = (uint16_t)decimal(value, length);
    buf_append(&exchange->head, "HTTP/2 ", 7);
    buf_append(&exchange->head, value, 3);
    return buf_append(&exchange->head, "\r\n", 2);
}

static void add_field(struct exchange *exchange, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length)
{
    struct buf *head = &exchange->head;
    buf_reserve(head, name_length + value_length + 4);
    char *end = head->data + head->length;
    memcpy(end, name, name_length);
    end += name_length;
    *end++ = ':';
    *end++ = ' ';
    memcpy(end, value, value_length);
    end += value_length;
    *end++ = '\r';
    *end++ = '\n';
    head->length = (size_t)(end - head->data);
    if (name_length == 14 && !memcmp(name, "content-length", 14))
        exchange->stream.announced = decimal(value, value_length);
    else if (name_length == 10 && !memcmp(name, "set-cookie", 10))
        exchange->notes |= NOTE_COOKIE;
    else if (name_length == 16 && !memcmp(name, "content-encoding", 16))
        exchange->notes |= NOTE_ENCODED;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length,
                     uint8_t flags, void *user_data)
{
    (void)session, (void)frame, (void)flags;
    struct h2 *h2 = user_data;
    struct exchange *exchange = h2->reading;
    if (!exchange || h2->recalled)
        return 0;
    if (exchange->head.length + name_length + value_length + 6 > HEAD_MAX) {
        refuse(h2, exchange, ERR_TOO_LARGE, "the head is larger than 256 KiB");
    } else if (*name != ':') {
        add_field(exchange, name, name_length, value, value_length);
    } else if (!add_status(exchange, value, value_length)) {
        refuse(h2, exchange, ERR_PROTOCOL, "the status is not a number from 100 to 599");
    }
    return 0;
}

/* A head is complete, or a trailer. */
static void end_head(struct h2 *h2, const nghttp2_frame *frame)
{
    struct exchange *exchange = h2->reading;
    h2->reading = NULL;
    if (!exchange)
        return;
    exchange->bytes_received += (h2->recalled ? h2->recalled->block.length : frame->hd.length) + H2_FRAME_HEAD;
    if (!h2->recalled)
        buf_append(&exchange->head, "\r\n", 2);
    if (exchange->stream.status < 200) {
        exchange->head.length = 0;
        exchange->first_byte = 0;
        exchange->stream.announced = UINT64_MAX;
        return;
    }
    h2->headed = exchange;
    uint64_t announced = exchange->stream.announced;
    if (announced == UINT64_MAX || !has_body(exchange))
        return;
    if (announced > exchange->max_body)
        refuse(h2, exchange, ERR_TOO_LARGE, "the announced body is larger than allowed");
    else if (!exchange->discard)
        buf_reserve(&exchange->body, announced < RESERVED ? (size_t)announced : RESERVED);
}

/* Bodies */

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t length, void *user_data)
{
    (void)flags;
    struct h2 *h2 = user_data;
    struct exchange *exchange = h2_find(h2, id);
    if (!exchange)
        return 0;
    exchange->body_size += length;
    exchange->bytes_received += length;
    if (exchange->body_size > exchange->max_body)
        refuse(h2, exchange, ERR_TOO_LARGE, "the body is larger than allowed");
    else if (exchange->body_size > exchange->stream.announced)
        refuse(h2, exchange, ERR_PROTOCOL, "the body is longer than Content-Length says");
    else if (!exchange->discard)
        buf_append(&exchange->body, data, length);
    return 0;
}

/* The response is whole. Usually the stream is closed by that, which completes the exchange; a request that was answered early is not sent to its end. */
static void end_stream(struct h2 *h2, int32_t id)
{
    struct exchange *exchange = h2_find(h2, id);
    if (!exchange || exchange->stream.given == exchange->content_length)
        return;
    nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    complete(h2, exchange);
}

/* The connection */

/* The streams above the last one are closed behind this by nghttp2, as refused. */
static void on_goaway(struct h2 *h2, const nghttp2_goaway *goaway)
{
    struct codec *codec = &h2->codec;
    snprintf(h2->goodbye, sizeof h2->goodbye, "GOAWAY %" PRIu32 " %s", goaway->error_code, nghttp2_http2_strerror(goaway->error_code));
    codec->farewell = h2->goodbye;
    codec->peer_ends = codec->peer_ends || codec->limit || codec->paused;
    codec->limit = 0;
    codec->paused = false;
    codec->active = h2->streams;
    list_splice(&codec->returned, &h2->waiting);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2 *h2 = user_data;
    struct exchange *exchange;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        end_head(h2, frame);
        break;
    case NGHTTP2_SETTINGS:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK)) {
            h2->greeted = true;
            h2_limit(h2);
        }
        return 0;
    case NGHTTP2_RST_STREAM:
        exchange = h2_find(h2, frame->hd.stream_id);
        if (exchange)
            exchange->stream.reset = true;
        return 0;
    case NGHTTP2_GOAWAY:
        on_goaway(h2, &frame->goaway);
        return 0;
    }
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        end_stream(h2, frame->hd.stream_id);
    return 0;
}

/* Streams */

/* Why nghttp2 has reset the stream of its own will. */
static void fail_protocol(struct h2 *h2, struct exchange *exchange, uint32_t code)
{
    if (exchange->upload && exchange->upload->why)
        fail(h2, exchange, ERR_CLOSED, "%s", exchange->upload->why);
    else if (!*h2->wrong && is_of_wrong_length(exchange))
        fail_length(h2, exchange);
    else
        fail(h2, exchange, ERR_PROTOCOL, "%s%s%s", nghttp2_http2_strerror(code), *h2->wrong ? ": " : "", h2->wrong);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *user_data)
{
    struct h2 *h2 = user_data;
    struct exchange *exchange = h2_find(h2, id);
    if (!exchange)
        return 0;
    if (code == NGHTTP2_NO_ERROR && !exchange->stream.reset) {
        h2->closed = id;
        complete(h2, exchange);
    } else if (code == NGHTTP2_REFUSED_STREAM) {
        give_back(h2, exchange);
    } else if (exchange->stream.reset) {
        fail(h2, exchange, ERR_RESET, "stream reset by the server: %" PRIu32 " %s", code, nghttp2_http2_strerror(code));
    } else {
        fail_protocol(h2, exchange, code);
    }
    return 0;
}

/* What nghttp2 thinks of the peer, in words. */
static int on_error(nghttp2_session *session, int code, const char *text, size_t length, void *user_data)
{
    (void)session, (void)code;
    static const char where[] = " frame type: "; /* and the stream's number: what is wrong is the same on the next one */
    struct h2 *h2 = user_data;
    snprintf(h2->wrong, sizeof h2->wrong, "%.*s", (int)length, text);
    char *from = strstr(h2->wrong, where), *name = from ? strstr(from, " name: ") : NULL;
    if (name)
        memmove(from, name, strlen(name) + 1);
    return 0;
}

nghttp2_session_callbacks *h2_response_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_error);
    return callbacks;
}
