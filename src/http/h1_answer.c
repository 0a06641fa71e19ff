#include "http/h1_answer.h"

#include <assert.h>
#include <stdio.h>

#include "http/status.h"

enum {
    COPIED = 4096,  /* contents up to this size go into `out` */
    KEPT = 16384,   /* bytes of `out` that a connection keeps */
};

#define LAST_CHUNK "\r\n0\r\n\r\n"

static void put(struct buf *out, const char *text)
{
    buf_append(out, text, strlen(text));
}

static void put_number(struct buf *out, uint64_t number)
{
    char digits[20], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    buf_append(out, first, (size_t)(digits + sizeof digits - first));
}

static void put_status_line(struct buf *out, int status)
{
    if (status == 200) {
        put(out, "HTTP/1.1 200 OK\r\nServer: luabench\r\n");
        return;
    }
    put(out, "HTTP/1.1 ");
    put_number(out, (uint64_t)status);
    put(out, " ");
    put(out, status_reason(status));
    put(out, "\r\nServer: luabench\r\n");
}

/* RFC 9110 8.6, RFC 9112 6.1: no framing in answers that cannot have a content, no chunks to HTTP/1.0. */
static void put_framing(struct buf *out, const struct incoming *incoming)
{
    const struct answer *answer = &incoming->answer;
    if (answer->status == 204 || answer->status == 304)
        return;
    if (!answer->piece) {
        put(out, "Content-Length: ");
        put_number(out, answer->content.length + (answer->end != ANSWER_WHOLE));
        put(out, "\r\n");
    } else if (incoming->minor_version) {
        put(out, "Transfer-Encoding: chunked\r\n");
    }
}

static void put_head(struct buf *out, const struct incoming *incoming)
{
    const struct answer *answer = &incoming->answer;
    put_status_line(out, answer->status);
    if (answer->type.length) {
        put(out, "Content-Type: ");
        buf_append(out, answer->type.data, answer->type.length);
        put(out, "\r\n");
    }
    if (answer->lines)
        put(out, answer->lines);
    put_framing(out, incoming);
    if (!incoming->keep_alive)
        put(out, "Connection: close\r\n");
    else if (!incoming->minor_version)
        put(out, "Connection: keep-alive\r\n");
    put(out, "\r\n");
}

/* Sets up the content as it goes over the wire: `line`, then `piece` bytes, again and again, then LAST_CHUNK; the CRLF before the first line is left out. */
static void begin_chunks(struct h1_answer *writer, size_t piece)
{
    assert(writer->content.length % piece == 0);
    writer->piece = piece;
    writer->line_length = (size_t)snprintf(writer->line, sizeof writer->line, "\r\n%zx\r\n", piece);
    writer->position = 2;
    writer->end = writer->content.length / piece * (writer->line_length + piece) + strlen(LAST_CHUNK);
}

static struct iovec at(const char *data, size_t length)
{
    return (struct iovec){ .iov_base = (char *)(uintptr_t)data, .iov_len = length };
}

/* The bytes of the content from `offset` on that lie together, at most `most`. */
static struct iovec content_at(const struct content *content, uint64_t offset, uint64_t most)
{
    size_t start = content->size == content->length ? (size_t)offset : (size_t)(offset % content->size);
    size_t length = content->size - start;
    return at(content->data + start, length < most ? length : (size_t)most);
}

/* The bytes that are sent from `position` on and lie together. */
static struct iovec sent_at(const struct h1_answer *writer, uint64_t position)
{
    if (!writer->piece)
        return content_at(&writer->content, position, writer->end - position);
    uint64_t period = writer->line_length + writer->piece, tail = writer->end - strlen(LAST_CHUNK);
    if (position >= tail)
        return at(LAST_CHUNK + (position - tail), (size_t)(writer->end - position));
    uint64_t chunk = position / period;
    size_t within = (size_t)(position % period);
    if (within < writer->line_length)
        return at(writer->line + within, writer->line_length - within);
    within -= writer->line_length;
    return content_at(&writer->content, chunk * writer->piece + within, writer->piece - within);
}

static void copy_small(struct h1_answer *writer)
{
    if (writer->end - writer->position > COPIED)
        return;
    while (!h1_answer_done(writer)) {
        struct iovec vector = sent_at(writer, writer->position);
        buf_append(&writer->out, vector.iov_base, vector.iov_len);
        writer->position += vector.iov_len;
    }
}

void h1_answer_interim(struct h1_answer *writer, const char *text)
{
    put(&writer->out, text);
}

void h1_answer_begin(struct h1_answer *writer, const struct incoming *incoming)
{
    const struct answer *answer = &incoming->answer;
    put_head(&writer->out, incoming);
    writer->content = answer->content;
    writer->piece = 0;
    writer->position = writer->end = 0;
    if (incoming->is_head || answer->status == 204 || answer->status == 304)
        return;
    if (answer->piece && incoming->minor_version)
        begin_chunks(writer, answer->piece);
    else
        writer->end = answer->content.length;
    copy_small(writer);
}

int h1_answer_vectors(struct h1_answer *writer, struct iovec *vectors, int limit)
{
    int count = 0;
    if (writer->out.length > writer->written)
        vectors[count++] = at(writer->out.data + writer->written, writer->out.length - writer->written);
    for (uint64_t position = writer->position; count < limit && position < writer->end; count++) {
        vectors[count] = sent_at(writer, position);
        position += vectors[count].iov_len;
    }
    return count;
}

void h1_answer_wrote(struct h1_answer *writer, size_t length)
{
    size_t left = writer->out.length - writer->written;
    if (length < left) {
        writer->written += length;
        return;
    }
    writer->written = 0;
    buf_clear(&writer->out, KEPT);
    writer->position += length - left;
}

void h1_answer_free(struct h1_answer *writer)
{
    buf_free(&writer->out);
}
