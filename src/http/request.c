#include "http/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "http/origin.h"

/* Field names */

static bool named(const char *line, size_t length, const char *name)
{
    size_t size = strlen(name);
    return length > size && line[size] == ':' && !strncasecmp(line, name, size);
}

/* True when the comma-separated list `value` has `token`. */
static bool has_token(const char *value, size_t length, const char *token)
{
    size_t size = strlen(token);
    for (size_t i = 0; i + size <= length; i++) {
        bool starts = i == 0 || strchr(" \t,:", value[i - 1]), ends = i + size == length || strchr(" \t,\r\n", value[i + size]);
        if (starts && ends && !strncasecmp(value + i, token, size))
            return true;
    }
    return false;
}

static unsigned line_fields(const char *line, size_t length)
{
    switch (*line | 0x20) {
    case 'c':
        if (named(line, length, "connection"))
            return has_token(line + 11, length - 11, "close") ? REQUEST_CLOSE : 0;
        return named(line, length, "content-length") ? REQUEST_FRAMED : 0;
    case 't':
        return named(line, length, "transfer-encoding") ? REQUEST_FRAMED : 0;
    }
    return 0;
}

unsigned request_fields(const char *lines, size_t length)
{
    unsigned fields = 0;
    while (length) {
        const char *end = memchr(lines, '\n', length);
        size_t line = end ? (size_t)(end - lines) + 1 : length;
        fields |= line_fields(lines, line);
        lines += line;
        length -= line;
    }
    return fields;
}

/* Methods */

/* RFC 9110 5.6.2: a method is a token. */
static const char *check_method(const char *method)
{
    if (!*method)
        return "the method is empty";
    for (const char *c = method; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", *c))
            return "the method has a character that is not allowed";
    return strcmp(method, "CONNECT") ? NULL : "the method CONNECT is for proxies";
}

static bool is_idempotent(const char *method)
{
    static const char *const methods[] = { "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE" };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(method, methods[i]))
            return true;
    return false;
}

/* Rendering */

static void append_text(struct buf *buf, const char *text)
{
    buf_append(buf, text, strlen(text));
}

static void append_host(struct buf *buf, const struct url *url)
{
    if (url->ipv6)
        append_text(buf, "[");
    buf_append(buf, url->host, url->host_length);
    if (url->ipv6)
        append_text(buf, "]");
    if (url->port != (url->tls ? 443 : 80))
        buf_printf(buf, ":%u", url->port);
}

static void render(struct request *request, const struct url *url, const char *lines, size_t lines_length, const char *host)
{
    struct buf buf = { 0 };
    append_text(&buf, request->method);
    append_text(&buf, " ");
    append_text(&buf, request->path);
    append_text(&buf, " HTTP/1.1\r\nHost: ");
    if (host)
        append_text(&buf, host);
    else
        append_host(&buf, url);
    append_text(&buf, "\r\n");
    buf_append(&buf, lines, lines_length);
    request->length = buf.length;
    append_text(&buf, "\r\n");
    request->bytes = buf.data;
}

/* "" becomes "/", "?x" becomes "/?x". */
static char *path_of(const struct url *url)
{
    struct buf path = { 0 };
    if (!url->path_length || *url->path != '/')
        append_text(&path, "/");
    buf_append(&path, url->path, url->path_length);
    buf_append(&path, "", 1);
    return path.data;
}

static const char *check(struct url *url, const char *method, const char *text, size_t length, const char *host)
{
    const char *why = url_parse(url, text, length);
    if (!why)
        why = check_method(method);
    if (!why && host && strpbrk(host, "\r\n"))
        why = "the Host header contains a line break";
    return why;
}

struct request *request_new(struct pool *pool, const char *method, const char *url, size_t url_length, const char *lines, size_t lines_length, const char *host,
                            const char **why)
{
    struct url parsed;
    *why = check(&parsed, method, url, url_length, host);
    if (*why)
        return NULL;
    struct request *request = mem_zero(sizeof *request);
    request->references = 1;
    request->version = -1;
    request->origin = origin_get(pool, &parsed);
    request->method = mem_text(method, strlen(method));
    request->path = path_of(&parsed);
    request->head = !strcmp(method, "HEAD");
    request->idempotent = is_idempotent(method);
    request->fields = request_fields(lines, lines_length);
    render(request, &parsed, lines, lines_length, host);
    return request;
}

void request_through_proxy(struct request *request, const char *authorization)
{
    struct buf buf = { 0 };
    const struct origin *origin = request->origin;
    bool ipv6 = strchr(origin->host, ':') != NULL;
    size_t method = strlen(request->method) + 1;
    if (origin->tls)
        return;
    buf_append(&buf, request->bytes, method);
    buf_printf(&buf, "http://%s%s%s:%u", ipv6 ? "[" : "", origin->host, ipv6 ? "]" : "", origin->port);
    buf_append(&buf, request->bytes + method, request->length - method);
    if (authorization)
        buf_printf(&buf, "Proxy-Authorization: %s\r\n", authorization);
    request->length = buf.length;
    append_text(&buf, "\r\n");
    free(request->bytes);
    request->bytes = buf.data;
}

void request_release(struct request *request)
{
    if (--request->references)
        return;
    free(request->method);
    free(request->path);
    free(request->bytes);
    free(request->seen);
    free(request->fields_h2);
    free(request->accept);
    free(request);
}
