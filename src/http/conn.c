/* One connection: reading, writing, closing. How it is opened is conn_open.c's affair, which exchanges it gets that of endpoint.c. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/engine.h"

enum {
    READS_PER_EVENT = 16,
};

void conn_watch(struct conn *conn, int events)
{
    struct ev_loop *ev = conn->pool->loop->ev;
    if (ev_is_active(&conn->io) && conn->io.fd == conn->transport.fd && conn->io.events == events)
        return;
    ev_io_stop(ev, &conn->io);
    ev_io_set(&conn->io, conn->transport.fd, events);
    ev_io_start(ev, &conn->io);
}

void conn_disconnect(struct conn *conn)
{
    ev_io_stop(conn->pool->loop->ev, &conn->io);
    if (conn->transport.ops)
        conn->transport.ops->close(&conn->transport);
}

void conn_drop(struct conn *conn, enum err error, struct link *unfinished)
{
    struct pool_counts *counts = conn->endpoint->client->counts;
    if (conn->first)
        list_append(unfinished, &conn->first->link);
    conn->first = NULL;
    if (conn->codec) {
        conn->codec->ops->end(conn->codec, error, clock_ns(), unfinished);
        counts->open--;
    }
    if (conn->state >= CONN_CONNECTING && conn->state < CONN_OPEN)
        conn->pool->connecting--;
    conn->state = CONN_CLOSED;
    conn->endpoint->connections -= !conn->retired;
    conn->endpoint->active -= conn->active;
    conn->active = 0;
    tunnel_free(conn->tunnel);
    conn->tunnel = NULL;
    conn_disconnect(conn);
    timers_remove(&conn->pool->loop->timers, &conn->timer);
    list_remove(&conn->task);
    list_remove(&conn->link);
    list_append(&conn->pool->closed, &conn->link);
}

void conn_free(struct conn *conn)
{
    if (conn->codec)
        conn->codec->ops->free(conn->codec);
    free(conn);
}

/* Exchanges have come or gone. */
static void count_active(struct conn *conn, unsigned active)
{
    struct endpoint *endpoint = conn->endpoint;
    if (active < conn->active && endpoint->rises)
        endpoint->peak = endpoint->active;
    if (active != conn->active)
        endpoint->rises = active > conn->active;
    endpoint->active += active - conn->active;
    conn->active = active;
}

static void touch(struct conn *conn)
{
    if (!link_listed(&conn->task))
        list_append(&conn->pool->touched, &conn->task);
}

/* When it takes no further exchange, and ends with those inside it, another connection may take its place. That of HTTP/1 has one inside and keeps its place. */
static void retire(struct conn *conn)
{
    const struct codec *codec = conn->codec;
    if (conn->retired || !codec->streams || codec->limit || codec->paused)
        return;
    conn->retired = true;
    conn->endpoint->connections--;
}

/* A connection that takes some exchanges before its GOAWAY brings the others nearer to their turn, however often they come back: nginx ends connections all the time. */
static bool took_some(const struct conn *conn, const struct link *returned)
{
    uint64_t count = 0;
    for (const struct link *link = returned->next; link != returned; link = link->next)
        count++;
    return conn->codec->farewell && conn->requests > count;
}

/* The peer has sent exchanges back. Where it had promised room for them, it is not asked again. */
static void take_back(struct conn *conn)
{
    struct codec *codec = conn->codec;
    struct link returned;
    link_init(&returned);
    list_splice(&returned, &codec->returned);
    if (conn->state == CONN_OPEN) {
        if (codec_capacity(codec))
            codec->limit = 0;
        retire(conn);
        list_remove(&conn->link); /* it has no room for those */
        list_append(&conn->endpoint->busy, &conn->link);
    }
    endpoint_returned(conn->endpoint, &returned, took_some(conn, &returned), codec->farewell ? codec->farewell : "REFUSED_STREAM");
}

/* Closes it with all that follows from that: its exchanges are sent again or end, and those that wait get another connection. */
static void lose(struct conn *conn, enum err error, const char *text)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link unfinished;
    char words[sizeof conn->first->text] = ""; /* the text may go with the transport */
    if (text)
        snprintf(words, sizeof words, "%s", text);
    link_init(&unfinished);
    conn_drop(conn, error, &unfinished);
    if (!list_empty(&conn->codec->returned))
        take_back(conn);
    endpoint_lost(endpoint, &unfinished, error ? error : ERR_CLOSED, text ? words : conn->codec->farewell);
    endpoint_serve(endpoint);
}

/* The peer has ended it: ERR_NONE when by a regular close. */
static void lose_to_peer(struct conn *conn, enum err error)
{
    conn->endpoint->client->counts->closed_by_peer++;
    lose(conn, error, error == ERR_TLS ? conn->transport.text : NULL);
}

void conn_settle(struct conn *conn)
{
    struct endpoint *endpoint = conn->endpoint;
    struct codec *codec = conn->codec;
    if (!list_empty(&codec->returned))
        take_back(conn);
    if (!codec->active && !codec->limit && !codec->paused) {
        if (codec->peer_ends)
            lose_to_peer(conn, ERR_NONE);
        else
            lose(conn, ERR_NONE, NULL);
        return;
    }
    retire(conn);
    count_active(conn, codec->active);
    if (codec->due)
        touch(conn);
    list_remove(&conn->link);
    if (codec_capacity(codec))
        list_prepend(&endpoint->ready, &conn->link);
    else
        list_append(&endpoint->busy, &conn->link);
    if (!list_empty(&endpoint->waiting))
        endpoint_serve(endpoint);
}

/* Exchanges */

/* It is the last one on its connection. */
static bool is_last(const struct conn *conn)
{
    const struct client_options *options = conn->endpoint->client->options;
    return !options->keep_alive || (options->requests_per_connection && conn->requests >= options->requests_per_connection);
}

void conn_submit(struct conn *conn, struct exchange *exchange)
{
    struct endpoint *endpoint = conn->endpoint;
    struct codec *codec = conn->codec;
    exchange->conn = conn;
    exchange->reused = conn->requests++ > 0;
    exchange->close = is_last(conn);
    endpoint->client->counts->reused += exchange->reused;
    conn->counts->requests++;
    codec->ops->submit(codec, exchange);
    retire(conn);
    count_active(conn, codec->active);
    touch(conn);
    bool has_room = codec_capacity(codec);
    if (!has_room || codec->active >= endpoint_share(endpoint, endpoint->active)) { /* others come before it now */
        list_remove(&conn->link);
        list_append(has_room ? &endpoint->ready : &endpoint->busy, &conn->link);
    }
}

void conn_cancel(struct conn *conn, struct exchange *exchange, enum err error)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link none;
    if (conn->first == exchange) {
        exchange_fail(exchange, error, NULL);
        conn->first = NULL;
        link_init(&none);
        conn_drop(conn, error, &none);
        endpoint_serve(endpoint);
        return;
    }
    bool usable = conn->codec->ops->cancel(conn->codec, exchange);
    exchange_fail(exchange, error, NULL);
    if (usable)
        conn_settle(conn);
    else
        lose(conn, ERR_CLOSED, NULL);
}

/* Reading and writing */

static void read_some(struct conn *conn)
{
    struct codec *codec = conn->codec;
    for (int i = 0; i < READS_PER_EVENT; i++) {
        ssize_t count = conn->transport.ops->read(&conn->transport, conn->pool->buffer, POOL_BUFFER);
        if (count == TRANSPORT_WANT_READ || count == TRANSPORT_WANT_WRITE)
            break;
        if (count < 0) {
            lose_to_peer(conn, conn->transport.error);
            return;
        }
        if (count == 0) {
            lose_to_peer(conn, conn->transport.error);
            return;
        }
        const char *text = NULL;
        enum err error = codec->ops->input(codec, conn->pool->buffer, (size_t)count, clock_ns(), &text);
        conn->endpoint->client->counts->unasked += codec->unasked;
        if (error || codec->unasked) {
            lose(conn, error, text);
            return;
        }
        conn->endpoint->route->answered = true;
        if (!conn->transport.more)
            break;
    }
    conn_settle(conn);
    if ((conn->transport.held || conn->stalled) && conn->state == CONN_OPEN)
        conn_write(conn);
}

/* A write failed. What the peer sent before it closed or reset the connection may still be there to be read, the answer to a request that it did not want to read
 * to its end among it; reading also tells how it ended. */
static void write_failed(struct conn *conn)
{
    enum err error = conn->transport.error;
    read_some(conn);
    if (conn->state == CONN_OPEN)
        lose_to_peer(conn, error);
}

/* The socket or the protocol takes no more for now. */
static void wait_to_write(struct conn *conn, ssize_t written)
{
    conn->stalled = written == TRANSPORT_WANT_READ;
    conn_watch(conn, conn->stalled ? EV_READ : EV_READ | EV_WRITE);
}

void conn_write(struct conn *conn)
{
    struct codec *codec = conn->codec;
    struct iovec vectors[CODEC_VECTORS];
    int count;
    conn->stalled = false;
    do {
        size_t length = 0;
        count = codec->ops->output(codec, vectors);
        if (codec->wrong) {
            lose(conn, ERR_CLOSED, codec->wrong);
            return;
        }
        for (int i = 0; i < count; i++)
            length += vectors[i].iov_len;
        if (!length && !conn->transport.held)
            break;
        int64_t now = clock_ns();
        ssize_t written = conn->transport.ops->writev(&conn->transport, vectors, count);
        if (written == TRANSPORT_FAILED) {
            write_failed(conn);
            return;
        }
        if (written > 0)
            codec->ops->wrote(codec, (size_t)written, now);
        if (written < (ssize_t)length || conn->transport.held) {
            wait_to_write(conn, written);
            return;
        }
    } while (count >= CODEC_MORE || codec->due);
    conn_watch(conn, EV_READ);
}

void conn_ready(struct conn *conn, int events)
{
    if (conn->state != CONN_OPEN) {
        bool plain = conn->state == CONN_CONNECTING;
        conn_go_on_opening(conn);
        if (!plain || conn->state != CONN_OPEN)
            return;
        events &= EV_READ; /* what is there before the request is sent cannot be its answer */
    }
    if (events & EV_READ)
        read_some(conn);
    if (events & EV_WRITE && conn->state == CONN_OPEN)
        conn_write(conn);
}
