#include "serve/server_conn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/tcp.h"
#include "net/tls.h"
#include "serve/server.h"

enum {
    MAX_HELD = 64 * 1024, /* a connection that has this much waiting is not read from */
    MAX_WRITES = 16,      /* in a row, of one connection */
    KEPT = 4096,
    READS_PER_SECOND = 20, /* of a slow reader */
};

static const int64_t linger_time = 2 * NS_PER_SECOND; /* RFC 9112 9.6 */

/* How every connection over HTTP/2 begins (RFC 9113 3.4). */
static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum { PREFACE = sizeof preface - 1 };

void server_conn_close(struct server_conn *conn)
{
    struct loop *loop = &conn->server->loop;
    if (conn->session)
        conn->session->free(conn);
    timers_remove(&loop->timers, &conn->linger);
    timers_remove(&loop->timers, &conn->pause);
    ev_io_stop(loop->ev, &conn->io);
    conn->transport.ops->close(&conn->transport);
    list_remove(&conn->link);
    buf_free(&conn->held);
    free(conn);
}

/* Waits for `events` (EV_READ, EV_WRITE or 0) from now on; costs nothing when it does already. */
static void watch(struct server_conn *conn, int events)
{
    struct ev_loop *ev = conn->server->loop.ev;
    int watched = ev_is_active(&conn->io) ? conn->io.events & (EV_READ | EV_WRITE) : 0;
    if (conn->paused || conn->peer_ended)
        events &= ~EV_READ;
    if (watched != events) {
        ev_io_stop(ev, &conn->io);
        ev_io_set(&conn->io, conn->io.fd, events);
        if (events)
            ev_io_start(ev, &conn->io);
    }
    if (events & EV_READ && conn->transport.more && conn->transport.tls)
        ev_feed_event(ev, &conn->io, EV_READ); /* what TLS has read already is no event of the socket's */
}

/* Finds out what the client speaks: false when too few bytes have come to tell. */
static bool is_known(struct server_conn *conn, const char *data, size_t length)
{
    if (conn->session)
        return true;
    unsigned accept = conn->server->manners->accept;
    bool begins = accept & TLS_HTTP2 && !memcmp(data, preface, length < PREFACE ? length : PREFACE);
    if (begins && length < PREFACE && accept & TLS_HTTP1)
        return false;
    conn->session = begins || !(accept & TLS_HTTP1) ? &session_h2 : &session_h1;
    conn->session->open(conn);
    return true;
}

enum flushed { FLUSHED, BLOCKED, BROKEN };

static int output(struct server_conn *conn, struct iovec vectors[SESSION_VECTORS])
{
    return conn->session ? conn->session->output(conn, vectors) : 0;
}

/* Writes what there is. BLOCKED: the socket does not take it, and is watched until it does. BROKEN: the connection is closed and gone. */
static enum flushed flush(struct server_conn *conn)
{
    struct transport *transport = &conn->transport;
    struct iovec vectors[SESSION_VECTORS];
    for (int writes = 0, count; (count = output(conn, vectors)) || transport->held; writes++) {
        ssize_t length = writes < MAX_WRITES ? transport->ops->writev(transport, vectors, count) : TRANSPORT_WANT_WRITE;
        if (length == TRANSPORT_FAILED) {
            server_conn_close(conn);
            return BROKEN;
        }
        if (length > 0)
            conn->session->wrote(conn, (size_t)length);
        else if (length < 0 || transport->held) {
            watch(conn, EV_WRITE | (conn->session && conn->session->reads_always ? EV_READ : 0));
            return BLOCKED;
        }
    }
    return FLUSHED;
}

/* A socket that is disconnected resets its connection at once, and cannot say goodbye when it is closed. */
static void reset(struct server_conn *conn)
{
    struct sockaddr nobody = { .sa_family = AF_UNSPEC };
    connect(conn->transport.fd, &nobody, sizeof nobody);
    server_conn_close(conn);
}

static void on_linger_end(struct timer *timer)
{
    server_conn_close(container_of(timer, struct server_conn, linger));
}

/* All is said. Closing a socket that has unread bytes resets it, and the client may lose the answer: so only our side is closed where more may come. */
static void end(struct server_conn *conn)
{
    bool more = conn->refused || conn->held.length || conn->session == &session_h2;
    if (conn->ending == ENDS_BY_RESET) {
        reset(conn);
        return;
    }
    if (conn->ending || !more || conn->peer_ended || shutdown(conn->transport.fd, SHUT_WR)) {
        server_conn_close(conn);
        return;
    }
    conn->lingering = true;
    buf_free(&conn->held);
    watch(conn, EV_READ);
    timers_set(&conn->server->loop.timers, &conn->linger, clock_ns() + linger_time);
}

/* Nothing is to be written and nothing to be given to the session: what the connection waits for. */
static void settle(struct server_conn *conn)
{
    if (conn->ending || (conn->session && conn->session->ended(conn)))
        end(conn);
    else if (conn->delayed)
        watch(conn, conn->held.length >= MAX_HELD ? 0 : EV_READ);
    else if (conn->peer_ended)
        end(conn);
    else
        watch(conn, EV_READ);
}

void server_conn_advance(struct server_conn *conn)
{
    while (flush(conn) == FLUSHED) {
        struct buf *held = &conn->held;
        size_t taken = held->length && is_known(conn, held->data, held->length) ? conn->session->input(conn, held->data, held->length) : 0;
        if (!taken) {
            settle(conn);
            return;
        }
        buf_consume(held, taken);
        if (!held->length)
            buf_clear(held, KEPT);
    }
}

static void take(struct server_conn *conn, const char *data, size_t length)
{
    size_t taken = !conn->held.length && is_known(conn, data, length) ? conn->session->input(conn, data, length) : 0;
    buf_append(&conn->held, data + taken, length - taken);
    server_conn_advance(conn);
}

static void on_pause_end(struct timer *timer)
{
    struct server_conn *conn = container_of(timer, struct server_conn, pause);
    conn->paused = false;
    if (conn->lingering)
        watch(conn, EV_READ);
    else
        server_conn_advance(conn);
}

/* After `length` bytes of a client that is to be read slowly. */
static void pause_reading(struct server_conn *conn, size_t length)
{
    conn->paused = true;
    timers_set(&conn->server->loop.timers, &conn->pause, clock_ns() + (int64_t)(length * NS_PER_SECOND / conn->server->manners->read_rate));
}

static size_t room(const struct server *server)
{
    size_t rate = server->manners->read_rate;
    if (!rate || rate / READS_PER_SECOND >= SERVER_INPUT)
        return SERVER_INPUT;
    return rate < READS_PER_SECOND ? 1 : rate / READS_PER_SECOND;
}

static void read_some(struct server_conn *conn)
{
    struct transport *transport = &conn->transport;
    char *input = conn->server->input;
    ssize_t length = transport->ops->read(transport, input, room(conn->server));
    if (length > 0 && conn->server->manners->read_rate)
        pause_reading(conn, (size_t)length);
    conn->peer_ended = length == 0;
    if (length == TRANSPORT_FAILED || (conn->peer_ended && !conn->delayed))
        server_conn_close(conn);
    else if (length > 0 && !conn->lingering)
        take(conn, input, (size_t)length);
    else if (!conn->lingering)
        server_conn_advance(conn);
    else
        watch(conn, EV_READ);
}

/* The client's choice decides what is spoken; one that makes none is listened to. What came with the end of the handshake is read already, and so is read here. */
static void begin(struct server_conn *conn)
{
    unsigned protocol = conn->transport.tls ? tls_agreed(&conn->transport).protocol : 0;
    conn->opening = false;
    if (protocol) {
        conn->session = protocol == TLS_HTTP2 ? &session_h2 : &session_h1;
        conn->session->open(conn);
    }
    read_some(conn);
}

/* The handshake is over, or waits for something. */
static void opened(struct server_conn *conn, int result)
{
    if (!result)
        begin(conn);
    else if (result == TRANSPORT_FAILED)
        server_conn_close(conn);
    else
        watch(conn, result == TRANSPORT_WANT_WRITE ? EV_WRITE : EV_READ);
}

static void on_io(struct ev_loop *ev, ev_io *io, int events)
{
    struct server_conn *conn = container_of(io, struct server_conn, io);
    if (conn->opening)
        opened(conn, conn->transport.ops->open(&conn->transport));
    else if (events & EV_READ)
        read_some(conn);
    else
        server_conn_advance(conn);
}

void server_conn_open(struct server *server, int fd)
{
    struct server_conn *conn = mem_zero(sizeof *conn);
    conn->server = server;
    tcp_adopt(&conn->transport, fd);
    timer_init(&conn->linger, on_linger_end);
    timer_init(&conn->pause, on_pause_end);
    list_append(&server->conns, &conn->link);
    ev_io_init(&conn->io, on_io, fd, EV_READ);
    ev_io_start(server->loop.ev, &conn->io);
    conn->opening = server->manners->tls;
    if (conn->opening)
        opened(conn, tls_accept(&conn->transport, server->manners->tls));
}
