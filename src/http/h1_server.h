/* HTTP/1.1 (RFC 9112) in the server role: bytes in, requests out; answers in, bytes out. Knows no socket, no loop and no page, so that it can be fuzzed alone.
 *
 * One request at a time: after a whole one nothing more is taken until its answer is complete, which keeps the answers to pipelined requests in order. A
 * request that comes in one piece is not copied. Any token is a method.
 *
 *   input -> H1_SERVER_HEAD -> (a router sets keep_body) -> h1_server_accept -> input ... -> H1_SERVER_REQUEST -> (a router answers) -> h1_server_answer
 *   output -> (write) -> h1_server_wrote, while there is something */
#ifndef LUABENCH_HTTP_H1_SERVER_H
#define LUABENCH_HTTP_H1_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "http/incoming.h"

enum {
    H1_SERVER_VECTORS = 16,
    H1_SERVER_MAX_HEAD = 64 * 1024,        /* bytes of request line and header lines; more is 414 or 431 */
    H1_SERVER_MAX_BODY = 64 * 1024 * 1024, /* what max_body is unless the router sets another */
};

enum h1_server_event {
    H1_SERVER_MORE,    /* all was taken, and more is needed */
    H1_SERVER_HEAD,    /* a head is complete and a body follows: look at it, then call h1_server_accept */
    H1_SERVER_REQUEST, /* a request is complete: fill its answer, then call h1_server_answer */
    H1_SERVER_REFUSED, /* something cannot be understood or is too large: answer.status and `why` say what. To be answered likewise; the connection ends with it */
};

struct h1_server;

struct h1_server *h1_server_new(void);
void h1_server_free(struct h1_server *h1);
/* The present request; the same struct for the life of the codec. */
struct incoming *h1_server_incoming(struct h1_server *h1);

/* Takes bytes from the peer, at most as many as belong to one event; `taken` says how many. Only when h1_server_reading. */
enum h1_server_event h1_server_input(struct h1_server *h1, const char *data, size_t length, size_t *taken);
/* After H1_SERVER_HEAD: goes on to the body, asking for it with 100 (Continue) where the client waits for that. H1_SERVER_MORE or H1_SERVER_REFUSED. */
enum h1_server_event h1_server_accept(struct h1_server *h1);
/* After H1_SERVER_REQUEST or H1_SERVER_REFUSED: the answer is filled; its bytes come out of h1_server_output. */
void h1_server_answer(struct h1_server *h1);

/* Fills `vectors` with what is to be written next, without taking it; returns how many, 0 when there is nothing. */
int h1_server_output(struct h1_server *h1, struct iovec vectors[H1_SERVER_VECTORS]);
/* `length` bytes of h1_server_output were written. */
void h1_server_wrote(struct h1_server *h1, size_t length);

/* Input can be given: no request waits for its answer, and no answer for its content to be written. */
bool h1_server_reading(const struct h1_server *h1);
/* Bytes of whole answers that are not written yet. Grows without limit when a peer sends requests and reads nothing: stop giving input above a few ten thousand. */
size_t h1_server_backlog(const struct h1_server *h1);
/* The last answer of the connection was given and all is written but the backlog: close once that is empty. */
bool h1_server_ended(const struct h1_server *h1);

#endif
