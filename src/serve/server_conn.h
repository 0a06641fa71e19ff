/* One connection of the built-in target: moves bytes between its socket, or the TLS on it, and what is spoken on it (session.h).
 *
 * Usually one read brings a request and one write takes the answer. What a session does not take yet is kept up to a limit, then left in the socket: a client that
 * does not read is not read from. */
#ifndef LUABENCH_SERVE_SERVER_CONN_H
#define LUABENCH_SERVE_SERVER_CONN_H

#include <ev.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/timers.h"
#include "http/h2_server.h"
#include "net/transport.h"
#include "serve/session.h"

struct server;

enum ending {
    GOES_ON,
    ENDS_AT_ONCE,  /* closed once what there is to write is written, whatever the client is doing */
    ENDS_BY_RESET, /* the same, with a reset */
};

struct server_conn {
    struct link link; /* in the server's list */
    struct server *server;
    ev_io io;
    struct transport transport;
    const struct session_ops *session; /* NULL: not known yet */
    union {
        struct h1_server *h1;
        struct h2_server *h2;
    };
    struct buf held;     /* read, not taken by the session yet */
    unsigned delayed;    /* answers that are held back by the timers of their requests */
    uint64_t requests;   /* of HTTP/1.1; counted only when they are limited */
    enum ending ending;
    bool opening;        /* the handshake of TLS is going on */
    bool peer_ended;     /* the client has closed its side; what it asked before is still answered */
    bool refused;        /* a request was not understood, so that what follows it is thrown away */
    bool lingering;      /* all is sent and our side closed: reads what still comes, so that no reset destroys the last answer */
    bool paused;         /* nothing is read until `pause` ends */
    struct timer linger, pause;
    struct timer restore; /* HTTP/2: the limits of the connection are changed until then */
    struct h2_server_options limits;
};

/* Takes over the connected, non-blocking socket. */
void server_conn_open(struct server *server, int fd);
/* Closes the socket and frees the connection. */
void server_conn_close(struct server_conn *conn);
/* Goes on as far as it can: writes what there is, gives the session what was held. May close the connection. */
void server_conn_advance(struct server_conn *conn);

#endif
