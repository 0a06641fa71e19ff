#include "http/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "http/engine.h"
#include "http/route.h"

/* FNV-1a of the lower-case host and the port. */
static unsigned bucket_of(const struct url *url)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < url->host_length; i++)
        hash = (hash ^ (unsigned)tolower((unsigned char)url->host[i])) * 16777619u;
    hash = (hash ^ url->port) * 16777619u;
    return hash % ORIGIN_BUCKETS;
}

static bool is_of(const struct origin *origin, const struct url *url)
{
    return origin->port == url->port && origin->tls == url->tls && !strncasecmp(origin->host, url->host, url->host_length) && !origin->host[url->host_length];
}

static struct origin *origin_new(struct pool *pool, const struct url *url)
{
    struct origin *origin = mem_zero(sizeof *origin);
    *origin = (struct origin){ .pool = pool, .host = mem_text(url->host, url->host_length), .port = url->port, .tls = url->tls };
    for (char *c = origin->host; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return origin;
}

struct origin *origin_get(struct pool *pool, const struct url *url)
{
    struct origin **bucket = &pool->origins.buckets[bucket_of(url)];
    for (struct origin *origin = *bucket; origin; origin = origin->next)
        if (is_of(origin, url))
            return origin;
    struct origin *origin = origin_new(pool, url);
    origin->next = *bucket;
    *bucket = origin;
    return origin;
}

void origins_free(struct origins *origins)
{
    for (size_t i = 0; i < ORIGIN_BUCKETS; i++) {
        struct origin *origin;
        while ((origin = origins->buckets[i])) {
            origins->buckets[i] = origin->next;
            routes_free(origin);
            free(origin->host);
            free(origin);
        }
    }
}
