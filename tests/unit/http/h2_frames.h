/* Frames of HTTP/2 from words, for peers that no library would play. A script is a list of frames between semicolons; a frame is words:
 *
 *   S name=n ...          SETTINGS; streams, window, frame, push, table; "ack"
 *   H id :status=200 name=value ...   HEADERS whose block is not compressed; flags: es (END_STREAM), part (no END_HEADERS), pad=n
 *   C id name=value ...   CONTINUATION; part
 *   D id text             DATA; es, pad=n, size=n (n bytes 'x' in place of a text)
 *   R id code             RST_STREAM
 *   G last code           GOAWAY
 *   P text                PING with 8 bytes; "ack"
 *   W id n                WINDOW_UPDATE
 *   X type flags id text  any frame
 *   raw text              these bytes, no frame
 *
 * In values and texts '_' stands for a blank. */
#ifndef LUABENCH_TESTS_UNIT_H2_FRAMES_H
#define LUABENCH_TESTS_UNIT_H2_FRAMES_H

#include <stdio.h>

#include "base/buf.h"
#include "test.h"

enum { F_END_STREAM = 1, F_ACK = 1, F_END_HEADERS = 4, F_PADDED = 8 };

static inline void put_number(struct buf *out, uint32_t number, int bytes)
{
    while (bytes--) {
        char byte = (char)(number >> 8 * bytes);
        buf_append(out, &byte, 1);
    }
}

static inline void put_frame(struct buf *out, uint8_t type, uint8_t flags, uint32_t id, const char *payload, size_t length)
{
    put_number(out, (uint32_t)length, 3);
    put_number(out, type, 1);
    put_number(out, flags, 1);
    put_number(out, id, 4);
    buf_append(out, payload, length);
}

/* A length in HPACK with a prefix of 7 bits, no Huffman coding. */
static inline void put_length(struct buf *out, size_t length)
{
    if (length < 127) {
        put_number(out, (uint32_t)length, 1);
        return;
    }
    put_number(out, 127, 1);
    for (length -= 127; length >= 128; length /= 128)
        put_number(out, (uint32_t)(length % 128 + 128), 1);
    put_number(out, (uint32_t)length, 1);
}

/* A literal field that is not indexed. */
static inline void put_field(struct buf *out, const char *name, size_t name_length, const char *value, size_t value_length)
{
    put_number(out, 0, 1);
    put_length(out, name_length);
    buf_append(out, name, name_length);
    put_length(out, value_length);
    buf_append(out, value, value_length);
}

/* One frame on its way from words to bytes. */
struct frame_words {
    const char *word[400];
    int count;
    char text[20000];
};

static inline void split_words(struct frame_words *words, const char *from, size_t length)
{
    words->count = 0;
    memcpy(words->text, from, length);
    words->text[length] = '\0';
    for (char *word = strtok(words->text, " \n"); word; word = strtok(NULL, " \n"))
        words->word[words->count++] = word;
}

static inline uint32_t setting_of(const char *name, size_t length)
{
    static const char *const names[] = { "", "table", "push", "streams", "window", "frame" };
    for (uint32_t i = 1; i < COUNT(names); i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    fail_msg("no setting %s", name);
    return 0;
}

static inline char *unblank(const char *word)
{
    static char text[20000];
    size_t i;
    for (i = 0; word[i]; i++)
        text[i] = word[i] == '_' ? ' ' : word[i];
    text[i] = '\0';
    return text;
}

/* A word that says how the frame is made: true, and taken. */
static inline bool take_option(const char *word, uint8_t *flags, int *pad)
{
    if (!strcmp(word, "es"))
        *flags |= F_END_STREAM;
    else if (!strcmp(word, "ack"))
        *flags |= F_ACK;
    else if (!strcmp(word, "part"))
        *flags &= (uint8_t)~F_END_HEADERS;
    else if (!strncmp(word, "pad=", 4))
        *flags |= F_PADDED, *pad = atoi(word + 4);
    else
        return false;
    return true;
}

static inline void put_padded(struct buf *out, uint8_t type, uint8_t flags, uint32_t id, struct buf *payload, int pad)
{
    struct buf padded = { 0 };
    if (flags & F_PADDED)
        put_number(&padded, (uint32_t)pad, 1);
    buf_append(&padded, payload->data, payload->length);
    for (int i = 0; i < pad; i++)
        put_number(&padded, 0, 1);
    put_frame(out, type, flags, id, padded.data, padded.length);
    buf_free(&padded);
}

static inline void put_headers(struct buf *out, const struct frame_words *words, uint8_t type)
{
    struct buf block = { 0 };
    uint8_t flags = F_END_HEADERS;
    int pad = 0;
    for (int i = 2; i < words->count; i++) {
        const char *word = words->word[i], *equals = strchr(word + 1, '=');
        if (take_option(word, &flags, &pad))
            continue;
        if (*word == '\\') /* the rest as it is */
            buf_append(&block, word + 1, strlen(word + 1));
        else {
            assert_non_null(equals);
            const char *value = unblank(equals + 1);
            put_field(&block, word, (size_t)(equals - word), value, strlen(value));
        }
    }
    put_padded(out, type, flags, (uint32_t)atoi(words->word[1]), &block, pad);
    buf_free(&block);
}

static inline void put_data(struct buf *out, const struct frame_words *words)
{
    struct buf payload = { 0 };
    uint8_t flags = 0;
    int pad = 0;
    for (int i = 2; i < words->count; i++) {
        const char *word = words->word[i];
        if (take_option(word, &flags, &pad))
            continue;
        if (!strncmp(word, "size=", 5)) {
            for (int n = atoi(word + 5); n > 0; n--)
                buf_append(&payload, "x", 1);
        } else {
            const char *text = unblank(word);
            buf_append(&payload, text, strlen(text));
        }
    }
    put_padded(out, 0, flags, (uint32_t)atoi(words->word[1]), &payload, pad);
    buf_free(&payload);
}

static inline void put_settings(struct buf *out, const struct frame_words *words)
{
    struct buf payload = { 0 };
    uint8_t flags = 0;
    int pad;
    for (int i = 1; i < words->count; i++) {
        const char *word = words->word[i], *equals = strchr(word, '=');
        if (take_option(word, &flags, &pad))
            continue;
        put_number(&payload, setting_of(word, (size_t)(equals - word)), 2);
        put_number(&payload, (uint32_t)strtoul(equals + 1, NULL, 0), 4);
    }
    put_frame(out, 4, flags, 0, payload.data, payload.length);
    buf_free(&payload);
}

static inline void put_numbers(struct buf *out, uint8_t type, uint32_t id, const uint32_t *numbers, int count)
{
    struct buf payload = { 0 };
    for (int i = 0; i < count; i++)
        put_number(&payload, numbers[i], 4);
    put_frame(out, type, 0, id, payload.data, payload.length);
    buf_free(&payload);
}

static inline uint32_t number_at(const struct frame_words *words, int i)
{
    return words->count > i ? (uint32_t)strtoul(words->word[i], NULL, 0) : 0;
}

static inline void put_words(struct buf *out, const struct frame_words *words)
{
    const char *kind = words->word[0];
    uint32_t a = number_at(words, 1), b = number_at(words, 2);
    if (!strcmp(kind, "S"))
        put_settings(out, words);
    else if (!strcmp(kind, "H"))
        put_headers(out, words, 1);
    else if (!strcmp(kind, "C"))
        put_headers(out, words, 9);
    else if (!strcmp(kind, "D"))
        put_data(out, words);
    else if (!strcmp(kind, "R"))
        put_numbers(out, 3, a, &b, 1);
    else if (!strcmp(kind, "G"))
        put_numbers(out, 7, 0, (uint32_t[]){ a, b }, 2);
    else if (!strcmp(kind, "P"))
        put_frame(out, 6, words->count > 2 ? F_ACK : 0, 0, words->word[1], 8);
    else if (!strcmp(kind, "W"))
        put_numbers(out, 8, a, &b, 1);
    else if (!strcmp(kind, "X"))
        put_frame(out, (uint8_t)a, (uint8_t)b, number_at(words, 3), words->count > 4 ? words->word[4] : "", words->count > 4 ? strlen(words->word[4]) : 0);
    else if (!strcmp(kind, "raw"))
        buf_append(out, unblank(words->word[1]), strlen(words->word[1]));
    else
        fail_msg("no frame %s", kind);
}

/* Appends the frames of a script. */
static inline void put_script(struct buf *out, const char *script)
{
    static struct frame_words words;
    while (*script) {
        size_t length = strcspn(script, ";");
        split_words(&words, script, length);
        if (words.count)
            put_words(out, &words);
        script += length + (script[length] == ';');
    }
}

/* What a client has sent, as words: a list of frames, "H 1 es; S ack; R 1 8". */
static inline void read_frames(struct buf *words, const char *data, size_t length)
{
    static const char *const names[] = { "D", "H", "priority", "R", "S", "push", "P", "G", "W", "C" };
    if (length >= 24 && !memcmp(data, "PRI ", 4))
        data += 24, length -= 24;
    while (length >= 9) {
        const uint8_t *head = (const uint8_t *)data;
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        uint32_t id = (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8];
        assert_true(head[3] < COUNT(names) && length >= 9 + size);
        buf_printf(words, "%s %u", names[head[3]], id);
        if (head[3] == 0)
            buf_printf(words, " %zu", size);
        if (head[3] == 3)
            buf_printf(words, " %u", head[12]);
        if (head[3] == 7)
            buf_printf(words, " %u", head[16]);
        if (head[3] == 6)
            buf_printf(words, " %.8s", data + 9);
        if (head[3] == 8)
            buf_printf(words, " %u", (unsigned)head[9] << 24 | (unsigned)head[10] << 16 | (unsigned)head[11] << 8 | head[12]);
        if (head[4] & F_END_STREAM)
            buf_printf(words, head[3] < 2 ? " es" : " ack");
        buf_printf(words, "; ");
        data += 9 + size;
        length -= 9 + size;
    }
    assert_int_equal(length, 0);
}

#endif
