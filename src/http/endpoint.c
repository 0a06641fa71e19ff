#include <stdio.h>

#include "base/mem.h"
#include "http/engine.h"

enum { LOOKED_AT = 16 }; /* connections, when one is chosen */

static struct endpoint *endpoint_new(struct client *client, struct origin *origin, enum http_version version)
{
    struct endpoint *endpoint = mem_zero(sizeof *endpoint);
    endpoint->client = client;
    endpoint->origin = origin;
    endpoint->route = route_get(origin, client->options, client->counts);
    endpoint->version = version;
    link_init(&endpoint->ready);
    link_init(&endpoint->busy);
    link_init(&endpoint->waiting);
    list_prepend(&client->endpoints, &endpoint->link);
    return endpoint;
}

static struct endpoint *endpoint_find(struct client *client, struct origin *origin, enum http_version version)
{
    for (struct link *link = client->endpoints.next; link != &client->endpoints; link = link->next) {
        struct endpoint *endpoint = container_of(link, struct endpoint, link);
        if (endpoint->origin != origin || endpoint->version != version)
            continue;
        list_remove(link);
        list_prepend(&client->endpoints, link);
        return endpoint;
    }
    return endpoint_new(client, origin, version);
}

struct endpoint *endpoint_get(struct client *client, const struct request *request)
{
    struct endpoint *first = container_of(client->endpoints.next, struct endpoint, link);
    enum http_version version = request->version < 0 ? client->options->version : (enum http_version)request->version;
    if (!list_empty(&client->endpoints) && first->origin == request->origin && first->version == version)
        return first;
    return endpoint_find(client, request->origin, version);
}

/* A user's own requests share one connection over HTTP/2; until it is known what the peer speaks, one is opened to find out. */
static bool may_open(const struct endpoint *endpoint)
{
    const struct client_options *options = endpoint->client->options;
    unsigned most = options->shared || endpoint_version(endpoint) == HTTP_1_1 ? options->connections : 1;
    return endpoint->connections < most;
}

static struct conn *conn_at(const struct link *link)
{
    return container_of(link, struct conn, link);
}

/* Of the ready connections, NULL when there is none, the first that has less than its share, so that those of which answers have just been read are used first and
 * what was asked for in one turn leaves in few writes; otherwise that with the fewest exchanges among the first few. */
static struct conn *pick(const struct endpoint *endpoint)
{
    const struct link *link = endpoint->ready.next;
    if (link == &endpoint->ready)
        return NULL;
    unsigned share = endpoint_share(endpoint, endpoint->active + 1);
    struct conn *best = conn_at(link);
    for (int i = 1; i < LOOKED_AT && best->codec->active >= share && (link = link->next) != &endpoint->ready; i++)
        if (conn_at(link)->codec->active < best->codec->active)
            best = conn_at(link);
    return best;
}

/* A connection for one more exchange, there `now`: true when it was given one. Streams are shared when there may be no further connection. */
static bool assign(struct endpoint *endpoint, struct exchange *exchange, int64_t now)
{
    struct conn *conn = pick(endpoint);
    if ((!conn || conn->codec->active) && may_open(endpoint)) {
        conn_new(endpoint, exchange);
        return true;
    }
    if (!conn)
        return false;
    exchange->assigned = now;
    conn_submit(conn, exchange);
    return true;
}

void endpoint_submit(struct endpoint *endpoint, struct exchange *exchange)
{
    if (!list_empty(&endpoint->waiting) || !assign(endpoint, exchange, exchange->started))
        list_append(&endpoint->waiting, &exchange->link);
}

void endpoint_serve(struct endpoint *endpoint)
{
    struct link *link;
    while ((link = list_shift(&endpoint->waiting))) {
        if (assign(endpoint, container_of(link, struct exchange, link), clock_ns()))
            continue;
        list_prepend(&endpoint->waiting, link);
        return;
    }
}

/* Failing */

/* A server of TLS ends a connection on which it gets something else, mostly without a word. */
static bool may_want_tls(const struct exchange *exchange)
{
    const struct endpoint *endpoint = exchange->conn->endpoint;
    return (exchange->error == ERR_CLOSED || exchange->error == ERR_RESET) && !endpoint->origin->tls && !endpoint->route->answered;
}

/* Its connection takes no stream at the moment. */
static bool waits_for_stream(const struct exchange *exchange)
{
    const struct codec *codec = exchange->conn->codec;
    return codec && codec->streams && !exchange->stream.id;
}

/* How far an exchange had come, into exchange->text. */
static void describe(struct exchange *exchange)
{
    static const char *const opening[] = {
        [CONN_RESOLVING] = "while resolving the name",
        [CONN_QUEUED] = "while waiting for its turn to connect",
        [CONN_CONNECTING] = "while connecting",
        [CONN_TUNNELLING] = "while waiting for the proxy's answer",
        [CONN_SECURING] = "in the TLS handshake",
    };
    char *text = exchange->text;
    size_t size = sizeof exchange->text;
    const struct conn *conn = exchange->conn;
    if (!conn)
        snprintf(text, size, "while waiting for a free %s", endpoint_version(endpoint_get(exchange->client, exchange->request)) == HTTP_2 ? "stream" : "connection");
    else if (conn->state < CONN_OPEN)
        snprintf(text, size, "%s", opening[conn->state]);
    else if (exchange->body_size)
        snprintf(text, size, "after %llu bytes of the response's body", (unsigned long long)exchange->body_size);
    else if (exchange->answered)
        snprintf(text, size, "in the middle of the response");
    else if (!exchange->written)
        snprintf(text, size, "%s", waits_for_stream(exchange) ? "while waiting for a free stream" : "before the request was sent");
    else if (exchange->written < exchange->length)
        snprintf(text, size, "after %zu of the request's %zu bytes were written", exchange->written, exchange->length);
    else
        snprintf(text, size, "before a byte of the response came%s", may_want_tls(exchange) ? "; if the server speaks TLS: https:// instead of http://" : "");
}

/* The time that an exchange has waited for a connection which did not come about. */
static void mark_opening(struct exchange *exchange, int64_t now)
{
    const struct conn *conn = exchange->conn;
    if (!conn)
        return;
    switch (conn->state) {
    case CONN_RESOLVING: exchange->dns = now - conn->began; break;
    case CONN_QUEUED: exchange->assigned = now - exchange->dns; break;
    case CONN_CONNECTING:
    case CONN_TUNNELLING: exchange->connect = now - conn->began; break;
    case CONN_SECURING: exchange->tls = now - conn->began; break;
    }
}

void exchange_fail(struct exchange *exchange, enum err error, const char *text)
{
    int64_t now = clock_ns();
    exchange->error = error;
    mark_opening(exchange, now);
    if (text)
        snprintf(exchange->text, sizeof exchange->text, "%s", text);
    else if (!*exchange->text)
        describe(exchange);
    exchange_finish(exchange, &exchange->client->pool->finished, now);
}

/* A reused connection may have been ended by the peer before it saw the request; one of which nothing was written it cannot have seen. */
static bool may_retry(const struct exchange *exchange, enum err error)
{
    bool unseen = !exchange->written || (exchange->request->idempotent && (error == ERR_CLOSED || error == ERR_RESET));
    return unseen && exchange->reused && !exchange->answered && !exchange->retried && exchange->client->options->retry;
}

/* Forgets the connection it was on. */
static void detach(struct exchange *exchange)
{
    exchange->reused = exchange->close = false;
    exchange->conn = NULL;
    exchange->written = 0;
    exchange->sent = exchange->first_byte = 0;
    exchange->dns = exchange->connect = exchange->tls = 0;
    exchange->assigned = 0;
}

/* Sends it again, on a new connection if there may be one more, otherwise before all others that wait. */
static void resubmit(struct endpoint *endpoint, struct exchange *exchange)
{
    detach(exchange);
    if (may_open(endpoint))
        conn_new(endpoint, exchange);
    else
        list_prepend(&endpoint->waiting, &exchange->link);
}

void endpoint_lost(struct endpoint *endpoint, struct link *exchanges, enum err error, const char *text)
{
    struct link *link;
    while ((link = list_shift(exchanges))) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        if (may_retry(exchange, error)) {
            exchange->retried = true;
            resubmit(endpoint, exchange);
        } else {
            exchange_fail(exchange, error, text);
        }
        if (error != ERR_RESET) /* of those behind it the peer knows nothing wrong */
            error = ERR_CLOSED;
        text = NULL;
    }
}

/* One of which nothing was written just goes elsewhere. That the method is not idempotent does not matter: RFC 9113 8.7. */
void endpoint_returned(struct endpoint *endpoint, struct link *exchanges, bool often, const char *text)
{
    struct link again, *link;
    link_init(&again);
    while ((link = list_shift(exchanges))) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        bool spent = exchange->refused && !often;
        if (exchange->written && (spent || exchange->answered || !endpoint->client->options->retry)) {
            exchange_fail(exchange, ERR_REFUSED_STREAM, text);
            continue;
        }
        exchange->retried = exchange->retried || exchange->written;
        exchange->refused = exchange->refused || (exchange->written && !often);
        detach(exchange);
        list_append(&again, link);
    }
    list_splice(&again, &endpoint->waiting);
    list_splice(&endpoint->waiting, &again);
    endpoint_serve(endpoint);
}
