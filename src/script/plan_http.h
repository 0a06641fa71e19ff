/* The part of a scenario's plan that concerns HTTP: how requests and connections are made. Read from the table that Lua has checked (docs/core.md). */
#ifndef LUABENCH_SCRIPT_PLAN_HTTP_H
#define LUABENCH_SCRIPT_PLAN_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/pool.h"

struct http_plan {
    int64_t timeout; /* ns, from the call to the last byte */
    size_t max_body; /* bytes, before and after decoding */
    bool decode;         /* content codings are removed */
    bool discard_bodies; /* bodies of responses are not kept */
    bool expects_tls; /* the target is https */
    struct client_options client;
    struct tls_options tls; /* of client.tls */
    bool borrowed;          /* client.tls is that of another plan */
    struct proxy proxy;     /* client.proxy, where there is one */
    void **owned;           /* what the pointers above point at */
    size_t owned_count;
};

struct lua_State;

/* Reads the table on top of the stack. Its context of TLS is made, and not loaded. */
void http_plan_read(struct lua_State *L, struct http_plan *http);
void http_plan_free(struct http_plan *http);
/* Lets `http` use the TLS context of an `earlier` plan, which must outlive it, when both want the same: the system's authorities are loaded once then. */
void http_plan_share(struct http_plan *http, struct http_plan *earlier);
/* "1.1", "2", "auto". */
enum http_version http_version_of(const char *text);
/* NULL, or why connections cannot be made so, in words: a file of certificates cannot be used, a source address is not of this machine. Sends nothing. Valid until
 * http_plan_free. */
const char *http_plan_check(struct http_plan *http);

#endif
