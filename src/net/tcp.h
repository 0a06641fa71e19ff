/* Plain TCP as a transport. */
#ifndef LUABENCH_NET_TCP_H
#define LUABENCH_NET_TCP_H

#include "net/resolve.h"
#include "net/transport.h"

enum { TRANSPORT_BUSY = -4 };

/* Begins to connect; transport->ops are those of TCP then. TRANSPORT_WANT_WRITE: go on with ops->open when writable; 0: connected; TRANSPORT_FAILED. */
int tcp_connect(struct transport *transport, const struct address *address);
/* Likewise, also to a Unix socket, and from the local address `source` with any port unless that is NULL. TRANSPORT_BUSY: the queue of that Unix socket is full, try
 * again in a moment; nothing is open then. */
int tcp_connect_from(struct transport *transport, const struct address *address, const struct address *source);
/* Makes a transport of a socket that is connected and does not block; the socket is the transport's then. */
void tcp_adopt(struct transport *transport, int fd);

#endif
