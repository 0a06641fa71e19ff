/* The seam between connections and protocols: bytes in, bytes out, exchanges in, exchanges out. A codec knows no socket, loop, pool or Lua, so that it can be
 * fuzzed alone. It never frees an exchange and never calls up: finished ones are appended to the list given at its making, and the connection acts on what
 * input() returned.
 *
 * To add a protocol: one file with a `static const struct codec_ops` and a maker. */
#ifndef LUABENCH_HTTP_CODEC_H
#define LUABENCH_HTTP_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "http/exchange.h"

enum {
    CODEC_VECTORS = 16,
    CODEC_MORE = 12, /* when output() fills as many, there may be more */
};

struct codec {
    const struct codec_ops *ops;
    struct link *finished; /* where completed exchanges go */
    struct link returned;  /* exchanges that the peer has not processed and never will: the connection takes them out after every call */
    unsigned active;       /* exchanges inside */
    unsigned limit;        /* most exchanges inside at a time; 0: the connection carries no further ones, only those that are inside */
    bool paused;           /* the limit is 0 for the time being */
    bool lenient;          /* --lenient-http: heads with bare LF are taken */
    bool peer_ends;        /* the limit is 0 because the peer said so */
    bool unasked;          /* the peer has sent bytes that answer no request; the connection carries no further ones */
    bool streams;          /* HTTP/2: many exchanges at a time, and the peer may send when there is none */
    bool due;              /* output() has something although nothing was submitted; set by any call, cleared by output() */
    const char *wrong;     /* output() has found that it cannot go on, and the connection is of no further use: why; or NULL */
    const char *farewell;  /* what the peer has said about the end of the connection, or NULL */
};

struct codec_ops {
    /* Takes the exchange; its bytes come out of output(). Only when codec_capacity() > 0. */
    void (*submit)(struct codec *, struct exchange *);
    /* Bytes from the peer, read at `now`. ERR_NONE, or why the connection cannot go on (text says more; unfinished exchanges stay with the codec until end()). */
    enum err (*input)(struct codec *, const char *data, size_t length, int64_t now, const char **text);
    /* Fills `vectors` with what is to be written next, without taking it; returns how many. */
    int (*output)(struct codec *, struct iovec vectors[CODEC_VECTORS]);
    /* `length` bytes of output() were written; `now` was read just before the write and becomes the sent mark of exchanges whose first byte it took. */
    void (*wrote)(struct codec *, size_t length, int64_t now);
    /* Gives up one exchange, which is taken out of the codec's lists. False: the connection cannot carry others after that (HTTP/1.1) and must be closed. */
    bool (*cancel)(struct codec *, struct exchange *);
    /* The peer closed its side at `now` (error ERR_NONE) or the connection is broken: completes a body that is ended by EOF; the other exchanges are moved to
     * `unfinished`, the one being answered first. */
    void (*end)(struct codec *, enum err error, int64_t now, struct link *unfinished);
    void (*free)(struct codec *);
};

/* How many more exchanges may be submitted now. */
static inline unsigned codec_capacity(const struct codec *codec)
{
    return codec->limit > codec->active ? codec->limit - codec->active : 0;
}

#endif
