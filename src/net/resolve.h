/* Host names to addresses. getaddrinfo waits, so it runs in a helper thread, made when the first name is asked for; answers come back in the loop's thread. */
#ifndef LUABENCH_NET_RESOLVE_H
#define LUABENCH_NET_RESOLVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/loop.h"

struct address {
    socklen_t length;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    };
};

enum { ADDRESS_TEXT = 120 }; /* room that address_text needs at most */

/* True when `host` is an IPv4 or IPv6 address: *address is that, with `port`. */
bool address_literal(struct address *address, const char *host, uint16_t port);
/* The address of a Unix socket; false when the path is too long for one. */
bool address_local(struct address *address, const char *path);
void address_set_port(struct address *address, uint16_t port);
/* "127.0.0.1:80", "[::1]:80", "unix:/run/x". */
void address_text(const struct address *address, char text[ADDRESS_TEXT]);

struct resolver;
/* What was found for a name: `addresses` (malloc'ed, then the callee's) and `count`, or NULL, 0 and `why` in words (a static text). */
struct resolved {
    struct address *addresses;
    size_t count;
    const char *why;
};

struct resolver *resolver_new(struct loop *loop);
/* Asks for the addresses of `host`, each with `port`; `done(context, ...)` is called once, from loop_poll, unless the resolver is freed before. */
void resolver_ask(struct resolver *resolver, const char *host, uint16_t port, void (*done)(void *context, struct resolved resolved), void *context);
/* Never waits: a thread that is inside getaddrinfo frees what is left when it returns. Before loop_free. */
void resolver_free(struct resolver *resolver);

#endif
