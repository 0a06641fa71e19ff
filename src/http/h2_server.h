/* HTTP/2 (RFC 9113) in the server role: bytes in, requests out; answers in, bytes out. Knows no socket, no loop and no page, so that it can be fuzzed alone. Answers
 * what a request deserves, and can misbehave on demand, for the tests of clients.
 *
 * Many requests at a time, each a struct incoming of its own, which lives until its answer is given or H2_SERVER_GONE has been handed out for it.
 *
 *   input -> next -> H2_SERVER_HEAD -> (a router sets keep_body) -> accept -> input -> next -> H2_SERVER_REQUEST -> (a router answers) -> answer
 *   output -> (write) -> wrote, while there is something */
#ifndef LUABENCH_HTTP_H2_SERVER_H
#define LUABENCH_HTTP_H2_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "http/incoming.h"

enum {
    H2_SERVER_VECTORS = 16,
    H2_SERVER_MAX_HEAD = 64 * 1024,        /* bytes of header lines; more is 431 */
    H2_SERVER_MAX_BODY = 64 * 1024 * 1024, /* what max_body is unless the router sets another */
};

enum h2_server_event {
    H2_SERVER_MORE,    /* of accept(): more is needed */
    H2_SERVER_HEAD,    /* a head is complete and a body follows: look at it, then call accept(), or answer at once: that ends the body */
    H2_SERVER_REQUEST, /* a request is complete: fill its answer, then call answer() */
    H2_SERVER_REFUSED, /* something is too large: answer.status and `why` say what; to be answered likewise */
    H2_SERVER_GONE,    /* the client has given up a request that was handed out and is not answered: it must not be touched after this */
};

struct h2_server_options {
    uint32_t max_streams;   /* that a client may have open */
    uint32_t window;        /* bytes of a body that may be under way, for each stream; refilled as they come */
    uint32_t connection_window; /* the same for all streams together; 0: as HTTP/2 begins, 65535 */
    uint64_t goaway_after;  /* requests that are taken before GOAWAY says that no more will be; 0: no limit */
};

/* What a server does that wants to be no limit. */
#define H2_SERVER_OPTIONS ((struct h2_server_options){ .max_streams = 1000, .window = 1 << 20, .connection_window = 16 << 20 })

struct h2_server;

struct h2_server *h2_server_new(const struct h2_server_options *options);
void h2_server_free(struct h2_server *h2);

/* Takes bytes from the peer. NULL, or what is wrong with them: the connection ends, after what output() still has. */
const char *h2_server_input(struct h2_server *h2, const char *data, size_t length);
/* The next request that something is to be done about, NULL when there is none. */
struct incoming *h2_server_next(struct h2_server *h2, enum h2_server_event *event);
/* After H2_SERVER_HEAD: goes on to the body, asking for it with 100 (Continue) where the client waits for that. H2_SERVER_MORE, or what is to be done at once. */
enum h2_server_event h2_server_accept(struct h2_server *h2, struct incoming *incoming);
/* The answer is filled; its bytes come out of output(). The request is the codec's again; `text` and `body` stay until they are sent. */
void h2_server_answer(struct h2_server *h2, struct incoming *incoming);
/* Instead of an answer: RST_STREAM with this code. */
void h2_server_reset(struct h2_server *h2, struct incoming *incoming, uint32_t code);
/* The client is gone: next() hands out H2_SERVER_GONE for every request that is not answered. */
void h2_server_abandon(struct h2_server *h2);

/* Fills `vectors` with what is to be written next, without taking it; returns how many, 0 when there is nothing. */
int h2_server_output(struct h2_server *h2, struct iovec vectors[H2_SERVER_VECTORS]);
/* `length` bytes of output() were written. */
void h2_server_wrote(struct h2_server *h2, size_t length);
/* Bytes that wait to be written. Stop giving input above a few ten thousand. */
size_t h2_server_backlog(const struct h2_server *h2);
/* All is said: close when nothing waits to be written. */
bool h2_server_ended(const struct h2_server *h2);

/* New limits, in the middle of the connection: streams, and the window of each stream, which those that are open get too. */
void h2_server_limits(struct h2_server *h2, uint32_t max_streams, uint32_t window);
/* GOAWAY: requests that were begun are still answered, and no others. */
void h2_server_goaway(struct h2_server *h2, uint32_t code);

#endif
