/* What an HTTP/2 connection has to write: the bytes of frames, and between them contents that are pointed at, not copied. Small contents are copied behind their
 * frames, so that a turn with small requests leaves in one send(). */
#ifndef LUABENCH_HTTP_H2_OUT_H
#define LUABENCH_HTTP_H2_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/buf.h"

enum {
    H2_FRAME_HEAD = 9,         /* bytes before the payload of a frame */
    H2_PIECES = 7,             /* most contents that are pointed at; with what lies between them they fill CODEC_VECTORS */
    H2_COPIED = 4096,          /* bytes of the longest content that is copied */
    H2_OUT_FULL = 256 * 1024,  /* bytes waiting at which nothing more is asked of nghttp2, so that a peer that does not read cannot make us hoard answers to it */
};

struct exchange;

struct h2_piece {
    size_t before; /* where in `frames` it belongs */
    const char *data;
    size_t length;
    struct exchange *exchange; /* whose content it is; NULL: it has been given up */
    char *owned;               /* to be freed; NULL: the data is the exchange's */
};

/* Zeroed, it is empty. */
struct h2_out {
    struct buf frames;
    size_t taken; /* bytes of `frames` that are written */
    struct h2_piece pieces[H2_PIECES];
    unsigned count;
    uint64_t queued, written; /* bytes, over the life of the connection */
};

static inline bool h2_out_full(const struct h2_out *out)
{
    return out->count == H2_PIECES || out->queued - out->written >= H2_OUT_FULL;
}

/* Appends a copy. */
void h2_out_bytes(struct h2_out *out, const void *data, size_t length);
/* Appends a part of the exchange's content, which must stay until it is written or h2_out_forget was called. Only when not h2_out_full. */
void h2_out_content(struct h2_out *out, struct exchange *exchange, const char *data, size_t length);
/* The same for data of that length from malloc, which is freed when it is written. */
void h2_out_owned(struct h2_out *out, struct exchange *exchange, char *data, size_t length);
/* Fills `vectors` (CODEC_VECTORS of them) with what is to be written next; returns how many. */
int h2_out_vectors(const struct h2_out *out, struct iovec *vectors);
/* `length` bytes of the vectors were written. What belongs to an exchange's content is added to its counts. */
void h2_out_wrote(struct h2_out *out, size_t length);
/* The exchange's content may go: what is still to be written of it is copied, since its frames are announced already. */
void h2_out_forget(struct h2_out *out, const struct exchange *exchange);
void h2_out_free(struct h2_out *out);

#endif
