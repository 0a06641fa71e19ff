#include "serve/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "net/listener.h"
#include "serve/server.h"

enum { STATUS_OK = 0, STATUS_FAILED = 3, MAX_THREADS = 256 };

struct thread {
    struct server server;
    pthread_t id;
};

/* Everything of one run of serve_run. */
struct group {
    struct manners manners;
    struct thread *threads;
    struct tally *tallies;
    int *sockets;
    int count, made, running; /* threads: wanted, with their server made, with it running */
    atomic_bool stopping;
};

static void *run_thread(void *argument)
{
    struct thread *thread = argument;
    server_run(&thread->server);
    return NULL;
}

static bool complain(int error)
{
    fprintf(stderr, "luabench serve: cannot start a thread: %s\n", strerror(error));
    return false;
}

static bool start_threads(struct group *group)
{
    for (; group->made < group->count; group->made++) {
        struct server *server = &group->threads[group->made].server;
        if (!server_init(server, group->sockets[group->made], &group->manners, group->tallies, group->made, group->count, &group->stopping))
            return complain(errno);
    }
    for (; group->running < group->count; group->running++) {
        struct thread *thread = &group->threads[group->running];
        int error = pthread_create(&thread->id, NULL, run_thread, thread);
        if (error)
            return complain(error);
    }
    return true;
}

static void stop_threads(struct group *group)
{
    atomic_store(&group->stopping, true);
    for (int i = 0; i < group->running; i++)
        loop_wake(&group->threads[i].server.loop);
    for (int i = 0; i < group->running; i++)
        pthread_join(group->threads[i].id, NULL);
    for (int i = 0; i < group->made; i++)
        server_free(&group->threads[i].server);
    for (int i = group->made + 1; i < group->count; i++) /* the one at `made` was closed when its server could not be made */
        close(group->sockets[i]);
}

/* False, and said, when nobody can read where it listens. */
static bool announce(const struct group *group, const char *host, int port)
{
    bool bare = strchr(host, ':');
    printf("luabench serve: listening on http%s://%s%s%s:%d\n", group->manners.tls ? "s" : "", bare ? "[" : "", host, bare ? "]" : "", port);
    if (!fflush(stdout))
        return true;
    fprintf(stderr, "luabench serve: cannot print where it listens: %s\n", errno == EBADF ? "standard output is closed" : strerror(errno));
    return false;
}

/* Serves until one of `signals`, which are blocked, comes. */
static int serve_until(struct group *group, const sigset_t *signals, const char *host, int port)
{
    int signal;
    bool started = start_threads(group);
    bool known = started && announce(group, host, port);
    if (known)
        sigwait(signals, &signal);
    stop_threads(group);
    return known ? STATUS_OK : STATUS_FAILED;
}

static bool write_certificate(const struct tls_context *tls, const char *path)
{
    char name[SHOWN_SIZE];
    FILE *file = fopen(path, "we");
    bool written = file && fputs(tls_server_certificate(tls), file) >= 0;
    if (file && fclose(file))
        written = false;
    if (!written)
        fprintf(stderr, "luabench serve: cannot write the certificate to %s: %s\n", shown(path, name), strerror(errno));
    return written;
}

/* False when the certificate cannot be written. */
static bool set_manners(struct manners *manners, const struct serve_options *options)
{
    *manners = (struct manners){ .accept = TLS_HTTP1 | TLS_HTTP2, .h2 = H2_SERVER_OPTIONS, .read_rate = options->read_rate };
    if (options->http != HTTP_AUTO)
        manners->accept = options->http == HTTP_2 ? TLS_HTTP2 : TLS_HTTP1;
    manners->h2.goaway_after = options->goaway_after;
    manners->h2.max_streams = options->streams;
    manners->h2.window = options->window;
    if (options->tls)
        manners->tls = tls_server_new(manners->accept);
    return !options->tls || !options->cert_out || write_certificate(manners->tls, options->cert_out);
}

static int serve_blocked(const struct serve_options *options, const sigset_t *signals)
{
    static const struct listener_words words = {
        .who = "luabench serve", .taken = "give another with --port N, or --port 0 for any free one", .forbidden = "give another with --port N",
    };
    int threads = options->threads < 1 ? 1 : options->threads > MAX_THREADS ? MAX_THREADS : options->threads, port = options->port, status = STATUS_FAILED;
    const char *host = options->host ? options->host : "127.0.0.1";
    struct group group = { .count = threads };
    group.sockets = mem_array((size_t)threads, sizeof *group.sockets);
    group.threads = mem_array((size_t)threads, sizeof *group.threads);
    group.tallies = aligned_alloc(_Alignof(struct tally), (size_t)threads * sizeof *group.tallies);
    memset(group.tallies, 0, (size_t)threads * sizeof *group.tallies);
    if (set_manners(&group.manners, options) && listener_open(group.sockets, threads, host, &port, &words))
        status = serve_until(&group, signals, host, port);
    tls_context_free(group.manners.tls);
    free(group.tallies);
    free(group.threads);
    free(group.sockets);
    return status;
}

int serve_run(const struct serve_options *options)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, &before); /* threads inherit it, so that only sigwait gets them */
    int status = serve_blocked(options, &signals);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
