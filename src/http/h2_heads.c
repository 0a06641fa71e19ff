#include "http/h2_heads.h"

#include <stdio.h>

#include "http/exchange.h"
#include "http/h2_hpack.h"

enum {
    HEADERS = 1, PUSH_PROMISE = 5, CONTINUATION = 9, /* types of frames */
    END_STREAM = 1, END_HEADERS = 4,                 /* flags */
    TABLE = 4096,                                    /* bytes of the dynamic table, which is as large as in the beginning or smaller */
    LONGEST = 2048,                                  /* bytes of a block; longer ones are not remembered */
    PATIENCE = 32,                                   /* unknown heads in a row after which only one of as many is remembered */
};

/* Frames */

static size_t payload_of(const uint8_t *frame)
{
    return (size_t)frame[0] << 16 | (size_t)frame[1] << 8 | frame[2];
}

static bool has_block(const uint8_t *frame)
{
    return frame[3] == HEADERS || frame[3] == PUSH_PROMISE || frame[3] == CONTINUATION;
}

static bool is_plain(const uint8_t *frame)
{
    return frame[3] == HEADERS && (frame[4] & ~END_STREAM) == END_HEADERS;
}

/* Of a frame's head that comes in pieces. It is kept back, so that something can be put before the frame. */
static size_t take_partial(struct h2_heads *heads, const uint8_t *data, size_t length, struct h2_run *run)
{
    size_t missing = H2_FRAME_HEAD - heads->partial_length, taken = length < missing ? length : missing;
    memcpy(heads->partial + heads->partial_length, data, taken);
    heads->partial_length += (unsigned)taken;
    *run = (struct h2_run){ .kind = H2_RUN_PLAIN };
    if (heads->partial_length < H2_FRAME_HEAD)
        return taken;
    heads->partial_length = 0;
    heads->left = payload_of(heads->partial);
    *run = (struct h2_run){ has_block(heads->partial) ? H2_RUN_OTHER : H2_RUN_PLAIN, heads->partial, H2_FRAME_HEAD };
    return taken;
}

/* A frame with a header block begins here. */
static size_t take_block(struct h2_heads *heads, const uint8_t *frame, size_t length, struct h2_run *run)
{
    size_t payload = payload_of(frame);
    *run = (struct h2_run){ H2_RUN_HEAD, frame, H2_FRAME_HEAD + payload };
    if (is_plain(frame) && payload <= length - H2_FRAME_HEAD)
        return run->length;
    *run = (struct h2_run){ H2_RUN_OTHER, frame, H2_FRAME_HEAD };
    heads->left = payload;
    return H2_FRAME_HEAD;
}

size_t h2_heads_take(struct h2_heads *heads, const uint8_t *data, size_t length, struct h2_run *run)
{
    size_t at = 0;
    if (heads->partial_length)
        return take_partial(heads, data, length, run);
    for (;;) {
        size_t rest = length - at, taken = heads->left < rest ? heads->left : rest;
        heads->left -= taken;
        at += taken;
        rest -= taken;
        if (rest < H2_FRAME_HEAD || has_block(data + at))
            break;
        heads->left = payload_of(data + at);
        at += H2_FRAME_HEAD;
    }
    if (!at && length >= H2_FRAME_HEAD)
        return take_block(heads, data, length, run);
    if (!at)
        return take_partial(heads, data, length, run);
    *run = (struct h2_run){ H2_RUN_PLAIN, data, at };
    return at;
}

/* Remembering */

void h2_heads_changed(struct h2_heads *heads)
{
    for (size_t i = 0; i < H2_HEADS; i++)
        if (heads->kept[i].depends)
            heads->kept[i].block.length = 0;
}

static void pop_owed(struct h2_heads *heads)
{
    heads->owed_size -= heads->kept[heads->owed[heads->first_owed]].adds;
    heads->first_owed = (heads->first_owed + 1) % H2_OWED;
    heads->owed_count--;
}

/* What the table has lost by what was added later need not be made up for. */
static void owe(struct h2_heads *heads, unsigned which)
{
    heads->owed_size += heads->kept[which].adds;
    while (heads->owed_count && heads->owed_size - heads->kept[heads->owed[heads->first_owed]].adds >= TABLE)
        pop_owed(heads);
    heads->owed[(heads->first_owed + heads->owed_count++) % H2_OWED] = (uint8_t)which;
    h2_heads_changed(heads);
}

const struct buf *h2_heads_owed(struct h2_heads *heads)
{
    if (!heads->owed_count)
        return NULL;
    const struct buf *block = &heads->kept[heads->owed[heads->first_owed]].block;
    pop_owed(heads);
    return block;
}

const struct h2_head *h2_heads_recall(struct h2_heads *heads, const uint8_t *frame, size_t length, bool may_owe)
{
    const uint8_t *block = frame + H2_FRAME_HEAD;
    length -= H2_FRAME_HEAD;
    for (unsigned i = 0; length && i < H2_HEADS; i++) {
        const struct h2_head *head = &heads->kept[i];
        if (head->block.length != length || memcmp(head->block.data, block, length) || (head->adds && !may_owe))
            continue;
        heads->misses = 0;
        if (head->adds)
            owe(heads, i);
        return head;
    }
    return NULL;
}

size_t h2_heads_brief(const struct h2_head *head, const uint8_t *frame, uint8_t bytes[H2_HEAD_SHORT])
{
    memcpy(bytes, head->brief, H2_HEAD_SHORT);
    memcpy(bytes + 4, frame + 4, 5);
    return head->brief_length;
}

/* :status out of the static table (RFC 7541 appendix A), or as a literal that is not indexed. The length of the body is checked without nghttp2 then. */
static void write_brief(struct h2_head *head)
{
    static const uint16_t listed[] = { 200, 204, 206, 304, 400, 404, 500 };
    uint8_t *block = head->brief + H2_FRAME_HEAD;
    int length = snprintf((char *)block, 6, "\x08\x03%03u", head->status % 1000u);
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (head->status == listed[i]) {
            *block = (uint8_t)(0x88 + i);
            length = 1;
        }
    head->brief[2] = (uint8_t)length;
    head->brief[3] = HEADERS;
    head->brief_length = (uint8_t)(H2_FRAME_HEAD + length);
}

static void keep(struct h2_head *head, const uint8_t *block, size_t length, const struct exchange *exchange, const struct h2_effect *effect)
{
    head->block.length = head->text.length = 0;
    buf_append(&head->block, block, length);
    buf_append(&head->text, exchange->head.data, exchange->head.length);
    head->announced = exchange->stream.announced;
    head->status = exchange->stream.status;
    head->notes = (uint8_t)exchange->notes;
    head->depends = effect->depends;
    head->adds = effect->adds;
    write_brief(head);
}

void h2_heads_learn(struct h2_heads *heads, const uint8_t *frame, size_t length, const struct exchange *exchange)
{
    const uint8_t *block = frame + H2_FRAME_HEAD;
    length -= H2_FRAME_HEAD;
    struct h2_effect effect = h2_effect_of(block, length);
    if (effect.resizes || effect.adds)
        h2_heads_changed(heads);
    if (effect.resizes || (effect.adds && effect.depends) || !exchange || length > LONGEST || exchange->head.length > LONGEST)
        return;
    if (++heads->misses > PATIENCE && heads->misses % PATIENCE)
        return;
    keep(&heads->kept[heads->next], block, length, exchange, &effect);
    heads->next = (heads->next + 1) % H2_HEADS;
}

void h2_heads_free(struct h2_heads *heads)
{
    for (size_t i = 0; i < H2_HEADS; i++) {
        buf_free(&heads->kept[i].block);
        buf_free(&heads->kept[i].text);
    }
}
