/* A connection that speaks HTTP/1.1: one request at a time. */
#include "http/h1_server.h"
#include "serve/server.h"
#include "serve/server_conn.h"

enum { MAX_BACKLOG = 64 * 1024 /* no further request is answered while this much is to be written */ };

_Static_assert((int)H1_SERVER_VECTORS <= (int)SESSION_VECTORS, "room for the vectors");

static void h1_open(struct server_conn *conn)
{
    conn->h1 = h1_server_new();
}

static void h1_free(struct server_conn *conn)
{
    session_forget(conn, h1_server_incoming(conn->h1));
    h1_server_free(conn->h1);
}

/* What a fault that concerns streams means to a connection without them. */
static void h1_answer(struct server_conn *conn, struct incoming *incoming, const struct fault *fault)
{
    uint64_t limit = conn->server->manners->h2.goaway_after;
    if (fault->kind == FAULT_GOAWAY || (limit && ++conn->requests >= limit))
        incoming->keep_alive = false;
    if (fault->kind == FAULT_RESET)
        conn->ending = ENDS_BY_RESET;
    else if (fault->kind == FAULT_CLOSE)
        conn->ending = ENDS_AT_ONCE;
    if (incoming->answer.status)
        h1_server_answer(conn->h1);
}

static void handle(struct server_conn *conn, enum h1_server_event event)
{
    struct incoming *incoming = h1_server_incoming(conn->h1);
    if (event == H1_SERVER_HEAD) {
        pages_prepare(incoming);
        event = h1_server_accept(conn->h1);
    }
    if (event == H1_SERVER_REQUEST) {
        session_serve(conn, incoming);
    } else if (event == H1_SERVER_REFUSED) {
        conn->refused = true;
        session_refuse(conn, incoming);
    }
}

static bool can_feed(const struct server_conn *conn)
{
    return !conn->delayed && !conn->ending && h1_server_reading(conn->h1) && h1_server_backlog(conn->h1) < MAX_BACKLOG;
}

static size_t h1_input(struct server_conn *conn, const char *data, size_t length)
{
    size_t at = 0, taken;
    while (at < length && can_feed(conn)) {
        enum h1_server_event event = h1_server_input(conn->h1, data + at, length - at, &taken);
        at += taken;
        handle(conn, event);
    }
    return at;
}

static int h1_output(struct server_conn *conn, struct iovec vectors[SESSION_VECTORS])
{
    return h1_server_output(conn->h1, vectors);
}

static void h1_wrote(struct server_conn *conn, size_t length)
{
    h1_server_wrote(conn->h1, length);
}

static bool h1_ended(const struct server_conn *conn)
{
    return h1_server_ended(conn->h1);
}

const struct session_ops session_h1 = {
    .open = h1_open,
    .free = h1_free,
    .input = h1_input,
    .output = h1_output,
    .wrote = h1_wrote,
    .ended = h1_ended,
    .answer = h1_answer,
};
