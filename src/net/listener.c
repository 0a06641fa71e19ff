#define _GNU_SOURCE
#include "net/listener.h"
#include "base/shown.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket bound to `address`, not yet listening. With `shared`, others that ask likewise may have the same port. -1 with errno. */
static int bind_one(const struct addrinfo *address, bool shared)
{
    int one = 1, fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (shared)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
    if (!bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, SOMAXCONN))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Whether nobody has the port: sockets that share a port would also share it with those of another server. */
static bool is_free(const struct addrinfo *address)
{
    int fd = bind_one(address, false);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* Puts the port that `fd` has into `address`. */
static void learn_port(int fd, struct addrinfo *address)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (!getsockname(fd, (struct sockaddr *)&bound, &size))
        memcpy(address->ai_addr, &bound, size < address->ai_addrlen ? size : address->ai_addrlen);
}

static int port_of(const struct addrinfo *address)
{
    if (address->ai_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)address->ai_addr)->sin6_port);
    return ntohs(((const struct sockaddr_in *)(const void *)address->ai_addr)->sin_port);
}

/* Opens all sockets on one address, and puts the port they got into it. */
static bool open_on(int *sockets, int count, struct addrinfo *address)
{
    int opened = 0;
    if (count > 1 && port_of(address) && !is_free(address))
        return false;
    for (; opened < count; opened++) {
        sockets[opened] = bind_one(address, count > 1);
        if (sockets[opened] < 0)
            break;
        learn_port(sockets[opened], address);
    }
    if (opened == count)
        return true;
    int error = errno;
    while (opened--)
        close(sockets[opened]);
    errno = error;
    return false;
}

static void complain(const struct listener_words *words, const char *host, int port, int error)
{
    fprintf(stderr, "%s: cannot listen on port %d of %s: ", words->who, port, host ? host : "any address");
    switch (error) {
    case EADDRINUSE:
        fprintf(stderr, "the port is taken; %s\n", words->taken);
        break;
    case EACCES:
        fprintf(stderr, "no permission; ports below 1024 are root's, %s\n", words->forbidden);
        break;
    case EADDRNOTAVAIL:
        fprintf(stderr, "this machine does not have that address\n");
        break;
    default:
        fprintf(stderr, "%s\n", strerror(error));
    }
}

bool listener_open(int *sockets, int count, const char *host, int *port, const struct listener_words *words)
{
    char service[16], name[SHOWN_SIZE];
    if (*port < 0 || *port > 65535) {
        fprintf(stderr, "%s: %d is not a port: 0 to 65535\n", words->who, *port);
        return false;
    }
    snprintf(service, sizeof service, "%d", *port);
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *addresses;
    int failed = getaddrinfo(host, service, &hints, &addresses);
    if (failed) {
        fprintf(stderr, "%s: the host %s is not known: %s\n", words->who, shown(host, name), failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
        return false;
    }
    struct addrinfo *address = addresses;
    while (address && !open_on(sockets, count, address))
        address = address->ai_next;
    if (address)
        *port = port_of(address);
    else
        complain(words, host, *port, errno);
    freeaddrinfo(addresses);
    return address;
}
