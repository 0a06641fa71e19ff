/* Whom requests are sent to: scheme, host and port. Kept by the pool and made once for each origin, so that pointers can be compared; lives as long as the pool.
 * Where its connections go is a route's affair. */
#ifndef LUABENCH_HTTP_ORIGIN_H
#define LUABENCH_HTTP_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "http/url.h"

struct pool;
struct route;

struct origin {
    struct origin *next; /* in its bucket */
    struct pool *pool;
    char *host;          /* lower case; an IPv6 address without its brackets */
    uint16_t port;
    bool tls;
    struct route *routes;
};

enum { ORIGIN_BUCKETS = 256 };

struct origins {
    struct origin *buckets[ORIGIN_BUCKETS];
};

/* The pool's origin of that URL. */
struct origin *origin_get(struct pool *pool, const struct url *url);
void origins_free(struct origins *origins);

#endif
