/* The client's HTTP/2 codec and the server's, joined by memory: bytes go to and fro in pieces of random lengths, each in memory of its own size, until neither side
 * has anything to say. */
#ifndef LUABENCH_TESTS_UNIT_H2_PAIR_H
#define LUABENCH_TESTS_UNIT_H2_PAIR_H

#include <stdio.h>

#include "base/mem.h"
#include "http/engine.h"
#include "http/h2_server.h"
#include "test.h"

enum { MOST_EXCHANGES = 64 };

struct pair {
    struct codec *codec;
    struct h2_server *server;
    struct link finished, returned;
    uint64_t seed;
    size_t most;           /* longest piece that is moved at once */
    int64_t now;
    enum err broken;       /* what the client ended with */
    char text[200];
    const char *refused;   /* what the server ended with */
    bool deaf;             /* the server reads nothing */
    /* The router: a request whose body follows (true: it was answered or reset), a whole one, one that is gone. NULL: accepted; echoed; nothing. */
    bool (*on_head)(struct pair *, struct incoming *);
    void (*on_request)(struct pair *, struct incoming *);
    void (*on_gone)(struct pair *, struct incoming *);
    unsigned requests, gone; /* seen by the router */
    uint64_t sent, received; /* bytes, by the client */
};

static struct origin pair_origin;
static struct request pair_request = { .references = 1, .method = "GET", .path = "/", .origin = &pair_origin };
static struct exchange exchanges[MOST_EXCHANGES];

static inline void pair_open(struct pair *pair, const struct h2_server_options *options, unsigned streams)
{
    link_init(&pair->finished);
    link_init(&pair->returned);
    pair->codec = h2_new(&pair->finished, streams);
    pair->server = h2_server_new(options);
    pair->seed = pair->seed ? pair->seed : 1;
    pair->most = pair->most ? pair->most : 30000;
    pair->now = 1;
    pair_request.bytes = "GET / HTTP/1.1\r\nHost: example.com\r\n";
}

static inline void pair_close(struct pair *pair)
{
    struct link unfinished;
    link_init(&unfinished);
    pair->codec->ops->end(pair->codec, ERR_NONE, pair->now, &unfinished);
    pair->codec->ops->free(pair->codec);
    h2_server_free(pair->server);
    for (size_t i = 0; i < MOST_EXCHANGES; i++) {
        buf_free(&exchanges[i].head);
        buf_free(&exchanges[i].body);
    }
    memset(exchanges, 0, sizeof exchanges);
    free(pair_request.fields_h2);
    pair_request.fields_h2 = NULL;
}

/* A piece of what the vectors hold, in memory of its own; its length. */
static inline size_t cut_piece(struct pair *pair, const struct iovec *vectors, int count, char **piece)
{
    size_t length = 0, at = 0;
    for (int i = 0; i < count; i++)
        length += vectors[i].iov_len;
    if (!length)
        return 0;
    size_t limit = 1 + random_below(&pair->seed, pair->most);
    length = length < limit ? length : limit;
    *piece = malloc(length);
    for (int i = 0; i < count && at < length; i++) {
        size_t taken = vectors[i].iov_len < length - at ? vectors[i].iov_len : length - at;
        memcpy(*piece + at, vectors[i].iov_base, taken);
        at += taken;
    }
    return length;
}

static inline void echo(struct incoming *in)
{
    in->answer.status = 200;
    in->answer.content = (struct content){ in->body.data, in->body.length, in->body.length };
}

static inline void route(struct pair *pair, struct incoming *in, enum h2_server_event event)
{
    if (event == H2_SERVER_HEAD) {
        in->keep_body = true;
        if (pair->on_head && pair->on_head(pair, in))
            return;
        event = h2_server_accept(pair->server, in);
    }
    if (event == H2_SERVER_REQUEST) {
        pair->requests++;
        if (pair->on_request) {
            pair->on_request(pair, in);
            return;
        }
        echo(in);
        h2_server_answer(pair->server, in);
    } else if (event == H2_SERVER_REFUSED) {
        h2_server_answer(pair->server, in);
    } else if (event == H2_SERVER_GONE) {
        pair->gone++;
        if (pair->on_gone)
            pair->on_gone(pair, in);
    }
}

static inline void route_all(struct pair *pair)
{
    enum h2_server_event event;
    struct incoming *in;
    while ((in = h2_server_next(pair->server, &event)))
        route(pair, in, event);
}

/* One piece from the client to the server; false: there was none. */
static inline bool move_up(struct pair *pair)
{
    struct iovec vectors[CODEC_VECTORS];
    char *piece;
    int count = pair->codec->ops->output(pair->codec, vectors);
    size_t length = cut_piece(pair, vectors, count, &piece);
    if (!length)
        return false;
    pair->sent += length;
    pair->codec->ops->wrote(pair->codec, length, ++pair->now);
    if (!pair->refused)
        pair->refused = h2_server_input(pair->server, piece, length);
    free(piece);
    route_all(pair);
    return true;
}

static inline bool move_down(struct pair *pair)
{
    struct iovec vectors[H2_SERVER_VECTORS];
    char *piece;
    const char *text = NULL;
    size_t length = cut_piece(pair, vectors, h2_server_output(pair->server, vectors), &piece);
    if (!length)
        return false;
    pair->received += length;
    h2_server_wrote(pair->server, length);
    if (!pair->broken)
        pair->broken = pair->codec->ops->input(pair->codec, piece, length, ++pair->now, &text);
    if (pair->broken && text)
        snprintf(pair->text, sizeof pair->text, "%s", text);
    free(piece);
    list_splice(&pair->returned, &pair->codec->returned);
    return true;
}

/* Moves until both are silent. */
static inline void play(struct pair *pair)
{
    for (bool moved = true; moved;) {
        moved = !pair->deaf && move_up(pair);
        moved = move_down(pair) || moved;
    }
}

static inline struct exchange *submit(struct pair *pair, int index, const char *content, size_t length)
{
    struct exchange *exchange = &exchanges[index];
    *exchange = (struct exchange){ .request = &pair_request, .content = content, .content_length = length, .max_body = SIZE_MAX, .started = pair->now };
    link_init(&exchange->link);
    pair_request.length = strlen(pair_request.bytes);
    assert_true(codec_capacity(pair->codec) > 0);
    pair->codec->ops->submit(pair->codec, exchange);
    return exchange;
}

static inline unsigned length_of(const struct link *list)
{
    unsigned count = 0;
    for (const struct link *link = list->next; link != list; link = link->next)
        count++;
    return count;
}

static inline bool is_finished(const struct exchange *exchange, int status)
{
    return exchange->finished && !exchange->error && exchange->status == status;
}

#endif
