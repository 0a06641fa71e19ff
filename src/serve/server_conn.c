#include "serve/server_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/h1_server.h"
#include "serve/server.h"

enum {
    MAX_HELD = 64 * 1024,    /* a connection that has this much waiting is not read from */
    MAX_BACKLOG = 64 * 1024, /* no further request is answered while this much is to be written */
    KEPT = 4096,
};

static const int64_t linger_time = 2 * NS_PER_SECOND; /* RFC 9112 9.6 */

void server_conn_close(struct server_conn *conn)
{
    struct loop *loop = &conn->server->loop;
    timers_remove(&loop->timers, &conn->linger);
    timers_remove(&loop->timers, &h1_server_incoming(conn->codec)->timer);
    ev_io_stop(loop->ev, &conn->io);
    close(conn->io.fd);
    list_remove(&conn->link);
    h1_server_free(conn->codec);
    buf_free(&conn->held);
    free(conn);
}

/* Waits for `events` (EV_READ, EV_WRITE or 0) from now on; costs nothing when it does already. */
static void watch(struct server_conn *conn, int events)
{
    struct ev_loop *ev = conn->server->loop.ev;
    int watched = ev_is_active(&conn->io) ? conn->io.events & (EV_READ | EV_WRITE) : 0;
    if (watched == events)
        return;
    ev_io_stop(ev, &conn->io);
    ev_io_set(&conn->io, conn->io.fd, events);
    if (events)
        ev_io_start(ev, &conn->io);
}

/* Reads up to `size` bytes: their count, 0 when there are none now, -1 at the end of the stream (peer_ended is set then) or when the connection is broken. */
static ssize_t receive(struct server_conn *conn, char *data, size_t size)
{
    ssize_t length = recv(conn->io.fd, data, size, 0);
    if (length > 0)
        return length;
    if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    conn->peer_ended = length == 0;
    return -1;
}

/* Writes what it can of `vectors`: the bytes taken, 0 when none can be taken now, -1 when the connection is broken. */
static ssize_t transmit(struct server_conn *conn, struct iovec *vectors, int count)
{
    struct msghdr message = { .msg_iov = vectors, .msg_iovlen = (size_t)count };
    ssize_t length = count == 1 ? send(conn->io.fd, vectors->iov_base, vectors->iov_len, MSG_NOSIGNAL) : sendmsg(conn->io.fd, &message, MSG_NOSIGNAL);
    if (length >= 0)
        return length;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

enum flushed { FLUSHED, BLOCKED, BROKEN };

/* One write of what the codec has to send. BLOCKED: there is more, and the socket is watched until it takes it. BROKEN: the connection is closed and gone. */
static enum flushed flush(struct server_conn *conn)
{
    struct iovec vectors[H1_SERVER_VECTORS];
    int count = h1_server_output(conn->codec, vectors);
    if (!count)
        return FLUSHED;
    ssize_t length = transmit(conn, vectors, count);
    if (length < 0) {
        server_conn_close(conn);
        return BROKEN;
    }
    h1_server_wrote(conn->codec, (size_t)length);
    if (!h1_server_output(conn->codec, vectors))
        return FLUSHED;
    watch(conn, EV_WRITE);
    return BLOCKED;
}

static void answer(struct server_conn *conn, struct incoming *incoming)
{
    pages_count(&conn->server->pages, incoming);
    h1_server_answer(conn->codec);
}

/* A request is whole: answers it, now or after its delay. */
static void serve(struct server_conn *conn, struct incoming *incoming)
{
    struct server *server = conn->server;
    pages_answer(&server->pages, incoming);
    if (!incoming->answer.delay) {
        answer(conn, incoming);
        return;
    }
    conn->delaying = true;
    timers_set(&server->loop.timers, &incoming->timer, ns_after(clock_ns(), incoming->answer.delay));
}

static void refuse(struct server_conn *conn, struct incoming *incoming)
{
    conn->refused = true;
    pages_refuse(incoming);
    answer(conn, incoming);
}

static void handle(struct server_conn *conn, enum h1_server_event event)
{
    struct incoming *incoming = h1_server_incoming(conn->codec);
    if (event == H1_SERVER_HEAD) {
        incoming->keep_body = pages_want_body(incoming);
        event = h1_server_accept(conn->codec);
    }
    if (event == H1_SERVER_REQUEST)
        serve(conn, incoming);
    else if (event == H1_SERVER_REFUSED)
        refuse(conn, incoming);
}

static bool can_feed(const struct server_conn *conn)
{
    return !conn->delaying && h1_server_reading(conn->codec) && h1_server_backlog(conn->codec) < MAX_BACKLOG;
}

/* Gives bytes to the codec until it wants no more; returns how many it took. */
static size_t feed(struct server_conn *conn, const char *data, size_t length)
{
    size_t at = 0, taken;
    while (at < length && can_feed(conn)) {
        enum h1_server_event event = h1_server_input(conn->codec, data + at, length - at, &taken);
        at += taken;
        handle(conn, event);
    }
    return at;
}

static void on_linger_end(struct timer *timer)
{
    server_conn_close(container_of(timer, struct server_conn, linger));
}

/* All is said. Closing a socket that has unread bytes resets it, and the client may lose the answer: so only our side is closed where more may come. */
static void end(struct server_conn *conn)
{
    bool more = conn->refused || conn->held.length;
    if (!more || conn->peer_ended || shutdown(conn->io.fd, SHUT_WR)) {
        server_conn_close(conn);
        return;
    }
    conn->lingering = true;
    buf_free(&conn->held);
    watch(conn, EV_READ);
    timers_set(&conn->server->loop.timers, &conn->linger, clock_ns() + linger_time);
}

/* Nothing is to be written and nothing to be fed: what the connection waits for. */
static void settle(struct server_conn *conn)
{
    if (conn->delaying)
        watch(conn, conn->peer_ended || conn->held.length >= MAX_HELD ? 0 : EV_READ);
    else if (h1_server_ended(conn->codec) || conn->peer_ended)
        end(conn);
    else
        watch(conn, EV_READ);
}

/* Goes on as far as it can: writes what there is, feeds what was held. May close the connection. */
static void advance(struct server_conn *conn)
{
    while (flush(conn) == FLUSHED) {
        size_t taken = conn->held.length ? feed(conn, conn->held.data, conn->held.length) : 0;
        if (!taken) {
            settle(conn);
            return;
        }
        buf_consume(&conn->held, taken);
        if (!conn->held.length)
            buf_clear(&conn->held, KEPT);
    }
}

static void on_delay_end(struct timer *timer)
{
    struct incoming *incoming = container_of(timer, struct incoming, timer);
    struct server_conn *conn = incoming->owner;
    conn->delaying = false;
    answer(conn, incoming);
    advance(conn);
}

static void take(struct server_conn *conn, const char *data, size_t length)
{
    size_t taken = conn->held.length ? 0 : feed(conn, data, length);
    buf_append(&conn->held, data + taken, length - taken);
    advance(conn);
}

static void read_some(struct server_conn *conn)
{
    char *input = conn->server->input;
    ssize_t length = receive(conn, input, SERVER_INPUT);
    if (length > 0 && !conn->lingering)
        take(conn, input, (size_t)length);
    else if (length < 0 && conn->peer_ended && conn->delaying)
        watch(conn, 0);
    else if (length < 0)
        server_conn_close(conn);
}

static void on_io(struct ev_loop *ev, ev_io *io, int events)
{
    struct server_conn *conn = container_of(io, struct server_conn, io);
    if (events & EV_WRITE)
        advance(conn);
    else
        read_some(conn);
}

void server_conn_open(struct server *server, int fd)
{
    struct server_conn *conn = mem_zero(sizeof *conn);
    conn->server = server;
    conn->codec = h1_server_new();
    struct incoming *incoming = h1_server_incoming(conn->codec);
    incoming->owner = conn;
    timer_init(&incoming->timer, on_delay_end);
    timer_init(&conn->linger, on_linger_end);
    list_append(&server->conns, &conn->link);
    ev_io_init(&conn->io, on_io, fd, EV_READ);
    ev_io_start(server->loop.ev, &conn->io);
}
