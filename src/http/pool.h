/* All that the script layer sees of HTTP: submit an exchange, get it back finished. The pool owns the connections of a worker, opens and closes them, and tells
 * nobody: finished exchanges are kept until pool_reap, so that no code of the script layer runs inside an I/O callback.
 *
 * Ownership: an exchange belongs to the pool from pool_submit until pool_reap returns it. Clients and requests belong to the caller. */
#ifndef LUABENCH_HTTP_POOL_H
#define LUABENCH_HTTP_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"
#include "http/request.h"
#include "net/loop.h"

/* Who shares connections: a user of its own, or all users of a scenario. */
struct client;

struct client_options {
    unsigned connections;             /* most connections to one origin over HTTP/1.1 */
    bool keep_alive;                  /* false: every request on a new connection, with Connection: close */
    bool retry;                       /* send again once when a reused connection died before any byte of the answer (script-api section 4) */
    bool lenient;                     /* --lenient-http */
    uint64_t requests_per_connection; /* 0: no limit */
    int64_t connect_timeout;          /* ns, name resolution included */
};

/* Counters over the life of the pool, by client group: a struct that the caller owns and several clients may point at. */
struct pool_counts {
    uint64_t opened, reused, closed_by_peer, open, max_open;
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
