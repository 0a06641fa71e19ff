#define _GNU_SOURCE
#include "script/plan_http.h"

#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "script/fields.h"

static void *keep(struct http_plan *http, void *memory)
{
    http->owned = mem_resize(http->owned, (http->owned_count + 1) * sizeof *http->owned);
    return http->owned[http->owned_count++] = memory;
}

/* The readers below look at the table on top of the stack and leave the stack as it was. */

/* NULL when the field is absent. */
static const char *text_of(lua_State *L, struct http_plan *http, const char *key)
{
    lua_getfield(L, -1, key);
    size_t length;
    const char *text = lua_isstring(L, -1) ? lua_tolstring(L, -1, &length) : NULL;
    text = text ? keep(http, mem_text(text, length)) : NULL;
    lua_pop(L, 1);
    return text;
}

/* Pushes the list `key` and returns its length, pushes something else when it is absent and returns 0. */
static size_t push_list(lua_State *L, const char *key)
{
    lua_getfield(L, -1, key);
    return lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
}

/* The addresses in the list `key`. */
static struct address *read_addresses(lua_State *L, struct http_plan *http, const char *key, size_t *count)
{
    *count = push_list(L, key);
    struct address *addresses = keep(http, mem_array(*count + 1, sizeof *addresses));
    for (size_t i = 0; i < *count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        if (!address_literal(&addresses[i], luaL_optstring(L, -1, ""), 0))
            addresses[i] = (struct address){ 0 }; /* Lua has checked that it is one */
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return addresses;
}

static void read_connect_to(lua_State *L, struct http_plan *http)
{
    size_t count = push_list(L, "connect_to");
    struct connect_to *rules = keep(http, mem_array(count + 1, sizeof *rules));
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        rules[i] = (struct connect_to){
            .from_host = text_of(L, http, "from_host"), .host = text_of(L, http, "host"),
            .from_port = (uint16_t)field_number(L, "from_port", 0), .port = (uint16_t)field_number(L, "port", 0),
        };
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    http->client.connect_to = rules;
    http->client.connect_to_count = count;
}

static void read_known_hosts(lua_State *L, struct http_plan *http)
{
    size_t count = push_list(L, "resolve");
    struct known_host *hosts = keep(http, mem_array(count + 1, sizeof *hosts));
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        hosts[i] = (struct known_host){ .host = text_of(L, http, "host"), .port = (uint16_t)field_number(L, "port", 0) };
        hosts[i].addresses = read_addresses(L, http, "addresses", &hosts[i].address_count);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    http->client.known_hosts = hosts;
    http->client.known_host_count = count;
}

/* RFC 7617 */
static const char *basic_authorization(struct http_plan *http, const char *userinfo)
{
    struct buf value = { 0 };
    buf_append(&value, "Basic ", 6);
    base64_encode(&value, userinfo, strlen(userinfo));
    buf_append(&value, "", 1);
    return keep(http, value.data);
}

static void read_proxy(lua_State *L, struct http_plan *http)
{
    lua_getfield(L, -1, "proxy");
    if (lua_istable(L, -1)) {
        const char *userinfo = text_of(L, http, "userinfo");
        http->proxy = (struct proxy){ .host = text_of(L, http, "host"), .port = (uint16_t)field_number(L, "port", 0) };
        http->proxy.authorization = userinfo ? basic_authorization(http, userinfo) : NULL;
        http->client.proxy = &http->proxy;
    }
    lua_pop(L, 1);
}

static void read_tls(lua_State *L, struct http_plan *http)
{
    http->expects_tls = field_bool(L, "tls");
    http->tls = (struct tls_options){
        .insecure = field_bool(L, "insecure"),
        .resume = field_bool(L, "resume"),
        .min_version = (int)field_number(L, "min_tls", 0),
        .max_version = (int)field_number(L, "max_tls", 0),
        .ca = text_of(L, http, "ca"),
        .cert = text_of(L, http, "cert"),
        .key = text_of(L, http, "key"),
        .sni = text_of(L, http, "sni"),
        .ciphers = text_of(L, http, "ciphers"),
    };
    http->client.tls = tls_context_new(&http->tls);
}

enum http_version http_version_of(const char *text)
{
    return !strcmp(text, "1.1") ? HTTP_1_1 : !strcmp(text, "2") ? HTTP_2 : HTTP_AUTO;
}

static enum http_version read_version(lua_State *L)
{
    lua_getfield(L, -1, "version");
    enum http_version version = lua_isstring(L, -1) ? http_version_of(lua_tostring(L, -1)) : HTTP_AUTO;
    lua_pop(L, 1);
    return version;
}

void http_plan_read(lua_State *L, struct http_plan *http)
{
    int family = (int)field_number(L, "family", 0);
    uint64_t shared = field_count(L, "connections", 0);
    *http = (struct http_plan){ .timeout = field_duration(L, "timeout", 30 * NS_PER_SECOND), .max_body = (size_t)field_count(L, "max_body", 64 << 20),
                                .decode = field_bool(L, "decode"), .discard_bodies = field_bool(L, "discard_bodies") };
    http->client = (struct client_options){
        .connections = (unsigned)(shared ? shared : field_count(L, "connections_per_user", 6)),
        .shared = shared,
        .streams = (unsigned)field_count(L, "streams", 0),
        .pipeline = (unsigned)field_count(L, "pipeline", 1),
        .keep_alive = field_bool(L, "keep_alive"),
        .retry = field_bool(L, "retry"),
        .lenient = field_bool(L, "lenient"),
        .requests_per_connection = field_count(L, "requests_per_connection", 0),
        .connect_timeout = field_duration(L, "connect_timeout", 10 * NS_PER_SECOND),
        .version = read_version(L),
        .family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC,
        .unix_socket = text_of(L, http, "unix_socket"),
    };
    http->client.sources = read_addresses(L, http, "source_addresses", &http->client.source_count);
    read_connect_to(L, http);
    read_known_hosts(L, http);
    read_proxy(L, http);
    read_tls(L, http);
}

void http_plan_free(struct http_plan *http)
{
    if (!http->borrowed)
        tls_context_free(http->client.tls);
    for (size_t i = 0; i < http->owned_count; i++)
        free(http->owned[i]);
    free(http->owned);
    *http = (struct http_plan){ 0 };
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

void http_plan_share(struct http_plan *http, struct http_plan *earlier)
{
    const struct tls_options *a = &http->tls, *b = &earlier->tls;
    if (http->borrowed || a->insecure != b->insecure || a->resume != b->resume || a->min_version != b->min_version || a->max_version != b->max_version ||
        !same_text(a->ca, b->ca) || !same_text(a->cert, b->cert) || !same_text(a->key, b->key) || !same_text(a->sni, b->sni) ||
        !same_text(a->ciphers, b->ciphers))
        return;
    tls_context_free(http->client.tls);
    http->client.tls = earlier->client.tls;
    http->borrowed = true;
}

/* Checking */

__attribute__((format(printf, 2, 3))) static const char *say(struct http_plan *http, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    return keep(http, text);
}

static const char *check_source(struct http_plan *http, const struct address *source)
{
    char text[ADDRESS_TEXT];
    int fd = socket(source->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = bind(fd, &source->any, source->length), number = errno;
    if (fd >= 0)
        close(fd);
    if (!result)
        return NULL;
    address_text(source, text);
    *strrchr(text, ':') = '\0';
    return say(http, "source_addresses: no connection can come from %s: %s", text, strerrordesc_np(number));
}

/* The files that the user named; not the system's authorities, which take long to load. */
static const char *check_tls(struct http_plan *http)
{
    struct tls_options named = http->tls;
    named.insecure = named.insecure || !named.ca;
    struct tls_context *context = tls_context_new(&named);
    const char *why = tls_context_load(context);
    if (why)
        why = say(http, "%s", why);
    tls_context_free(context);
    return why;
}

const char *http_plan_check(struct http_plan *http)
{
    struct address address;
    const struct tls_options *tls = &http->tls;
    if (http->client.unix_socket && !address_local(&address, http->client.unix_socket))
        return say(http, "unix_socket: a path must have from 1 to %zu bytes", sizeof address.local.sun_path - 1);
    for (size_t i = 0; i < http->client.source_count; i++) {
        const char *why = check_source(http, &http->client.sources[i]);
        if (why)
            return why;
    }
    return tls->ca || tls->cert || tls->ciphers || tls->min_version || tls->max_version ? check_tls(http) : NULL;
}
