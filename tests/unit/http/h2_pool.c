/* The pool over HTTP/2, on real sockets, with peers that say what the test lets them say: how many connections there are, which one a request gets, how long it
 * waits for a stream, and what is sent again where. */
#include "http/h2_out.h"

#include "h2_frames.h"
#include "peer.h"

/* One connection as its peer sees it. */
struct peer {
    int fd;
    struct buf bytes;  /* all that has come */
    struct buf words;  /* the same as frames */
};

static struct peer peers[8];

static struct peer *next_peer(int number)
{
    struct peer *peer = &peers[number];
    peer->fd = peer_accept();
    return peer;
}

static void say(struct peer *peer, const char *script)
{
    struct buf frames = { 0 };
    put_script(&frames, script);
    assert_int_equal(send(peer->fd, frames.data, frames.length, MSG_NOSIGNAL), frames.length);
    buf_free(&frames);
}

static void poll_now(void)
{
    loop_poll(&loop, false);
    pool_flush(pool);
}

/* The pool works on until the peer has received these frames. */
static void hear(struct peer *peer, const char *frames)
{
    char bytes[4096];
    for (;;) {
        ssize_t count = recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count > 0)
            buf_append(&peer->bytes, bytes, (size_t)count);
        peer->words.length = 0;
        read_frames(&peer->words, peer->bytes.data, peer->bytes.length);
        buf_append(&peer->words, "", 1);
        if (strstr(peer->words.data, frames))
            return;
        assert_true(count != 0);
        poll_now();
    }
}

/* The pool works on until it has read what was said. */
static void let_it_read(void)
{
    for (int i = 0; i < 5; i++)
        poll_now();
}

static void expect_end(struct peer *peer)
{
    char byte;
    while (recv(peer->fd, &byte, 1, MSG_DONTWAIT))
        poll_now();
}

/* The exchange that ends next. */
static struct exchange *next_finished(void)
{
    while (!pool_finished(pool))
        turn();
    return container_of(pool->finished.next, struct exchange, link);
}

/* It is being sent again. */
static void turn_until_resent(const struct exchange *exchange)
{
    while (!exchange->retried)
        turn();
    turn_until_sent(exchange);
}

static bool has_heard(const struct peer *peer, const char *frames)
{
    return strstr(peer->words.data, frames);
}

static int set_up_http2(void **state)
{
    set_up(state);
    options.version = HTTP_2;
    options.connections = 6;
    return 0;
}

static int tear_down_http2(void **state)
{
    for (size_t i = 0; i < COUNT(peers); i++) {
        if (peers[i].fd > 0)
            close(peers[i].fd);
        buf_free(&peers[i].bytes);
        buf_free(&peers[i].words);
    }
    memset(peers, 0, sizeof peers);
    return tear_down(state);
}

/* A connection that has carried one request on stream 1 and may carry more. */
static struct peer *open_connection(const char *settings)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    struct peer *peer = next_peer(0);
    hear(peer, "H 1 es; ");
    say(peer, settings);
    say(peer, "H 1 es :status=200");
    finish_well(exchange);
    hear(peer, "S 0 ack; ");
    return peer;
}

static void users_requests_share_a_connection(void **state)
{
    struct exchange *exchange[5];
    for (int i = 0; i < 5; i++)
        exchange[i] = submit("GET");
    turn_until_sent(exchange[0]);
    struct peer *peer = next_peer(0);
    hear(peer, "H 1 es; ");
    assert_false(has_heard(peer, "H 3"));
    int64_t before = clock_ns();
    say(peer, "S");
    hear(peer, "S 0 ack; H 3 es; H 5 es; H 7 es; H 9 es; ");
    for (int i = 4; i >= 0; i--) {
        char script[100];
        snprintf(script, sizeof script, "H %d :status=200; D %d es hi", 2 * i + 1, 2 * i + 1);
        say(peer, script);
        assert_true(i ? exchange[i]->assigned >= before : exchange[i]->assigned < before); /* they waited for the peer's SETTINGS */
        assert_int_equal(exchange[i]->connect > 0, i == 0);
        finish_well(exchange[i]);
    }
    assert_int_equal(counts.opened, 1);
    assert_int_equal(counts.reused, 4);
    assert_int_equal(counts.agreed->http, 2);
    assert_int_equal(counts.agreed->opened, 1);
}

static void waits_for_a_stream(void **state)
{
    struct peer *peer = open_connection("S streams=2");
    struct exchange *first = submit("GET"), *second = submit("GET"), *third = submit("GET");
    hear(peer, "H 3 es; H 5 es; ");
    let_it_read();
    assert_int_equal(third->assigned, 0);
    say(peer, "H 5 es :status=200");
    finish(second);
    hear(peer, "H 7 es; ");
    assert_true(third->assigned >= second->finished);
    say(peer, "S streams=0; H 3 es :status=200; H 7 es :status=200");
    pool_recycle(pool, second);
    finish_well(first);
    finish_well(third);
    struct exchange *fourth = submit("GET");
    let_it_read();
    assert_int_equal(fourth->assigned, 0);
    say(peer, "S streams=1");
    hear(peer, "H 9 es; ");
    say(peer, "H 9 es :status=200");
    finish_well(fourth);
    assert_int_equal(counts.opened, 1);
    assert_int_equal(counts.closed_by_peer, 0);
}

static void shared_connections_are_opened_and_filled_evenly(void **state)
{
    options.shared = true;
    options.connections = 3;
    struct exchange *exchange[9];
    for (int i = 0; i < 9; i++)
        exchange[i] = submit("GET");
    turn_until_sent(exchange[2]);
    for (int i = 0; i < 3; i++) {
        next_peer(i);
        hear(&peers[i], "H 1 es; ");
    }
    assert_int_equal(counts.opened, 3);
    for (int i = 0; i < 3; i++)
        say(&peers[i], "S");
    let_it_read();
    for (int i = 0; i < 9; i++)
        assert_true(exchange[i]->assigned && exchange[i]->conn);
    for (int i = 0; i < 3; i++)
        hear(&peers[i], "S 0 ack; ");
    for (int i = 0; i < 3; i++)
        say(&peers[i], "H 1 es :status=200");
    for (int i = 0; i < 3; i++)
        finish_well(next_finished());
    for (int i = 0; i < 9; i++) /* now they are as even as can be */
        submit("GET");
    let_it_read();
    unsigned most = 0, least = 99;
    struct endpoint *endpoint = container_of(client->endpoints.next, struct endpoint, link);
    for (struct link *link = endpoint->ready.next; link != &endpoint->ready; link = link->next) {
        unsigned active = container_of(link, struct conn, link)->codec->active;
        most = active > most ? active : most;
        least = active < least ? active : least;
    }
    assert_true(least >= 3);
    assert_true(most <= 9);
    assert_int_equal(counts.opened, 3);
}

static void limits_streams_of_our_own_will(void **state)
{
    options.streams = 2;
    struct peer *peer = open_connection("S");
    struct exchange *first = submit("GET"), *second = submit("GET"), *third = submit("GET");
    hear(peer, "H 3 es; H 5 es; ");
    let_it_read();
    assert_int_equal(third->assigned, 0);
    say(peer, "H 3 es :status=200; H 5 es :status=200");
    finish_well(first);
    finish_well(second);
    hear(peer, "H 7 es; ");
    say(peer, "H 7 es :status=200");
    finish_well(third);
}

/* What the peer has not taken is sent again on a new connection, what it has taken is answered on the old one, and the run goes on. */
static void goaway(void **state)
{
    options.connections = 1;
    struct peer *old = open_connection("S");
    struct exchange *taken = submit("GET"), *left = submit("POST"), *other = submit("GET");
    hear(old, "H 3 es; H 5 es; H 7 es; ");
    say(old, "G 3 0");
    turn_until_resent(left);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(new, "S");
    hear(new, "H 3 es; ");
    say(new, "H 1 es :status=200; H 3 es :status=200");
    for (int i = 0; i < 2; i++) {
        struct exchange *exchange = next_finished();
        assert_true(exchange == left || exchange == other);
        assert_true(exchange->retried);
        finish_well(exchange);
    }
    assert_false(taken->finished);
    say(old, "H 3 es :status=200");
    assert_false(taken->retried);
    finish_well(taken);
    expect_end(old);
    assert_int_equal(counts.opened, 2);
    assert_int_equal(counts.closed_by_peer, 1);
    assert_int_equal(counts.open, 1);
}

/* The same in one packet with the end of the connection. */
static void goaway_and_the_end(void **state)
{
    struct peer *old = open_connection("S");
    struct exchange *taken = submit("POST"), *left = submit("POST");
    hear(old, "H 3 es; H 5 es; ");
    say(old, "G 3 11");
    shutdown(old->fd, SHUT_WR);
    finish(taken);
    assert_int_equal(taken->error, ERR_CLOSED);
    assert_string_equal(taken->text, "GOAWAY 11 ENHANCE_YOUR_CALM");
    pool_recycle(pool, taken);
    turn_until_resent(left);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(new, "S; H 1 es :status=200");
    finish_well(left);
}

static void goaway_on_an_idle_connection(void **state)
{
    struct peer *old = open_connection("S");
    say(old, "G 1 0");
    expect_end(old);
    assert_int_equal(counts.closed_by_peer, 1);
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(new, "S; H 1 es :status=200");
    assert_false(exchange->retried);
    finish_well(exchange);
}

/* The first connection had taken others, so that it brought the request nearer to its turn; the next two take nothing, as that of a server that ends at this moment. */
static void goaway_by_peers_that_take_nothing(void **state)
{
    struct peer *old = open_connection("S");
    struct exchange *exchange = submit("GET");
    hear(old, "H 3 es; ");
    say(old, "G 1 0");
    turn_until_resent(exchange);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(new, "S; G 0 0");
    while (!exchange->refused)
        turn();
    turn_until_sent(exchange);
    new = next_peer(2);
    hear(new, "H 1 es; ");
    say(new, "S; G 0 2");
    finish(exchange);
    assert_int_equal(exchange->error, ERR_REFUSED_STREAM);
    assert_string_equal(exchange->text, "GOAWAY 2 INTERNAL_ERROR");
    assert_true(exchange->retried);
    pool_recycle(pool, exchange);
}

/* A peer that refuses within its own limit is not asked again. */
static void refused_stream(void **state)
{
    options.connections = 1;
    struct peer *old = open_connection("S streams=10");
    struct exchange *exchange = submit("POST"), *other = submit("GET");
    hear(old, "H 3 es; H 5 es; ");
    say(old, "R 3 7");
    turn_until_resent(exchange);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(old, "H 5 es :status=200");
    finish_well(other);
    expect_end(old);
    say(new, "S; R 1 7");
    finish(exchange);
    assert_int_equal(exchange->error, ERR_REFUSED_STREAM);
    assert_string_equal(exchange->text, "REFUSED_STREAM");
    assert_true(exchange->retried);
    pool_recycle(pool, exchange);
    assert_int_equal(counts.opened, 2);
}

/* One that has just lowered its limit did not see that coming: the request waits for a stream. */
static void refused_because_of_the_limit(void **state)
{
    struct peer *peer = open_connection("S streams=10");
    struct exchange *first = submit("POST"), *second = submit("POST");
    hear(peer, "H 3 es; H 5 es; ");
    say(peer, "S streams=1; R 5 7");
    let_it_read();
    assert_true(second->retried && !second->assigned);
    say(peer, "H 3 es :status=200");
    finish_well(first);
    hear(peer, "H 7 es; ");
    say(peer, "H 7 es :status=200");
    finish_well(second);
    assert_int_equal(counts.opened, 1);
}

static void refused_without_retries(void **state)
{
    options.retry = false;
    struct peer *peer = open_connection("S");
    struct exchange *exchange = submit("GET"), *other = submit("GET");
    hear(peer, "H 3 es; H 5 es; ");
    say(peer, "R 3 7");
    finish(exchange);
    assert_int_equal(exchange->error, ERR_REFUSED_STREAM);
    assert_false(exchange->retried);
    pool_recycle(pool, exchange);
    say(peer, "G 3 0");
    finish(other);
    assert_int_equal(other->error, ERR_REFUSED_STREAM);
    assert_string_equal(other->text, "GOAWAY 0 NO_ERROR");
    pool_recycle(pool, other);
}

static void a_reset_is_an_error_of_one_request(void **state)
{
    struct peer *peer = open_connection("S");
    struct exchange *exchange = submit("GET"), *other = submit("GET");
    hear(peer, "H 3 es; H 5 es; ");
    say(peer, "R 3 8; H 5 es :status=200");
    finish(exchange);
    assert_int_equal(exchange->error, ERR_RESET);
    assert_string_equal(exchange->text, "stream reset by the server: 8 CANCEL");
    assert_false(exchange->retried);
    pool_recycle(pool, exchange);
    finish_well(other);
    assert_int_equal(counts.open, 1);
}

/* Its stream is reset, and the connection goes on. */
static void a_timeout_resets_its_stream(void **state)
{
    struct peer *peer = open_connection("S");
    struct exchange *exchange = submit("GET"), *other = submit("GET");
    hear(peer, "H 3 es; H 5 es; ");
    pool_cancel(pool, exchange, ERR_TIMEOUT);
    hear(peer, "R 3 8; ");
    finish_with(exchange, ERR_TIMEOUT);
    say(peer, "H 3 :status=200; D 3 es late; H 5 es :status=200");
    finish_well(other);
    struct exchange *again = submit("GET");
    hear(peer, "H 7 es; ");
    say(peer, "H 7 es :status=200");
    finish_well(again);
    assert_int_equal(counts.opened, 1);
}

static void requests_per_connection(void **state)
{
    options.requests_per_connection = 3;
    options.connections = 1;
    struct peer *old = open_connection("S");
    struct exchange *first = submit("GET"), *second = submit("GET"), *third = submit("GET");
    hear(old, "H 3 es; H 5 es; ");
    turn_until_sent(third);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(old, "H 3 es :status=200; H 5 es :status=200");
    finish_well(first);
    finish_well(second);
    expect_end(old);
    assert_false(has_heard(old, "H 7"));
    say(new, "S; H 1 es :status=200");
    finish_well(third);
    assert_int_equal(counts.closed_by_peer, 0);
}

static void no_keep_alive(void **state)
{
    options.keep_alive = false;
    for (int i = 0; i < 3; i++) {
        struct exchange *exchange = submit("GET");
        turn_until_sent(exchange);
        struct peer *peer = next_peer(i);
        hear(peer, "H 1 es; ");
        say(peer, "S; H 1 es :status=200");
        finish_well(exchange);
        expect_end(peer);
    }
    assert_int_equal(counts.opened, 3);
    assert_int_equal(counts.reused, 0);
}

/* All streams of a connection that dies: what may be sent again is, on one new connection. */
static void a_connection_dies(void **state)
{
    struct peer *old = open_connection("S");
    struct exchange *get = submit("GET"), *post = submit("POST"), *answered = submit("GET"), *other = submit("PUT");
    hear(old, "H 3 es; H 5 es; H 7 es; H 9 es; ");
    say(old, "H 7 :status=200; D 7 hel");
    while (answered->body_size < 3)
        turn();
    shutdown(old->fd, SHUT_WR);
    finish_with(post, ERR_CLOSED);
    finish_with(answered, ERR_CLOSED);
    turn_until_resent(get);
    struct peer *new = next_peer(1);
    hear(new, "H 1 es; ");
    say(new, "S; H 1 es :status=200");
    finish_well(get);
    hear(new, "H 3 es; ");
    say(new, "H 3 es :status=200");
    assert_true(other->retried);
    finish_well(other);
    assert_int_equal(counts.opened, 2);
}

static void answer_in_another_protocol(const char *answer, const char *text)
{
    struct exchange *exchange = submit("GET");
    turn_until_sent(exchange);
    struct peer *peer = next_peer(0);
    hear(peer, "H 1 es; ");
    say(peer, answer);
    finish(exchange);
    assert_int_equal(exchange->error, ERR_PROTOCOL);
    assert_string_equal(exchange->text, text);
    pool_recycle(pool, exchange);
}

static void a_peer_of_http1(void **state)
{
    answer_in_another_protocol("raw HTTP/1.1_400_Bad_Request", "the server answered in HTTP/1.x");
}

static void a_peer_of_tls(void **state)
{
    answer_in_another_protocol("raw \x15\x03\x03", "the server answered in TLS: https:// instead of http://?");
}

static void a_wrong_connection_ends_all(void **state)
{
    struct peer *peer = open_connection("S");
    struct exchange *first = submit("GET"), *second = submit("POST");
    hear(peer, "H 3 es; H 5 es; ");
    say(peer, "D 7 hello");
    finish(first);
    assert_int_equal(first->error, ERR_PROTOCOL);
    assert_string_equal(first->text, "PROTOCOL_ERROR: DATA: stream in idle");
    finish_with(second, ERR_CLOSED);
    pool_recycle(pool, first);
    expect_end(peer);
}

static void an_idle_connection_is_looked_after(void **state)
{
    struct peer *peer = open_connection("S");
    say(peer, "P 12345678");
    hear(peer, "P 0 12345678 ack; ");
    assert_int_equal(counts.open, 1);
    shutdown(peer->fd, SHUT_WR);
    expect_end(peer);
    assert_int_equal(counts.open, 0);
    assert_int_equal(counts.closed_by_peer, 1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up_http2, tear_down_http2)
    const struct CMUnitTest tests[] = {
        TEST(users_requests_share_a_connection),
        TEST(waits_for_a_stream),
        TEST(shared_connections_are_opened_and_filled_evenly),
        TEST(limits_streams_of_our_own_will),
        TEST(goaway),
        TEST(goaway_and_the_end),
        TEST(goaway_on_an_idle_connection),
        TEST(goaway_by_peers_that_take_nothing),
        TEST(refused_stream),
        TEST(refused_because_of_the_limit),
        TEST(refused_without_retries),
        TEST(a_reset_is_an_error_of_one_request),
        TEST(a_timeout_resets_its_stream),
        TEST(requests_per_connection),
        TEST(no_keep_alive),
        TEST(a_connection_dies),
        TEST(a_peer_of_http1),
        TEST(a_peer_of_tls),
        TEST(a_wrong_connection_ends_all),
        TEST(an_idle_connection_is_looked_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
