/* The inside of the HTTP/2 client, shared by h2.c (requests, the connection) and h2_response.c (what comes back). */
#ifndef LUABENCH_HTTP_H2_CLIENT_H
#define LUABENCH_HTTP_H2_CLIENT_H

#include "http/codec.h"
#include "http/h2_asks.h"
#include "http/h2_heads.h"
#include "http/h2_memory.h"
#include "http/h2_out.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;

struct h2 {
    struct codec codec;
    struct h2_memory memory;         /* the session's */
    struct nghttp2_session *session; /* its user data is the h2, that of a stream its exchange or NULL when that has left */
    struct h2_out out;
    struct link waiting;      /* exchanges that have no stream yet, the oldest first */
    struct link unsent;       /* those of whose HEADERS no byte is written, in the order of their streams */
    struct link flight;       /* the others */
    unsigned streams;         /* in unsent and flight */
    unsigned most;            /* streams at a time, of our own will */
    int64_t now;              /* when the bytes were read that are being taken */
    int64_t asked;            /* when a PING was sent after which nothing has come yet; 0: there is none */
    struct exchange *reading; /* whose header block is being read; NULL: nobody's, or it is a trailer */
    struct h2_asks asks;
    unsigned encoding;        /* exchanges in `unsent` whose head is not made yet, and is to be encoded */
    struct h2_heads heads;
    const struct h2_head *recalled; /* the header block being read stands for this head, which was seen before */
    const struct exchange *headed;  /* whose final head was completed last */
    int32_t closed;                 /* a stream that is closed; 0: none is yet */
    int32_t found_id;         /* the stream whose exchange was looked for last, 0: none; it has not left */
    struct exchange *found;   /* that exchange */
    struct exchange *writing; /* whose HEADERS was queued last: CONTINUATION belongs to it */
    struct buf scratch;
    bool greeted;             /* the peer's SETTINGS have come */
    bool broken;              /* nothing can follow on this connection; `wrong` says why */
    char wrong[120];          /* what nghttp2 has found wrong last, in words */
    char goodbye[64];         /* codec.farewell */
};

static inline struct h2 *h2_of(const struct codec *codec)
{
    return container_of(codec, struct h2, codec);
}

/* h2.c */

/* The exchange of that stream; NULL: there is no such stream, or its exchange has left. */
struct exchange *h2_find(struct h2 *h2, int32_t id);

/* Takes the exchange out of all lists of the codec; the caller puts it into another one. Its stream may live on, and is nobody's. */
void h2_leave(struct h2 *h2, struct exchange *exchange);
/* The same, and tells the peer that nobody waits for the rest. */
void h2_give_up(struct h2 *h2, struct exchange *exchange);
/* The peer's SETTINGS have changed, or it takes no new streams any more. */
void h2_limit(struct h2 *h2);

/* h2_response.c */

/* What nghttp2 is to call; released with nghttp2_session_callbacks_del. */
struct nghttp2_session_callbacks *h2_response_callbacks(void);

#endif
