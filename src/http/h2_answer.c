/* Answers on their way out: fields, and the content as the peer's windows let it. */
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <strings.h>

#include "http/h2_serving.h"

enum { MOST_FIELDS = 32, MOST_DIGITS = 24 };

/* The fields being put together. */
struct head {
    nghttp2_nv list[MOST_FIELDS];
    size_t count;
};

static void add(struct head *head, struct slice name, struct slice value)
{
    if (head->count < MOST_FIELDS)
        head->list[head->count++] = (nghttp2_nv){ (uint8_t *)(uintptr_t)name.data, (uint8_t *)(uintptr_t)value.data, name.length, value.length, NGHTTP2_NV_FLAG_NONE };
}

static struct slice text(const char *string)
{
    return (struct slice){ string, strlen(string) };
}

/* "Name: value" lines; nghttp2 makes names lower-case. */
static void add_lines(struct head *head, const char *lines)
{
    for (const char *end; (end = strstr(lines, "\r\n")); lines = end + 2) {
        const char *colon = memchr(lines, ':', (size_t)(end - lines));
        if (!colon)
            continue;
        const char *value = colon + 1 + strspn(colon + 1, " ");
        add(head, (struct slice){ lines, (size_t)(colon - lines) }, (struct slice){ value, (size_t)(end - value) });
    }
}

/* How much of the content is left. */
static uint64_t content_left(const struct h2_stream *stream)
{
    return stream->incoming.answer.content.length - stream->position;
}

/* Each piece is a DATA frame of its own, where it fits. */
static ssize_t read_content(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t room, uint32_t *flags, nghttp2_data_source *source, void *user_data)
{
    (void)buffer, (void)source, (void)user_data;
    const struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    uint64_t left = content_left(stream);
    size_t piece = stream->incoming.answer.piece, most = piece ? piece - (size_t)(stream->position % piece) : room;
    size_t length = most < room ? most : room;
    unsigned last = stream->incoming.answer.end == ANSWER_WHOLE ? NGHTTP2_DATA_FLAG_EOF : NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    *flags = NGHTTP2_DATA_FLAG_NO_COPY | (left <= length ? last : 0);
    return (ssize_t)(left < length ? left : length);
}

static int send_content(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head, size_t length, nghttp2_data_source *source, void *user_data)
{
    (void)source;
    struct h2_server *h2 = user_data;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const struct content *content = &stream->incoming.answer.content;
    h2_out_bytes(&h2->out, head, H2_FRAME_HEAD);
    while (length) {
        size_t start = content->size == content->length ? (size_t)stream->position : (size_t)(stream->position % content->size);
        size_t taken = content->size - start < length ? content->size - start : length;
        h2_out_bytes(&h2->out, content->data + start, taken);
        stream->position += taken;
        length -= taken;
    }
    return h2_out_full(&h2->out) ? NGHTTP2_ERR_PAUSE : 0;
}

/* An answer that is complete before its request ends the request (RFC 9113 8.1). One that is to be reset is reset behind its last byte. */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user_data)
{
    (void)user_data;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    const struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream && stream->incoming.answer.end == ANSWER_RESET && !content_left(stream))
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, stream->incoming.answer.code);
    else if (stream && !stream->whole && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
}

void h2_answer_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_content);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
}

void h2_answer_begin(struct h2_server *h2, struct h2_stream *stream)
{
    static const nghttp2_data_provider provider = { .read_callback = read_content };
    const struct answer *answer = &stream->incoming.answer;
    bool empty = answer->status == 204 || answer->status == 304;
    struct head head = { .count = 0 };
    char status[MOST_DIGITS], length[MOST_DIGITS];
    snprintf(status, sizeof status, "%d", answer->status);
    snprintf(length, sizeof length, "%llu", (unsigned long long)answer->content.length + (answer->end != ANSWER_WHOLE));
    add(&head, text(":status"), text(status));
    add(&head, text("server"), text("luabench"));
    if (answer->type.length)
        add(&head, text("content-type"), answer->type);
    if (answer->lines)
        add_lines(&head, answer->lines);
    if (!empty && !answer->piece)
        add(&head, text("content-length"), text(length));
    bool sends = !empty && !stream->incoming.is_head && answer->content.length;
    nghttp2_submit_response(h2->session, stream->id, head.list, head.count, sends ? &provider : NULL);
}
