#define _GNU_SOURCE
#include "net/resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"

struct question {
    struct link link; /* in asked, then in answered */
    char *host;
    uint16_t port;
    void (*done)(void *context, struct resolved resolved);
    void *context;
    struct resolved resolved;
};

struct resolver {
    struct loop *loop;
    ev_async answer;
    bool threaded; /* there is a thread; it holds a share of this struct until it has seen `closed` */
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t changed;
    struct link asked, answered;
    bool closed;
};

bool address_literal(struct address *address, const char *host, uint16_t port)
{
    *address = (struct address){ 0 };
    if (inet_pton(AF_INET, host, &address->v4.sin_addr) == 1) {
        address->length = sizeof address->v4;
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        return true;
    }
    if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1) {
        address->length = sizeof address->v6;
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        return true;
    }
    return false;
}

bool address_local(struct address *address, const char *path)
{
    size_t length = strlen(path);
    *address = (struct address){ .length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1) };
    if (!length || length >= sizeof address->local.sun_path)
        return false;
    address->local.sun_family = AF_UNIX;
    memcpy(address->local.sun_path, path, length);
    return true;
}

void address_set_port(struct address *address, uint16_t port)
{
    if (address->any.sa_family == AF_INET)
        address->v4.sin_port = htons(port);
    else if (address->any.sa_family == AF_INET6)
        address->v6.sin6_port = htons(port);
}

void address_text(const struct address *address, char text[ADDRESS_TEXT])
{
    char digits[INET6_ADDRSTRLEN];
    *text = '\0';
    switch (address->any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &address->v4.sin_addr, digits, sizeof digits);
        snprintf(text, ADDRESS_TEXT, "%s:%u", digits, ntohs(address->v4.sin_port));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &address->v6.sin6_addr, digits, sizeof digits);
        snprintf(text, ADDRESS_TEXT, "[%s]:%u", digits, ntohs(address->v6.sin6_port));
        break;
    case AF_UNIX: snprintf(text, ADDRESS_TEXT, "unix:%s", address->local.sun_path); break;
    }
}

/* The helper thread */

static struct resolved addresses_of(const struct addrinfo *list)
{
    struct resolved resolved = { 0 };
    for (const struct addrinfo *info = list; info; info = info->ai_next)
        resolved.count += info->ai_addrlen <= sizeof(struct sockaddr_in6);
    if (!resolved.count)
        return (struct resolved){ .why = "the name has no address" };
    resolved.addresses = mem_array(resolved.count, sizeof *resolved.addresses);
    struct address *address = resolved.addresses;
    for (const struct addrinfo *info = list; info; info = info->ai_next) {
        if (info->ai_addrlen > sizeof(struct sockaddr_in6))
            continue;
        address->length = info->ai_addrlen;
        memcpy(&address->any, info->ai_addr, info->ai_addrlen);
        address++;
    }
    return resolved;
}

static struct resolved look_up(const char *host, uint16_t port)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV }, *list = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int error = getaddrinfo(host, service, &hints, &list);
    if (error)
        return (struct resolved){ .why = error == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(error) };
    struct resolved resolved = addresses_of(list);
    freeaddrinfo(list);
    return resolved;
}

static void question_free(struct question *question)
{
    free(question->host);
    free(question->resolved.addresses);
    free(question);
}

static void free_questions(struct link *list)
{
    struct link *link;
    while ((link = list_shift(list)))
        question_free(container_of(link, struct question, link));
}

static void destroy(struct resolver *resolver)
{
    free_questions(&resolver->asked);
    free_questions(&resolver->answered);
    pthread_cond_destroy(&resolver->changed);
    pthread_mutex_destroy(&resolver->lock);
    free(resolver);
}

static void *answer_all(void *context)
{
    struct resolver *resolver = context;
    pthread_mutex_lock(&resolver->lock);
    while (!resolver->closed) {
        struct link *link = list_shift(&resolver->asked);
        if (!link) {
            pthread_cond_wait(&resolver->changed, &resolver->lock);
            continue;
        }
        struct question *question = container_of(link, struct question, link);
        pthread_mutex_unlock(&resolver->lock);
        question->resolved = look_up(question->host, question->port);
        pthread_mutex_lock(&resolver->lock);
        list_append(&resolver->answered, &question->link);
        if (!resolver->closed)
            ev_async_send(resolver->loop->ev, &resolver->answer);
    }
    pthread_mutex_unlock(&resolver->lock);
    destroy(resolver);
    return NULL;
}

/* The loop's thread */

static void deliver(struct ev_loop *ev, ev_async *answer, int events)
{
    (void)ev, (void)events;
    struct resolver *resolver = container_of(answer, struct resolver, answer);
    struct link answered;
    link_init(&answered);
    pthread_mutex_lock(&resolver->lock);
    list_splice(&answered, &resolver->answered);
    pthread_mutex_unlock(&resolver->lock);
    struct link *link;
    while ((link = list_shift(&answered))) {
        struct question *question = container_of(link, struct question, link);
        struct resolved resolved = question->resolved;
        question->resolved.addresses = NULL;
        question->done(question->context, resolved);
        question_free(question);
    }
}

struct resolver *resolver_new(struct loop *loop)
{
    struct resolver *resolver = mem_zero(sizeof *resolver);
    resolver->loop = loop;
    pthread_mutex_init(&resolver->lock, NULL);
    pthread_cond_init(&resolver->changed, NULL);
    link_init(&resolver->asked);
    link_init(&resolver->answered);
    ev_async_init(&resolver->answer, deliver);
    ev_async_start(loop->ev, &resolver->answer);
    return resolver;
}

/* Signals are for the program's own threads. */
static bool start_thread(struct resolver *resolver)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    resolver->threaded = !pthread_create(&thread, NULL, answer_all, resolver);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (resolver->threaded)
        pthread_detach(thread);
    return resolver->threaded;
}

void resolver_ask(struct resolver *resolver, const char *host, uint16_t port, void (*done)(void *context, struct resolved resolved), void *context)
{
    struct question *question = mem_zero(sizeof *question);
    *question = (struct question){ .host = mem_text(host, strlen(host)), .port = port, .done = done, .context = context };
    bool threaded = resolver->threaded || start_thread(resolver);
    pthread_mutex_lock(&resolver->lock);
    if (threaded) {
        list_append(&resolver->asked, &question->link);
        pthread_cond_signal(&resolver->changed);
    } else {
        question->resolved.why = "no thread could be started to resolve it";
        list_append(&resolver->answered, &question->link);
        ev_async_send(resolver->loop->ev, &resolver->answer);
    }
    pthread_mutex_unlock(&resolver->lock);
}

void resolver_free(struct resolver *resolver)
{
    ev_async_stop(resolver->loop->ev, &resolver->answer);
    pthread_mutex_lock(&resolver->lock);
    resolver->closed = true;
    pthread_cond_signal(&resolver->changed);
    bool threaded = resolver->threaded;
    pthread_mutex_unlock(&resolver->lock);
    if (!threaded)
        destroy(resolver);
}
