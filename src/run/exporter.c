#define _GNU_SOURCE
#include "run/exporter.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/h1_server.h"
#include "net/listener.h"

enum { CLIENTS = 16, INPUT = 4096, IDLE_MS = 60 * 1000, LOOK_MS = 1000 };

struct client {
    int fd; /* -1: the place is free */
    struct h1_server *h1;
    int64_t used; /* ns: when bytes moved last */
};

struct exporter {
    int listener, wake;
    atomic_bool stopping;
    pthread_t thread;
    struct client clients[CLIENTS];
    pthread_mutex_t lock; /* of the text */
    struct buf text;
};

/* Answering */

static void answer_with(struct incoming *incoming, int status, const char *type)
{
    struct buf *text = &incoming->text;
    incoming->answer.status = status;
    incoming->answer.type = (struct slice){ type, strlen(type) };
    incoming->answer.content = (struct content){ .data = text->data, .size = text->length, .length = text->length };
}

static void answer_metrics(struct exporter *exporter, struct incoming *incoming)
{
    pthread_mutex_lock(&exporter->lock);
    buf_append(&incoming->text, exporter->text.data, exporter->text.length);
    pthread_mutex_unlock(&exporter->lock);
    answer_with(incoming, 200, "text/plain; version=0.0.4; charset=utf-8");
}

static void answer(struct exporter *exporter, struct incoming *incoming)
{
    if (slice_is(incoming->path, "/metrics") && (slice_is(incoming->method, "GET") || incoming->is_head)) {
        answer_metrics(exporter, incoming);
        return;
    }
    buf_printf(&incoming->text, "luabench: the figures of the run are at /metrics\n");
    answer_with(incoming, slice_is(incoming->path, "/") ? 200 : 404, "text/plain; charset=utf-8");
}

static void refuse(struct incoming *incoming)
{
    buf_printf(&incoming->text, "%s\n", incoming->why ? incoming->why : "");
    answer_with(incoming, incoming->answer.status, "text/plain; charset=utf-8");
}

static void handle(struct exporter *exporter, struct h1_server *h1, enum h1_server_event event)
{
    struct incoming *incoming = h1_server_incoming(h1);
    if (event == H1_SERVER_HEAD) {
        incoming->max_body = 0;
        event = h1_server_accept(h1);
    }
    if (event == H1_SERVER_REQUEST)
        answer(exporter, incoming);
    else if (event == H1_SERVER_REFUSED)
        refuse(incoming);
    else
        return;
    h1_server_answer(h1);
}

/* Connections */

static void close_client(struct client *client)
{
    close(client->fd);
    h1_server_free(client->h1);
    *client = (struct client){ .fd = -1 };
}

/* Writes what there is; false when the connection is over. */
static bool write_answers(struct client *client)
{
    struct iovec vectors[H1_SERVER_VECTORS];
    int count;
    while ((count = h1_server_output(client->h1, vectors))) {
        ssize_t written = writev(client->fd, vectors, count);
        if (written < 0)
            return errno == EAGAIN || errno == EINTR;
        client->used = clock_ns();
        h1_server_wrote(client->h1, (size_t)written);
    }
    return !h1_server_ended(client->h1);
}

/* What is behind a request that is being answered is thrown away: nobody who scrapes sends ahead. */
static void feed(struct exporter *exporter, struct client *client, const char *data, size_t length)
{
    size_t taken;
    for (size_t at = 0; at < length && h1_server_reading(client->h1); at += taken)
        handle(exporter, client->h1, h1_server_input(client->h1, data + at, length - at, &taken));
}

static bool read_request(struct exporter *exporter, struct client *client)
{
    char input[INPUT];
    ssize_t length = recv(client->fd, input, sizeof input, 0);
    if (length <= 0)
        return length < 0 && (errno == EAGAIN || errno == EINTR);
    client->used = clock_ns();
    feed(exporter, client, input, (size_t)length);
    return true;
}

static void advance(struct exporter *exporter, struct client *client, short events)
{
    bool goes_on = true;
    if (events & (POLLIN | POLLHUP | POLLERR) && h1_server_reading(client->h1))
        goes_on = read_request(exporter, client);
    if (!goes_on || !write_answers(client))
        close_client(client);
}

/* A free place; that of the client that has been silent for longest when there is none. */
static struct client *free_place(struct exporter *exporter)
{
    struct client *oldest = &exporter->clients[0];
    for (int i = 0; i < CLIENTS; i++) {
        if (exporter->clients[i].fd < 0)
            return &exporter->clients[i];
        if (exporter->clients[i].used < oldest->used)
            oldest = &exporter->clients[i];
    }
    close_client(oldest);
    return oldest;
}

static void accept_client(struct exporter *exporter)
{
    int fd = accept4(exporter->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    *free_place(exporter) = (struct client){ .fd = fd, .h1 = h1_server_new(), .used = clock_ns() };
}

static void close_idle(struct exporter *exporter)
{
    int64_t now = clock_ns();
    for (int i = 0; i < CLIENTS; i++)
        if (exporter->clients[i].fd >= 0 && now - exporter->clients[i].used > IDLE_MS * NS_PER_MS)
            close_client(&exporter->clients[i]);
}

/* The thread */

static void turn(struct exporter *exporter)
{
    struct pollfd fds[CLIENTS + 2] = { { .fd = exporter->wake, .events = POLLIN }, { .fd = exporter->listener, .events = POLLIN } };
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &exporter->clients[i];
        fds[i + 2] = (struct pollfd){ .fd = client->fd };
        if (client->fd >= 0)
            fds[i + 2].events = h1_server_reading(client->h1) ? POLLIN : POLLOUT;
    }
    if (poll(fds, CLIENTS + 2, LOOK_MS) > 0) {
        for (int i = 0; i < CLIENTS; i++)
            if (fds[i + 2].fd >= 0 && fds[i + 2].revents)
                advance(exporter, &exporter->clients[i], fds[i + 2].revents);
        if (fds[1].revents)
            accept_client(exporter);
    }
    close_idle(exporter);
}

static void *thread_main(void *argument)
{
    struct exporter *exporter = argument;
    while (!atomic_load(&exporter->stopping))
        turn(exporter);
    return NULL;
}

/* Beginning and end */

static bool start(struct exporter *exporter)
{
    exporter->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (exporter->wake < 0 || pthread_create(&exporter->thread, NULL, thread_main, exporter)) {
        fprintf(stderr, "luabench: --prometheus: a thread cannot be started: %s\n", strerror(errno));
        return false;
    }
    return true;
}

struct exporter *exporter_new(const char *host, int port)
{
    static const struct listener_words words = { .who = "luabench: --prometheus", .taken = "give another, or 0 for any free one", .forbidden = "give another" };
    struct exporter *exporter = mem_zero(sizeof *exporter);
    for (int i = 0; i < CLIENTS; i++)
        exporter->clients[i].fd = -1;
    if (!listener_open(&exporter->listener, 1, *host ? host : NULL, &port, &words)) {
        free(exporter);
        return NULL;
    }
    pthread_mutex_init(&exporter->lock, NULL);
    if (!start(exporter)) {
        close(exporter->listener);
        free(exporter);
        return NULL;
    }
    bool six = strchr(host, ':');
    fprintf(stderr, "figures for Prometheus: http://%s%s%s:%d/metrics\n", six ? "[" : "", *host ? host : "0.0.0.0", six ? "]" : "", port);
    return exporter;
}

void exporter_publish(struct exporter *exporter, const struct buf *text)
{
    pthread_mutex_lock(&exporter->lock);
    exporter->text.length = 0;
    buf_append(&exporter->text, text->data, text->length);
    pthread_mutex_unlock(&exporter->lock);
}

void exporter_free(struct exporter *exporter)
{
    uint64_t one = 1;
    if (!exporter)
        return;
    atomic_store(&exporter->stopping, true);
    if (write(exporter->wake, &one, sizeof one) < 0)
        perror("luabench: eventfd");
    pthread_join(exporter->thread, NULL);
    for (int i = 0; i < CLIENTS; i++)
        if (exporter->clients[i].fd >= 0)
            close_client(&exporter->clients[i]);
    close(exporter->listener);
    close(exporter->wake);
    pthread_mutex_destroy(&exporter->lock);
    buf_free(&exporter->text);
    free(exporter);
}
