/* Whom requests are sent to: scheme, host and port, and the addresses of that host. Kept by the pool and made once for each origin, so that pointers can be
 * compared; lives as long as the pool. */
#ifndef LUABENCH_HTTP_ORIGIN_H
#define LUABENCH_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "http/url.h"
#include "net/resolve.h"

struct pool;

struct origin {
    struct origin *next; /* in its bucket */
    struct pool *pool;
    char *host;          /* lower case */
    uint16_t port;
    bool tls;
    bool literal;        /* the host is an address: nothing to resolve */
    bool asking;         /* a question is with the resolver */
    bool stale;          /* no address or none that worked: the next connection asks again */
    struct address *addresses;
    size_t count;
    size_t turn;         /* counts connections: each begins with the next address */
    struct link waiting; /* connections that wait for the addresses, by conn->task */
};

enum { ORIGIN_BUCKETS = 256 };

struct origins {
    struct origin *buckets[ORIGIN_BUCKETS];
};

/* The pool's origin of that URL. */
struct origin *origin_get(struct pool *pool, const struct url *url);
/* Asks for the addresses, unless that is being done already; then calls conn_resolved for each waiting connection. */
void origin_ask(struct origin *origin);
void origins_free(struct origins *origins);

#endif
