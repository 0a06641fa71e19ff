/* The inside of the HTTP/2 server, shared by h2_server.c (the connection, the life of requests), h2_incoming.c (requests) and h2_answer.c (answers). */
#ifndef LUABENCH_HTTP_H2_SERVING_H
#define LUABENCH_HTTP_H2_SERVING_H

#include "base/list.h"
#include "http/h2_out.h"
#include "http/h2_server.h"

struct nghttp2_session;
struct nghttp2_session_callbacks;

/* One request and its answer. */
struct h2_stream {
    struct incoming incoming;
    struct link link;  /* h2->events, h2->held, h2->idle or h2->unused */
    int32_t id;        /* 0: its stream is closed */
    enum h2_server_event event; /* in h2->events: what it is there for */
    struct buf head;   /* request line and header lines */
    struct buf lines;  /* header lines, while they come */
    struct buf pseudo; /* method, NUL, path, NUL, authority, NUL, while they come in whatever order */
    size_t method, path, authority; /* where these begin in `pseudo`, from 1; 0: not there */
    bool handed_out;   /* the router knows it, and has not answered */
    bool accepted;     /* the router has seen the head */
    bool whole;        /* the request is complete */
    bool answered;
    uint64_t position; /* in the answer's content */
};

struct h2_server {
    struct nghttp2_session *session; /* its user data is the h2_server, that of a stream its h2_stream or NULL when that is done with */
    struct h2_server_options options;
    struct h2_out out;
    struct link events; /* requests that next() is to hand out */
    struct link held;   /* requests that the router has */
    struct link idle;   /* the others: bodies are coming, or answers are being sent */
    struct link unused; /* structs to be used again */
    unsigned unused_count;
    struct h2_stream *gone; /* what was handed out last as H2_SERVER_GONE */
    uint64_t requests;
    bool leaving;       /* GOAWAY is on its way: what is begun from now on is not looked at */
    const char *wrong;
};

static inline struct h2_stream *h2_stream_of(struct incoming *incoming)
{
    return container_of(incoming, struct h2_stream, incoming);
}

/* h2_server.c */

/* A request for the stream `id`, in h2->idle. */
struct h2_stream *h2_stream_new(struct h2_server *h2, int32_t id);
/* next() is to hand it out for this reason; instead of the present one, if there is. */
void h2_stream_tell(struct h2_server *h2, struct h2_stream *stream, enum h2_server_event event);
/* Refuses the request with this status. */
void h2_stream_refuse(struct h2_server *h2, struct h2_stream *stream, int status, const char *why);

/* h2_incoming.c: the callbacks for what comes. */
void h2_incoming_callbacks(struct nghttp2_session_callbacks *callbacks);

/* h2_answer.c */

/* The callbacks for what is sent. */
void h2_answer_callbacks(struct nghttp2_session_callbacks *callbacks);
/* Submits the answer. */
void h2_answer_begin(struct h2_server *h2, struct h2_stream *stream);

#endif
