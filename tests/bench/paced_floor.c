/* The floor of the open model: what a paced HTTP/1.1 client cannot do without. An absolute timerfd for each arrival, one epoll_wait for timer and answers, one send and one
 * recv a request; every answer is taken to be as long as the first one, nothing is parsed. An arrival takes an idle connection, or waits for one.
 *
 *     paced_floor PORT PATH CONNECTIONS RATE REQUESTS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>

enum { EVENTS = 512 };

struct connection {
    int fd;
    size_t missing; /* bytes of the present answer that have not come */
    struct connection *next; /* idle */
};

static char request[1024], answer[1 << 16];
static size_t request_length, answer_length;
static struct connection *idle;
static long unsent;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int connect_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Without an idle connection it is sent when one has heard its answer. */
static void ask(void)
{
    struct connection *connection = idle;
    if (!connection) {
        unsent++;
        return;
    }
    idle = connection->next;
    connection->missing = answer_length;
    if (send(connection->fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length)
        die("send");
}

/* 1 when the answer is whole. */
static long hear(struct connection *connection)
{
    ssize_t got = recv(connection->fd, answer, sizeof answer, MSG_DONTWAIT);
    if (got <= 0)
        die("recv");
    connection->missing -= (size_t)got < connection->missing ? (size_t)got : connection->missing;
    if (connection->missing)
        return 0;
    connection->next = idle;
    idle = connection;
    if (unsent) {
        unsent--;
        ask();
    }
    return 1;
}

static size_t length_of_an_answer(int port)
{
    int fd = connect_to(port);
    size_t length = 0;
    if (send(fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length)
        die("send");
    for (;;) {
        ssize_t got = recv(fd, answer + length, sizeof answer - 1 - length, 0);
        if (got <= 0)
            die("first answer");
        length += (size_t)got;
        answer[length] = '\0';
        char *body = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, "\ncontent-length:");
        if (body && field && length >= (size_t)(body + 4 - answer) + strtoul(field + 16, NULL, 10))
            return length;
    }
}

static void arm(int timer, int64_t due)
{
    struct itimerspec at = { .it_value = { .tv_sec = due / 1000000000, .tv_nsec = due % 1000000000 } };
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL); /* clears an expiration, too: the descriptor need not be read */
}

static void run(int epoll, int timer, double rate, long requests)
{
    struct epoll_event events[EVENTS];
    int64_t start = now_ns() + 2000000;
    long asked = 0, heard = 0;
    arm(timer, start + (int64_t)(0.5e9 / rate));
    while (heard < requests) {
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.ptr) {
                heard += hear(events[i].data.ptr);
                continue;
            }
            int64_t due = 0, now = now_ns();
            while (asked < requests && (due = start + (int64_t)(((double)asked + 0.5) * 1e9 / rate)) <= now) {
                ask();
                asked++;
            }
            arm(timer, asked < requests ? due : INT64_C(0)); /* 0 takes it away */
        }
    }
}

static void watch(int epoll, int fd, void *what)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: paced_floor PORT PATH CONNECTIONS RATE REQUESTS\n");
        return 2;
    }
    int port = atoi(argv[1]), epoll = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    long count = atol(argv[3]), requests = atol(argv[5]);
    request_length = (size_t)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", argv[2], port);
    answer_length = length_of_an_answer(port);
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    for (long i = 0; i < count; i++) {
        connections[i] = (struct connection){ .fd = connect_to(port), .next = idle };
        idle = &connections[i];
        watch(epoll, connections[i].fd, &connections[i]);
    }
    watch(epoll, timer, NULL);
    run(epoll, timer, atof(argv[4]), requests);
    printf("%ld requests\n", requests);
    return 0;
}
