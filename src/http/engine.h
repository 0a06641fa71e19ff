/* The inside of the pool, shared by pool.c (exchanges, clients, the turn), endpoint.c (which connection a request gets) and conn.c (one connection); nobody else
 * includes it.
 *
 * Rules: callbacks of the loop only read, parse, stamp and move things between lists. Writing and connecting is done by pool_flush alone, so that what a turn has
 * asked for leaves together. A connection is closed anywhere, and freed by pool_flush alone, so that no caller of conn_* holds a dangling pointer. */
#ifndef LUABENCH_HTTP_ENGINE_H
#define LUABENCH_HTTP_ENGINE_H

#include "http/codec.h"
#include "http/origin.h"
#include "http/pool.h"
#include "net/transport.h"

enum {
    POOL_CONNECTS = 128,          /* most connects in flight */
    POOL_BUFFER = 128 * 1024,     /* bytes read at a time, for all connections */
    POOL_KEEP = 16 * 1024,        /* most bytes that each buffer of a recycled exchange keeps */
};

struct pool {
    struct loop *loop;
    struct link finished; /* exchanges to be reaped */
    struct link unused;   /* exchanges to be used again */
    struct link touched;  /* connections with something to write, by conn->task */
    struct link queue;    /* connections that wait for their turn to connect, by conn->task */
    struct link closed;   /* connections to be freed, by conn->link */
    struct link clients;
    unsigned connecting;  /* connects in flight */
    struct origins origins;
    struct resolver *resolver; /* NULL until a name is asked for */
    char *buffer;
};

struct client {
    struct link link; /* pool->clients */
    struct pool *pool;
    const struct client_options *options;
    struct pool_counts *counts;
    struct link endpoints; /* the one used last first */
};

/* The connections of one client to one origin, and the exchanges that wait for one. */
struct endpoint {
    struct link link; /* client->endpoints */
    struct client *client;
    struct origin *origin;
    struct link ready;    /* connections that can take an exchange now, by conn->link; the one used last first */
    struct link busy;     /* the others */
    struct link waiting;  /* exchanges, the oldest first */
    unsigned connections; /* in ready and busy */
};

enum conn_state {
    CONN_RESOLVING,  /* in origin->waiting */
    CONN_QUEUED,     /* in pool->queue */
    CONN_CONNECTING, /* one of pool->connecting */
    CONN_OPEN,
    CONN_CLOSED,     /* in pool->closed */
};

struct conn {
    ev_io io;
    struct transport transport;
    struct pool *pool;
    struct endpoint *endpoint;
    struct codec *codec;    /* NULL until open */
    struct exchange *first; /* the one it is opened for; NULL when open */
    struct link link;       /* endpoint->ready, ->busy or pool->closed */
    struct link task;       /* what it waits for: origin->waiting, pool->queue, pool->touched */
    struct timer timer;     /* runs while it is being opened */
    int64_t began;          /* of resolving, then of connecting */
    int64_t deadline;       /* of both together */
    uint64_t requests;      /* submitted on it so far */
    size_t turn;            /* which address it began with */
    const char *text;       /* why the addresses tried so far failed */
    enum err error;
    uint16_t tried;         /* addresses */
    uint8_t state;          /* enum conn_state */
};

/* endpoint.c */

/* The client's endpoint of that origin, made on first use. */
struct endpoint *endpoint_get(struct client *client, struct origin *origin);
/* Gives the exchange to a ready connection, to a new one, or lets it wait. */
void endpoint_submit(struct endpoint *endpoint, struct exchange *exchange);
/* Serves the waiting as far as there are connections or may be more of them. */
void endpoint_serve(struct endpoint *endpoint);
/* The exchanges of a connection that died with `error`: each is sent again on a new connection, where the rule allows that, or ends. `text` is said of the first
 * one, NULL: how far it had come. */
void endpoint_lost(struct endpoint *endpoint, struct link *exchanges, enum err error, const char *text);
/* Ends an exchange that is in no list; `text` NULL: how far it had come. */
void exchange_fail(struct exchange *exchange, enum err error, const char *text);

/* conn.c */

/* Begins to open a connection for `exchange`. */
void conn_new(struct endpoint *endpoint, struct exchange *exchange);
/* The addresses of its origin are there, or `why` not. */
void conn_resolved(struct conn *conn, const char *why);
/* Takes its turn to connect. */
void conn_connect(struct conn *conn);
/* Gives it an exchange; only when codec_capacity() > 0. */
void conn_submit(struct conn *conn, struct exchange *exchange);
/* Writes what its codec has. */
void conn_write(struct conn *conn);
/* Gives up an exchange that is on it or that it is opened for, which ends with `error`. */
void conn_cancel(struct conn *conn, struct exchange *exchange, enum err error);
/* Closes it; it is freed by the next pool_flush. Exchanges that cannot be completed are moved to `unfinished`; `error` ERR_NONE: the peer has closed its side. */
void conn_drop(struct conn *conn, enum err error, struct link *unfinished);
void conn_free(struct conn *conn);

/* h1.c */
struct codec *h1_new(struct link *finished, bool lenient);

#endif
