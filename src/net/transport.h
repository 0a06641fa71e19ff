/* How bytes move: a stream that never blocks, never logs and never frees itself. TCP and TLS implement it; what is above knows no errno. */
#ifndef LUABENCH_NET_TRANSPORT_H
#define LUABENCH_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"

/* Results below zero. A count of 0 from read() is the peer's end of stream: transport->error is ERR_NONE then, or ERR_CLOSED when something that belongs to a
 * regular end was missing, so that what came before may have been cut. */
enum {
    TRANSPORT_WANT_READ = -1,  /* nothing now: wait until readable */
    TRANSPORT_WANT_WRITE = -2, /* nothing now: wait until writable */
    TRANSPORT_FAILED = -3,     /* transport->error and ->text say why */
};

struct tls;

struct transport {
    const struct transport_ops *ops;
    int fd;              /* -1: not open */
    enum err error;
    const char *text;    /* static, or valid until close(); or NULL */
    struct tls *tls;     /* NULL without */
    bool more;           /* set by read(): call it again at once, without waiting; the event loop does not know what is left */
    bool held;           /* bytes taken by writev(), or answers of the protocol's own, are not in the socket yet: call writev() when writable, without
                          * vectors when there is nothing else to write. Set by open(), read() and writev() */
};

struct transport_ops {
    /* Goes on with connecting (and the TLS handshake); 0 when bytes can flow. */
    int (*open)(struct transport *);
    ssize_t (*read)(struct transport *, void *data, size_t size);
    ssize_t (*writev)(struct transport *, const struct iovec *vectors, int count);
    void (*close)(struct transport *);
};

#endif
