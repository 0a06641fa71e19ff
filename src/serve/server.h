/* One thread of the built-in target: a loop, a listening socket, the connections it has accepted. Shares nothing with other threads but the counts of its pages. */
#ifndef LUABENCH_SERVE_SERVER_H
#define LUABENCH_SERVE_SERVER_H

#include <stdbool.h>

#include "base/list.h"
#include "net/loop.h"
#include "serve/pages.h"

enum { SERVER_INPUT = 64 * 1024 };

struct server {
    struct loop loop;
    struct pages pages;
    int listener;
    ev_io accepting;
    struct timer accept_again; /* accepting is suspended until then: no descriptor was free */
    struct link conns;         /* struct server_conn */
    char *input;               /* SERVER_INPUT bytes that all connections read into */
};

/* Takes over the listening socket. False when the kernel has no descriptor left; the socket is closed then. */
bool server_init(struct server *server, int listener, struct tally *tallies, int index, int count, const atomic_bool *stopping);
/* Serves until `stopping` is true; loop_wake makes it look. */
void server_run(struct server *server);
/* Closes the socket and all connections, whatever they are doing. */
void server_free(struct server *server);

#endif
