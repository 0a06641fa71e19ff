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
#include "http/route.h"
#include "net/transport.h"

enum {
    POOL_CONNECTS = 128,          /* most connects in flight */
    POOL_BUFFER = 128 * 1024,     /* bytes read at a time, for all connections */
    POOL_KEEP = 16 * 1024,        /* most bytes that each buffer of a recycled exchange keeps */
    POOL_KEEP_LARGE = 64 << 20,   /* beside that, most bytes that those of large bodies keep together: fresh memory costs as much as filling it */
};

struct pool {
    struct loop *loop;
    struct link finished; /* exchanges to be reaped */
    struct link unused;   /* exchanges to be used again */
    size_t large;         /* bytes in those buffers of their bodies that are larger than POOL_KEEP */
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
    struct route *route;
    enum http_version version; /* what is wanted */
    struct link ready;    /* connections that can take an exchange now, by conn->link; the one used last first */
    struct link busy;     /* the others */
    struct link waiting;  /* exchanges, the oldest first */
    unsigned connections; /* in ready and busy, without those that are retired */
    unsigned active;      /* exchanges on them */
    unsigned peak;        /* how many there were before the answers that were read last */
    bool rises;           /* exchanges have come since */
};

enum conn_state {
    CONN_RESOLVING,  /* in route->waiting */
    CONN_QUEUED,     /* in pool->queue */
    CONN_CONNECTING, /* this and what follows: one of pool->connecting */
    CONN_TUNNELLING, /* the proxy is asked for a tunnel */
    CONN_SECURING,   /* the TLS handshake */
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
    struct link task;       /* what it waits for: route->waiting, pool->queue, pool->touched */
    struct timer timer;     /* runs while it is being opened */
    int64_t began;          /* of resolving, then of connecting, then of the handshake */
    int64_t deadline;       /* of all together */
    uint64_t requests;      /* submitted on it so far */
    size_t turn;            /* which place it began with */
    const char *text;       /* why the places tried so far failed; static */
    enum err error;
    uint16_t tried;         /* places */
    struct address_counts *counts; /* of the place that is tried or connected; NULL: none */
    struct tunnel *tunnel;  /* while the proxy is asked for one */
    bool stalled;           /* a write waits for something to be read */
    unsigned active;        /* what endpoint->active has of it */
    bool retired;           /* HTTP/2: it takes no further exchange and ends with those inside; another one may take its place */
    uint8_t state;          /* enum conn_state */
};

/* endpoint.c */

/* The client's endpoint for the origin of that request and the version it wants, made on first use. */
struct endpoint *endpoint_get(struct client *client, const struct request *request);
/* Gives the exchange to a ready connection, to a new one, or lets it wait. */
void endpoint_submit(struct endpoint *endpoint, struct exchange *exchange);
/* Serves the waiting as far as there are connections or may be more of them. */
void endpoint_serve(struct endpoint *endpoint);
/* The exchanges of a connection that died with `error`: each is sent again on a new connection, where the rule allows that, or ends. `text` is said of the first
 * one, NULL: how far it had come. */
void endpoint_lost(struct endpoint *endpoint, struct link *exchanges, enum err error, const char *text);
/* The exchanges that a connection hands back because the peer has not processed them: each is sent again, once unless `often`, or ends. `text`: how the peer
 * said so. */
void endpoint_returned(struct endpoint *endpoint, struct link *exchanges, bool often, const char *text);
/* Ends an exchange that is in no list; `text` NULL: how far it had come. */
void exchange_fail(struct exchange *exchange, enum err error, const char *text);

/* What each connection has, rounded up, when there are `active` exchanges, or as many as before the last answers: a turn that makes its requests in several rounds
 * fills one connection after another, and not all of them in every round. */
static inline unsigned endpoint_share(const struct endpoint *endpoint, unsigned active)
{
    unsigned all = active > endpoint->peak ? active : endpoint->peak;
    return endpoint->connections > 1 ? (all + endpoint->connections - 1) / endpoint->connections : all;
}

/* Which version a connection of it speaks; HTTP_AUTO: not known yet. */
static inline enum http_version endpoint_version(const struct endpoint *endpoint)
{
    if (endpoint->version != HTTP_AUTO)
        return endpoint->version;
    return endpoint->origin->tls ? (enum http_version)endpoint->route->agreed : HTTP_1_1;
}

/* conn_open.c */

/* Begins to open a connection for `exchange`. */
void conn_new(struct endpoint *endpoint, struct exchange *exchange);
/* The places of its route are there, or `why` not. */
void conn_resolved(struct conn *conn, const char *why);
/* Takes its turn to connect. */
void conn_connect(struct conn *conn);
/* Something can be read or written while it is being opened. */
void conn_go_on_opening(struct conn *conn);

/* conn.c */

/* What the loop is to tell of: EV_READ, EV_WRITE. */
void conn_watch(struct conn *conn, int events);
/* The loop has told of them. */
void conn_ready(struct conn *conn, int events);
/* Takes its descriptor out of the loop and closes it. */
void conn_disconnect(struct conn *conn);
/* Puts it into the list it belongs to after exchanges have come or gone. */
void conn_settle(struct conn *conn);
/* Gives it an exchange; only when codec_capacity() > 0. */
void conn_submit(struct conn *conn, struct exchange *exchange);
/* Writes what its codec has. */
void conn_write(struct conn *conn);
/* Gives up an exchange that is on it or that it is opened for, which ends with `error`. */
void conn_cancel(struct conn *conn, struct exchange *exchange, enum err error);
/* Closes it; it is freed by the next pool_flush. Exchanges that cannot be completed are moved to `unfinished`; `error` ERR_NONE: the peer has closed its side. */
void conn_drop(struct conn *conn, enum err error, struct link *unfinished);
void conn_free(struct conn *conn);

/* tunnel.c: CONNECT (RFC 9110 9.3.6) */

/* For a tunnel through `proxy` to the origin. */
struct tunnel *tunnel_new(const struct proxy *proxy, const struct origin *origin);
/* Goes on; as ops->open: 0 when the tunnel is there. */
int tunnel_open(struct tunnel *tunnel, struct transport *transport);
/* NULL does nothing. */
void tunnel_free(struct tunnel *tunnel);

/* h1.c */
struct codec *h1_new(struct link *finished, bool lenient);

/* h2.c: at most `streams` exchanges at a time; 0: as many as the peer allows */
struct codec *h2_new(struct link *finished, unsigned streams);

#endif
