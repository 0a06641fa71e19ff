/* Listening sockets. */
#ifndef LUABENCH_SERVE_LISTENER_H
#define LUABENCH_SERVE_LISTENER_H

/* Opens `count` sockets that listen on one port of `host`: `*port`, or any free one when that is 0, which is then put there. Connections are spread over them by the
 * kernel. False with the reason in words on standard error; none is open then. */
_Bool listener_open(int *sockets, int count, const char *host, int *port);

#endif
