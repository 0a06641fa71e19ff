/* The pool on real sockets: which connection a request gets, how many there are, when they are closed. */
#include "peer.h"

static void keeps_connections(void **state)
{
    int fd = used_connection();
    for (int i = 0; i < 5; i++)
        answer_next(submit("GET"), fd);
    assert_int_equal(counts.opened, 1);
    assert_int_equal(counts.reused, 5);
    assert_int_equal(counts.open, 1);
    assert_int_equal(counts.closed_by_peer, 0);
    close(fd);
}

static void fills_the_exchange(void **state)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    int fd = peer_accept();
    char expected[100];
    snprintf(expected, sizeof expected, "GET /x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port);
    assert_string_equal(peer_read(fd), expected);
    assert_int_equal(exchange->first_byte, 0);
    peer_write(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\n");
    while (!exchange->first_byte)
        turn();
    assert_false(pool_finished(pool));
    peer_write(fd, "abc");
    finish(exchange);
    assert_int_equal(exchange->status, 404);
    assert_int_equal(exchange->minor_version, 1);
    assert_int_equal(exchange->bytes_sent, strlen(expected));
    assert_int_equal(exchange->bytes_received, 48);
    assert_int_equal(exchange->body_size, 3);
    assert_memory_equal(exchange->body.data, "abc", 3);
    assert_int_equal(exchange->head.length, 45);
    assert_true(exchange->started <= exchange->assigned && exchange->assigned < exchange->sent);
    assert_true(exchange->sent < exchange->first_byte && exchange->first_byte < exchange->finished);
    assert_true(exchange->connect > 0 && exchange->assigned + exchange->connect <= exchange->sent);
    assert_int_equal(exchange->dns, 0);
    pool_recycle(pool, exchange);
    close(fd);
}

static void an_exchange_used_again_is_empty(void **state)
{
    used_connection();
    struct exchange *exchange = pool_exchange(pool);
    static const char zeros[EXCHANGE_ZEROED];
    exchange->deadline = 0;
    exchange->max_body = 0;
    link_init(&exchange->link);
    assert_memory_equal((char *)exchange + sizeof exchange->link, zeros + sizeof exchange->link, EXCHANGE_ZEROED - sizeof exchange->link);
    assert_int_equal(exchange->head.length + exchange->body.length, 0);
    assert_string_equal(exchange->text, "");
    exchange->request = request_to("GET", "127.0.0.1", port);
    pool_recycle(pool, exchange);
}

static void opens_another_after_close(void **state)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    int fd = peer_accept();
    peer_read(fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    finish_well(exchange);
    assert_int_equal(counts.open, 0);
    assert_int_equal(counts.closed_by_peer, 1);
    pool_flush(pool);
    assert_true(peer_sees_end(fd));
    close(fd);
    close(answer_next(submit("GET"), -1));
    assert_int_equal(counts.opened, 2);
    assert_int_equal(counts.reused, 0);
}

static void without_keep_alive(void **state)
{
    options.keep_alive = false;
    for (int i = 0; i < 2; i++) {
        struct exchange *exchange = submit("GET");
        turn_until_sent(exchange);
        int fd = peer_accept();
        assert_non_null(strstr(peer_read(fd), "\r\nConnection: close\r\n"));
        peer_answer(fd); /* says nothing of closing, but the connection is not used again */
        finish_well(exchange);
        assert_true(peer_sees_end(fd));
        close(fd);
    }
    assert_int_equal(counts.opened, 2);
    assert_int_equal(counts.open, 0);
    assert_int_equal(counts.closed_by_peer, 0);
}

static void counts_requests_per_connection(void **state)
{
    options.requests_per_connection = 3;
    for (int round = 0; round < 2; round++) {
        int fd = -1;
        for (int i = 1; i <= 3; i++) {
            struct exchange *exchange = submit("GET");
            turn_until_sent(exchange);
            if (i == 1)
                fd = peer_accept();
            assert_int_equal(strstr(peer_read(fd), "Connection: close") != NULL, i == 3);
            peer_answer(fd);
            finish_well(exchange);
        }
        assert_true(peer_sees_end(fd));
        close(fd);
    }
    assert_int_equal(counts.opened, 2);
    assert_int_equal(counts.reused, 4);
}

/* The request says it itself, prepared or with the lines of one exchange. */
static void closes_when_the_request_says_so(void **state)
{
    static const char lines[] = "X-Close: no\r\nCONNECTION: foo , Close\r\n";
    struct exchange *exchange = pool_exchange(pool);
    exchange->request = request_to("GET", "127.0.0.1", port);
    exchange->lines = lines;
    exchange->lines_length = strlen(lines);
    exchange->started = clock_ns();
    pool_submit(pool, client, exchange);
    int fd = answer_next(exchange, -1);
    assert_true(peer_sees_end(fd));
    close(fd);
    assert_int_equal(counts.open, 0);
}

static void notices_idle_connections_that_end(void **state)
{
    close(used_connection());
    while (counts.open)
        turn();
    assert_int_equal(counts.closed_by_peer, 1);
    assert_false(pool_finished(pool));
    struct exchange *exchange = submit("POST"); /* would not be sent twice */
    int fd = answer_next(exchange, -1);
    peer_reset(fd);
    while (counts.open)
        turn();
    assert_int_equal(counts.closed_by_peer, 2);
}

/* A 408 that a server sends before it closes an idle connection is not the answer to the next request. */
static void takes_nothing_unasked(void **state)
{
    int fd = used_connection();
    peer_write(fd, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    while (counts.open)
        turn();
    assert_true(peer_sees_end(fd));
    assert_int_equal(counts.unasked, 1);
    assert_int_equal(counts.closed_by_peer, 0);
    close(fd);
    close(answer_next(submit("GET"), -1));
}

/* What is longer than its Content-Length says, in one piece with the response. */
static void takes_no_more_than_the_response(void **state)
{
    static const char *const fields[] = { "", "Connection: close\r\n" };
    for (size_t i = 0; i < 2; i++) {
        char answer[100];
        struct exchange *exchange = submit("GET");
        turn_until_sent(exchange);
        int fd = peer_accept();
        peer_read(fd);
        snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\n%sContent-Length: 2\r\n\r\nokEXTRA", fields[i]);
        peer_write(fd, answer);
        finish_well(exchange);
        assert_int_equal(counts.unasked, i + 1);
        assert_int_equal(counts.open, 0);
        assert_true(peer_sees_end(fd));
        close(fd);
    }
    assert_int_equal(counts.closed_by_peer, 0);
}

/* It came before the request was written: nothing of that was sent, so it is sent on a new connection. */
static void takes_no_answer_from_before_the_request(void **state)
{
    int fd = used_connection();
    peer_write(fd, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    struct exchange *exchange = submit("POST");
    loop_poll(&loop, true);
    close(answer_next(exchange, -1));
    assert_int_equal(counts.opened, 2);
    close(fd);
}

static void waits_in_order_at_the_limit(void **state)
{
    enum { LIMIT = 2, ALL = 6 };
    struct exchange *exchanges[ALL];
    int fds[LIMIT];
    options.connections = LIMIT;
    for (int i = 0; i < ALL; i++)
        exchanges[i] = submit("GET");
    for (int i = 0; i < LIMIT; i++) {
        turn_until_sent(exchanges[i]);
        fds[i] = peer_accept();
    }
    assert_int_equal(counts.opened, LIMIT);
    for (int i = 0; i < ALL; i++) {
        turn_until_sent(exchanges[i]);
        for (int j = i + LIMIT; j < ALL; j++)
            assert_int_equal(exchanges[j]->assigned, 0);
        peer_read(fds[i % LIMIT]);
        peer_answer(fds[i % LIMIT]);
        int64_t started = exchanges[i]->started, assigned = exchanges[i]->assigned;
        finish_well(exchanges[i]);
        assert_true(i < LIMIT || assigned > started);
    }
    assert_int_equal(counts.opened, LIMIT);
    assert_int_equal(counts.max_open, LIMIT);
    for (int i = 0; i < LIMIT; i++)
        close(fds[i]);
}

static void uses_the_last_used_first(void **state)
{
    options.connections = 2;
    struct exchange *a = submit("GET"), *b = submit("GET");
    turn_until_sent(a);
    turn_until_sent(b);
    int first = peer_accept(), second = peer_accept();
    peer_read(first);
    peer_read(second);
    peer_answer(second);
    finish_well(b);
    peer_answer(first);
    finish_well(a);
    for (int i = 0; i < 3; i++)
        answer_next(submit("GET"), first);
    close(first);
    close(second);
}

/* Two clients share no connection; two origins neither. */
static void keeps_clients_and_origins_apart(void **state)
{
    int fd = used_connection();
    struct client *mine = client;
    client = client_new(pool, &options, &counts);
    close(answer_next(submit("GET"), -1));
    client = mine;
    close(answer_next(submit_request(request_to("GET", "localhost", port)), -1));
    answer_next(submit("GET"), fd);
    close(fd);
    assert_int_equal(counts.opened, 3);
}

static void reset_closes_what_is_idle(void **state)
{
    options.connections = 2;
    struct exchange *a = submit("GET"), *b = submit("GET");
    turn_until_sent(a);
    turn_until_sent(b);
    int first = peer_accept(), second = peer_accept();
    peer_read(first);
    peer_answer(first);
    finish_well(a);
    client_reset(client);
    assert_true(peer_sees_end(first));
    peer_read(second);
    peer_answer(second);
    finish_well(b);
    close(first);
    close(second);
    assert_int_equal(counts.closed_by_peer, 0);
}

static void bounds_connects_in_flight(void **state)
{
    enum { ALL = POOL_CONNECTS + 50 };
    struct exchange *exchanges[ALL];
    close(listener);
    listener = listen_on_loopback(&port, ALL);
    options.connections = ALL;
    for (int i = 0; i < ALL; i++)
        exchanges[i] = submit("GET");
    assert_int_equal(pool->connecting, 0);
    pool_flush(pool);
    assert_int_equal(pool->connecting, POOL_CONNECTS);
    for (int i = 0; i < ALL; i++) {
        assert_true(pool->connecting <= POOL_CONNECTS);
        turn_until_sent(exchanges[i]);
    }
    for (int i = 0; i < ALL; i++)
        pool_cancel(pool, exchanges[i], ERR_INTERRUPTED);
    for (int i = 0; i < ALL; i++)
        finish_with(exchanges[i], ERR_INTERRUPTED);
    assert_int_equal(counts.opened, ALL);
    assert_int_equal(counts.open, 0);
}

/* Exchanges in every state; the sanitizer sees what is left. */
static void can_be_freed_at_any_time(void **state)
{
    options.connections = 2;
    int fd = used_connection();
    struct exchange *sent = submit("GET");
    turn_until_sent(sent);
    peer_read(fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    while (!sent->body_size)
        turn();
    submit("GET"); /* connecting */
    submit("GET"); /* waiting */
    pool_flush(pool);
    client = client_new(pool, &options, &counts);
    submit("GET"); /* queued */
    submit_request(request_to("GET", "localhost", port)); /* resolving */
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(keeps_connections),
        TEST(fills_the_exchange),
        TEST(an_exchange_used_again_is_empty),
        TEST(opens_another_after_close),
        TEST(without_keep_alive),
        TEST(counts_requests_per_connection),
        TEST(closes_when_the_request_says_so),
        TEST(notices_idle_connections_that_end),
        TEST(takes_nothing_unasked),
        TEST(takes_no_more_than_the_response),
        TEST(takes_no_answer_from_before_the_request),
        TEST(waits_in_order_at_the_limit),
        TEST(uses_the_last_used_first),
        TEST(keeps_clients_and_origins_apart),
        TEST(reset_closes_what_is_idle),
        TEST(bounds_connects_in_flight),
        TEST(can_be_freed_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
