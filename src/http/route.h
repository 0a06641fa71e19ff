/* Where the connections of a group of clients to one origin go: to the addresses of its name, or where their options say (another host, known addresses, a Unix
 * socket, a proxy). Made once for each origin and client_options; lives as long as the pool. Also keeps what connections to the same place hand on to each
 * other: whose turn it is, the TLS session. */
#ifndef LUABENCH_HTTP_ROUTE_H
#define LUABENCH_HTTP_ROUTE_H

#include "base/list.h"
#include "http/origin.h"
#include "http/pool.h"

struct place {
    struct address address;
    struct address_counts *counts;
    int64_t shunned_until; /* ns: it could not be reached, and no connection begins with it before then while there are others */
};

struct route {
    struct route *next; /* of the origin */
    struct origin *origin;
    const struct client_options *options;
    struct pool_counts *counts;
    const char *host;    /* whose addresses are wanted */
    uint16_t port;
    bool proxied;        /* what is there is a proxy */
    bool known;          /* the places need not be asked for */
    bool asking;         /* a question is with the resolver */
    bool stale;          /* no place or none that worked: the next connection asks again */
    bool answered;       /* a byte of an answer has come from there */
    uint8_t agreed;      /* enum http_version: what ALPN brought last */
    struct place *places;
    size_t count;
    size_t turn;         /* of the places: each connection begins with the next one */
    size_t source;       /* likewise: and comes from the next local address */
    struct link waiting; /* connections that wait for the places, by conn->task */
    struct tls_session session;
};

/* The route of that origin under these options, whose connections are counted in `counts`. */
struct route *route_get(struct origin *origin, const struct client_options *options, struct pool_counts *counts);
/* Asks for the addresses, unless that is being done already; then calls conn_resolved for each waiting connection. */
void route_ask(struct route *route);
/* The local address for the next connection to `to`; NULL: any. *why, unless NULL, says in words that there is none of its family. */
const struct address *route_source(struct route *route, const struct address *to, const char **why);
/* Which of the places a connection begins with `now`: each in turn, without those that could not be reached lately unless that is so of all. */
size_t route_begin(struct route *route, int64_t now);
/* The place could not be reached. */
void route_shun(struct place *place, int64_t now);
void routes_free(struct origin *origin);

#endif
