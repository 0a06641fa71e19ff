#include "net/tcp.c"

#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>

#include "test.h"

static struct transport transport;
static struct address address;
static int listener;

static int listen_here(int backlog)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address = (struct address){ .length = sizeof address.v4, .v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
    assert_false(bind(fd, &address.any, address.length));
    if (backlog)
        assert_false(listen(fd, backlog));
    assert_false(getsockname(fd, &address.any, &address.length));
    return fd;
}

static int set_up(void **state)
{
    alarm(60);
    listener = listen_here(5);
    return 0;
}

static int tear_down(void **state)
{
    if (transport.ops)
        transport.ops->close(&transport);
    close(listener);
    return 0;
}

/* Until it is open or has failed. */
static int open_it(void)
{
    int result = tcp_connect(&transport, &address);
    while (result == TRANSPORT_WANT_WRITE) {
        struct pollfd wanted = { .fd = transport.fd, .events = POLLOUT };
        poll(&wanted, 1, -1);
        result = transport.ops->open(&transport);
    }
    return result;
}

static void wait_until_readable(void)
{
    struct pollfd wanted = { .fd = transport.fd, .events = POLLIN };
    assert_int_equal(poll(&wanted, 1, -1), 1);
}

static void moves_bytes(void **state)
{
    char data[100];
    struct iovec vectors[] = { { "ab", 2 }, { "cde", 3 } };
    assert_int_equal(open_it(), 0);
    int fd = accept(listener, NULL, NULL);
    assert_int_equal(transport.ops->read(&transport, data, sizeof data), TRANSPORT_WANT_READ);
    assert_int_equal(transport.ops->writev(&transport, vectors, 2), 5);
    assert_int_equal(transport.ops->writev(&transport, vectors, 1), 2);
    assert_int_equal(recv(fd, data, 7, MSG_WAITALL), 7);
    assert_memory_equal(data, "abcdeab", 7);
    assert_int_equal(send(fd, "xyz", 3, 0), 3);
    wait_until_readable();
    assert_int_equal(transport.ops->read(&transport, data, sizeof data), 3);
    assert_memory_equal(data, "xyz", 3);
    close(fd);
    wait_until_readable();
    assert_int_equal(transport.ops->read(&transport, data, sizeof data), 0);
}

static void wants_to_write(void **state)
{
    static char much[1 << 20];
    struct iovec vector = { much, sizeof much };
    assert_int_equal(open_it(), 0);
    ssize_t result;
    do
        result = transport.ops->writev(&transport, &vector, 1);
    while (result > 0);
    assert_int_equal(result, TRANSPORT_WANT_WRITE);
}

/* No SIGPIPE either. */
static void sees_a_reset(void **state)
{
    char data[10];
    struct iovec vectors[] = { { "ab", 2 }, { "cde", 3 } };
    struct linger linger = { .l_onoff = 1 };
    assert_int_equal(open_it(), 0);
    int fd = accept(listener, NULL, NULL);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(fd);
    wait_until_readable();
    assert_int_equal(transport.ops->read(&transport, data, sizeof data), TRANSPORT_FAILED);
    assert_int_equal(transport.error, ERR_RESET);
    assert_string_equal(transport.text, "Connection reset by peer");
    for (int count = 1; count <= 2; count++) {
        assert_int_equal(transport.ops->writev(&transport, vectors, count), TRANSPORT_FAILED);
        assert_int_equal(transport.error, ERR_RESET);
    }
}

static void is_refused(void **state)
{
    close(listener);
    listener = listen_here(0);
    assert_int_equal(open_it(), TRANSPORT_FAILED);
    assert_int_equal(transport.error, ERR_CONNECT);
    assert_string_equal(transport.text, "Connection refused");
}

/* A limit where the next descriptor would be. */
static void has_no_descriptor(void **state)
{
    struct rlimit before, none;
    int next = dup(0);
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &none);
    int result = open_it();
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(result, TRANSPORT_FAILED);
    assert_int_equal(transport.error, ERR_NO_DESCRIPTORS);
    assert_int_equal(transport.fd, -1);
}

static void names_the_other_errors(void **state)
{
    static const struct {
        int number;
        enum err error;
    } all[] = { { EADDRINUSE, ERR_NO_PORTS }, { EAGAIN, ERR_NO_PORTS }, { ENFILE, ERR_NO_DESCRIPTORS }, { ENETUNREACH, ERR_CONNECT }, { ETIMEDOUT, ERR_CONNECT }, { EADDRNOTAVAIL, ERR_CONNECT } };
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_int_equal(fail_connect(&transport, all[i].number), TRANSPORT_FAILED);
        assert_int_equal(transport.error, all[i].error);
        assert_string_equal(transport.text, strerror(all[i].number));
    }
}

/* A socket connected to its own port, as a connect to a closed port among those given out by the kernel may be. */
static void does_not_talk_to_itself(void **state)
{
    close(listener);
    listener = listen_here(0);
    assert_int_equal(connect(listener, &address.any, address.length), 0);
    transport = (struct transport){ .ops = &tcp_ops, .fd = dup(listener) };
    assert_int_equal(transport.ops->open(&transport), TRANSPORT_FAILED);
    assert_int_equal(transport.error, ERR_CONNECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(moves_bytes),
        TEST(wants_to_write),
        TEST(sees_a_reset),
        TEST(is_refused),
        TEST(has_no_descriptor),
        TEST(names_the_other_errors),
        TEST(does_not_talk_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
