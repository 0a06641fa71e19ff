/* A pool, and the peer of its connections, in one thread: the test decides step by step what either side does, so nothing waits for a clock. The peer's calls
 * block, which is fine since the kernel completes handshakes and keeps bytes without the pool's help. A test that hangs is ended by alarm(). */
#ifndef LUABENCH_TESTS_UNIT_PEER_H
#define LUABENCH_TESTS_UNIT_PEER_H

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "http/engine.h"
#include "test.h"

static struct loop loop;
static struct pool *pool;
static struct pool_counts counts;
static struct client_options options;
static struct client *client;
static int listener;
static uint16_t port;

/* The peer */

static inline int listen_on_loopback(uint16_t *on, int backlog)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_false(bind(fd, (struct sockaddr *)&address, sizeof address));
    if (backlog >= 0)
        assert_false(listen(fd, backlog));
    assert_false(getsockname(fd, (struct sockaddr *)&address, &size));
    *on = ntohs(address.sin_port);
    return fd;
}

static inline int peer_accept(void)
{
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    return fd;
}

/* Reads up to the blank line of a head, which must come alone. */
static inline const char *peer_read(int fd)
{
    static char text[4096];
    size_t length = 0;
    while (length < 4 || memcmp(text + length - 4, "\r\n\r\n", 4)) {
        ssize_t count = recv(fd, text + length, sizeof text - 1 - length, 0);
        assert_true(count > 0);
        length += (size_t)count;
    }
    text[length] = '\0';
    return text;
}

static inline void peer_write(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static inline void peer_answer(int fd)
{
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
}

static inline void peer_reset(int fd)
{
    struct linger linger = { .l_onoff = 1 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(fd);
}

/* True when the pool has closed this connection. */
static inline bool peer_sees_end(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The pool */

static inline int set_up(void **state)
{
    alarm(60);
    assert_true(loop_init(&loop));
    pool = pool_new(&loop);
    counts = (struct pool_counts){ 0 };
    options = (struct client_options){ .connections = 1, .keep_alive = true, .retry = true, .connect_timeout = 10 * NS_PER_SECOND };
    client = client_new(pool, &options, &counts);
    listener = listen_on_loopback(&port, 100);
    return 0;
}

static inline int tear_down(void **state)
{
    pool_free(pool);
    counts_free(&counts);
    loop_free(&loop);
    close(listener);
    alarm(0);
    return 0;
}

/* NULL, and *why, when it cannot be made. */
static inline struct request *request_of(const char *method, const char *url, const char *lines, const char *host, const char **why)
{
    return request_new(pool, method, url, strlen(url), lines, strlen(lines), host, why);
}

static inline struct request *request_to(const char *method, const char *host, uint16_t to)
{
    char url[300];
    const char *why;
    snprintf(url, sizeof url, "http://%s:%u/x", host, to);
    struct request *request = request_of(method, url, "", NULL, &why);
    assert_non_null(request);
    return request;
}

/* Submits a request; the exchange has its only reference. */
static inline struct exchange *submit_request(struct request *request)
{
    struct exchange *exchange = pool_exchange(pool);
    exchange->request = request;
    exchange->started = exchange->intended = clock_ns();
    pool_submit(pool, client, exchange);
    return exchange;
}

static inline struct exchange *submit(const char *method)
{
    return submit_request(request_to(method, "127.0.0.1", port));
}

static inline void turn(void)
{
    loop_poll(&loop, true);
    pool_flush(pool);
}

static inline void turn_until_sent(const struct exchange *exchange)
{
    pool_flush(pool);
    while (!exchange->length || exchange->written < exchange->length) {
        assert_false(exchange->finished);
        turn();
    }
}

/* Turns until `exchange` is the next to be reaped, and reaps it. */
static inline void finish(struct exchange *exchange)
{
    pool_flush(pool);
    while (!pool_finished(pool))
        turn();
    assert_ptr_equal(pool_reap(pool), exchange);
    assert_true(exchange->finished >= exchange->started);
}

static inline void finish_with(struct exchange *exchange, enum err error)
{
    finish(exchange);
    if (exchange->error != error)
        print_error("%s (%s)\n", err_name(exchange->error), exchange->text);
    assert_int_equal(exchange->error, error);
    assert_int_equal(exchange->status, 0);
    assert_true(*exchange->text);
    pool_recycle(pool, exchange);
}

static inline void finish_well(struct exchange *exchange)
{
    finish(exchange);
    if (exchange->error)
        print_error("%s (%s)\n", err_name(exchange->error), exchange->text);
    assert_int_equal(exchange->error, ERR_NONE);
    assert_int_equal(exchange->status, 200);
    pool_recycle(pool, exchange);
}

/* A connection that has carried one request: its peer's descriptor. */
static inline int used_connection(void)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    int fd = peer_accept();
    peer_read(fd);
    peer_answer(fd);
    finish_well(exchange);
    return fd;
}

/* One request that the peer answers on connection `fd`, or on a new one when it is -1. */
static inline int answer_next(struct exchange *exchange, int fd)
{
    turn_until_sent(exchange);
    if (fd < 0)
        fd = peer_accept();
    peer_read(fd);
    peer_answer(fd);
    finish_well(exchange);
    return fd;
}

#endif
