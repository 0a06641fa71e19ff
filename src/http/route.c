#include "http/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/engine.h"

enum { SHUNNED_S = 10 };

/* Options */

static bool fits(const char *host, uint16_t port, const char *wanted_host, uint16_t wanted_port)
{
    return (!wanted_host || !strcmp(wanted_host, host)) && (!wanted_port || wanted_port == port);
}

static void apply_connect_to(struct route *route)
{
    for (size_t i = 0; i < route->options->connect_to_count; i++) {
        const struct connect_to *rule = &route->options->connect_to[i];
        if (!fits(route->host, route->port, rule->from_host, rule->from_port))
            continue;
        route->host = rule->host ? rule->host : route->host;
        route->port = rule->port ? rule->port : route->port;
        return;
    }
}

static const struct known_host *find_known(const struct route *route)
{
    for (size_t i = 0; i < route->options->known_host_count; i++) {
        const struct known_host *known = &route->options->known_hosts[i];
        if (fits(route->host, route->port, known->host, known->port))
            return known;
    }
    return NULL;
}

/* Places */

static bool wanted(const struct route *route, const struct address *address)
{
    return route->options->family == AF_UNSPEC || address->any.sa_family == AF_UNIX || address->any.sa_family == route->options->family;
}

/* Replaces the places by those of the addresses that are of a wanted family, if there are any. */
static bool set_places(struct route *route, const struct address *addresses, size_t count)
{
    struct place *places = mem_array(count, sizeof *places);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!wanted(route, &addresses[i]))
            continue;
        struct place *place = &places[used++];
        place->address = addresses[i];
        address_set_port(&place->address, route->port);
        place->counts = counts_of_address(route->counts, &place->address);
    }
    if (!used) {
        free(places);
        return false;
    }
    free(route->places);
    route->places = places;
    route->count = used;
    return true;
}

/* Places that need not be asked for. */
static void set_known_places(struct route *route)
{
    struct address address;
    const struct known_host *known = find_known(route);
    route->known = true;
    if (route->options->unix_socket) {
        address_local(&address, route->options->unix_socket);
        set_places(route, &address, 1);
    } else if (known) {
        set_places(route, known->addresses, known->address_count);
    } else if (address_literal(&address, route->host, route->port)) {
        set_places(route, &address, 1);
    } else {
        route->known = false;
        route->stale = true;
    }
}

static struct route *route_new(struct origin *origin, const struct client_options *options, struct pool_counts *counts)
{
    struct route *route = mem_zero(sizeof *route);
    *route = (struct route){ .next = origin->routes, .origin = origin, .options = options, .counts = counts, .host = origin->host, .port = origin->port };
    link_init(&route->waiting);
    if (options->proxy) {
        route->host = options->proxy->host;
        route->port = options->proxy->port;
        route->proxied = true;
    } else {
        apply_connect_to(route);
    }
    set_known_places(route);
    origin->routes = route;
    return route;
}

struct route *route_get(struct origin *origin, const struct client_options *options, struct pool_counts *counts)
{
    for (struct route *route = origin->routes; route; route = route->next)
        if (route->options == options)
            return route;
    return route_new(origin, options, counts);
}

static void answered(void *context, struct resolved resolved)
{
    struct route *route = context;
    struct link waiting, *link;
    const char *why = resolved.why;
    route->asking = false;
    if (resolved.count && set_places(route, resolved.addresses, resolved.count))
        route->stale = false;
    else if (resolved.count)
        why = "it has no address of the family asked for (-4, -6)";
    free(resolved.addresses);
    link_init(&waiting);
    list_splice(&waiting, &route->waiting);
    while ((link = list_shift(&waiting)))
        conn_resolved(container_of(link, struct conn, task), why);
}

void route_ask(struct route *route)
{
    struct pool *pool = route->origin->pool;
    if (route->asking)
        return;
    if (!pool->resolver)
        pool->resolver = resolver_new(pool->loop);
    route->asking = true;
    resolver_ask(pool->resolver, route->host, route->port, answered, route);
}

const struct address *route_source(struct route *route, const struct address *to, const char **why)
{
    const struct client_options *options = route->options;
    *why = NULL;
    if (to->any.sa_family == AF_UNIX)
        return NULL;
    for (size_t i = 0; i < options->source_count; i++) {
        const struct address *source = &options->sources[route->source++ % options->source_count];
        if (source->any.sa_family == to->any.sa_family)
            return source;
    }
    if (options->source_count)
        *why = "none of the source addresses is of the family of its address";
    return NULL;
}

size_t route_begin(struct route *route, int64_t now)
{
    for (size_t i = 0; i < route->count; i++) {
        size_t index = (route->turn + i) % route->count;
        if (route->places[index].shunned_until > now)
            continue;
        route->turn = index + 1;
        return index;
    }
    return route->turn++;
}

void route_shun(struct place *place, int64_t now)
{
    place->shunned_until = ns_after(now, SHUNNED_S * NS_PER_SECOND);
}

void routes_free(struct origin *origin)
{
    struct route *route;
    while ((route = origin->routes)) {
        origin->routes = route->next;
        tls_session_free(&route->session);
        free(route->places);
        free(route);
    }
}
