/* All that the script layer sees of HTTP: submit an exchange, get it back finished. The pool owns the connections of a worker, opens and closes them, and tells
 * nobody: finished exchanges are kept until pool_reap, so that no code of the script layer runs inside an I/O callback.
 *
 * Ownership: an exchange belongs to the pool from pool_submit until pool_reap returns it. Clients and requests belong to the caller. */
#ifndef LUABENCH_HTTP_POOL_H
#define LUABENCH_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/counts.h"
#include "http/exchange.h"
#include "http/request.h"
#include "net/loop.h"
#include "net/resolve.h"
#include "net/tls.h"

/* Who shares connections: a user of its own, or all users of a scenario. */
struct client;

enum http_version {
    HTTP_AUTO, /* over TLS what ALPN brings, in the clear HTTP/1.1 */
    HTTP_1_1,
    HTTP_2,    /* over TLS by ALPN, in the clear by prior knowledge */
};

/* --connect-to: connections for one host and port go to another. */
struct connect_to {
    const char *from_host, *host; /* lower case, without brackets; NULL: any, and the same */
    uint16_t from_port, port;     /* 0: any, and the same */
};

/* --resolve: the addresses of a host and port are known. */
struct known_host {
    const char *host; /* lower case, without brackets; NULL: any */
    uint16_t port;
    const struct address *addresses; /* with any port */
    size_t address_count;
};

/* An HTTP proxy: requests in the clear are sent to it, everything else goes through a tunnel (CONNECT). */
struct proxy {
    const char *host;
    uint16_t port;
    const char *authorization; /* value of Proxy-Authorization, or NULL */
};

/* What the pointers point at must outlive the clients. */
struct client_options {
    unsigned connections;             /* most connections to one origin; over HTTP/2 one, unless `shared` */
    bool shared;                      /* by many users: there are as many connections over HTTP/2, too */
    unsigned pipeline;                /* most requests at a time on a connection over HTTP/1.1; 0: one */
    unsigned streams;                 /* most requests at a time on a connection over HTTP/2; 0: as many as the peer allows */
    bool keep_alive;                  /* false: every request on a new connection, with Connection: close */
    bool retry;                       /* send again once when a reused connection died before any byte of the answer (script-api section 4) */
    bool lenient;                     /* --lenient-http */
    uint64_t requests_per_connection; /* 0: no limit */
    int64_t connect_timeout;          /* ns; name resolution, proxy and TLS handshake included */
    enum http_version version;
    struct tls_context *tls;          /* NULL: https cannot be requested */
    int family;                       /* AF_INET or AF_INET6: addresses of that family alone; AF_UNSPEC */
    const struct connect_to *connect_to; /* the first that fits counts */
    size_t connect_to_count;
    const struct known_host *known_hosts; /* likewise; looked at after connect_to */
    size_t known_host_count;
    const char *unix_socket;          /* where all connections go; NULL: to where the URL says */
    const struct address *sources;    /* addresses that connections come from, in turn; with port 0 */
    size_t source_count;
    const struct proxy *proxy;        /* NULL: none */
};

struct pool *pool_new(struct loop *loop);
/* Closes all connections. Exchanges still inside are interrupted and can be reaped before that by pool_cancel alone. */
void pool_free(struct pool *pool);

/* `options` and `counts` must outlive the client. */
struct client *client_new(struct pool *pool, const struct client_options *options, struct pool_counts *counts);
/* Closes its connections; it must have no exchange in the pool. */
void client_free(struct client *client);
/* Closes its idle connections (a new visitor begins). */
void client_reset(struct client *client);

/* A fresh or recycled exchange, all fields at zero, error ERR_NONE, deadline NS_NEVER, max_body unlimited. */
struct exchange *pool_exchange(struct pool *pool);
/* Gives a reaped exchange back, and its reference on the request. */
void pool_recycle(struct pool *pool, struct exchange *exchange);

/* Takes the exchange. It always comes back exactly once, and never inside this call. */
void pool_submit(struct pool *pool, struct client *client, struct exchange *exchange);
/* Ends an exchange that is in the pool and has not finished, with `error`: it is finished when this returns, and is reaped like any other. */
void pool_cancel(struct pool *pool, struct exchange *exchange, enum err error);
/* One write for each connection that was given something since the last flush. */
void pool_flush(struct pool *pool);
/* The next finished exchange, or NULL. */
struct exchange *pool_reap(struct pool *pool);
/* True when pool_reap would return one. */
bool pool_finished(const struct pool *pool);

#endif
