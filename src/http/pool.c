#include "http/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/engine.h"

struct pool *pool_new(struct loop *loop)
{
    struct pool *pool = mem_zero(sizeof *pool);
    struct link *lists[] = { &pool->finished, &pool->unused, &pool->touched, &pool->queue, &pool->closed, &pool->clients };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        link_init(lists[i]);
    pool->loop = loop;
    pool->buffer = mem_resize(NULL, POOL_BUFFER);
    return pool;
}

static void free_closed(struct pool *pool)
{
    struct link *link;
    while ((link = list_shift(&pool->closed)))
        conn_free(container_of(link, struct conn, link));
}

static void exchange_free(struct pool *pool, struct exchange *exchange)
{
    timers_remove(&pool->loop->timers, &exchange->timer);
    buf_free(&exchange->head);
    buf_free(&exchange->body);
    free(exchange);
}

void pool_free(struct pool *pool)
{
    struct link *link;
    while (!list_empty(&pool->clients))
        client_free(container_of(pool->clients.next, struct client, link));
    free_closed(pool);
    while ((link = list_shift(&pool->finished)))
        pool_recycle(pool, container_of(link, struct exchange, link));
    while ((link = list_shift(&pool->unused)))
        exchange_free(pool, container_of(link, struct exchange, link));
    if (pool->resolver)
        resolver_free(pool->resolver);
    origins_free(&pool->origins);
    free(pool->buffer);
    free(pool);
}

/* Clients */

struct client *client_new(struct pool *pool, const struct client_options *options, struct pool_counts *counts)
{
    struct client *client = mem_zero(sizeof *client);
    *client = (struct client){ .pool = pool, .options = options, .counts = counts };
    link_init(&client->endpoints);
    list_append(&pool->clients, &client->link);
    return client;
}

static void close_idle(struct endpoint *endpoint)
{
    struct link none, *next;
    link_init(&none);
    for (struct link *link = endpoint->ready.next; link != &endpoint->ready; link = next) {
        struct conn *conn = container_of(link, struct conn, link);
        next = link->next;
        if (!conn->codec->active)
            conn_drop(conn, ERR_INTERRUPTED, &none);
    }
}

/* Whatever it still has ends as interrupted. */
static void endpoint_free(struct endpoint *endpoint)
{
    struct link exchanges, *link;
    link_init(&exchanges);
    while (!list_empty(&endpoint->ready))
        conn_drop(container_of(endpoint->ready.next, struct conn, link), ERR_INTERRUPTED, &exchanges);
    while (!list_empty(&endpoint->busy))
        conn_drop(container_of(endpoint->busy.next, struct conn, link), ERR_INTERRUPTED, &exchanges);
    list_splice(&exchanges, &endpoint->waiting);
    while ((link = list_shift(&exchanges)))
        exchange_fail(container_of(link, struct exchange, link), ERR_INTERRUPTED, NULL);
    list_remove(&endpoint->link);
    free(endpoint);
}

void client_free(struct client *client)
{
    while (!list_empty(&client->endpoints))
        endpoint_free(container_of(client->endpoints.next, struct endpoint, link));
    list_remove(&client->link);
    free(client);
}

void client_reset(struct client *client)
{
    for (struct link *link = client->endpoints.next; link != &client->endpoints; link = link->next)
        close_idle(container_of(link, struct endpoint, link));
}

/* Exchanges */

static void on_deadline(struct timer *timer)
{
    struct exchange *exchange = container_of(timer, struct exchange, timer);
    pool_cancel(exchange->client->pool, exchange, ERR_TIMEOUT);
}

static struct exchange *exchange_new(void)
{
    struct exchange *exchange = mem_zero(sizeof *exchange);
    link_init(&exchange->link);
    timer_init(&exchange->timer, on_deadline);
    return exchange;
}

struct exchange *pool_exchange(struct pool *pool)
{
    struct link *link = list_shift(&pool->unused);
    struct exchange *exchange = link ? container_of(link, struct exchange, link) : exchange_new();
    if (exchange->body.capacity > POOL_KEEP)
        pool->large -= exchange->body.capacity;
    exchange->deadline = NS_NEVER;
    exchange->max_body = SIZE_MAX;
    return exchange;
}

static void keep_body(struct pool *pool, struct buf *body)
{
    buf_clear(body, pool->large < POOL_KEEP_LARGE ? POOL_KEEP_LARGE - pool->large : POOL_KEEP);
    if (body->capacity > POOL_KEEP)
        pool->large += body->capacity;
}

void pool_recycle(struct pool *pool, struct exchange *exchange)
{
    request_release(exchange->request);
    buf_clear(&exchange->head, POOL_KEEP);
    keep_body(pool, &exchange->body);
    memset(exchange, 0, EXCHANGE_ZEROED);
    exchange->text[0] = '\0';
    link_init(&exchange->link);
    list_prepend(&pool->unused, &exchange->link);
}

void pool_submit(struct pool *pool, struct client *client, struct exchange *exchange)
{
    exchange->client = client;
    if (exchange->deadline != NS_NEVER)
        timers_set(&pool->loop->timers, &exchange->timer, exchange->deadline);
    endpoint_submit(endpoint_get(client, exchange->request), exchange);
}

void pool_cancel(struct pool *pool, struct exchange *exchange, enum err error)
{
    if (exchange->finished)
        return;
    if (exchange->conn) {
        conn_cancel(exchange->conn, exchange, error);
        return;
    }
    list_remove(&exchange->link);
    exchange_fail(exchange, error, NULL);
}

/* The turn */

/* Writes before connects: a connect takes ten times as long. */
void pool_flush(struct pool *pool)
{
    struct link *link;
    while ((link = list_shift(&pool->touched)))
        conn_write(container_of(link, struct conn, task));
    while (pool->connecting < POOL_CONNECTS && (link = list_shift(&pool->queue)))
        conn_connect(container_of(link, struct conn, task));
    free_closed(pool);
}

struct exchange *pool_reap(struct pool *pool)
{
    struct link *link = list_shift(&pool->finished);
    return link ? container_of(link, struct exchange, link) : NULL;
}

bool pool_finished(const struct pool *pool)
{
    return !list_empty(&pool->finished);
}
