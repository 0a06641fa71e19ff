/* The client's HTTP/2 codec. The input is a list of steps: exchanges are submitted and given up, bytes are written, the peer sends well-formed frames or anything else.
 * After every step the books must balance, every exchange must come back exactly once, and nothing of one may be touched once it is back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/engine.h"

enum { MOST = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where an exchange is. */
enum whereabouts { NOWHERE, INSIDE, BACK };

struct play {
    struct codec *codec;
    struct link finished;
    struct exchange *exchanges[MOST];
    enum whereabouts places[MOST];
    unsigned count;
    int64_t now;
    bool broken;
    const uint8_t *data;
    size_t size;
};

static struct origin origin;
static struct request requests[2] = {
    { .references = 1, .method = (char[]){ "GET" }, .path = (char[]){ "/" }, .bytes = (char[]){ "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n" }, .length = 31, .origin = &origin },
    { .references = 1, .method = (char[]){ "HEAD" }, .path = (char[]){ "/" }, .bytes = (char[]){ "HEAD / HTTP/1.1\r\nHost: h\r\n" }, .length = 26, .origin = &origin, .head = true },
};

#define require(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), abort()))

/* The next byte of the input; 0 at its end. */
static uint8_t next(struct play *play)
{
    if (!play->size)
        return 0;
    play->size--;
    return *play->data++;
}

static void free_exchange(struct exchange *exchange)
{
    buf_free(&exchange->head);
    buf_free(&exchange->body);
    free((char *)(uintptr_t)exchange->content);
    free(exchange);
}

/* An exchange has come back. */
static void take(struct play *play, struct exchange *exchange)
{
    unsigned i = 0;
    while (i < play->count && play->exchanges[i] != exchange)
        i++;
    require(i < play->count && play->places[i] == INSIDE);
    play->places[i] = BACK;
    play->exchanges[i] = NULL;
    free_exchange(exchange);
}

static void take_finished(struct play *play)
{
    struct link *link;
    while ((link = list_shift(&play->finished))) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        require(exchange->finished && exchange->error < ERR_COUNT);
        if (exchange->error)
            require(*exchange->text && !exchange->status);
        else
            require(exchange->status >= 200 && exchange->status <= 599 && exchange->head.length && exchange->first_byte && exchange->sent &&
                    exchange->body.length == exchange->body_size && exchange->body_size <= exchange->max_body);
        take(play, exchange);
    }
    while ((link = list_shift(&play->codec->returned))) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        require(!exchange->finished && !exchange->error);
        take(play, exchange);
    }
}

static void balance(struct play *play)
{
    unsigned inside = 0;
    take_finished(play);
    for (unsigned i = 0; i < play->count; i++)
        inside += play->places[i] == INSIDE;
    require(inside == play->codec->active);
    require(!play->codec->paused || !play->codec->limit);
}

/* Steps */

static void submit(struct play *play, uint8_t kind)
{
    static const size_t lengths[] = { 0, 10, 5000, 70000 };
    if (play->count == MOST || !codec_capacity(play->codec))
        return;
    struct exchange *exchange = mem_zero(sizeof *exchange);
    size_t length = lengths[kind & 3];
    link_init(&exchange->link);
    exchange->request = &requests[kind >> 2 & 1];
    exchange->max_body = kind >> 3 & 1 ? 20 : SIZE_MAX;
    exchange->close = kind >> 4 == 15;
    exchange->content = length ? mem_zero(length) : NULL;
    exchange->content_length = length;
    exchange->lines = kind >> 5 & 1 ? "X: y\r\nConnection: close\r\n" : NULL;
    exchange->lines_length = exchange->lines ? strlen(exchange->lines) : 0;
    play->exchanges[play->count] = exchange;
    play->places[play->count++] = INSIDE;
    play->codec->ops->submit(play->codec, exchange);
}

static void cancel(struct play *play, unsigned which)
{
    if (!play->count || play->places[which % play->count] != INSIDE)
        return;
    struct exchange *exchange = play->exchanges[which % play->count];
    require(play->codec->ops->cancel(play->codec, exchange));
    require(!link_listed(&exchange->link) && !exchange->finished);
    take(play, exchange);
}

/* Writes up to `most` bytes. */
static void write_out(struct play *play, size_t most)
{
    struct codec *codec = play->codec;
    struct iovec vectors[CODEC_VECTORS];
    int count;
    while (most && (count = codec->ops->output(codec, vectors)) > 0) {
        size_t length = 0;
        require(count <= CODEC_VECTORS);
        for (int i = 0; i < count; i++) {
            uint8_t sum = 0;
            require(vectors[i].iov_len > 0);
            for (size_t j = 0; j < vectors[i].iov_len; j++) /* all of it can be read */
                sum = (uint8_t)(sum + ((const uint8_t *)vectors[i].iov_base)[j]);
            length += vectors[i].iov_len + (sum & 0);
        }
        length = length < most ? length : most;
        codec->ops->wrote(codec, length, ++play->now);
        most -= length;
    }
}

static void receive(struct play *play, const void *data, size_t length)
{
    const char *text = NULL;
    char *copy = mem_text(data, length); /* so that a read beyond it is seen */
    if (length && !play->broken) {
        enum err error = play->codec->ops->input(play->codec, copy, length, ++play->now, &text);
        require(!error || (error == ERR_PROTOCOL && text && *text));
        play->broken = error != ERR_NONE;
    }
    free(copy);
}

/* Bytes of the input as they are. */
static void receive_some(struct play *play, size_t length)
{
    length = length < play->size ? length : play->size;
    const uint8_t *data = play->data;
    play->data += length;
    play->size -= length;
    receive(play, data, length);
}

static void receive_frame(struct play *play, uint8_t type, uint8_t flags, uint8_t id, const void *payload, size_t length)
{
    uint8_t frame[300] = { 0, (uint8_t)(length >> 8), (uint8_t)length, type, flags, 0, 0, 0, id };
    memcpy(frame + 9, payload, length);
    receive(play, frame, length + 9);
}

/* A frame with what follows in the input. */
static void receive_any_frame(struct play *play)
{
    uint8_t type = next(play) % 11, flags = next(play), id = next(play) & 63;
    size_t length = next(play);
    length = length < play->size ? length : play->size;
    const uint8_t *data = play->data;
    play->data += length;
    play->size -= length;
    receive_frame(play, type, flags, id, data, length);
}

/* Frames that make sense. */
static void receive_known_frame(struct play *play, uint8_t kind)
{
    static const char one[] = "\0\0\0\1", setting[] = "\0\3\0\0\0", window[] = "\0\4\0\0";
    uint8_t id = (uint8_t)(next(play) & 63), value = next(play), payload[8] = { 0 };
    payload[3] = value;
    switch (kind) {
    case 0: receive_frame(play, 1, 4, id, "\x88", 1); break;         /* 200 */
    case 1: receive_frame(play, 1, 5, id, "\x8d", 1); break;         /* 404, the end */
    case 2: receive_frame(play, 1, 4, id, "\x08\x03" "103", 5); break;
    case 3: receive_frame(play, 0, value & 1, id, "hello", 5); break;
    case 4: receive_frame(play, 3, 0, id, payload, 4); break;        /* RST_STREAM */
    case 5: receive_frame(play, 7, 0, 0, memcpy(payload, (uint8_t[]){ 0, 0, 0, id }, 4), 8); break;
    case 6:
        memcpy(payload, setting, 5);
        payload[5] = value;
        receive_frame(play, 4, 0, 0, payload, 6);
        break;
    case 7:
        memcpy(payload, window, 4);
        payload[4] = value;
        payload[5] = id;
        receive_frame(play, 4, 0, 0, payload, 6);
        break;
    case 8: receive_frame(play, 8, 0, value & 1 ? id : 0, (uint8_t[]){ 0, value, id, 1 }, 4); break;
    case 9: receive_frame(play, 6, value & 1, 0, payload, 8); break;
    case 10: receive_frame(play, 1, 4, id, "\x88\x0f\x0d\x01" "5", 5); break; /* Content-Length: 5 */
    case 11: receive_frame(play, 1, 5, id, "\x40\x01" "t\x01" "v", 5); break; /* a trailer */
    case 12: receive_frame(play, 1, value & 1, id, "\x88", 1); break;         /* CONTINUATION follows */
    case 13: receive_frame(play, 9, 4, id, "\x40\x01" "a\x01" "b", 5); break;
    default: receive(play, one, 1 + (kind & 3)); break;
    }
}

static void step(struct play *play)
{
    uint8_t what = next(play);
    switch (what & 7) {
    case 0: submit(play, next(play)); break;
    case 1: cancel(play, next(play)); break;
    case 2: write_out(play, SIZE_MAX); break;
    case 3: write_out(play, (size_t)next(play) << (what >> 4)); break;
    case 4: receive_some(play, what >> 3); break;
    case 5: receive_any_frame(play); break;
    default: receive_known_frame(play, what >> 4); break;
    }
}

static void end(struct play *play)
{
    struct link unfinished, *link;
    link_init(&unfinished);
    balance(play);
    play->codec->ops->end(play->codec, ERR_NONE, ++play->now, &unfinished);
    require(play->codec->active == 0 && !codec_capacity(play->codec));
    while ((link = list_shift(&unfinished)))
        take(play, container_of(link, struct exchange, link));
    for (unsigned i = 0; i < play->count; i++)
        require(play->places[i] == BACK);
    play->codec->ops->free(play->codec);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        require(requests[i].references == 1);
        free(requests[i].fields_h2);
        requests[i].fields_h2 = NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t settings[9] = { 0, 0, 0, 4 };
    struct play play = { .data = data, .size = size, .now = 1 };
    link_init(&play.finished);
    play.codec = h2_new(&play.finished, next(&play) & 15);
    if (!(next(&play) & 1))
        receive(&play, settings, sizeof settings);
    while (play.size && !play.broken) {
        step(&play);
        balance(&play);
    }
    end(&play);
    return 0;
}
