/* What can be prepared of a request before it is sent: the origin, the head as bytes, the name of its figures. Heads that do not change are
 * rendered once and shared by any number of exchanges. Counted references: an exchange holds one while it is in flight. */
#ifndef LUABENCH_HTTP_REQUEST_H
#define LUABENCH_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "http/url.h"

/* Who is asked: scheme, host and port. Made by the pool, lives as long as the pool. */
struct origin;
struct pool;

/* Header lines that matter to the framing. */
enum {
    REQUEST_CLOSE = 1,  /* Connection: close */
    REQUEST_FRAMED = 2, /* Content-Length or Transfer-Encoding: the caller's, none is added */
};

struct request {
    unsigned references;
    struct origin *origin;
    char *method, *path; /* as on the request line */
    bool head;           /* method is HEAD: the response has no body */
    bool raw;            /* an exchange's content is the whole request, head included; `bytes` are not sent (HTTP/1.1 alone) */
    bool idempotent;     /* RFC 9110 9.2.2: may be sent again when a reused connection died */
    int version;         /* enum http_version, instead of the client's; -1: that */
    unsigned fields;     /* REQUEST_*: what its header lines contain */
    char *bytes;         /* HTTP/1.1: request line and header lines, each ended by CRLF; no Content-Length but the caller's; after `length` follows the blank line */
    size_t length;
    void *seen;          /* of the codec: what it remembers of the responses; released with free() */
    void *fields_h2;     /* of the HTTP/2 codec: the head in its form, made on first use; released with free() */
    bool answered;       /* a response has come */
    void *metrics;       /* of the submitter: struct name_metrics */
    void *accept;        /* of the submitter: which statuses are accepted, NULL: as usual; released with free() */
};

/* `url` is absolute; `lines` are further header lines, each ended by CRLF, in which the caller has refused CR, LF and NUL of strangers; `host` replaces the
 * Host header made from the URL unless NULL. One reference is the caller's. NULL when the URL is bad: *why says it in words. */
struct request *request_new(struct pool *pool, const char *method, const char *url, size_t url_length, const char *lines, size_t lines_length, const char *host,
                            const char **why);
/* Makes the head that of a request to an HTTP proxy (RFC 9112 3.2.2), unless the origin is reached through a tunnel; `authorization` is a value of
 * Proxy-Authorization or NULL. Before it is sent. */
void request_through_proxy(struct request *request, const char *authorization);
static inline struct request *request_hold(struct request *request)
{
    request->references++;
    return request;
}
void request_release(struct request *request);
/* The REQUEST_* of header lines. */
unsigned request_fields(const char *lines, size_t length);

#endif
