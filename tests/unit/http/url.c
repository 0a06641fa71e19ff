#include "http/url.h"

#include "test.h"

struct good_case {
    const char *text;
    bool tls;
    const char *host;
    uint16_t port;
    const char *path, *userinfo;
    bool port_given, ipv6;
};

/* The parts as RFC 3986 3 divides them; ports by default 80 and 443 (RFC 9110 4.2). */
static const struct good_case good[] = {
    { "http://a/b/c/d;p?q", false, "a", 80, "/b/c/d;p?q", NULL, false, false },
    { "http://a/b/c/d;p?q#s", false, "a", 80, "/b/c/d;p?q", NULL, false, false },
    { "http://a", false, "a", 80, "", NULL, false, false },
    { "http://a/", false, "a", 80, "/", NULL, false, false },
    { "http://a?q", false, "a", 80, "?q", NULL, false, false },
    { "http://a#f", false, "a", 80, "", NULL, false, false },
    { "http://a/?x=/y?z", false, "a", 80, "/?x=/y?z", NULL, false, false },
    { "http://a/b#c#d", false, "a", 80, "/b", NULL, false, false },
    { "http://a//b/../c", false, "a", 80, "//b/../c", NULL, false, false },
    { "http://a?q@b:9", false, "a", 80, "?q@b:9", NULL, false, false },
    { "http://a/x@b:9", false, "a", 80, "/x@b:9", NULL, false, false },
    { "https://example.com", true, "example.com", 443, "", NULL, false, false },
    { "HTTPS://EXAMPLE.com/X", true, "EXAMPLE.com", 443, "/X", NULL, false, false },
    { "http://a:8080/", false, "a", 8080, "/", NULL, true, false },
    { "http://a:80", false, "a", 80, "", NULL, true, false },
    { "http://a:65535", false, "a", 65535, "", NULL, true, false },
    { "http://a:00081/", false, "a", 81, "/", NULL, true, false },
    { "http://a:/x", false, "a", 80, "/x", NULL, false, false }, /* 3.2.3: the port may be empty */
    { "https://a:", true, "a", 443, "", NULL, false, false },
    { "http://192.0.2.16:80/", false, "192.0.2.16", 80, "/", NULL, true, false },
    { "http://[::1]/", false, "::1", 80, "/", NULL, false, true },
    { "http://[2001:db8::7]:8080/c=GB?one", false, "2001:db8::7", 8080, "/c=GB?one", NULL, true, true },
    { "http://[::ffff:192.0.2.1]", false, "::ffff:192.0.2.1", 80, "", NULL, false, true },
    { "http://[::1]:", false, "::1", 80, "", NULL, false, true },
    { "http://user@a/", false, "a", 80, "/", "user", false, false },
    { "http://user:pass:word@a:1/", false, "a", 1, "/", "user:pass:word", true, false },
    { "http://@a/", false, "a", 80, "/", "", false, false },
    { "http://a_b-c.d~e/", false, "a_b-c.d~e", 80, "/", NULL, false, false },
    { "http://a/\xc3\xa4?\xc3\xb6", false, "a", 80, "/\xc3\xa4?\xc3\xb6", NULL, false, false },
    { "http://a/%7Bid%7D{id}|^`<>\"", false, "a", 80, "/%7Bid%7D{id}|^`<>\"", NULL, false, false },
};

static const char *const bad[] = {
    "", "a", "/", "//a/", "a:80", "http:", "http:/", "http:/a", "http//a", "ftp://a/", "ws://a/", "httpx://a/", "http://", "http:///", "http://?q", "http://#f",
    "http://:80/", "http://user@/", "http://user@:80/", "http://a:b/", "http://a:80x/", "http://a:-1/", "http://a:+1/", "http://a:0/", "http://a:65536/",
    "http://a:99999999999999999999/", "http://a:80:80/", "http://a@b@c/", "http://[::1/", "http://::1/", "http://[::1]x/", "http://[::1]80/", "http://[]/",
    "http://[:::]/", "http://[1.2.3.4]/", "http://[fe80::1%25eth0]/", "http://[aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa]/", "http://a]/",
    "http://a b/", "http://a/b c", " http://a/", "http://a/ ", "http://a/\t", "http://a/\r\nX: y", "http://a\r\n/", "http://a/\x7f", "http://a\\b/", "http://a<b/",
    "http://a%2eb/", "http://\xc3\xa4/",
};

static void assert_part(const char *part, size_t length, const char *expected)
{
    assert_int_equal(part != NULL, expected != NULL);
    if (!expected)
        return;
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(part, expected, length);
}

/* In a copy without room behind it, so that the sanitizer sees a read too far. */
static const char *parse_copy(struct url *url, const char *text, size_t length, char **copy)
{
    *copy = malloc(length ? length : 1);
    memcpy(*copy, text, length);
    return url_parse(url, *copy, length);
}

static void takes_urls_apart(void **state)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        const struct good_case *c = &good[i];
        struct url url;
        char *copy;
        const char *why = parse_copy(&url, c->text, strlen(c->text), &copy);
        if (why)
            print_error("%s: %s\n", c->text, why);
        assert_null(why);
        assert_int_equal(url.tls, c->tls);
        assert_part(url.host, url.host_length, c->host);
        assert_int_equal(url.port, c->port);
        assert_int_equal(url.port_given, c->port_given);
        assert_int_equal(url.ipv6, c->ipv6);
        assert_part(url.path, url.path_length, c->path);
        assert_part(url.userinfo, url.userinfo_length, c->userinfo);
        free(copy);
    }
}

static void refuses_what_is_none(void **state)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct url url;
        char *copy;
        const char *why = parse_copy(&url, bad[i], strlen(bad[i]), &copy);
        if (!why)
            print_error("%s\n", bad[i]);
        assert_non_null(why);
        free(copy);
    }
}

static void refuses_nul(void **state)
{
    struct url url;
    static const char in_path[] = "http://a/\0b", in_host[] = "http://a\0b/";
    assert_non_null(url_parse(&url, in_path, sizeof in_path - 1));
    assert_non_null(url_parse(&url, in_host, sizeof in_host - 1));
}

static void limits_the_host(void **state)
{
    char text[300] = "http://";
    struct url url;
    memset(text + 7, 'a', 254);
    assert_null(url_parse(&url, text, 7 + 253));
    assert_non_null(url_parse(&url, text, 7 + 254));
}

/* Any cut of a good URL is parsed without reading beyond it, and what is found lies inside. */
static void stays_inside(void **state)
{
    for (size_t i = 0; i < COUNT(good); i++)
        for (size_t length = 0; length <= strlen(good[i].text); length++) {
            struct url url;
            char *copy;
            if (!parse_copy(&url, good[i].text, length, &copy)) {
                assert_true(url.host >= copy && url.host + url.host_length <= copy + length);
                assert_true(url.path >= copy && url.path + url.path_length <= copy + length);
            }
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_urls_apart), cmocka_unit_test(refuses_what_is_none), cmocka_unit_test(refuses_nul),
        cmocka_unit_test(limits_the_host),  cmocka_unit_test(stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
