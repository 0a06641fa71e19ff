/* One request and its response: the struct that travels. It goes down once (pool_submit) and comes back once (pool_reap), whatever happens. */
#ifndef LUABENCH_HTTP_EXCHANGE_H
#define LUABENCH_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/timers.h"
#include "http/request.h"

struct conn;
struct call;
struct batch;
struct upload;

/* What a response's head has that somebody may want to look at. */
enum {
    NOTE_COOKIE = 1,  /* Set-Cookie */
    NOTE_ENCODED = 2, /* Content-Encoding */
};

struct exchange {
    struct link link; /* in one list at a time: waiting, in flight on a connection, finished, free */

    /* the request: set by the submitter */
    struct request *request;
    const char *lines; /* further header lines of this request alone, each ended by CRLF, or NULL */
    size_t lines_length;
    const char *content; /* the body to send; NULL: no body, no Content-Length. Lines and content must stay until the exchange has come back */
    size_t content_length;
    struct upload *upload; /* the body is this, and `content` is not looked at; NULL: it is `content` */
    int64_t deadline;  /* ns; the response must be complete by then; NS_NEVER: no limit */
    size_t max_body;   /* bytes of a response's body; more is ERR_TOO_LARGE */
    bool discard;      /* the response's body is counted and not kept */
    void *owner;       /* of the submitter */
    struct call *call; /* of the submitter: the call that it is a part of, NULL: it is the whole of it */
    struct batch *batch; /* of the submitter: the requests it was sent with in one text, NULL: it is alone */
    uint64_t user;     /* of the submitter: the id of the user whose it is */
    void *figures;     /* of the submitter: struct name_metrics, where it is counted */
    uint64_t slices;   /* of the submitter: kinds of requests that it may be of, and is counted among besides */
    int64_t dated;     /* of the submitter: ns, by which it is in the figures or left out of them */
    enum err verdict;  /* of the submitter: what it counts as, once it has finished */
    int64_t late;      /* of the submitter: ns that it has been late itself, with the request or with looking at the answer */
    int64_t earlier;   /* of the submitter: ns that the call had taken before, with other requests */

    /* marks, ns; 0: did not happen */
    int64_t intended;   /* when it was due (open model), else equal to `started` */
    int64_t started;    /* call of http.*; set by the submitter */
    int64_t assigned;   /* a connection was there, or one began to be opened for it */
    int64_t sent;       /* just before its first byte was written */
    int64_t first_byte; /* after the read that brought the first byte of its response (of the final one, not of a 1xx) */
    int64_t finished;   /* after the read that completed the response, or when it failed */
    int64_t dns, connect, tls; /* time spent waiting for these, ns; 0 on a connection that was open */

    /* the response */
    enum err error;     /* of the transport; an unaccepted status is not the http layer's business */
    int status;         /* 0 unless a whole response came */
    int minor_version;  /* HTTP/1.x; 20 for HTTP/2 */
    unsigned notes;     /* NOTE_* */
    uint64_t body_size; /* bytes of the body on the wire */
    uint64_t bytes_sent, bytes_received; /* head and body, of both attempts when it was sent twice */
    bool retried;       /* sent a second time on a new connection */
    bool reused;        /* its connection had carried a request before */

    /* for the http layer */
    struct conn *conn;  /* NULL: it waits for a connection */
    struct client *client;
    size_t length;      /* bytes of the request on the wire */
    size_t written;     /* of these, written on the present connection */
    bool answered;      /* a byte of the response has been read */
    bool refused;       /* HTTP/2: it has come back once from a peer that did nothing for the others either */
    bool close;         /* it is the last one on its connection: Connection: close is sent */

    /* what is not zeroed when the exchange is used again (EXCHANGE_ZEROED) */
    struct buf head;    /* status line and header lines as received, the blank line included; of the final response */
    struct buf body;    /* transfer coding removed */
    struct timer timer; /* for the http layer: the deadline */
    char text[240];     /* more about the error, or "" */
    union {             /* for the codec */
        char tail[72];  /* HTTP/1.1: what ends the request's head */
        struct stream {
            uint64_t begins;    /* HTTP/2: the first byte of its HEADERS frame, counted over the connection; UINT64_MAX: not made yet */
            uint64_t announced; /* Content-Length of the response; UINT64_MAX: not said */
            size_t given;       /* bytes of the content that are on their way */
            size_t plain;       /* bytes of its frames that are written together with the first one */
            int32_t id;         /* 0: it has no stream yet */
            uint16_t status;    /* of the head that is being read or was read last */
            bool reset;         /* the peer has reset it */
            bool again;         /* its request has been sent before */
            const struct buf *recalled; /* the block of its head, which was sent before; NULL: it is to be encoded */
        } stream;
    };
};

/* The leading bytes that are zeroed when an exchange is used again; the rest is emptied field by field, since buffers and timer are worth keeping. */
enum { EXCHANGE_ZEROED = offsetof(struct exchange, head) };

/* For the http layer: the exchange, which is in no list, has ended with what its fields say, and goes to the end of `finished`. */
static inline void exchange_finish(struct exchange *exchange, struct link *finished, int64_t now)
{
    exchange->finished = now;
    timers_clear(&exchange->timer);
    list_append(finished, &exchange->link);
}

#endif
