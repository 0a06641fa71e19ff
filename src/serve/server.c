#define _GNU_SOURCE
#include "serve/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/server_conn.h"

enum { ACCEPTS = 64 /* at most, per turn of the loop */ };

static const int64_t accept_pause = 50 * NS_PER_MS;

/* A listening socket stays readable while nothing can be accepted, so it must not be watched then. */
static void suspend_accepting(struct server *server, int error)
{
    static atomic_bool said;
    ev_io_stop(server->loop.ev, &server->accepting);
    timers_set(&server->loop.timers, &server->accept_again, clock_ns() + accept_pause);
    if (!atomic_exchange(&said, true))
        fprintf(stderr, "luabench serve: cannot accept a connection: %s; they wait until others are closed\n", strerror(error));
}

static void on_accept_again(struct timer *timer)
{
    struct server *server = container_of(timer, struct server, accept_again);
    ev_io_start(server->loop.ev, &server->accepting);
}

/* False when nothing more is to be accepted now. */
static bool accept_one(struct server *server)
{
    int one = 1, fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        server_conn_open(server, fd);
        return true;
    }
    if (errno == ECONNABORTED || errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        suspend_accepting(server, errno);
    return false;
}

static void on_accept(struct ev_loop *ev, ev_io *io, int events)
{
    struct server *server = container_of(io, struct server, accepting);
    for (int i = 0; i < ACCEPTS && accept_one(server); i++)
        ;
}

bool server_init(struct server *server, int listener, const struct manners *manners, struct tally *tallies, int index, int count, const atomic_bool *stopping)
{
    *server = (struct server){ .listener = listener, .manners = manners, .pages = { .tallies = tallies, .index = index, .count = count, .stopping = stopping } };
    link_init(&server->conns);
    if (!loop_init(&server->loop)) {
        close(listener);
        return false;
    }
    server->input = mem_zero(SERVER_INPUT);
    timer_init(&server->accept_again, on_accept_again);
    ev_io_init(&server->accepting, on_accept, listener, EV_READ);
    ev_io_start(server->loop.ev, &server->accepting);
    return true;
}

void server_run(struct server *server)
{
    while (!atomic_load_explicit(server->pages.stopping, memory_order_relaxed))
        loop_poll(&server->loop, true);
}

void server_free(struct server *server)
{
    while (!list_empty(&server->conns))
        server_conn_close(container_of(server->conns.next, struct server_conn, link));
    ev_io_stop(server->loop.ev, &server->accepting);
    close(server->listener);
    loop_free(&server->loop);
    free(server->input);
}
