/* One connection of the built-in target: moves bytes between its socket and its codec, lets pages.c answer the requests, holds delayed answers back.
 *
 * Usually one read brings a request and one write takes the answer. While an answer is delayed or the client does not read, what arrives is kept up to a limit, then
 * left in the socket: a client that does not read is not read from. */
#ifndef LUABENCH_SERVE_SERVER_CONN_H
#define LUABENCH_SERVE_SERVER_CONN_H

#include <ev.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/timers.h"

struct server;

struct server_conn {
    struct link link; /* in the server's list */
    struct server *server;
    ev_io io;
    struct h1_server *codec;
    struct buf held;     /* read, not taken by the codec yet */
    bool delaying;       /* an answer is held back by the timer of its request */
    bool peer_ended;     /* the client has closed its side; what it asked before is still answered */
    bool refused;        /* a request was not understood, so that what follows it is thrown away */
    bool lingering;      /* all is sent and our side closed: reads what still comes, so that no reset destroys the last answer */
    struct timer linger;
};

/* Takes over the connected, non-blocking socket. */
void server_conn_open(struct server *server, int fd);
/* Closes the socket and frees the connection. */
void server_conn_close(struct server_conn *conn);

#endif
