/* Plain TCP as a transport. */
#ifndef LUABENCH_NET_TCP_H
#define LUABENCH_NET_TCP_H

#include "net/resolve.h"
#include "net/transport.h"

/* Begins to connect; transport->ops are those of TCP then. TRANSPORT_WANT_WRITE: go on with ops->open when writable; 0: connected; TRANSPORT_FAILED. */
int tcp_connect(struct transport *transport, const struct address *address);
/* Makes a transport of a socket that is connected and does not block; the socket is the transport's then. */
void tcp_adopt(struct transport *transport, int fd);

#endif
