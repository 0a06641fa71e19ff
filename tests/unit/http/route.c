/* Where connections go under the options of their client, what is counted of them, and the conversation with a proxy in whatever pieces it comes. */
#include "http/route.h"

#include "net/tcp.h"
#include "peer.h"

static struct address address_of(const char *text, uint16_t to)
{
    struct address address;
    assert_true(address_literal(&address, text, to));
    return address;
}

static struct route *route_to(const char *url)
{
    struct url parsed;
    assert_null(url_parse(&parsed, url, strlen(url)));
    return route_get(origin_get(pool, &parsed), &options, &counts);
}

static void assert_place(const struct route *route, size_t index, const char *text)
{
    char found[ADDRESS_TEXT];
    assert_true(index < route->count);
    address_text(&route->places[index].address, found);
    assert_string_equal(found, text);
}

static void goes_where_the_url_says(void **state)
{
    assert_place(route_to("http://127.0.0.1:81/"), 0, "127.0.0.1:81");
    assert_place(route_to("https://[::1]/"), 0, "[::1]:443");
    struct route *route = route_to("http://A.example/");
    assert_string_equal(route->host, "a.example");
    assert_true(route->stale && !route->known && !route->count);
    assert_ptr_equal(route_to("http://a.EXAMPLE:80/x"), route);
    assert_ptr_not_equal(route_to("https://a.example:80/"), route);
}

static void obeys_the_first_rule_that_fits(void **state)
{
    static const struct connect_to rules[] = {
        { .from_host = "a.example", .from_port = 80, .host = "127.0.0.1", .port = 8080 },
        { .from_host = "b.example", .host = "127.0.0.2" },
        { .from_port = 81, .port = 8181 },
    };
    options.connect_to = rules;
    options.connect_to_count = COUNT(rules);
    assert_place(route_to("http://a.example/"), 0, "127.0.0.1:8080");
    assert_place(route_to("http://b.example:81/"), 0, "127.0.0.2:81");
    assert_place(route_to("http://127.0.0.9:81/"), 0, "127.0.0.9:8181");
    assert_true(route_to("http://a.example:82/")->stale);
}

static void knows_addresses(void **state)
{
    const struct address addresses[] = { address_of("127.0.0.5", 0), address_of("::1", 0), address_of("127.0.0.6", 0) };
    const struct known_host hosts[] = { { .host = "a.example", .port = 443, .addresses = addresses, .address_count = 3 },
                                        { .port = 80, .addresses = addresses + 1, .address_count = 1 } };
    options.known_hosts = hosts;
    options.known_host_count = COUNT(hosts);
    struct route *route = route_to("https://a.example/");
    assert_int_equal(route->count, 3);
    assert_place(route, 0, "127.0.0.5:443");
    assert_place(route, 1, "[::1]:443");
    assert_place(route, 2, "127.0.0.6:443");
    assert_place(route_to("http://whatever.example/"), 0, "[::1]:80");
    options.family = AF_INET;
    struct client_options other = options;
    route = route_get(route->origin, &other, &counts);
    assert_int_equal(route->count, 2);
    assert_place(route, 1, "127.0.0.6:443");
}

static void goes_to_a_proxy_or_a_socket(void **state)
{
    static const struct proxy proxy = { .host = "127.0.0.1", .port = 3128 };
    options.proxy = &proxy;
    struct route *route = route_to("https://a.example/");
    assert_true(route->proxied && route->known);
    assert_place(route, 0, "127.0.0.1:3128");
    struct client_options other = { .unix_socket = "/run/x.sock" };
    assert_place(route_get(route->origin, &other, &counts), 0, "unix:/run/x.sock");
}

static void takes_sources_in_turn(void **state)
{
    const struct address sources[] = { address_of("127.0.0.2", 0), address_of("::1", 0), address_of("127.0.0.3", 0) };
    const struct address four = address_of("127.0.0.1", 80), six = address_of("::1", 80);
    const char *why;
    struct route *route = route_to("http://127.0.0.1/");
    assert_null(route_source(route, &four, &why));
    assert_null(why);
    options.sources = sources;
    options.source_count = COUNT(sources);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(route_source(route, &four, &why), &sources[0]);
        assert_ptr_equal(route_source(route, &four, &why), &sources[2]);
    }
    assert_ptr_equal(route_source(route, &six, &why), &sources[1]);
    options.source_count = 1;
    assert_null(route_source(route, &six, &why));
    assert_non_null(why);
}

static void counts_so_many_addresses_apart(void **state)
{
    struct address address = address_of("127.0.0.1", 1);
    struct address_counts *first = counts_of_address(&counts, &address);
    for (uint16_t i = 1; i <= COUNTS_ADDRESSES + 50; i++) {
        address_set_port(&address, i);
        counts_of_address(&counts, &address)->opened++;
    }
    address_set_port(&address, 1);
    assert_ptr_equal(counts_of_address(&counts, &address), first);
    assert_int_equal(first->opened, 1);
    size_t number = 0;
    const struct address_counts *last = NULL;
    for (const struct address_counts *each = counts.addresses; each; each = each->next, number++)
        last = each;
    assert_int_equal(number, COUNTS_ADDRESSES + 1);
    assert_int_equal(last->address.length, 0);
    assert_int_equal(last->opened, 50);
}

static void counts_what_was_agreed(void **state)
{
    char version[] = "TLSv1.3"; /* texts are compared, not pointers */
    counts_agreed(&counts, 1, "TLSv1.3", "A", false);
    counts_agreed(&counts, 1, version, "A", true);
    counts_agreed(&counts, 2, "TLSv1.3", "A", false);
    counts_agreed(&counts, 1, NULL, NULL, false);
    const struct agreed_counts *each = counts.agreed;
    assert_int_equal(each->opened, 2);
    assert_int_equal(each->resumed, 1);
    assert_int_equal(each->next->http, 2);
    assert_null(each->next->next->version);
    assert_null(each->next->next->next);
}

/* What a proxy that answers with `answer`, `piece` bytes at a time, brings about; the words of a failure in `text`. */
static int tunnel_through(const char *answer, size_t piece, char text[200])
{
    static const struct proxy proxy = { .authorization = "Basic eA==" };
    static struct origin origin = { .host = (char *)"::1", .port = 443, .tls = true };
    static const char expected[] = "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic eA==\r\n\r\n";
    int pair[2];
    char got[200] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    struct transport transport;
    tcp_adopt(&transport, pair[0]);
    struct tunnel *tunnel = tunnel_new(&proxy, &origin);
    int result = tunnel_open(tunnel, &transport);
    assert_int_equal(result, TRANSPORT_WANT_READ);
    assert_int_equal(recv(pair[1], got, sizeof got, 0), strlen(expected));
    assert_string_equal(got, expected);
    for (size_t left = strlen(answer); left && result == TRANSPORT_WANT_READ; ) {
        size_t length = piece < left ? piece : left;
        assert_int_equal(send(pair[1], answer, length, 0), length);
        answer += length;
        left -= length;
        result = tunnel_open(tunnel, &transport);
        assert_true(left == 0 || result != 0); /* some failures show before the end */
    }
    close(pair[1]);
    if (result == TRANSPORT_WANT_READ)
        result = tunnel_open(tunnel, &transport);
    snprintf(text, 200, "%s", result == TRANSPORT_FAILED ? transport.text : "");
    assert_true(result == 0 || transport.error == ERR_CONNECT);
    transport.ops->close(&transport);
    tunnel_free(tunnel);
    return result;
}

static void asks_a_proxy_for_a_tunnel(void **state)
{
    static const struct { const char *answer, *text; } cases[] = {
        { "HTTP/1.1 200 Connection established\r\n\r\n", "" },
        { "HTTP/1.0 200 OK\r\nVia: x\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n", "" },
        { "HTTP/1.1 204 No Content\r\n\r\n", "" },
        { "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "the proxy refused the tunnel: 403 Forbidden" },
        { "HTTP/2 200\r\n\r\n", "the proxy does not speak HTTP/1.1" },
        { "HTTP/1.1 20\r\n\r\n", "the proxy refused the tunnel: 20" },
        { "\r\n\r\n", "the proxy does not speak HTTP/1.1" },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "" },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 502\r\n\r\n", "the proxy refused the tunnel: 502" },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n", "the proxy closed the connection in the middle of its answer" },
        { "HTTP/1.1 101 Switching Protocols\r\n\r\n", "the proxy refused the tunnel: 101 Switching Protocols" },
        { "HTTP/1.1 200 OK\n\n", "the proxy ends its lines by LF alone" },
        { "220 ready\r\n", "the proxy does not speak HTTP/1.1" },
        { "HTTP/1.1 200 OK\r\n", "the proxy closed the connection in the middle of its answer" },
        { "", "the proxy closed the connection without an answer" },
    };
    char text[200];
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t piece = 1; piece < 100; piece = piece * 3 + 1) {
            int result = tunnel_through(cases[i].answer, piece, text);
            assert_string_equal(text, cases[i].text);
            assert_int_equal(result, *cases[i].text ? TRANSPORT_FAILED : 0);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(goes_where_the_url_says), TEST(obeys_the_first_rule_that_fits), TEST(knows_addresses), TEST(goes_to_a_proxy_or_a_socket),
        TEST(takes_sources_in_turn), TEST(counts_so_many_addresses_apart), TEST(counts_what_was_agreed), TEST(asks_a_proxy_for_a_tunnel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
