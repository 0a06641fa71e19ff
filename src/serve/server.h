/* One thread of the built-in target: a loop, a listening socket, the connections it has accepted. Shares nothing with other threads but the counts of its pages. */
#ifndef LUABENCH_SERVE_SERVER_H
#define LUABENCH_SERVE_SERVER_H

#include <stdbool.h>

#include "base/list.h"
#include "http/h2_server.h"
#include "net/loop.h"
#include "net/tls.h"
#include "serve/pages.h"

enum { SERVER_INPUT = 64 * 1024 };

/* How a server behaves towards all connections. Shared by the threads, and never changed. */
struct manners {
    struct tls_context *tls;     /* NULL: in the clear */
    unsigned accept;             /* a set of TLS_HTTP*: what is spoken, with and without TLS */
    struct h2_server_options h2; /* goaway_after holds for HTTP/1.1 too */
    size_t read_rate;            /* bytes a second that are read from a connection; 0: as fast as they come */
};

struct server {
    struct loop loop;
    struct pages pages;
    const struct manners *manners;
    int listener;
    ev_io accepting;
    struct timer accept_again; /* accepting is suspended until then: no descriptor was free */
    struct link conns;         /* struct server_conn */
    char *input;               /* SERVER_INPUT bytes that all connections read into */
};

/* Takes over the listening socket. False when the kernel has no descriptor left; the socket is closed then. */
bool server_init(struct server *server, int listener, const struct manners *manners, struct tally *tallies, int index, int count, const atomic_bool *stopping);
/* Serves until `stopping` is true; loop_wake makes it look. */
void server_run(struct server *server);
/* Closes the socket and all connections, whatever they are doing. */
void server_free(struct server *server);

#endif
