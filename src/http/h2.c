/* HTTP/2 as a client (RFC 9113), on nghttp2's memory interface: requests and the connection. What comes back is h2_response.c's affair.
 *
 * Heads that come again and again are neither encoded nor decoded again and again: h2_asks.h, h2_heads.h.
 *
 * A request is held back until output(), so that one that is given up before costs nothing. Until the peer's SETTINGS have come one stream is used: a peer that
 * allows fewer than are opened refuses them. Frames are asked of nghttp2 only while little waits to be written; it limits itself what a peer can make it queue.
 *
 * Windows: what is received is stored at once and bounded by max_body, so they are as large as to be no limit: a stream's 16 MiB (1.3 Gbit/s at a round trip of
 * 100 ms), the connection's 1 GiB. nghttp2 refills them at half, for streams that are closed already, too. */
#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/engine.h"
#include "http/h2_client.h"
#include "http/h2_request.h"
#include "http/upload.h"

enum {
    STREAM_WINDOW = 16 << 20,
    CONNECTION_WINDOW = 1 << 30,
    SILENCE_MS = 1000,       /* for a PING */
    LONGEST_HEAD = 16 << 20, /* of a request, in nghttp2's estimate: what a server does not like is its affair */
};

/* Exchanges */

struct exchange *h2_find(struct h2 *h2, int32_t id)
{
    if (id == h2->found_id && id)
        return h2->found;
    struct exchange *exchange = nghttp2_session_get_stream_user_data(h2->session, id);
    h2->found_id = exchange ? id : 0;
    h2->found = exchange;
    return exchange;
}

void h2_leave(struct h2 *h2, struct exchange *exchange)
{
    list_remove(&exchange->link);
    h2->codec.active--;
    if (!exchange->stream.id)
        return;
    h2->streams--;
    if (exchange->stream.begins == UINT64_MAX && !exchange->stream.recalled)
        h2->encoding--;
    if (h2->out.count)
        h2_out_forget(&h2->out, exchange);
    if (h2->found == exchange)
        h2->found_id = 0;
    if (h2->reading == exchange)
        h2->reading = NULL;
    if (h2->writing == exchange)
        h2->writing = NULL;
    nghttp2_session_set_stream_user_data(h2->session, exchange->stream.id, NULL);
}

void h2_give_up(struct h2 *h2, struct exchange *exchange)
{
    if (exchange->stream.id)
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, exchange->stream.id, NGHTTP2_CANCEL);
    h2_leave(h2, exchange);
    h2->codec.due = true;
}

void h2_limit(struct h2 *h2)
{
    struct codec *codec = &h2->codec;
    if (!codec->limit && !codec->paused)
        return;
    uint32_t allowed = nghttp2_session_get_remote_settings(h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    codec->limit = allowed < h2->most ? allowed : h2->most;
    codec->paused = !codec->limit;
}

/* The connection takes no further exchange. */
static void retire(struct codec *codec)
{
    codec->limit = 0;
    codec->paused = false;
}

static void h2_submit(struct codec *codec, struct exchange *exchange)
{
    struct h2 *h2 = h2_of(codec);
    exchange->stream = (struct stream){ .begins = UINT64_MAX, .announced = UINT64_MAX };
    exchange->written = 0;
    exchange->length = exchange->request->length + exchange->lines_length + exchange->content_length;
    list_append(&h2->waiting, &exchange->link);
    codec->active++;
    if (exchange->close || exchange->request->fields & REQUEST_CLOSE)
        retire(codec);
}

/* Contents: asked for by nghttp2 when the peer's windows have room. */

static ssize_t content_length(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t room, uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
    (void)buffer, (void)source, (void)user_data;
    const struct exchange *exchange = nghttp2_session_get_stream_user_data(session, id);
    if (!exchange)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t left = exchange->content_length - exchange->stream.given;
    *flags = NGHTTP2_DATA_FLAG_NO_COPY | (left <= room ? (unsigned)NGHTTP2_DATA_FLAG_EOF : 0);
    return (ssize_t)(left < room ? left : room);
}

/* The bytes are written together with frames. */
static void count_plain(struct exchange *exchange, size_t length)
{
    if (!exchange->sent) {
        exchange->stream.plain += length;
        return;
    }
    exchange->written += length;
    exchange->bytes_sent += length;
}

/* What is sent of files is read here, and so copied. */
static int send_upload(struct h2 *h2, struct exchange *exchange, const uint8_t *head, size_t length)
{
    char *data = mem_resize(NULL, length);
    if (!upload_read(exchange->upload, exchange->stream.given, data, length)) {
        free(data);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    h2_out_bytes(&h2->out, head, H2_FRAME_HEAD);
    h2_out_owned(&h2->out, exchange, data, length);
    exchange->stream.given += length;
    return h2_out_full(&h2->out) ? NGHTTP2_ERR_PAUSE : 0;
}

static int send_content(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t length, nghttp2_data_source *source, void *user_data)
{
    (void)source;
    struct h2 *h2 = user_data;
    struct exchange *exchange = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!exchange)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (exchange->upload)
        return send_upload(h2, exchange, head, length);
    const char *data = exchange->content + exchange->stream.given;
    h2_out_bytes(&h2->out, head, H2_FRAME_HEAD);
    if (exchange->content_length <= H2_COPIED) {
        h2_out_bytes(&h2->out, data, length);
        count_plain(exchange, length);
    } else {
        h2_out_content(&h2->out, exchange, data, length);
    }
    exchange->stream.given += length;
    return h2_out_full(&h2->out) ? NGHTTP2_ERR_PAUSE : 0;
}

/* Output */

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Our GOAWAY: nghttp2 has found something that it cannot go on after. Behind the error code stands why. */
static void note_break(struct h2 *h2, const uint8_t *frame, size_t length)
{
    uint32_t code = number(frame + 13);
    h2->broken = true;
    if (length > 17)
        snprintf(h2->wrong, sizeof h2->wrong, "%s: %.*s", nghttp2_http2_strerror(code), (int)(length - 17), (const char *)frame + 17);
    else if (!*h2->wrong)
        snprintf(h2->wrong, sizeof h2->wrong, "%s", nghttp2_http2_strerror(code));
}

/* Of the first frame of a head. */
static void note_headers(struct h2 *h2, struct exchange *exchange, size_t length)
{
    exchange->stream.begins = h2->out.queued;
    exchange->stream.plain = length;
    exchange->length = length + exchange->content_length;
}

/* What stands in place of a HEADERS frame with the method alone. */
static void queue_recalled(struct h2 *h2, struct exchange *exchange, const uint8_t *frame)
{
    const struct buf *block = exchange->stream.recalled;
    uint8_t head[H2_FRAME_HEAD];
    memcpy(head, frame, sizeof head);
    head[0] = 0; /* blocks that are remembered are short */
    head[1] = (uint8_t)(block->length >> 8);
    head[2] = (uint8_t)block->length;
    note_headers(h2, exchange, sizeof head + block->length);
    h2_out_bytes(&h2->out, head, sizeof head);
    h2_out_bytes(&h2->out, block->data, block->length);
}

static void queue_headers(struct h2 *h2, const uint8_t *frame, size_t length)
{
    struct exchange *exchange = nghttp2_session_get_stream_user_data(h2->session, (int32_t)number(frame + 5));
    bool whole = frame[4] & NGHTTP2_FLAG_END_HEADERS;
    h2->writing = exchange;
    if (exchange && exchange->stream.recalled) {
        queue_recalled(h2, exchange, frame);
        return;
    }
    if (exchange) {
        h2->encoding--;
        note_headers(h2, exchange, length);
    }
    h2_asks_sent(&h2->asks, frame + H2_FRAME_HEAD, length - H2_FRAME_HEAD, whole && exchange && exchange->stream.again ? exchange : NULL);
    h2_out_bytes(&h2->out, frame, length);
}

/* Of a frame that nghttp2 has made, or of the preface, which looks like none of these. */
static void queue_frame(struct h2 *h2, const uint8_t *frame, size_t length)
{
    switch (frame[3]) {
    case NGHTTP2_HEADERS:
        queue_headers(h2, frame, length);
        return;
    case NGHTTP2_CONTINUATION:
        if (h2->writing) {
            h2->writing->length += length;
            count_plain(h2->writing, length);
        }
        break;
    case NGHTTP2_GOAWAY:
        note_break(h2, frame, length);
        break;
    }
    h2_out_bytes(&h2->out, frame, length);
}

/* Queues what nghttp2 has to say. */
static void pump(struct h2 *h2)
{
    while (!h2_out_full(&h2->out)) {
        const uint8_t *frame;
        ssize_t length = nghttp2_session_mem_send(h2->session, &frame);
        if (length < 0) {
            h2->broken = true;
            snprintf(h2->wrong, sizeof h2->wrong, "%s", nghttp2_strerror((int)length));
        }
        if (length <= 0)
            return;
        queue_frame(h2, frame, (size_t)length);
    }
}

/* All that nghttp2 needs of a head that is not encoded. What is encoded of it must not change the dynamic table. */
static const nghttp2_nv *method_alone(const struct request *request, nghttp2_nv *field)
{
    bool listed = !strcmp(request->method, "GET") || !strcmp(request->method, "POST"); /* in the static table */
    *field = (nghttp2_nv){ (uint8_t *)":method", (uint8_t *)request->method, 7, strlen(request->method),
                           (uint8_t)(NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE | (listed ? 0 : NGHTTP2_NV_FLAG_NO_INDEX)) };
    return field;
}

/* Gives the exchange a stream. False when there is none left on this connection. */
static bool begin(struct h2 *h2, struct exchange *exchange)
{
    static const nghttp2_data_provider provider = { .read_callback = content_length };
    struct stream *stream = &exchange->stream;
    size_t count = 1;
    nghttp2_nv method;
    stream->again = exchange->request->fields_h2;
    stream->recalled = h2->encoding ? NULL : h2_asks_recall(&h2->asks, exchange); /* what is encoded before it may change the table */
    const nghttp2_nv *fields = stream->recalled ? method_alone(exchange->request, &method) : h2_request_fields(exchange, &h2->scratch, &count);
    int32_t id = nghttp2_submit_request(h2->session, NULL, fields, count, exchange->content_length ? &provider : NULL, exchange);
    if (id < 0)
        return false;
    stream->id = id;
    h2->encoding += !stream->recalled;
    h2->streams++;
    list_append(&h2->unsent, &exchange->link);
    if (nghttp2_session_get_next_stream_id(h2->session) > INT32_MAX)
        retire(&h2->codec);
    return true;
}

static void begin_waiting(struct h2 *h2)
{
    uint32_t allowed = nghttp2_session_get_remote_settings(h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    while (!list_empty(&h2->waiting) && h2->streams < allowed && !h2_out_full(&h2->out)) {
        struct exchange *exchange = container_of(list_shift(&h2->waiting), struct exchange, link);
        if (begin(h2, exchange))
            continue;
        h2->codec.active--;
        list_append(&h2->codec.returned, &exchange->link);
        retire(&h2->codec);
    }
}

static int h2_output(struct codec *codec, struct iovec vectors[CODEC_VECTORS])
{
    struct h2 *h2 = h2_of(codec);
    begin_waiting(h2);
    pump(h2);
    codec->due = h2_out_full(&h2->out);
    return h2_out_vectors(&h2->out, vectors);
}

static void h2_wrote(struct codec *codec, size_t length, int64_t now)
{
    struct h2 *h2 = h2_of(codec);
    h2_out_wrote(&h2->out, length);
    while (!list_empty(&h2->unsent)) {
        struct exchange *exchange = container_of(h2->unsent.next, struct exchange, link);
        if (exchange->stream.begins >= h2->out.written)
            break;
        exchange->sent = now;
        count_plain(exchange, exchange->stream.plain);
        list_remove(&exchange->link);
        list_append(&h2->flight, &exchange->link);
    }
}

/* Input */

/* A server that does not know HTTP/2 answers the preface in its own way. */
static bool speaks_http1(const char *data, size_t length)
{
    return length >= 5 && !memcmp(data, "HTTP/", 5);
}

/* So does one of TLS: with an alert, which as the beginning of a frame would announce more than a megabyte. */
static bool speaks_tls(const char *data, size_t length)
{
    return length >= 2 && data[0] == 0x15 && data[1] == 3;
}

/* What is wrong with the first bytes of the peer, or NULL. */
static const char *other_protocol(const char *data, size_t length)
{
    if (speaks_http1(data, length))
        return "the server answered in HTTP/1.x";
    return speaks_tls(data, length) ? "the server answered in TLS: https:// instead of http://?" : NULL;
}

/* Gives bytes to nghttp2. */
static void receive(struct h2 *h2, const uint8_t *data, size_t length)
{
    ssize_t taken = h2->broken ? 0 : nghttp2_session_mem_recv(h2->session, data, length);
    if (taken >= 0)
        return;
    h2->broken = true;
    snprintf(h2->wrong, sizeof h2->wrong, "%s", nghttp2_strerror((int)taken));
}

/* What nghttp2's table has missed, on a stream that is closed. */
static void catch_up(struct h2 *h2)
{
    const struct buf *block;
    while ((block = h2_heads_owed(&h2->heads))) {
        uint32_t id = (uint32_t)h2->closed;
        const uint8_t head[H2_FRAME_HEAD] = { (uint8_t)(block->length >> 16), (uint8_t)(block->length >> 8), (uint8_t)block->length, NGHTTP2_HEADERS,
                                              NGHTTP2_FLAG_END_HEADERS, (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };
        receive(h2, head, sizeof head);
        receive(h2, (const uint8_t *)block->data, block->length);
    }
}

/* A whole HEADERS frame. One that has been seen before, and is the head of a response, is not decoded again. */
static void receive_head(struct h2 *h2, const uint8_t *frame, size_t length)
{
    uint8_t bytes[H2_HEAD_SHORT];
    const struct exchange *exchange = h2_find(h2, (int32_t)(number(frame + 5) & INT32_MAX));
    bool is_head = exchange && exchange->stream.status < 200; /* otherwise it is a trailer */
    h2->recalled = is_head ? h2_heads_recall(&h2->heads, frame, length, h2->closed) : NULL;
    if (h2->recalled) {
        receive(h2, bytes, h2_heads_brief(h2->recalled, frame, bytes));
        h2->recalled = NULL;
        return;
    }
    catch_up(h2);
    h2->headed = NULL;
    receive(h2, frame, length);
    h2_heads_learn(&h2->heads, frame, length, h2->headed);
}

static void receive_all(struct h2 *h2, const uint8_t *data, size_t length)
{
    struct h2_run run;
    while (length) {
        size_t taken = h2_heads_take(&h2->heads, data, length, &run);
        data += taken;
        length -= taken;
        if (run.kind == H2_RUN_HEAD) {
            receive_head(h2, run.bytes, run.length);
            continue;
        }
        if (run.kind == H2_RUN_OTHER) {
            catch_up(h2);
            h2_heads_changed(&h2->heads);
        }
        if (run.length)
            receive(h2, run.bytes, run.length);
    }
}

static enum err h2_input(struct codec *codec, const char *data, size_t length, int64_t now, const char **text)
{
    struct h2 *h2 = h2_of(codec);
    bool first = !h2->now;
    h2->now = now;
    h2->asked = 0;
    if (!h2->broken)
        *h2->wrong = '\0';
    if (first && (*text = other_protocol(data, length)))
        return ERR_PROTOCOL;
    receive_all(h2, (const uint8_t *)data, length);
    pump(h2);
    codec->due = h2->out.queued > h2->out.written;
    *text = h2->wrong;
    return h2->broken ? ERR_PROTOCOL : ERR_NONE;
}

/* The end */

/* The request was given up, mostly because its time was over. When nothing has been heard since it was sent the peer is asked whether it is there (PING: RFC 9113
 * 6.7); a connection on which that brings nothing, either, gets no further requests, which would all end like this one. */
static void doubt(struct h2 *h2, const struct exchange *exchange)
{
    int64_t now = clock_ns();
    if (h2->asked && now - h2->asked > SILENCE_MS * NS_PER_MS)
        retire(&h2->codec);
    if (h2->asked || !exchange->sent || h2->now > exchange->sent)
        return;
    nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, (const uint8_t *)"luabench");
    h2->asked = now;
}

static bool h2_cancel(struct codec *codec, struct exchange *exchange)
{
    struct h2 *h2 = h2_of(codec);
    doubt(h2, exchange);
    h2_give_up(h2, exchange);
    return true;
}

static void h2_end(struct codec *codec, enum err error, int64_t now, struct link *unfinished)
{
    (void)error, (void)now;
    struct h2 *h2 = h2_of(codec);
    list_splice(unfinished, &h2->flight);
    list_splice(unfinished, &h2->unsent);
    list_splice(unfinished, &h2->waiting);
    codec->active = h2->streams = 0;
    h2->found_id = 0;
    retire(codec);
}

static void h2_free(struct codec *codec)
{
    struct h2 *h2 = h2_of(codec);
    nghttp2_session_del(h2->session);
    h2_memory_free(&h2->memory);
    h2_out_free(&h2->out);
    h2_asks_free(&h2->asks);
    h2_heads_free(&h2->heads);
    buf_free(&h2->scratch);
    free(h2);
}

static const struct codec_ops h2_ops = {
    .submit = h2_submit,
    .input = h2_input,
    .output = h2_output,
    .wrote = h2_wrote,
    .cancel = h2_cancel,
    .end = h2_end,
    .free = h2_free,
};

/* The making */

static void open_session(struct h2 *h2)
{
    static const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW },
    };
    nghttp2_session_callbacks *callbacks = h2_response_callbacks();
    nghttp2_option *option;
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_content);
    nghttp2_option_new(&option);
    nghttp2_option_set_max_send_header_block_length(option, LONGEST_HEAD);
#if NGHTTP2_VERSION_NUM >= 0x014300
    nghttp2_option_set_glitch_rate_limit(option, UINT64_MAX, UINT64_MAX); /* what catch_up() does looks suspicious from outside */
#endif
    nghttp2_mem memory = { &h2->memory, h2_memory_take, h2_memory_give, h2_memory_take_zeroed, h2_memory_resize };
    nghttp2_session_client_new3(&h2->session, callbacks, h2, option, &memory);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof *settings);
    nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
}

struct codec *h2_new(struct link *finished, unsigned streams)
{
    struct h2 *h2 = mem_zero(sizeof *h2);
    struct codec *codec = &h2->codec;
    *codec = (struct codec){ .ops = &h2_ops, .finished = finished, .limit = 1, .streams = true, .due = true };
    h2->most = streams ? streams : UINT32_MAX;
    link_init(&codec->returned);
    link_init(&h2->waiting);
    link_init(&h2->unsent);
    link_init(&h2->flight);
    open_session(h2);
    return codec;
}
