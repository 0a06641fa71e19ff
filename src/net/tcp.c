#define _GNU_SOURCE
#include "net/tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "net/socket_calls.h"

static int fail(struct transport *transport, enum err error, int number)
{
    transport->error = error;
    transport->text = strerrordesc_np(number);
    return TRANSPORT_FAILED;
}

static int fail_connect(struct transport *transport, int number)
{
    switch (number) {
    case EADDRINUSE:
    case EAGAIN:
        return fail(transport, ERR_NO_PORTS, number);
    case EMFILE:
    case ENFILE:
        return fail(transport, ERR_NO_DESCRIPTORS, number);
    }
    return fail(transport, ERR_CONNECT, number);
}

/* The end of a read or write that moved nothing. */
static ssize_t stopped(struct transport *transport, int wanted)
{
    return errno == EAGAIN || errno == EINTR ? wanted : fail(transport, ERR_RESET, errno);
}

/* A connect to a closed port of this host may be given that very port as its own, and then reaches itself (TCP's simultaneous open). */
static bool reaches_itself(int fd)
{
    struct address here = { .length = sizeof here.v6 }, there = { .length = sizeof there.v6 };
    return !getsockname(fd, &here.any, &here.length) && !getpeername(fd, &there.any, &there.length) && here.length == there.length &&
           !memcmp(&here.any, &there.any, here.length);
}

static int tcp_open(struct transport *transport)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(transport->fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    if (!error && reaches_itself(transport->fd))
        error = ECONNREFUSED;
    return error ? fail_connect(transport, error) : 0;
}

static ssize_t tcp_read(struct transport *transport, void *data, size_t size)
{
    ssize_t count = socket_receive(transport->fd, data, size);
    transport->more = count == (ssize_t)size;
    return count >= 0 ? count : stopped(transport, TRANSPORT_WANT_READ);
}

/* send() is the cheaper call for the usual one vector; neither raises SIGPIPE. */
static ssize_t tcp_writev(struct transport *transport, const struct iovec *vectors, int count)
{
    ssize_t written;
    if (count == 1) {
        written = socket_send(transport->fd, vectors->iov_base, vectors->iov_len);
    } else {
        struct msghdr message = { .msg_iov = (struct iovec *)vectors, .msg_iovlen = (size_t)count };
        written = sendmsg(transport->fd, &message, MSG_NOSIGNAL);
    }
    return written >= 0 ? written : stopped(transport, TRANSPORT_WANT_WRITE);
}

static void tcp_close(struct transport *transport)
{
    if (transport->fd >= 0)
        close(transport->fd);
    transport->fd = -1;
}

static const struct transport_ops tcp_ops = {
    .open = tcp_open,
    .read = tcp_read,
    .writev = tcp_writev,
    .close = tcp_close,
};

/* Whether this machine has an address from which that one can be reached. UDP, which has ports of its own, tells without sending anything. */
static bool has_source(const struct address *address, const struct address *source)
{
    int fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool has = fd < 0 || ((!source || !bind(fd, &source->any, source->length)) && !connect(fd, &address->any, address->length));
    if (fd >= 0)
        close(fd);
    return has;
}

/* The kernel chooses the port when it knows where the connection goes, so that one port serves connections to several addresses. */
static bool bind_to(int fd, const struct address *source)
{
    int one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    return !bind(fd, &source->any, source->length);
}

int tcp_connect_from(struct transport *transport, const struct address *address, const struct address *source)
{
    int one = 1;
    bool local = address->any.sa_family == AF_UNIX;
    *transport = (struct transport){ .ops = &tcp_ops, .fd = -1 };
    transport->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (transport->fd < 0)
        return fail_connect(transport, errno);
    if (!local)
        setsockopt(transport->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (source && !bind_to(transport->fd, source))
        return fail_connect(transport, errno);
    if (!connect(transport->fd, &address->any, address->length))
        return tcp_open(transport);
    if (errno == EINPROGRESS || errno == EINTR)
        return TRANSPORT_WANT_WRITE;
    if (errno == EADDRNOTAVAIL)
        return fail(transport, has_source(address, source) ? ERR_NO_PORTS : ERR_CONNECT, EADDRNOTAVAIL);
    if (!local || errno != EAGAIN)
        return fail_connect(transport, errno);
    tcp_close(transport);
    return TRANSPORT_BUSY;
}

int tcp_connect(struct transport *transport, const struct address *address)
{
    return tcp_connect_from(transport, address, NULL);
}

void tcp_adopt(struct transport *transport, int fd)
{
    *transport = (struct transport){ .ops = &tcp_ops, .fd = fd };
}
