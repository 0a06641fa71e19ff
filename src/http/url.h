/* Absolute http and https URLs (RFC 3986, as far as a client needs it). */
#ifndef LUABENCH_HTTP_URL_H
#define LUABENCH_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points into the parsed text, which must live as long. */
struct url {
    bool tls;               /* https */
    const char *host;       /* a name, an IPv4 address, or an IPv6 address without its brackets */
    size_t host_length;
    bool ipv6;              /* the host was an IPv6 literal in brackets */
    uint16_t port;          /* 80 or 443 when the text has none */
    bool port_given;
    const char *userinfo;   /* "user:password", NULL without */
    size_t userinfo_length;
    const char *path;       /* path and query from the '/' or '?' on, without the fragment; may be empty */
    size_t path_length;
};

/* NULL when `text` is a URL that can be requested; otherwise what is wrong with it, in words. Control characters and blanks are refused. */
const char *url_parse(struct url *url, const char *text, size_t length);

#endif
