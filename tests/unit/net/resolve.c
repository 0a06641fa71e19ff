#include "net/resolve.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "test.h"

static struct loop loop;
static int answers;
static struct resolved last;

static int set_up(void **state)
{
    alarm(60);
    answers = 0;
    last = (struct resolved){ 0 };
    assert_true(loop_init(&loop));
    return 0;
}

static int tear_down(void **state)
{
    free(last.addresses);
    loop_free(&loop);
    return 0;
}

static void on_answer(void *context, struct resolved resolved)
{
    free(last.addresses);
    last = resolved;
    answers++;
    assert_ptr_equal(context, &answers);
}

static void knows_literals(void **state)
{
    struct address address;
    assert_true(address_literal(&address, "192.0.2.1", 80));
    assert_int_equal(address.any.sa_family, AF_INET);
    assert_int_equal(address.length, sizeof(struct sockaddr_in));
    assert_int_equal(address.v4.sin_port, htons(80));
    assert_int_equal(address.v4.sin_addr.s_addr, htonl(0xc0000201));
    assert_true(address_literal(&address, "::1", 443));
    assert_int_equal(address.any.sa_family, AF_INET6);
    assert_int_equal(address.length, sizeof(struct sockaddr_in6));
    assert_int_equal(address.v6.sin6_port, htons(443));
    assert_memory_equal(&address.v6.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback);
    static const char *const names[] = { "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", ":::", "[::1]" };
    for (size_t i = 0; i < COUNT(names); i++)
        assert_false(address_literal(&address, names[i], 80));
}

static bool is_loopback(const struct address *address)
{
    return address->any.sa_family == AF_INET ? address->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK)
                                             : !memcmp(&address->v6.sin6_addr, &in6addr_loopback, sizeof in6addr_loopback);
}

static void finds_addresses(void **state)
{
    struct resolver *resolver = resolver_new(&loop);
    for (uint16_t port = 1; port <= 3; port++) {
        resolver_ask(resolver, "localhost", port, on_answer, &answers);
        while (answers < port)
            loop_poll(&loop, true);
        assert_null(last.why);
        assert_true(last.count > 0);
        for (size_t i = 0; i < last.count; i++) {
            assert_true(is_loopback(&last.addresses[i]));
            assert_int_equal(last.addresses[i].v4.sin_port, htons(port)); /* at the same place in sockaddr_in6 */
        }
    }
    resolver_free(resolver);
}

/* A label of more than 63 characters: no name server need be asked. */
static void says_why_not(void **state)
{
    char host[100];
    memset(host, 'a', sizeof host);
    host[sizeof host - 1] = '\0';
    struct resolver *resolver = resolver_new(&loop);
    resolver_ask(resolver, host, 80, on_answer, &answers);
    while (!answers)
        loop_poll(&loop, true);
    assert_non_null(last.why);
    assert_null(last.addresses);
    assert_int_equal(last.count, 0);
    resolver_free(resolver);
}

/* The thread may be anywhere; the sanitizer sees what is used or lost. */
static void can_be_freed_with_questions(void **state)
{
    for (int i = 0; i < 200; i++) {
        struct resolver *resolver = resolver_new(&loop);
        for (int j = 0; j < i % 5; j++)
            resolver_ask(resolver, "localhost", 80, on_answer, &answers);
        if (i % 3 == 0)
            loop_poll(&loop, false);
        resolver_free(resolver);
    }
    int before = answers;
    loop_poll(&loop, false);
    assert_int_equal(answers, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(knows_literals),
        TEST(finds_addresses),
        TEST(says_why_not),
        TEST(can_be_freed_with_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
