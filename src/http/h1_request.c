#include "http/h1_request.h"

#include <stdio.h>
#include <string.h>

#include "http/upload.h"

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
    memcpy(tail + length, "\r\n", 2);
    return length + 2;
}

bool h1_request_begin(struct exchange *exchange)
{
    if (exchange->request->raw) {
        exchange->written = 0;
        exchange->length = exchange->content_length;
        return exchange->close;
    }
    unsigned fields = fields_of(exchange);
    size_t tail = write_tail(exchange, fields);
    exchange->written = 0;
    exchange->length = exchange->request->length + exchange->lines_length + tail + exchange->content_length;
    return exchange->close || fields & REQUEST_CLOSE;
}

/* Adds what of `data` lies beyond the first *skip bytes. */
static int add_vector(struct iovec *vectors, int count, const char *data, size_t length, size_t *skip)
{
    size_t skipped = *skip < length ? *skip : length;
    *skip -= skipped;
    if (skipped == length)
        return count;
    vectors[count] = (struct iovec){ .iov_base = (char *)data + skipped, .iov_len = length - skipped };
    return count + 1;
}

/* What of the upload lies behind its first `offset` bytes, up to the end of what is read of a file at a time. */
static int add_upload(struct upload *upload, struct iovec *vectors, int count, int room, uint64_t offset, bool *more)
{
    bool file = false;
    while (offset < upload->length && count < room && !file) {
        size_t length;
        const char *data = upload_at(upload, offset, &length, &file);
        if (!data)
            return count;
        vectors[count++] = (struct iovec){ .iov_base = (char *)(uintptr_t)data, .iov_len = length };
        offset += length;
    }
    *more = offset < upload->length;
    return count;
}

int h1_request_vectors(const struct exchange *exchange, struct iovec *vectors, int room, bool *more)
{
    const struct request *request = exchange->request;
    size_t skip = exchange->written, tail = exchange->length - exchange->content_length - exchange->lines_length - request->length;
    if (request->raw)
        return add_vector(vectors, 0, exchange->content, exchange->content_length, &skip);
    if (exchange->length == request->length + 2) /* the blank line follows the request's bytes */
        return add_vector(vectors, 0, request->bytes, exchange->length, &skip);
    int count = add_vector(vectors, 0, request->bytes, request->length, &skip);
    count = add_vector(vectors, count, exchange->lines, exchange->lines_length, &skip);
    count = add_vector(vectors, count, exchange->tail, tail, &skip);
    if (exchange->upload)
        return add_upload(exchange->upload, vectors, count, room, skip, more);
    return add_vector(vectors, count, exchange->content, exchange->content_length, &skip);
}
