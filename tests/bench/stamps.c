/* A server that knows when each request came: answers every head at once, and writes the CLOCK_MONOTONIC nanoseconds at which it read them to standard output, as int64, when
 * it is ended by SIGTERM. Prints its port on standard error first. One request a read is taken for granted, as long as the clients do not pipeline. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 512 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";
static int64_t *stamps;
static size_t count, capacity;

static void stamp(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 1 << 20;
        stamps = realloc(stamps, capacity * sizeof *stamps);
    }
    stamps[count++] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void serve(int fd)
{
    char bytes[4096];
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) {
        stamp();
        if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0)
            close(fd);
    } else {
        close(fd);
    }
}

static int listen_somewhere(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8192) || getsockname(fd, (struct sockaddr *)&address, &length)) {
        perror("stamps");
        exit(1);
    }
    fprintf(stderr, "%d\n", ntohs(address.sin_port));
    return fd;
}

int main(void)
{
    struct epoll_event events[EVENTS];
    sigset_t set;
    int on = 1, epoll = epoll_create1(EPOLL_CLOEXEC), listener = listen_somewhere();
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    watch(epoll, listener);
    watch(epoll, signals);
    for (;;) {
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == signals) {
                fwrite(stamps, sizeof *stamps, count, stdout);
                return fflush(stdout) ? 1 : 0;
            }
            if (events[i].data.fd == listener) {
                int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                watch(epoll, fd);
            } else {
                serve(events[i].data.fd);
            }
        }
    }
}
