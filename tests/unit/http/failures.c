/* The pool when things go wrong: requests that are sent again, time limits, cancelling, connects that fail. However it ends, an exchange comes back once. */
#include "peer.h"

#include <fcntl.h>
#include <sys/resource.h>

/* Sending again */

struct retry_case {
    const char *name, *method;
    const char *answered; /* what the peer sends before it ends the connection */
    bool reset;           /* ends it by a reset */
    bool unwritten;       /* ends it before the request is written */
    bool fresh;           /* the connection has carried no request before */
    bool forbidden;       /* options.retry is false */
    bool again;           /* the request is sent again */
};

static const struct retry_case retry_cases[] = {
    { "GET", "GET", .again = true },
    { "GET, reset", "GET", .reset = true, .again = true },
    { "HEAD", "HEAD", .again = true },
    { "PUT", "PUT", .again = true },
    { "DELETE", "DELETE", .again = true },
    { "OPTIONS", "OPTIONS", .again = true },
    { "POST was written", .method = "POST" },
    { "POST was written, reset", "POST", .reset = true },
    { "PATCH was written", .method = "PATCH" },
    { "POST was not written", "POST", .unwritten = true, .again = true },
    { "POST was not written, reset", "POST", .unwritten = true, .reset = true, .again = true },
    { "GET was not written", "GET", .unwritten = true, .again = true },
    { "a byte came", "GET", .answered = "H" },
    { "half a response came", "GET", .answered = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab" },
    { "a 100 came", "GET", .answered = "HTTP/1.1 100 Continue\r\n\r\n" },
    { "garbage came", "GET", .answered = "garbage\r\n" },
    { "first request of its connection", "GET", .fresh = true },
    { "forbidden", "GET", .forbidden = true },
    { "forbidden, not written", "GET", .unwritten = true, .forbidden = true },
};

static void end_connection(int fd, const struct retry_case *c)
{
    if (c->answered)
        peer_write(fd, c->answered);
    if (c->reset)
        peer_reset(fd);
    else
        close(fd);
}

static void play(const struct retry_case *c)
{
    options.retry = !c->forbidden;
    int fd = c->fresh ? -1 : used_connection();
    struct exchange *exchange = submit(c->method);
    int64_t started = exchange->started;
    if (c->unwritten) {
        end_connection(fd, c);
        loop_poll(&loop, true);
    } else {
        turn_until_sent(exchange);
        fd = c->fresh ? peer_accept() : fd;
        peer_read(fd);
        end_connection(fd, c);
        int64_t sent = exchange->sent;
        while (!exchange->finished && !exchange->retried)
            turn();
        assert_true(exchange->finished || exchange->sent != sent);
    }
    assert_int_equal(exchange->retried, c->again);
    if (!c->again) {
        finish(exchange);
        assert_true(exchange->error == ERR_CLOSED || exchange->error == ERR_RESET || exchange->error == ERR_PROTOCOL);
        pool_recycle(pool, exchange);
        return;
    }
    turn_until_sent(exchange);
    assert_int_equal(exchange->started, started);
    assert_false(exchange->reused);
    fd = peer_accept();
    peer_read(fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    finish_well(exchange);
    close(fd);
}

static void sends_again_by_the_rule(void **state)
{
    for (size_t i = 0; i < COUNT(retry_cases); i++) {
        if (i) {
            tear_down(NULL);
            set_up(NULL);
        }
        print_message("    %s\n", retry_cases[i].name);
        play(&retry_cases[i]);
    }
}

static void sends_again_once_only(void **state)
{
    int fd = used_connection();
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    peer_read(fd);
    close(fd);
    while (!exchange->retried)
        turn();
    turn_until_sent(exchange);
    fd = peer_accept();
    peer_read(fd);
    close(fd);
    finish_with(exchange, ERR_CLOSED);
    assert_int_equal(counts.opened, 2);
}

/* The new connection may fail too; then that is the error. */
static void sends_again_to_a_closed_port(void **state)
{
    int fd = used_connection();
    close(listener);
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    close(fd);
    finish_with(exchange, ERR_CONNECT);
    listener = -1;
}

/* Time limits */

static struct exchange *submit_within_ms(const char *method, int64_t ms)
{
    struct exchange *exchange = pool_exchange(pool);
    exchange->request = request_to(method, "127.0.0.1", port);
    exchange->started = clock_ns();
    exchange->deadline = exchange->started + ms * NS_PER_MS;
    pool_submit(pool, client, exchange);
    return exchange;
}

static void time_out_after(struct exchange *exchange, enum err error, const char *text)
{
    int64_t deadline = exchange->deadline;
    finish(exchange);
    assert_int_equal(exchange->error, error);
    assert_string_equal(exchange->text, text);
    assert_true(error != ERR_TIMEOUT || exchange->finished >= deadline);
    pool_recycle(pool, exchange);
}

static void times_out_without_an_answer(void **state)
{
    struct exchange *exchange = submit_within_ms("GET", 20);
    turn_until_sent(exchange);
    int fd = peer_accept();
    peer_read(fd);
    time_out_after(exchange, ERR_TIMEOUT, "before a byte of the response came");
    assert_true(peer_sees_end(fd));
    close(fd);
    assert_int_equal(counts.closed_by_peer, 0);
    close(answer_next(submit_within_ms("GET", 60000), -1));
}

static void times_out_in_the_body(void **state)
{
    struct exchange *exchange = submit_within_ms("GET", 20);
    turn_until_sent(exchange);
    int fd = peer_accept();
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    while (!exchange->body_size && !exchange->finished)
        turn();
    time_out_after(exchange, ERR_TIMEOUT, "after 3 bytes of the response's body");
    close(fd);
}

static void times_out_waiting_for_a_connection(void **state)
{
    struct exchange *first = submit_within_ms("GET", 60000), *second = submit_within_ms("GET", 20);
    turn_until_sent(first);
    int fd = peer_accept();
    time_out_after(second, ERR_TIMEOUT, "while waiting for a free connection");
    close(answer_next(first, fd));
}

/* A listener whose queue is full answers no SYN. */
static int fill_backlog(int fds[], int most)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    close(listener);
    listener = listen_on_loopback(&port, 0);
    address.sin_port = htons(port);
    int count = 0;
    for (; count < most; count++) {
        fds[count] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fds[count], (struct sockaddr *)&address, sizeof address);
    }
    return count;
}

static void times_out_connecting(void **state)
{
    int fds[4], count = fill_backlog(fds, COUNT(fds));
    options.connect_timeout = 20 * NS_PER_MS;
    time_out_after(submit_within_ms("GET", 60000), ERR_CONNECT_TIMEOUT, "while connecting");
    options.connect_timeout = 60 * NS_PER_SECOND;
    time_out_after(submit_within_ms("GET", 20), ERR_TIMEOUT, "while connecting");
    assert_int_equal(pool->connecting, 0);
    assert_int_equal(counts.opened, 0);
    while (count)
        close(fds[--count]);
}

/* Cancelling */

static void cancel(struct exchange *exchange, const char *text)
{
    pool_cancel(pool, exchange, ERR_INTERRUPTED);
    assert_ptr_equal(pool_reap(pool), exchange);
    assert_int_equal(exchange->error, ERR_INTERRUPTED);
    assert_int_equal(exchange->status, 0);
    assert_string_equal(exchange->text, text);
    pool_cancel(pool, exchange, ERR_TIMEOUT); /* too late: nothing happens */
    assert_null(pool_reap(pool));
    pool_recycle(pool, exchange);
}

static void cancels_what_waits(void **state)
{
    struct exchange *first = submit("GET"), *second = submit("GET"), *third = submit("GET");
    cancel(second, "while waiting for a free connection");
    int fd = answer_next(first, -1);
    close(answer_next(third, fd));
}

static void cancels_what_is_queued(void **state)
{
    struct exchange *first = submit("GET"), *second = submit("GET");
    cancel(first, "while waiting for its turn to connect");
    close(answer_next(second, -1));
    assert_int_equal(counts.opened, 1);
}

static void cancels_what_connects(void **state)
{
    int fds[4], count = fill_backlog(fds, COUNT(fds));
    struct exchange *exchange = submit("GET");
    pool_flush(pool);
    assert_int_equal(pool->connecting, 1);
    cancel(exchange, "while connecting");
    assert_int_equal(pool->connecting, 0);
    while (count)
        close(fds[--count]);
}

static void cancels_what_is_resolved(void **state)
{
    struct exchange *exchange = submit_request(request_to("GET", "localhost", port));
    cancel(exchange, "while resolving the name");
    struct exchange *next = submit_request(request_to("GET", "localhost", port));
    close(answer_next(next, -1));
}

/* Nothing was written yet: the connection stays. */
static void cancels_what_is_not_written(void **state)
{
    int fd = used_connection();
    cancel(submit("GET"), "before the request was sent");
    answer_next(submit("GET"), fd);
    close(fd);
    assert_int_equal(counts.opened, 1);
}

static void cancels_what_is_sent(void **state)
{
    struct exchange *exchange = submit("GET"), *next = submit("GET");
    turn_until_sent(exchange);
    int fd = peer_accept();
    cancel(exchange, "before a byte of the response came");
    pool_flush(pool);
    peer_read(fd);
    assert_true(peer_sees_end(fd));
    close(fd);
    close(answer_next(next, -1));
}

static void cancels_half_a_response(void **state)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    int fd = peer_accept();
    peer_write(fd, "HTTP/1.1 200 OK\r\n");
    while (!exchange->answered)
        turn();
    cancel(exchange, "in the middle of the response");
    close(fd);
    close(answer_next(submit("GET"), -1));
}

/* Connects */

static void is_refused(void **state)
{
    close(listener);
    for (int i = 0; i < 3; i++) {
        struct exchange *exchange = submit("GET");
        finish(exchange);
        assert_int_equal(exchange->error, ERR_CONNECT);
        assert_string_equal(exchange->text, "Connection refused");
        assert_true(exchange->assigned >= exchange->started);
        assert_int_equal(exchange->sent, 0);
        pool_recycle(pool, exchange);
    }
    listener = -1;
    assert_int_equal(counts.opened, 0);
}

/* The route to `localhost`, given the addresses of a test. */
static struct route *give_addresses(struct request *request, const uint16_t *ports, size_t count)
{
    struct route *route = route_get(request->origin, &options, &counts);
    free(route->places);
    route->places = mem_array(count, sizeof *route->places);
    route->count = count;
    route->stale = false;
    route->turn = 0;
    for (size_t i = 0; i < count; i++) {
        address_literal(&route->places[i].address, "127.0.0.1", ports[i]);
        route->places[i].counts = counts_of_address(&counts, &route->places[i].address);
    }
    return route;
}

static uint16_t closed_port(void)
{
    uint16_t closed;
    close(listen_on_loopback(&closed, -1));
    return closed;
}

static void tries_all_addresses(void **state)
{
    uint16_t ports[] = { closed_port(), closed_port(), port };
    struct request *request = request_to("GET", "localhost", port);
    struct route *route = give_addresses(request, ports, COUNT(ports));
    options.keep_alive = false;
    for (size_t i = 0; i < 4; i++)
        close(answer_next(submit_request(request_hold(request)), -1));
    assert_int_equal(route->places[0].counts->failed, 1); /* it is not begun with again */
    assert_false(route->stale);
    assert_int_equal(counts.opened, 4);
    ports[2] = closed_port();
    give_addresses(request, ports, COUNT(ports));
    finish_with(submit_request(request), ERR_CONNECT);
    assert_true(route->stale); /* the next one resolves again, and finds the real address */
    struct exchange *exchange = submit_request(request_to("GET", "localhost", port));
    turn_until_sent(exchange);
    assert_true(exchange->dns > 0);
    close(answer_next(exchange, -1));
}

/* Two peers: connections begin with one address and with the other, in turn. */
static void uses_addresses_in_turn(void **state)
{
    uint16_t other_port, ports[2];
    int mine = listener, other = listen_on_loopback(&other_port, 10);
    ports[0] = port, ports[1] = other_port;
    struct request *request = request_to("GET", "localhost", port);
    give_addresses(request, ports, COUNT(ports));
    options.keep_alive = false;
    for (size_t i = 0; i < 4; i++) {
        listener = i % 2 ? other : mine;
        close(answer_next(submit_request(request_hold(request)), -1));
    }
    request_release(request);
    close(other);
    listener = mine;
}

static void gives_up_on_a_silent_address(void **state)
{
    int fds[4], count = fill_backlog(fds, COUNT(fds)), silent = listener;
    uint16_t ports[] = { port, 0 };
    listener = listen_on_loopback(&port, 10);
    ports[1] = port;
    struct request *request = request_to("GET", "localhost", port);
    give_addresses(request, ports, COUNT(ports));
    close(answer_next(submit_request(request), -1));
    close(silent);
    while (count)
        close(fds[--count]);
}

static void resolves_names_once(void **state)
{
    struct exchange *exchange = submit_request(request_to("GET", "localhost", port));
    turn_until_sent(exchange);
    assert_true(exchange->dns > 0 && exchange->assigned + exchange->dns + exchange->connect <= exchange->sent);
    close(answer_next(exchange, -1));
    client = client_new(pool, &options, &counts);
    exchange = submit_request(request_to("GET", "LOCALHOST", port));
    turn_until_sent(exchange);
    assert_int_equal(exchange->dns, 0);
    close(answer_next(exchange, -1));
}

/* A label of more than 63 characters: no name server need be asked. */
static void cannot_resolve(void **state)
{
    char host[80];
    memset(host, 'a', sizeof host);
    host[sizeof host - 1] = '\0';
    for (int i = 0; i < 2; i++) {
        struct exchange *exchange = submit_request(request_to("GET", host, port));
        finish(exchange);
        assert_int_equal(exchange->error, ERR_DNS);
        assert_true(*exchange->text);
        pool_recycle(pool, exchange);
    }
}

static void has_no_descriptors(void **state)
{
    struct rlimit before, none;
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &none);
    struct exchange *exchange = submit("GET");
    finish_with(exchange, ERR_NO_DESCRIPTORS);
    setrlimit(RLIMIT_NOFILE, &before);
    close(answer_next(submit("GET"), -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(sends_again_by_the_rule),
        TEST(sends_again_once_only),
        TEST(sends_again_to_a_closed_port),
        TEST(times_out_without_an_answer),
        TEST(times_out_in_the_body),
        TEST(times_out_waiting_for_a_connection),
        TEST(times_out_connecting),
        TEST(cancels_what_waits),
        TEST(cancels_what_is_queued),
        TEST(cancels_what_connects),
        TEST(cancels_what_is_resolved),
        TEST(cancels_what_is_not_written),
        TEST(cancels_what_is_sent),
        TEST(cancels_half_a_response),
        TEST(is_refused),
        TEST(tries_all_addresses),
        TEST(uses_addresses_in_turn),
        TEST(gives_up_on_a_silent_address),
        TEST(resolves_names_once),
        TEST(cannot_resolve),
        TEST(has_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
