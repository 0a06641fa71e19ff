#include "script/plan_serve.h"

#include <stdlib.h>
#include <string.h>

#include "http/h2_server.h"
#include "script/fields.h"

static enum http_version read_version(struct lua_State *L)
{
    char *text = field_text(L, "http", "auto");
    enum http_version version = !strcmp(text, "1.1") ? HTTP_1_1 : !strcmp(text, "2") ? HTTP_2 : HTTP_AUTO;
    free(text);
    return version;
}

void serve_plan_read(struct lua_State *L, struct serve_plan *serve)
{
    struct h2_server_options usual = H2_SERVER_OPTIONS;
    *serve = (struct serve_plan){
        .host = field_text(L, "host", "127.0.0.1"),
        .cert_out = field_text(L, "cert_out", ""),
        .port = (int)field_number(L, "port", 8080),
        .threads = (int)field_number(L, "threads", 1),
        .http = read_version(L),
        .tls = field_bool(L, "tls"),
        .goaway_after = field_count(L, "goaway_after", 0),
        .streams = (uint32_t)field_number(L, "streams", usual.max_streams),
        .window = (uint32_t)field_number(L, "window", usual.window),
        .read_rate = (size_t)field_count(L, "read_rate", 0),
    };
    if (!*serve->cert_out) {
        free(serve->cert_out);
        serve->cert_out = NULL;
    }
}

void serve_plan_free(struct serve_plan *serve)
{
    free(serve->host);
    free(serve->cert_out);
}
