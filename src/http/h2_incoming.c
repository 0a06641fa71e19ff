/* Requests as they come in: fields become the text that HTTP/1 would have sent, bodies are kept or thrown away. */
#include <nghttp2/nghttp2.h>

#include "http/h2_serving.h"

static struct h2_stream *stream_at(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2_server *h2 = user_data;
    (void)session;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST && !h2->leaving)
        h2_stream_new(h2, frame->hd.stream_id);
    return 0;
}

static bool is(const uint8_t *name, size_t length, const char *text)
{
    return length == strlen(text) && !memcmp(name, text, length);
}

/* Where the value stands in stream->pseudo, from 1. */
static size_t keep(struct h2_stream *stream, const uint8_t *value, size_t length)
{
    size_t position = stream->pseudo.length + 1;
    buf_append(&stream->pseudo, value, length);
    buf_append(&stream->pseudo, "", 1);
    return position;
}

static void add_pseudo(struct h2_stream *stream, const uint8_t *name, size_t name_length, const uint8_t *value, size_t length)
{
    if (is(name, name_length, ":method"))
        stream->method = keep(stream, value, length);
    else if (is(name, name_length, ":path"))
        stream->path = keep(stream, value, length);
    else if (is(name, name_length, ":authority"))
        stream->authority = keep(stream, value, length);
}

static void add_line(struct h2_stream *stream, const uint8_t *name, size_t name_length, const uint8_t *value, size_t length)
{
    if (is(name, name_length, "host") && stream->authority)
        return;
    buf_append(&stream->lines, name, name_length);
    buf_append(&stream->lines, ": ", 2);
    buf_append(&stream->lines, value, length);
    buf_append(&stream->lines, "\r\n", 2);
    if (is(name, name_length, "expect"))
        stream->incoming.awaits_continue = is(value, length, "100-continue");
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length, const uint8_t *value, size_t value_length,
                     uint8_t flags, void *user_data)
{
    (void)flags, (void)user_data;
    struct h2_stream *stream = stream_at(session, frame->hd.stream_id);
    if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST || stream->lines.length + stream->pseudo.length > H2_SERVER_MAX_HEAD)
        return 0;
    if (*name == ':')
        add_pseudo(stream, name, name_length, value, value_length);
    else
        add_line(stream, name, name_length, value, value_length);
    return 0;
}

static struct slice pseudo_at(const struct h2_stream *stream, size_t position)
{
    const char *text = position ? stream->pseudo.data + position - 1 : "";
    return (struct slice){ text, strlen(text) };
}

static void append(struct buf *buf, struct slice slice)
{
    buf_append(buf, slice.data, slice.length);
}

/* The value of the first line of that name in the head; nothing when there is none. */
static struct slice find_line(const struct buf *head, const char *name)
{
    const char *end = head->data + head->length, *line = head->data, *newline;
    size_t length = strlen(name);
    for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
        if ((size_t)(newline - line) > length && !memcmp(line, name, length) && line[length] == ':')
            return (struct slice){ line + length + 2, (size_t)(newline - line) - length - 3 };
    return (struct slice){ "", 0 };
}

/* "GET /path HTTP/2", host, and the other lines. */
static void render_head(struct h2_stream *stream)
{
    struct incoming *incoming = &stream->incoming;
    struct buf *head = &stream->head;
    struct slice method = pseudo_at(stream, stream->method), path = pseudo_at(stream, stream->path), authority = pseudo_at(stream, stream->authority);
    buf_reserve(head, method.length + path.length + authority.length + stream->lines.length + 32);
    append(head, method);
    buf_append(head, " ", 1);
    append(head, path);
    buf_append(head, " HTTP/2\r\n", 9);
    if (stream->authority) {
        buf_append(head, "host: ", 6);
        append(head, authority);
        buf_append(head, "\r\n", 2);
    }
    append(head, (struct slice){ stream->lines.data, stream->lines.length });
    buf_append(head, "\r\n", 2);
    incoming->head = (struct slice){ head->data, head->length };
    incoming->method = (struct slice){ head->data, method.length };
    incoming->target = incoming->path = (struct slice){ head->data + method.length + 1, path.length };
    const char *query = memchr(incoming->path.data, '?', path.length);
    if (query)
        incoming->path.length = (size_t)(query - incoming->path.data);
    incoming->type = find_line(head, "content-type");
    incoming->is_head = slice_is(incoming->method, "HEAD");
}

static void end_head(struct h2_server *h2, struct h2_stream *stream)
{
    bool large = stream->lines.length + stream->pseudo.length > H2_SERVER_MAX_HEAD;
    render_head(stream);
    if (++h2->requests == h2->options.goaway_after)
        h2_server_goaway(h2, NGHTTP2_NO_ERROR);
    if (large)
        h2_stream_refuse(h2, stream, 431, "the header lines are longer than 64 KiB");
    else
        h2_stream_tell(h2, stream, stream->whole ? H2_SERVER_REQUEST : H2_SERVER_HEAD);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t length, void *user_data)
{
    (void)flags;
    struct h2_server *h2 = user_data;
    struct h2_stream *stream = stream_at(session, id);
    if (!stream || stream->answered)
        return 0;
    struct incoming *incoming = &stream->incoming;
    bool fitted = incoming->received <= incoming->max_body;
    incoming->received += length;
    if (incoming->received <= incoming->max_body) {
        if (incoming->keep_body || !stream->accepted)
            buf_append(&incoming->body, data, length);
    } else if (fitted && stream->accepted) {
        h2_stream_refuse(h2, stream, 413, "the body is too large");
    }
    return 0;
}

/* The body is complete. A router that has not looked at the head yet, or has refused the request, learns it from accept() or not at all. */
static void end_body(struct h2_server *h2, struct h2_stream *stream)
{
    stream->whole = true;
    if (stream->accepted && !stream->answered && !stream->incoming.answer.status)
        h2_stream_tell(h2, stream, H2_SERVER_REQUEST);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    struct h2_server *h2 = user_data;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct h2_stream *stream = stream_at(session, frame->hd.stream_id);
    if (!stream)
        return 0;
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        stream->whole = ends;
        end_head(h2, stream);
    } else if (ends) {
        end_body(h2, stream);
    }
    return 0;
}

void h2_incoming_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
}
