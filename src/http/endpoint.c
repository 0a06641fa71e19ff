#include <stdio.h>

#include "base/mem.h"
#include "http/engine.h"

static struct endpoint *endpoint_new(struct client *client, struct origin *origin)
{
    struct endpoint *endpoint = mem_zero(sizeof *endpoint);
    endpoint->client = client;
    endpoint->origin = origin;
    link_init(&endpoint->ready);
    link_init(&endpoint->busy);
    link_init(&endpoint->waiting);
    list_prepend(&client->endpoints, &endpoint->link);
    return endpoint;
}

static struct endpoint *endpoint_find(struct client *client, struct origin *origin)
{
    for (struct link *link = client->endpoints.next; link != &client->endpoints; link = link->next) {
        struct endpoint *endpoint = container_of(link, struct endpoint, link);
        if (endpoint->origin != origin)
            continue;
        list_remove(link);
        list_prepend(&client->endpoints, link);
        return endpoint;
    }
    return endpoint_new(client, origin);
}

struct endpoint *endpoint_get(struct client *client, struct origin *origin)
{
    struct endpoint *first = container_of(client->endpoints.next, struct endpoint, link);
    if (!list_empty(&client->endpoints) && first->origin == origin)
        return first;
    return endpoint_find(client, origin);
}

/* A connection for one more exchange, there `now`: true when it was given one. */
static bool assign(struct endpoint *endpoint, struct exchange *exchange, int64_t now)
{
    if (!list_empty(&endpoint->ready)) {
        exchange->assigned = now;
        conn_submit(container_of(endpoint->ready.next, struct conn, link), exchange);
        return true;
    }
    if (endpoint->connections < endpoint->client->options->connections) {
        conn_new(endpoint, exchange);
        return true;
    }
    return false;
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

/* How far an exchange had come, into exchange->text. */
static void describe(struct exchange *exchange)
{
    static const char *const opening[] = {
        [CONN_RESOLVING] = "while resolving the name",
        [CONN_QUEUED] = "while waiting for its turn to connect",
        [CONN_CONNECTING] = "while connecting",
    };
    char *text = exchange->text;
    size_t size = sizeof exchange->text;
    const struct conn *conn = exchange->conn;
    if (!conn)
        snprintf(text, size, "while waiting for a free connection");
    else if (conn->state < CONN_OPEN)
        snprintf(text, size, "%s", opening[conn->state]);
    else if (exchange->body_size)
        snprintf(text, size, "after %llu bytes of the response's body", (unsigned long long)exchange->body_size);
    else if (exchange->answered)
        snprintf(text, size, "in the middle of the response");
    else if (!exchange->written)
        snprintf(text, size, "before the request was sent");
    else if (exchange->written < exchange->length)
        snprintf(text, size, "after %zu of the request's %zu bytes were written", exchange->written, exchange->length);
    else
        snprintf(text, size, "before a byte of the response came");
}

void exchange_fail(struct exchange *exchange, enum err error, const char *text)
{
    exchange->error = error;
    if (text)
        snprintf(exchange->text, sizeof exchange->text, "%s", text);
    else
        describe(exchange);
    exchange_finish(exchange, &exchange->client->pool->finished, clock_ns());
}

/* A reused connection may have been ended by the peer before it saw the request; one of which nothing was written it cannot have seen. */
static bool may_retry(const struct exchange *exchange, enum err error)
{
    bool unseen = !exchange->written || (exchange->request->idempotent && (error == ERR_CLOSED || error == ERR_RESET));
    return unseen && exchange->reused && !exchange->answered && !exchange->retried && exchange->client->options->retry;
}

static void retry(struct endpoint *endpoint, struct exchange *exchange)
{
    exchange->retried = true;
    exchange->reused = exchange->close = false;
    exchange->conn = NULL;
    exchange->written = 0;
    exchange->sent = exchange->first_byte = 0;
    exchange->dns = exchange->connect = exchange->tls = 0;
    exchange->assigned = 0;
    if (endpoint->connections < endpoint->client->options->connections)
        conn_new(endpoint, exchange);
    else
        list_prepend(&endpoint->waiting, &exchange->link);
}

void endpoint_lost(struct endpoint *endpoint, struct link *exchanges, enum err error, const char *text)
{
    struct link *link;
    while ((link = list_shift(exchanges))) {
        struct exchange *exchange = container_of(link, struct exchange, link);
        if (may_retry(exchange, error))
            retry(endpoint, exchange);
        else
            exchange_fail(exchange, error, text);
        if (error != ERR_RESET) /* of those behind it the peer knows nothing wrong */
            error = ERR_CLOSED;
        text = NULL;
    }
}
