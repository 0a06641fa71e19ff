#include "serve/session.h"

#include "serve/server.h"
#include "serve/server_conn.h"

static const struct fault no_fault = { .kind = FAULT_NONE };

static void answer(struct server_conn *conn, struct incoming *incoming, const struct fault *fault)
{
    pages_count(&conn->server->pages, incoming);
    conn->session->answer(conn, incoming, fault);
}

static void on_delay_end(struct timer *timer)
{
    struct incoming *incoming = container_of(timer, struct incoming, timer);
    struct server_conn *conn = incoming->owner;
    conn->delayed--;
    answer(conn, incoming, &no_fault);
    server_conn_advance(conn);
}

void session_serve(struct server_conn *conn, struct incoming *incoming)
{
    struct fault fault = no_fault;
    pages_answer(&conn->server->pages, incoming, &fault);
    if (!incoming->answer.delay) {
        answer(conn, incoming, &fault);
        return;
    }
    conn->delayed++;
    incoming->owner = conn;
    timers_remove(&conn->server->loop.timers, &incoming->timer);
    timer_init(&incoming->timer, on_delay_end);
    timers_set(&conn->server->loop.timers, &incoming->timer, ns_after(clock_ns(), incoming->answer.delay));
}

void session_refuse(struct server_conn *conn, struct incoming *incoming)
{
    pages_refuse(incoming);
    answer(conn, incoming, &no_fault);
}

void session_forget(struct server_conn *conn, struct incoming *incoming)
{
    if (incoming->timer.position)
        conn->delayed--;
    timers_remove(&conn->server->loop.timers, &incoming->timer);
}
