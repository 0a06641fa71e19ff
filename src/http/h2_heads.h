/* Heads of responses that come again and again are not decoded again and again. Most servers send the same bytes for the same head, and decoding them (Huffman codes,
 * checks, a call for each field) is the larger part of what a small response costs. Such a head is remembered with its bytes; when these come again, nghttp2 is given
 * a short block in their place, with the status, which it needs for its checks of the stream.
 *
 * HPACK (RFC 7541) has a state, the dynamic table, which both sides must change in the same way. So a block that refers to the table is remembered as long as the
 * table stays the same, and one that adds to the table (as nginx does in every response, without ever making use of it) is owed to nghttp2: before the next block
 * that is not known, nghttp2 gets those it has missed, on a stream that is closed, where it decodes them and does nothing else. */
#ifndef LUABENCH_HTTP_H2_HEADS_H
#define LUABENCH_HTTP_H2_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/h2_out.h"

enum {
    H2_HEADS = 2,        /* heads that a connection remembers */
    H2_OWED = 128,       /* more than fill the table */
    H2_HEAD_SHORT = 16,  /* room for a short frame */
};

struct exchange;

/* A head as bytes of the connection, and what it means. */
struct h2_head {
    struct buf block, text; /* text: as in exchange->head */
    uint64_t announced;     /* Content-Length; UINT64_MAX: not said */
    uint16_t status;
    uint8_t notes;          /* NOTE_* */
    bool depends;           /* it refers to the dynamic table */
    size_t adds;            /* bytes that it adds to the table at least; 0: none */
    uint8_t brief[H2_HEAD_SHORT]; /* the frame that stands for it, but for flags and stream */
    uint8_t brief_length;
};

/* Zeroed, it has seen nothing. */
struct h2_heads {
    struct h2_head kept[H2_HEADS]; /* with empty blocks when unused */
    unsigned next;                 /* which is replaced next */
    unsigned misses;               /* heads in a row that were not known */
    uint8_t owed[H2_OWED];         /* a ring: which of `kept`, the oldest first */
    unsigned first_owed, owed_count;
    size_t owed_size;              /* bytes that they add to the table at least */
    uint8_t partial[H2_FRAME_HEAD];
    unsigned partial_length;       /* of a frame's head, when only this much has come */
    size_t left;                   /* bytes of the present frame that have not come */
};

/* A run of bytes of the connection. */
struct h2_run {
    enum {
        H2_RUN_PLAIN,  /* nothing that concerns heads */
        H2_RUN_HEAD,   /* a whole HEADERS frame that has nothing special */
        H2_RUN_OTHER,  /* the beginning of another frame with a header block: what is owed must come before */
    } kind;
    const uint8_t *bytes;
    size_t length;     /* may be 0 */
};

/* Takes bytes of the connection, of which there is at least one: how many. They are in `run`, unless they are kept back for the next one. */
size_t h2_heads_take(struct h2_heads *heads, const uint8_t *data, size_t length, struct h2_run *run);
/* The head that a frame of H2_RUN_HEAD stands for, or NULL; `may_owe`: there is a stream on which what is owed can be given. */
const struct h2_head *h2_heads_recall(struct h2_heads *heads, const uint8_t *frame, size_t length, bool may_owe);
/* Writes what nghttp2 is to get for the frame; its length. */
size_t h2_heads_brief(const struct h2_head *head, const uint8_t *frame, uint8_t bytes[H2_HEAD_SHORT]);
/* The next block that is owed, which is taken off; NULL: none is. */
const struct buf *h2_heads_owed(struct h2_heads *heads);
/* A frame of H2_RUN_HEAD, which was not known, was decoded, and nothing was owed before; unless NULL, into the head of this exchange, which is a final one. */
void h2_heads_learn(struct h2_heads *heads, const uint8_t *frame, size_t length, const struct exchange *exchange);
/* The table may be another one now. */
void h2_heads_changed(struct h2_heads *heads);
void h2_heads_free(struct h2_heads *heads);

#endif
