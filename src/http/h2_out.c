#include "http/h2_out.h"

#include <stdlib.h>

#include "base/mem.h"
#include "http/exchange.h"

enum {
    KEPT = 64 * 1024,    /* bytes of `frames` that a connection keeps */
    COMPACT = 16 * 1024, /* written bytes that are not yet moved over */
};

void h2_out_bytes(struct h2_out *out, const void *data, size_t length)
{
    buf_append(&out->frames, data, length);
    out->queued += length;
}

void h2_out_content(struct h2_out *out, struct exchange *exchange, const char *data, size_t length)
{
    out->pieces[out->count++] = (struct h2_piece){ .before = out->frames.length, .data = data, .length = length, .exchange = exchange };
    out->queued += length;
}

void h2_out_owned(struct h2_out *out, struct exchange *exchange, char *data, size_t length)
{
    h2_out_content(out, exchange, data, length);
    out->pieces[out->count - 1].owned = data;
}

static struct iovec at(const char *data, size_t length)
{
    return (struct iovec){ .iov_base = (char *)(uintptr_t)data, .iov_len = length };
}

int h2_out_vectors(const struct h2_out *out, struct iovec *vectors)
{
    size_t position = out->taken;
    int count = 0;
    for (unsigned i = 0; i < out->count; i++) {
        const struct h2_piece *piece = &out->pieces[i];
        if (piece->before > position)
            vectors[count++] = at(out->frames.data + position, piece->before - position);
        vectors[count++] = at(piece->data, piece->length);
        position = piece->before;
    }
    if (out->frames.length > position)
        vectors[count++] = at(out->frames.data + position, out->frames.length - position);
    return count;
}

static size_t take_frames(struct h2_out *out, size_t length)
{
    size_t end = out->count ? out->pieces->before : out->frames.length, left = end - out->taken;
    size_t taken = length < left ? length : left;
    out->taken += taken;
    return taken;
}

static size_t take_piece(struct h2_out *out, size_t length)
{
    struct h2_piece *piece = out->pieces;
    size_t taken = length < piece->length ? length : piece->length;
    piece->data += taken;
    piece->length -= taken;
    if (piece->exchange) {
        piece->exchange->written += taken;
        piece->exchange->bytes_sent += taken;
    }
    if (!piece->length) {
        free(piece->owned);
        memmove(out->pieces, out->pieces + 1, --out->count * sizeof *out->pieces);
    }
    return taken;
}

/* Gives back what is written of `frames`. */
static void tidy(struct h2_out *out)
{
    if (out->taken == out->frames.length) {
        buf_clear(&out->frames, KEPT);
    } else if (out->taken > COMPACT) {
        buf_consume(&out->frames, out->taken);
    } else {
        return;
    }
    for (unsigned i = 0; i < out->count; i++)
        out->pieces[i].before -= out->taken;
    out->taken = 0;
}

void h2_out_wrote(struct h2_out *out, size_t length)
{
    out->written += length;
    length -= take_frames(out, length);
    while (length) {
        length -= take_piece(out, length);
        length -= take_frames(out, length);
    }
    tidy(out);
}

void h2_out_forget(struct h2_out *out, const struct exchange *exchange)
{
    for (unsigned i = 0; i < out->count; i++) {
        struct h2_piece *piece = &out->pieces[i];
        if (piece->exchange != exchange)
            continue;
        if (!piece->owned)
            piece->data = piece->owned = mem_text(piece->data, piece->length);
        piece->exchange = NULL;
    }
}

void h2_out_free(struct h2_out *out)
{
    for (unsigned i = 0; i < out->count; i++)
        free(out->pieces[i].owned);
    buf_free(&out->frames);
}
