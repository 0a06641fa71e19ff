/* A connection that speaks HTTP/2: many requests at a time. */
#include "http/h2_server.h"
#include "serve/server.h"
#include "serve/server_conn.h"

_Static_assert((int)H2_SERVER_VECTORS <= (int)SESSION_VECTORS, "room for the vectors");

static void handle(struct server_conn *conn, struct incoming *incoming, enum h2_server_event event);

/* The limits are again what they were at first. */
static void on_restore(struct timer *timer)
{
    struct server_conn *conn = container_of(timer, struct server_conn, restore);
    conn->limits = conn->server->manners->h2;
    h2_server_limits(conn->h2, conn->limits.max_streams, conn->limits.window);
    server_conn_advance(conn);
}

static void h2_open(struct server_conn *conn)
{
    conn->limits = conn->server->manners->h2;
    conn->h2 = h2_server_new(&conn->limits);
    timer_init(&conn->restore, on_restore);
}

static void take_events(struct server_conn *conn)
{
    struct incoming *incoming;
    enum h2_server_event event;
    while ((incoming = h2_server_next(conn->h2, &event)))
        handle(conn, incoming, event);
}

static void h2_free(struct server_conn *conn)
{
    h2_server_abandon(conn->h2);
    take_events(conn);
    timers_remove(&conn->server->loop.timers, &conn->restore);
    h2_server_free(conn->h2);
}

static void change_limits(struct server_conn *conn, const struct fault *fault)
{
    struct timers *timers = &conn->server->loop.timers;
    if (fault->kind == FAULT_STREAMS)
        conn->limits.max_streams = fault->number;
    else
        conn->limits.window = fault->number;
    h2_server_limits(conn->h2, conn->limits.max_streams, conn->limits.window);
    if (fault->lasts)
        timers_set(timers, &conn->restore, ns_after(clock_ns(), fault->lasts));
}

/* Has what the answer of the request brings with it; an answer that breaks off is the codec's affair. */
static void apply(struct server_conn *conn, const struct fault *fault)
{
    switch (fault->kind) {
    case FAULT_STREAMS:
    case FAULT_WINDOW:
        change_limits(conn, fault);
        break;
    case FAULT_GOAWAY:
        h2_server_goaway(conn->h2, fault->number);
        break;
    case FAULT_CLOSE:
        conn->ending = ENDS_AT_ONCE;
        break;
    case FAULT_RESET:
    case FAULT_NONE:
        break;
    }
}

static void h2_answer(struct server_conn *conn, struct incoming *incoming, const struct fault *fault)
{
    if (incoming->answer.status)
        h2_server_answer(conn->h2, incoming);
    else if (fault->kind == FAULT_RESET)
        h2_server_reset(conn->h2, incoming, fault->number);
    apply(conn, fault);
}

/* A body that would be refused is refused before it comes. */
static void handle_head(struct server_conn *conn, struct incoming *incoming)
{
    pages_prepare(incoming);
    if (!incoming->max_body) {
        incoming->answer.status = 413;
        incoming->why = "the body is too large";
        session_refuse(conn, incoming);
        return;
    }
    enum h2_server_event event = h2_server_accept(conn->h2, incoming);
    if (event != H2_SERVER_MORE)
        handle(conn, incoming, event);
}

static void handle(struct server_conn *conn, struct incoming *incoming, enum h2_server_event event)
{
    switch (event) {
    case H2_SERVER_HEAD:
        handle_head(conn, incoming);
        break;
    case H2_SERVER_REQUEST:
        session_serve(conn, incoming);
        break;
    case H2_SERVER_REFUSED:
        session_refuse(conn, incoming);
        break;
    case H2_SERVER_GONE:
        session_forget(conn, incoming);
        break;
    case H2_SERVER_MORE:
        break;
    }
}

static size_t h2_input(struct server_conn *conn, const char *data, size_t length)
{
    if (!h2_server_input(conn->h2, data, length))
        take_events(conn);
    return length;
}

static int h2_output(struct server_conn *conn, struct iovec vectors[SESSION_VECTORS])
{
    return h2_server_output(conn->h2, vectors);
}

static void h2_wrote(struct server_conn *conn, size_t length)
{
    h2_server_wrote(conn->h2, length);
}

static bool h2_ended(const struct server_conn *conn)
{
    return h2_server_ended(conn->h2);
}

const struct session_ops session_h2 = {
    .open = h2_open,
    .free = h2_free,
    .input = h2_input,
    .output = h2_output,
    .wrote = h2_wrote,
    .ended = h2_ended,
    .answer = h2_answer,
    .reads_always = true,
};
