/* How a connection is opened: the name resolved, its turn awaited, a socket connected to one of the addresses, the proxy asked for a tunnel, the TLS handshake made,
 * a codec chosen. One limit holds for all of it. A place that cannot be reached is followed by the next one; what fails after that is not a matter of the place. */
#include <stdio.h>

#include "base/mem.h"
#include "http/engine.h"
#include "net/tcp.h"

enum {
    PLACE_MS = 1000, /* for one place while there are others left to try */
    BUSY_MS = 5,     /* until a Unix socket whose queue was full is tried again */
};

static void wait_for(struct conn *conn, int result)
{
    conn_watch(conn, result == TRANSPORT_WANT_READ ? EV_READ : EV_WRITE);
}

/* Where connections go when that is not where the URL says, in words. */
static const char *elsewhere(const struct endpoint *endpoint)
{
    return endpoint->route->proxied ? "the proxy" : endpoint->client->options->unix_socket;
}

/* It cannot be opened. */
static void fail(struct conn *conn, enum err error, const char *text)
{
    struct endpoint *endpoint = conn->endpoint;
    struct link unfinished;
    link_init(&unfinished);
    char words[sizeof conn->first->text];
    const char *where = text && conn->state <= CONN_CONNECTING && (error == ERR_CONNECT || error == ERR_DNS) ? elsewhere(endpoint) : NULL;
    if (conn->counts)
        conn->counts->failed++;
    if (where) {
        snprintf(words, sizeof words, "%s: %s", where, text);
        text = words;
    }
    exchange_fail(conn->first, error, text);
    conn->first = NULL;
    conn_drop(conn, error, &unfinished);
    endpoint_serve(endpoint);
}

/* The end of opening */

static struct codec *codec_new(struct conn *conn, enum http_version version)
{
    const struct client_options *options = conn->endpoint->client->options;
    struct link *finished = &conn->pool->finished;
    if (version == HTTP_2)
        return h2_new(finished, options->streams);
    struct codec *codec = h1_new(finished, options->lenient);
    if (options->pipeline)
        codec->limit = options->pipeline;
    return codec;
}

/* It can carry exchanges. */
static void opened(struct conn *conn, enum http_version version)
{
    struct pool_counts *counts = conn->endpoint->client->counts;
    struct exchange *first = conn->first;
    conn->pool->connecting--;
    timers_clear(&conn->timer);
    conn->state = CONN_OPEN;
    conn->codec = codec_new(conn, version);
    counts->opened++;
    if (++counts->open > counts->max_open)
        counts->max_open = counts->open;
    conn->counts->opened++;
    conn_watch(conn, conn->transport.held ? EV_READ | EV_WRITE : EV_READ);
    conn->first = NULL;
    conn_submit(conn, first);
    conn_settle(conn);
}

/* The TLS handshake */

/* The version of HTTP that was agreed upon; HTTP_AUTO, with *why, when that is none we can speak. */
static enum http_version agree(struct conn *conn, const struct tls_agreed *agreed, const char **why)
{
    enum http_version wanted = conn->endpoint->version;
    enum http_version version = agreed->protocol == TLS_HTTP2 ? HTTP_2 : HTTP_1_1;
    if (version == HTTP_2 && agreed->number < 12)
        *why = "HTTP/2 was chosen by ALPN, which needs TLS 1.2 (RFC 9113 9.2)";
    else if (wanted == HTTP_2 && version != HTTP_2)
        *why = agreed->protocol ? "HTTP/2 is demanded, and the server chose http/1.1 (ALPN)" : "HTTP/2 is demanded, and the server does not offer it (no ALPN)";
    return *why ? HTTP_AUTO : version;
}

static void secured(struct conn *conn)
{
    struct tls_agreed agreed = tls_agreed(&conn->transport);
    const char *why = NULL;
    enum http_version version = agree(conn, &agreed, &why);
    conn->first->tls = clock_ns() - conn->began;
    if (why) {
        fail(conn, ERR_TLS, why);
        return;
    }
    if (conn->endpoint->version == HTTP_AUTO)
        conn->endpoint->route->agreed = (uint8_t)version;
    counts_agreed(conn->endpoint->client->counts, version == HTTP_2 ? 2 : 1, agreed.version, agreed.cipher, agreed.resumed);
    opened(conn, version);
}

static void went_on_securing(struct conn *conn, int result)
{
    if (result == 0)
        secured(conn);
    else if (result == TRANSPORT_FAILED)
        fail(conn, conn->transport.error, conn->transport.text);
    else
        wait_for(conn, result);
}

static unsigned offer_of(enum http_version version)
{
    return (version != HTTP_2 ? (unsigned)TLS_HTTP1 : 0) | (version != HTTP_1_1 ? (unsigned)TLS_HTTP2 : 0);
}

/* Bytes can flow to the server. */
static void linked(struct conn *conn)
{
    const struct client_options *options = conn->endpoint->client->options;
    struct origin *origin = conn->endpoint->origin;
    int64_t now = clock_ns();
    conn->first->connect = now - conn->began;
    if (!origin->tls) {
        enum http_version version = endpoint_version(conn->endpoint);
        counts_agreed(conn->endpoint->client->counts, version == HTTP_2 ? 2 : 1, NULL, NULL, false);
        opened(conn, version);
        return;
    }
    if (!options->tls) {
        fail(conn, ERR_TLS, "TLS is not set up here");
        return;
    }
    conn->began = now;
    conn->state = CONN_SECURING;
    went_on_securing(conn, tls_connect(&conn->transport, options->tls, origin->host, offer_of(conn->endpoint->version), &conn->endpoint->route->session));
}

/* The tunnel */

static void went_on_tunnelling(struct conn *conn, int result)
{
    if (result == 0)
        linked(conn);
    else if (result == TRANSPORT_FAILED)
        fail(conn, conn->transport.error, conn->transport.text);
    else
        wait_for(conn, result);
}

/* The socket is connected. */
static void connected(struct conn *conn)
{
    const struct endpoint *endpoint = conn->endpoint;
    timers_set(&conn->pool->loop->timers, &conn->timer, conn->deadline);
    if (!endpoint->route->proxied || !(endpoint->origin->tls || endpoint->version == HTTP_2)) {
        linked(conn);
        return;
    }
    conn->state = CONN_TUNNELLING;
    conn->tunnel = tunnel_new(endpoint->client->options->proxy, endpoint->origin);
    went_on_tunnelling(conn, tunnel_open(conn->tunnel, &conn->transport));
}

/* The socket */

/* Of several errors, that of a connect says more than one that a local address or port was missing for another family. */
static void keep_error(struct conn *conn, enum err error, const char *text)
{
    if (conn->error == ERR_CONNECT)
        return;
    conn->error = error;
    conn->text = text;
}

static int connect_to(struct conn *conn, const struct place *place)
{
    const char *why;
    const struct address *source = route_source(conn->endpoint->route, &place->address, &why);
    conn->counts = place->counts;
    if (!why)
        return tcp_connect_from(&conn->transport, &place->address, source);
    conn->transport = (struct transport){ .fd = -1, .error = ERR_CONNECT, .text = why };
    return TRANSPORT_FAILED;
}

/* The one that was begun with last. */
static struct place *last_place(const struct conn *conn)
{
    struct route *route = conn->endpoint->route;
    return &route->places[(conn->turn + conn->tried - 1) % route->count];
}

/* The names may have been asked for again since it was begun with: it is another place then. */
static void place_failed(struct conn *conn, enum err error, const char *text)
{
    struct place *place = last_place(conn);
    keep_error(conn, error, text);
    if (error == ERR_CONNECT && place->counts == conn->counts)
        route_shun(place, clock_ns());
    conn->counts->failed++;
    conn->counts = NULL;
    conn_disconnect(conn);
}

/* Begins with the next place; false when there was none or it failed at once. */
static bool try_place(struct conn *conn)
{
    struct route *route = conn->endpoint->route;
    struct timers *timers = &conn->pool->loop->timers;
    conn->tried++;
    const struct place *place = last_place(conn);
    int64_t now = clock_ns(), limit = conn->tried < route->count ? ns_after(now, PLACE_MS * NS_PER_MS) : NS_NEVER;
    timers_set(timers, &conn->timer, limit < conn->deadline ? limit : conn->deadline);
    int result = connect_to(conn, place);
    if (result == TRANSPORT_FAILED) {
        place_failed(conn, conn->transport.error, conn->transport.text);
        return false;
    }
    if (result == TRANSPORT_BUSY) {
        conn->tried--;
        limit = now + BUSY_MS * NS_PER_MS;
        timers_set(timers, &conn->timer, limit < conn->deadline ? limit : conn->deadline);
    } else if (result == 0) {
        connected(conn);
    } else {
        conn_watch(conn, EV_READ | EV_WRITE);
    }
    return true;
}

static void try_places(struct conn *conn)
{
    struct route *route = conn->endpoint->route;
    while (conn->tried < route->count)
        if (try_place(conn))
            return;
    route->stale = !route->known;
    if (route->count)
        fail(conn, conn->error ? conn->error : ERR_CONNECT, conn->text);
    else
        fail(conn, ERR_DNS, "its address is not of the family asked for (-4, -6)");
}

static void went_on_connecting(struct conn *conn, int result)
{
    if (result == 0) {
        connected(conn);
    } else if (result == TRANSPORT_FAILED) {
        place_failed(conn, conn->transport.error, conn->transport.text);
        try_places(conn);
    } else {
        conn_watch(conn, EV_READ | EV_WRITE);
    }
}

void conn_go_on_opening(struct conn *conn)
{
    switch (conn->state) {
    case CONN_CONNECTING: went_on_connecting(conn, conn->transport.ops->open(&conn->transport)); break;
    case CONN_TUNNELLING: went_on_tunnelling(conn, tunnel_open(conn->tunnel, &conn->transport)); break;
    case CONN_SECURING: went_on_securing(conn, conn->transport.ops->open(&conn->transport)); break;
    }
}

/* The time for one place or for the whole is over. */
static void on_timeout(struct timer *timer)
{
    struct conn *conn = container_of(timer, struct conn, timer);
    if (conn->state != CONN_CONNECTING || clock_ns() >= conn->deadline) {
        fail(conn, ERR_CONNECT_TIMEOUT, NULL);
        return;
    }
    if (conn->transport.fd >= 0)
        place_failed(conn, ERR_CONNECT, "no answer from its address");
    try_places(conn);
}

static void on_io(struct ev_loop *ev, ev_io *io, int events)
{
    (void)ev;
    conn_ready(container_of(io, struct conn, io), events);
}

void conn_connect(struct conn *conn)
{
    conn->pool->connecting++;
    conn->state = CONN_CONNECTING;
    conn->began = clock_ns();
    if (conn->deadline == 0)
        conn->deadline = ns_after(conn->began, conn->endpoint->client->options->connect_timeout);
    conn->first->assigned = conn->began - conn->first->dns;
    conn->turn = route_begin(conn->endpoint->route, conn->began);
    try_places(conn);
}

/* Before that */

static void queue(struct conn *conn)
{
    conn->state = CONN_QUEUED;
    list_append(&conn->pool->queue, &conn->task);
}

void conn_resolved(struct conn *conn, const char *why)
{
    conn->first->dns = clock_ns() - conn->began;
    if (why)
        fail(conn, ERR_DNS, why);
    else
        queue(conn);
}

static void resolve(struct conn *conn)
{
    conn->state = CONN_RESOLVING;
    conn->began = conn->first->assigned = clock_ns();
    conn->deadline = ns_after(conn->began, conn->endpoint->client->options->connect_timeout);
    timers_set(&conn->pool->loop->timers, &conn->timer, conn->deadline);
    list_append(&conn->endpoint->route->waiting, &conn->task);
    route_ask(conn->endpoint->route);
}

void conn_new(struct endpoint *endpoint, struct exchange *exchange)
{
    struct conn *conn = mem_zero(sizeof *conn);
    conn->pool = endpoint->client->pool;
    conn->endpoint = endpoint;
    conn->first = exchange;
    conn->transport.fd = -1;
    exchange->conn = conn;
    exchange->assigned = 0;
    ev_io_init(&conn->io, on_io, -1, 0);
    timer_init(&conn->timer, on_timeout);
    link_init(&conn->task);
    link_init(&conn->link);
    endpoint->connections++;
    list_append(&endpoint->busy, &conn->link);
    if (endpoint->route->stale)
        resolve(conn);
    else
        queue(conn);
}
