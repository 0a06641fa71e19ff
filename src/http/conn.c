/* One connection: resolving, connecting, reading, writing, closing. Which exchanges it gets is endpoint.c's affair. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/engine.h"
#include "net/tcp.h"

enum {
    READS_PER_EVENT = 16,
    ADDRESS_MS = 1000, /* for one address while there are others left to try */
};

static void watch(struct conn *conn, int events)
{
    struct ev_loop *ev = conn->pool->loop->ev;
    if (ev_is_active(&conn->io) && conn->io.fd == conn->transport.fd && conn->io.events == events)
        return;
    ev_io_stop(ev, &conn->io);
    ev_io_set(&conn->io, conn->transport.fd, events);
    ev_io_start(ev, &conn->io);
}

/* Takes its descriptor out of the loop and closes it. */
static void disconnect(struct conn *conn)
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
    if (conn->state == CONN_CONNECTING)
        conn->pool->connecting--;
    conn->state = CONN_CLOSED;
    conn->endpoint->connections--;
    disconnect(conn);
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

/* Closes it with all that follows from that: its exchanges are sent again or end, and those that wait get another connection. */
static void lose(struct conn *conn, enum err error, const char *text)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link unfinished;
    link_init(&unfinished);
    conn_drop(conn, error, &unfinished);
    endpoint_lost(endpoint, &unfinished, error ? error : ERR_CLOSED, text);
    endpoint_serve(endpoint);
}

/* The peer has ended it: ERR_NONE when by a regular close. */
static void lose_to_peer(struct conn *conn, enum err error)
{
    conn->endpoint->client->counts->closed_by_peer++;
    lose(conn, error, NULL);
}

/* Puts it into the list it belongs to after exchanges have come or gone. */
static void settle(struct conn *conn)
{
    struct endpoint *endpoint = conn->endpoint;
    if (!conn->codec->active && !conn->codec->limit) {
        if (conn->codec->peer_ends)
            lose_to_peer(conn, ERR_NONE);
        else
            lose(conn, ERR_NONE, NULL);
        return;
    }
    list_remove(&conn->link);
    if (codec_capacity(conn->codec))
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
    struct pool *pool = conn->pool;
    exchange->conn = conn;
    exchange->reused = conn->requests++ > 0;
    exchange->close = is_last(conn);
    conn->endpoint->client->counts->reused += exchange->reused;
    conn->codec->ops->submit(conn->codec, exchange);
    if (!link_listed(&conn->task))
        list_append(&pool->touched, &conn->task);
    if (!codec_capacity(conn->codec)) {
        list_remove(&conn->link);
        list_append(&conn->endpoint->busy, &conn->link);
    }
}

void conn_cancel(struct conn *conn, struct exchange *exchange, enum err error)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link none;
    if (conn->first == exchange) {
        conn->first = NULL;
        exchange_fail(exchange, error, NULL);
        link_init(&none);
        conn_drop(conn, error, &none);
        endpoint_serve(endpoint);
        return;
    }
    bool usable = conn->codec->ops->cancel(conn->codec, exchange);
    exchange_fail(exchange, error, NULL);
    if (usable)
        settle(conn);
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
        if (count == 0 || !codec->active) { /* what comes unasked is never an answer */
            lose_to_peer(conn, ERR_NONE);
            return;
        }
        const char *text = NULL;
        enum err error = codec->ops->input(codec, conn->pool->buffer, (size_t)count, clock_ns(), &text);
        if (error) {
            lose(conn, error, text);
            return;
        }
        if (count < POOL_BUFFER)
            break;
    }
    settle(conn);
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

void conn_write(struct conn *conn)
{
    struct codec *codec = conn->codec;
    struct iovec vectors[CODEC_VECTORS];
    int count;
    do {
        size_t length = 0;
        count = codec->ops->output(codec, vectors);
        for (int i = 0; i < count; i++)
            length += vectors[i].iov_len;
        if (!length)
            break;
        int64_t now = clock_ns();
        ssize_t written = conn->transport.ops->writev(&conn->transport, vectors, count);
        if (written == TRANSPORT_FAILED) {
            write_failed(conn);
            return;
        }
        if (written > 0)
            codec->ops->wrote(codec, (size_t)written, now);
        if (written < (ssize_t)length) {
            watch(conn, EV_READ | EV_WRITE);
            return;
        }
    } while (count >= CODEC_MORE);
    watch(conn, EV_READ);
}

/* Opening */

/* It cannot be opened. */
static void fail(struct conn *conn, enum err error, const char *text)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link unfinished;
    link_init(&unfinished);
    exchange_fail(conn->first, error, text);
    conn->first = NULL;
    conn_drop(conn, error, &unfinished);
    endpoint_serve(endpoint);
}

/* It can carry exchanges now. */
static void opened(struct conn *conn)
{
    struct pool_counts *counts = conn->endpoint->client->counts;
    struct exchange *first = conn->first;
    conn->pool->connecting--;
    timers_clear(&conn->timer);
    conn->state = CONN_OPEN;
    conn->codec = h1_new(&conn->pool->finished, conn->endpoint->client->options->lenient);
    counts->opened++;
    if (++counts->open > counts->max_open)
        counts->max_open = counts->open;
    watch(conn, EV_READ);
    first->connect = clock_ns() - conn->began;
    conn->first = NULL;
    conn_submit(conn, first);
    settle(conn);
}

/* Of several errors, that of a connect says more than one that a local address or port was missing for another family. */
static void keep_error(struct conn *conn)
{
    if (conn->error == ERR_CONNECT)
        return;
    conn->error = conn->transport.error;
    conn->text = conn->transport.text;
}

static void try_addresses(struct conn *conn)
{
    struct origin *origin = conn->endpoint->origin;
    while (conn->tried < origin->count) {
        const struct address *address = &origin->addresses[(conn->turn + conn->tried++) % origin->count];
        int64_t limit = conn->tried < origin->count ? ns_after(clock_ns(), ADDRESS_MS * NS_PER_MS) : NS_NEVER;
        timers_set(&conn->pool->loop->timers, &conn->timer, limit < conn->deadline ? limit : conn->deadline);
        int result = tcp_connect(&conn->transport, address);
        if (result == 0) {
            opened(conn);
            return;
        }
        if (result != TRANSPORT_FAILED) {
            watch(conn, result == TRANSPORT_WANT_READ ? EV_READ : EV_WRITE);
            return;
        }
        keep_error(conn);
        disconnect(conn);
    }
    origin->stale = !origin->literal;
    fail(conn, conn->error ? conn->error : ERR_CONNECT, conn->text);
}

static void go_on_opening(struct conn *conn)
{
    int result = conn->transport.ops->open(&conn->transport);
    if (result == 0) {
        opened(conn);
    } else if (result == TRANSPORT_FAILED) {
        keep_error(conn);
        disconnect(conn);
        try_addresses(conn);
    } else {
        watch(conn, result == TRANSPORT_WANT_READ ? EV_READ : EV_WRITE);
    }
}

/* The time for one address or for the whole is over. */
static void on_timeout(struct timer *timer)
{
    struct conn *conn = container_of(timer, struct conn, timer);
    if (conn->state == CONN_CONNECTING && clock_ns() < conn->deadline) {
        conn->transport.error = ERR_CONNECT;
        conn->transport.text = "no answer from its address";
        keep_error(conn);
        disconnect(conn);
        try_addresses(conn);
    } else {
        fail(conn, ERR_CONNECT_TIMEOUT, NULL);
    }
}

static void on_io(struct ev_loop *ev, ev_io *io, int events)
{
    (void)ev;
    struct conn *conn = container_of(io, struct conn, io);
    if (conn->state == CONN_CONNECTING) {
        go_on_opening(conn);
        return;
    }
    if (events & EV_READ)
        read_some(conn);
    if (events & EV_WRITE && conn->state == CONN_OPEN)
        conn_write(conn);
}

void conn_connect(struct conn *conn)
{
    struct origin *origin = conn->endpoint->origin;
    conn->pool->connecting++;
    conn->state = CONN_CONNECTING;
    conn->began = clock_ns();
    if (conn->deadline == 0)
        conn->deadline = ns_after(conn->began, conn->endpoint->client->options->connect_timeout);
    conn->first->assigned = conn->began - conn->first->dns;
    conn->turn = origin->turn++;
    try_addresses(conn);
}

static void queue(struct conn *conn)
{
    conn->state = CONN_QUEUED;
    list_append(&conn->pool->queue, &conn->task);
}

void conn_resolved(struct conn *conn, const char *why)
{
    conn->first->dns = clock_ns() - conn->began;
    if (why)
        fail(conn, ERR_DNS, why);
    else
        queue(conn);
}

static void resolve(struct conn *conn)
{
    struct origin *origin = conn->endpoint->origin;
    conn->state = CONN_RESOLVING;
    conn->began = conn->first->assigned = clock_ns();
    conn->deadline = ns_after(conn->began, conn->endpoint->client->options->connect_timeout);
    timers_set(&conn->pool->loop->timers, &conn->timer, conn->deadline);
    list_append(&origin->waiting, &conn->task);
    origin_ask(origin);
}

void conn_new(struct endpoint *endpoint, struct exchange *exchange)
{
    struct conn *conn = mem_zero(sizeof *conn);
    conn->pool = endpoint->client->pool;
    conn->endpoint = endpoint;
    conn->first = exchange;
    conn->transport.fd = -1;
    exchange->conn = conn;
    exchange->assigned = 0;
    ev_io_init(&conn->io, on_io, -1, 0);
    timer_init(&conn->timer, on_timeout);
    link_init(&conn->task);
    link_init(&conn->link);
    endpoint->connections++;
    list_append(&endpoint->busy, &conn->link);
    if (endpoint->origin->stale)
        resolve(conn);
    else
        queue(conn);
}
