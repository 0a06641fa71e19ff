/* The floor: what an HTTP/1.1 keep-alive client cannot do without. One send and one recv a request and a share of an epoll_wait; every answer is taken to be as long
 * as the first one, nothing is parsed or looked at. What a load tester uses above this is its own.
 *
 *     floor PORT PATH CONNECTIONS REQUESTS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { EVENTS = 512 };

struct connection {
    int fd;
    size_t missing; /* bytes of the present answer that have not come */
};

static char request[1024], answer[1 << 16];
static size_t request_length, answer_length;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void ask(struct connection *connection)
{
    connection->missing = answer_length;
    if (send(connection->fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length)
        die("send");
}

/* True when the answer is whole. */
static bool hear(struct connection *connection)
{
    ssize_t got = recv(connection->fd, answer, sizeof answer, MSG_DONTWAIT);
    if (got <= 0)
        die("recv");
    connection->missing -= (size_t)got < connection->missing ? (size_t)got : connection->missing;
    return connection->missing == 0;
}

/* Head and body by Content-Length, from one request of its own. */
static size_t length_of_an_answer(int port)
{
    struct connection probe = { .fd = connect_to(port) };
    size_t length = 0;
    ask(&probe);
    for (;;) {
        ssize_t got = recv(probe.fd, answer + length, sizeof answer - 1 - length, 0);
        if (got <= 0)
            die("first answer");
        length += (size_t)got;
        answer[length] = '\0';
        char *body = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, "\ncontent-length:");
        if (body && field && length >= (size_t)(body + 4 - answer) + strtoul(field + 16, NULL, 10))
            return length;
    }
}

static void run(int epoll, struct connection *connections, long count, long requests)
{
    struct epoll_event events[EVENTS];
    long asked = 0, heard = 0;
    while (asked < count && asked < requests)
        ask(&connections[asked++]);
    while (heard < requests) {
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (!hear(events[i].data.ptr))
                continue;
            heard++;
            if (asked < requests) {
                ask(events[i].data.ptr);
                asked++;
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: floor PORT PATH CONNECTIONS REQUESTS\n");
        return 2;
    }
    int port = atoi(argv[1]), epoll = epoll_create1(EPOLL_CLOEXEC);
    long count = atol(argv[3]), requests = atol(argv[4]);
    request_length = (size_t)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", argv[2], port);
    answer_length = length_of_an_answer(port);

    struct connection *connections = calloc((size_t)count, sizeof *connections);
    for (long i = 0; i < count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };
        connections[i].fd = connect_to(port);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event) != 0)
            die("epoll_ctl");
    }
    run(epoll, connections, count, requests);
    printf("%ld requests\n", requests);
    return 0;
}
