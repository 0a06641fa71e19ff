#include "http/h2_serving.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
    KEPT = 4096,       /* bytes of each buffer that a request keeps for the next one */
    KEPT_STREAMS = 64, /* structs that a connection keeps */
    LONGEST_HEAD = 1 << 20,
};

/* Streams */

static void stream_free(struct h2_stream *stream)
{
    struct buf *bufs[] = { &stream->head, &stream->lines, &stream->pseudo, &stream->incoming.body, &stream->incoming.text };
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        buf_free(bufs[i]);
    free(stream);
}

/* The struct is done with. */
static void release(struct h2_server *h2, struct h2_stream *stream)
{
    list_remove(&stream->link);
    if (h2->unused_count == KEPT_STREAMS) {
        stream_free(stream);
        return;
    }
    h2->unused_count++;
    list_prepend(&h2->unused, &stream->link);
}

static struct h2_stream *take_unused(struct h2_server *h2)
{
    struct link *link = list_shift(&h2->unused);
    if (!link)
        return mem_zero(sizeof(struct h2_stream));
    h2->unused_count--;
    struct h2_stream *stream = container_of(link, struct h2_stream, link);
    struct h2_stream kept = *stream;
    struct buf *bufs[] = { &kept.head, &kept.lines, &kept.pseudo, &kept.incoming.body, &kept.incoming.text };
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        buf_clear(bufs[i], KEPT);
    *stream = (struct h2_stream){
        .head = kept.head,
        .lines = kept.lines,
        .pseudo = kept.pseudo,
        .incoming = { .body = kept.incoming.body, .text = kept.incoming.text, .timer = kept.incoming.timer },
    };
    return stream;
}

struct h2_stream *h2_stream_new(struct h2_server *h2, int32_t id)
{
    struct h2_stream *stream = take_unused(h2);
    stream->id = id;
    stream->incoming.minor_version = 20;
    stream->incoming.keep_alive = true;
    stream->incoming.max_body = H2_SERVER_MAX_BODY;
    link_init(&stream->link);
    list_append(&h2->idle, &stream->link);
    nghttp2_session_set_stream_user_data(h2->session, id, stream);
    return stream;
}

static void move(struct link *to, struct h2_stream *stream)
{
    list_remove(&stream->link);
    list_append(to, &stream->link);
}

void h2_stream_tell(struct h2_server *h2, struct h2_stream *stream, enum h2_server_event event)
{
    stream->event = event;
    move(&h2->events, stream);
}

void h2_stream_refuse(struct h2_server *h2, struct h2_stream *stream, int status, const char *why)
{
    stream->incoming.answer = (struct answer){ .status = status };
    stream->incoming.why = why;
    h2_stream_tell(h2, stream, H2_SERVER_REFUSED);
}

/* The stream is closed. What the router has must be taken away from it first. */
static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *user_data)
{
    (void)code;
    struct h2_server *h2 = user_data;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (!stream)
        return 0;
    stream->id = 0;
    if (stream->handed_out)
        h2_stream_tell(h2, stream, H2_SERVER_GONE);
    else
        release(h2, stream);
    return 0;
}

/* Requests */

struct incoming *h2_server_next(struct h2_server *h2, enum h2_server_event *event)
{
    struct link *link = list_shift(&h2->events);
    if (h2->gone)
        release(h2, h2->gone);
    h2->gone = NULL;
    if (!link)
        return NULL;
    struct h2_stream *stream = container_of(link, struct h2_stream, link);
    *event = stream->event;
    stream->handed_out = true;
    list_append(&h2->held, link);
    if (*event == H2_SERVER_GONE)
        h2->gone = stream;
    return &stream->incoming;
}

static void submit_continue(struct h2_server *h2, const struct h2_stream *stream)
{
    static const nghttp2_nv head = { (uint8_t *)":status", (uint8_t *)"100", 7, 3, NGHTTP2_NV_FLAG_NONE };
    nghttp2_submit_headers(h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, &head, 1, NULL);
}

enum h2_server_event h2_server_accept(struct h2_server *h2, struct incoming *incoming)
{
    struct h2_stream *stream = h2_stream_of(incoming);
    stream->accepted = true;
    if (incoming->received > incoming->max_body) {
        h2_stream_refuse(h2, stream, 413, "the body is too large");
        move(&h2->held, stream);
        return H2_SERVER_REFUSED;
    }
    if (!incoming->keep_body)
        buf_clear(&incoming->body, KEPT);
    if (stream->whole)
        return H2_SERVER_REQUEST;
    if (incoming->awaits_continue)
        submit_continue(h2, stream);
    stream->handed_out = false;
    move(&h2->idle, stream);
    return H2_SERVER_MORE;
}

void h2_server_answer(struct h2_server *h2, struct incoming *incoming)
{
    struct h2_stream *stream = h2_stream_of(incoming);
    if (!stream->id) {
        release(h2, stream);
        return;
    }
    stream->handed_out = false;
    stream->answered = true;
    move(&h2->idle, stream);
    h2_answer_begin(h2, stream);
}

void h2_server_reset(struct h2_server *h2, struct incoming *incoming, uint32_t code)
{
    struct h2_stream *stream = h2_stream_of(incoming);
    if (stream->id) {
        nghttp2_session_set_stream_user_data(h2->session, stream->id, NULL);
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id, code);
    }
    release(h2, stream);
}

void h2_server_abandon(struct h2_server *h2)
{
    struct link events, *link;
    link_init(&events);
    list_splice(&events, &h2->events);
    list_splice(&events, &h2->held);
    while ((link = list_shift(&events))) {
        struct h2_stream *stream = container_of(link, struct h2_stream, link);
        if (stream->id)
            nghttp2_session_set_stream_user_data(h2->session, stream->id, NULL);
        stream->id = 0;
        if (stream->handed_out)
            h2_stream_tell(h2, stream, H2_SERVER_GONE);
        else
            release(h2, stream);
    }
}

/* Bytes */

const char *h2_server_input(struct h2_server *h2, const char *data, size_t length)
{
    ssize_t taken = nghttp2_session_mem_recv(h2->session, (const uint8_t *)data, length);
    if (taken < 0)
        h2->wrong = taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? "not the preface of HTTP/2" : nghttp2_strerror((int)taken);
    return h2->wrong;
}

static void pump(struct h2_server *h2)
{
    while (!h2_out_full(&h2->out)) {
        const uint8_t *frame;
        ssize_t length = nghttp2_session_mem_send(h2->session, &frame);
        if (length < 0)
            h2->wrong = nghttp2_strerror((int)length);
        if (length <= 0)
            return;
        h2_out_bytes(&h2->out, frame, (size_t)length);
    }
}

int h2_server_output(struct h2_server *h2, struct iovec vectors[H2_SERVER_VECTORS])
{
    pump(h2);
    return h2_out_vectors(&h2->out, vectors);
}

void h2_server_wrote(struct h2_server *h2, size_t length)
{
    h2_out_wrote(&h2->out, length);
}

size_t h2_server_backlog(const struct h2_server *h2)
{
    return (size_t)(h2->out.queued - h2->out.written);
}

bool h2_server_ended(const struct h2_server *h2)
{
    return h2->wrong || (!nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session));
}

/* The connection */

void h2_server_limits(struct h2_server *h2, uint32_t max_streams, uint32_t window)
{
    nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_streams },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window },
    };
    nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof *settings);
}

void h2_server_goaway(struct h2_server *h2, uint32_t code)
{
    h2->leaving = true;
    nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(h2->session), code, NULL, 0);
}

static nghttp2_session *open_session(struct h2_server *h2)
{
    nghttp2_session *session;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_option_new(&option);
    h2_incoming_callbacks(callbacks);
    h2_answer_callbacks(callbacks);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_option_set_max_send_header_block_length(option, LONGEST_HEAD);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_session_server_new2(&session, callbacks, h2, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

struct h2_server *h2_server_new(const struct h2_server_options *options)
{
    struct h2_server *h2 = mem_zero(sizeof *h2);
    struct link *lists[] = { &h2->events, &h2->held, &h2->idle, &h2->unused };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        link_init(lists[i]);
    h2->options = *options;
    h2->session = open_session(h2);
    h2_server_limits(h2, options->max_streams, options->window);
    if (options->connection_window)
        nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0, (int32_t)options->connection_window);
    return h2;
}

void h2_server_free(struct h2_server *h2)
{
    struct link *lists[] = { &h2->events, &h2->held, &h2->idle, &h2->unused }, *link;
    nghttp2_session_del(h2->session);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        while ((link = list_shift(lists[i])))
            stream_free(container_of(link, struct h2_stream, link));
    h2_out_free(&h2->out);
    free(h2);
}
