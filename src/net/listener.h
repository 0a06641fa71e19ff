/* Listening sockets. */
#ifndef LUABENCH_NET_LISTENER_H
#define LUABENCH_NET_LISTENER_H

#include <stdbool.h>

/* What is said when it cannot be done. */
struct listener_words {
    const char *who;       /* "luabench serve" */
    const char *taken;     /* what to do when the port is taken */
    const char *forbidden; /* and when it is root's */
};

/* Opens `count` sockets that listen on one port of `host` (NULL: any address of this machine): `*port`, or any free one when that is 0, which is then put there.
 * Connections are spread over them by the kernel. False with the reason in words on standard error; none is open then. */
bool listener_open(int *sockets, int count, const char *host, int *port, const struct listener_words *words);

#endif
