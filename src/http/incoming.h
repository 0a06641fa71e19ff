/* One request as a server sees it, and the answer to it: the counterpart of struct exchange. A codec in its server role fills the request, whoever routes it fills the
 * answer, and the codec sends that. Says nothing of sockets, pages or one version of HTTP.
 *
 * Ownership: the struct is the codec's. `body` and `text` keep their memory from one request to the next. */
#ifndef LUABENCH_HTTP_INCOMING_H
#define LUABENCH_HTTP_INCOMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/timers.h"

/* A run of bytes that somebody else owns. */
struct slice {
    const char *data;
    size_t length;
};

static inline bool slice_is(struct slice slice, const char *text)
{
    return slice.length == strlen(text) && !memcmp(slice.data, text, slice.length);
}

/* Bytes to send: the first `length` of data[0..size) repeated without end. So a gigabyte costs no memory. */
struct content {
    const char *data; /* must stay until the answer is sent */
    size_t size;      /* not 0 unless length is 0; equal to length when nothing is repeated */
    uint64_t length;
};

/* How an answer ends. A faulty server announces one byte more than it sends: then the connection is to be closed, or over HTTP/2 the stream is reset. */
enum answer_end { ANSWER_WHOLE, ANSWER_CUT, ANSWER_RESET };

struct answer {
    int status;             /* 200..599; 0: not answered yet */
    struct slice type;      /* Content-Type; length 0: none */
    const char *lines;      /* further header lines, each ended by CRLF, static; NULL: none */
    struct content content; /* empty with 204 and 304 */
    size_t piece;           /* not 0: the length is not announced, and the content sent in pieces of this size, of which it is a multiple */
    int64_t delay;          /* ns that the answer is to be held back */
    enum answer_end end;    /* of a content that is not empty, without pieces */
    uint32_t code;          /* ANSWER_RESET: of RST_STREAM */
};

struct incoming {
    /* the request. What the slices point at stays until the answer is given to the codec; an answer that is held back must not refer to them */
    struct slice head;   /* request line and header lines as received, blank line included */
    struct slice method; /* any token */
    struct slice target; /* as on the request line */
    struct slice path;   /* of the target: from its '/' to the query; "*" */
    struct slice type;   /* Content-Type; length 0: none */
    bool is_head;        /* the method is HEAD: the content is announced, not sent */
    int minor_version;   /* HTTP/1.x */
    bool keep_alive;     /* the connection goes on after the answer */
    bool awaits_continue; /* the body is sent after 100 (Continue) only */
    bool keep_body;      /* set by the router: `body` is wanted, otherwise it is read and thrown away */
    size_t max_body;     /* bytes; a longer body is refused with 413 */
    uint64_t received;   /* bytes of the body read so far, transfer coding removed */
    struct buf body;     /* what was read of it, when keep_body */
    const char *why;     /* refused by the codec (answer.status is set): what is wrong with it, in words */

    struct answer answer;

    /* for the router */
    struct buf text;    /* content that was made for this answer */
    const void *page;   /* who answers it */
    void *owner;        /* the connection */
    struct timer timer; /* of a delay */
};

#endif
