/* refc: the reference client. One blocking connection, one thread that sleeps until shortly before each request is due and spins until then: the least that a client
 * on this host can add to what truthd takes, and so the floor of noise of the machine at that moment.
 *
 *     refc PORT SECONDS RATE     RATE 0: one request after another
 *
 * Prints JSON, milliseconds: {"count", "mean", "p50", "p90", "p95", "p99", "p999", "max", "rate"}; a latency is from the time the request was due, quantiles are nearest rank. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void wait_until(int64_t due)
{
    int64_t early = due - 200000;
    struct timespec wake = { .tv_sec = early / 1000000000, .tv_nsec = early % 1000000000 };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
    while (now() < due) {
    }
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

static void fetch(int fd)
{
    char answer[4096];
    size_t length = 0;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
        die("send");
    for (;;) {
        ssize_t got = recv(fd, answer + length, sizeof answer - 1 - length, 0);
        if (got <= 0)
            die("recv");
        length += (size_t)got;
        answer[length] = '\0';
        char *body = strstr(answer, "\r\n\r\n"), *field = strcasestr(answer, "\ncontent-length:");
        if (body && field && length >= (size_t)(body + 4 - answer) + strtoul(field + 16, NULL, 10))
            return;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double quantile(const int64_t *sorted, size_t count, double q)
{
    size_t rank = (size_t)ceil(q * (double)count - 1e-9);
    return (double)sorted[rank > 0 ? rank - 1 : 0] / 1e6;
}

static void print(int64_t *taken, size_t count, double seconds)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)taken[i];
    qsort(taken, count, sizeof *taken, ascending);
    printf("{\"count\": %zu, \"mean\": %.6f, \"p50\": %.6f, \"p90\": %.6f, \"p95\": %.6f, \"p99\": %.6f, \"p999\": %.6f, \"max\": %.6f, \"rate\": %.3f}\n", count,
           sum / (double)count / 1e6, quantile(taken, count, 0.5), quantile(taken, count, 0.9), quantile(taken, count, 0.95), quantile(taken, count, 0.99),
           quantile(taken, count, 0.999), quantile(taken, count, 1), (double)count / seconds);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: refc PORT SECONDS RATE\n");
        return 2;
    }
    int fd = connect_to(atoi(argv[1]));
    double seconds = atof(argv[2]), rate = atof(argv[3]);
    size_t count = 0, most = (size_t)(seconds * (rate > 0 ? rate : 200000)) + 1;
    int64_t *taken = calloc(most, sizeof *taken), begin = now(), end = begin + (int64_t)(seconds * 1e9);
    for (; count < most; count++) {
        int64_t due = rate > 0 ? begin + (int64_t)(((double)count + 0.5) / rate * 1e9) : now();
        if (due >= end)
            break;
        if (rate > 0)
            wait_until(due);
        fetch(fd);
        taken[count] = now() - due;
    }
    if (count == 0)
        die("no requests");
    print(taken, count, (double)(now() - begin) / 1e9);
    free(taken);
    close(fd);
    return 0;
}
