/* core.raw, core.raw_send, core.raw_count, core.raw_split, core.raw_fields, core.raw_format: requests that a script has written out itself, as wrk's scripts do. A text holds one or more whole
 * requests; they go out as they are, on the user's connection, and the call returns when all of them are answered. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/raw.h"
#include "script/api.h"

#define RAW_TYPE "luabench.raw"

enum { METHODS = 8, KEPT_TEXT = 64 * 1024 };

/* Where texts go, and under which names their figures are kept: one for each method, the last for all others. */
struct raw {
    struct vm *vm;
    size_t scenario;
    char *url, *name;
    struct request *requests[METHODS];
    const char *text; /* the text sent last, anchored by `anchor`; what raw_next said of it, when it is one request alone: */
    struct request *request;
    int anchor;
};

/* The requests of one text that has several. */
struct batch {
    unsigned count, left; /* all; those without an answer */
    struct exchange *exchanges[];
};

/* Where requests go */

static int release_raw(lua_State *L)
{
    struct raw *raw = luaL_checkudata(L, 1, RAW_TYPE);
    for (size_t i = 0; i < METHODS && raw->requests[i]; i++)
        request_release(raw->requests[i]);
    free(raw->url);
    free(raw->name);
    *raw = (struct raw){ 0 };
    return 0;
}

/* raw(scenario, url, name) -> for raw_send; figures are kept under "METHOD name". Worker states only. */
static int new_raw(lua_State *L)
{
    struct vm *vm = vm_of(L);
    size_t scenario = (size_t)luaL_checkint(L, 1) - 1;
    const char *url = luaL_checkstring(L, 2), *name = luaL_checkstring(L, 3);
    luaL_argcheck(L, vm->pool && scenario < vm->scenario_count, 1, "a scenario of a worker expected");
    struct raw *raw = lua_newuserdata(L, sizeof *raw);
    *raw = (struct raw){ .vm = vm, .scenario = scenario, .url = mem_text(url, strlen(url)), .name = mem_text(name, strlen(name)) };
    luaL_getmetatable(L, RAW_TYPE);
    lua_setmetatable(L, -2);
    lua_pushboolean(L, 0);
    raw->anchor = luaL_ref(L, LUA_REGISTRYINDEX);
    return 1;
}

static struct request *new_request(lua_State *L, struct raw *raw, const char *method)
{
    const char *why;
    struct request *request = request_new(raw->vm->pool, method, raw->url, strlen(raw->url), "", 0, NULL, &why);
    if (!request)
        luaL_error(L, "%s: %s", raw->url, why);
    char name[256];
    int length = snprintf(name, sizeof name, "%s %s", method, raw->name);
    request->raw = true;
    request->metrics = metrics_name(raw->vm->metrics, raw->scenario, name, (size_t)length < sizeof name ? (size_t)length : sizeof name - 1);
    return request;
}

/* What requests of that method share. */
static struct request *request_of(lua_State *L, struct raw *raw, const struct raw_request *found)
{
    char method[32];
    snprintf(method, sizeof method, "%.*s", (int)found->method_length, found->method);
    for (size_t i = 0; i < METHODS; i++) {
        struct request **request = &raw->requests[i];
        if (!*request)
            *request = new_request(L, raw, method);
        if (!strcmp((*request)->method, method) || (i == METHODS - 1 && !found->head))
            return *request;
    }
    return raw->requests[METHODS - 1];
}

/* Sending */

static struct exchange *new_exchange(struct strand *strand, struct request *request, const char *text, size_t length, bool wanted)
{
    const struct http_plan *http = &strand->vu->scenario->plan->http;
    struct exchange *exchange = pool_exchange(strand->vu->vm->pool);
    exchange->request = request_hold(request);
    exchange->content = text;
    exchange->content_length = length;
    exchange->deadline = http->timeout;
    exchange->max_body = http->max_body;
    exchange->discard = !wanted;
    exchange->owner = strand;
    exchange->user = strand->vu->id;
    return exchange;
}

/* status, head, body: status 0 when no whole response came; head and body when they are wanted. */
static int push_answer(lua_State *L, const struct exchange *exchange)
{
    lua_pushinteger(L, exchange->error ? 0 : exchange->status);
    if (exchange->discard || exchange->error)
        return 1;
    lua_pushlstring(L, exchange->head.length ? exchange->head.data : "", exchange->head.length);
    lua_pushlstring(L, exchange->body.length ? exchange->body.data : "", exchange->body.length);
    return 3;
}

static int deliver_one(struct strand *strand, lua_State *L)
{
    struct exchange *exchange = strand->exchange;
    strand->exchange = NULL;
    int count = push_answer(L, exchange);
    pool_recycle(strand->vu->vm->pool, exchange);
    return count;
}

/* A list of three fields for each response. */
static int deliver_batch(struct strand *strand, lua_State *L)
{
    struct batch *batch = strand->exchange->batch;
    strand->exchange = NULL;
    lua_createtable(L, 3 * (int)batch->count, 0);
    for (unsigned i = 0; i < batch->count; i++) {
        for (int k = push_answer(L, batch->exchanges[i]); k > 0; k--)
            lua_rawseti(L, -k - 1, 3 * (int)i + k);
        pool_recycle(strand->vu->vm->pool, batch->exchanges[i]);
    }
    free(batch);
    return 1;
}

bool api_raw_all_answered(struct exchange *exchange)
{
    return --exchange->batch->left == 0;
}

void api_raw_abandon(struct strand *strand)
{
    struct pool *pool = strand->vu->vm->pool;
    struct batch *batch = strand->exchange->batch;
    strand->exchange = NULL;
    for (unsigned i = 0; i < batch->count; i++) { /* before one is cancelled, which may end the others */
        batch->exchanges[i]->owner = NULL;
        batch->exchanges[i]->batch = NULL;
    }
    for (unsigned i = batch->count; i-- > 0;) {
        struct exchange *exchange = batch->exchanges[i];
        if (!exchange->finished || link_listed(&exchange->link))
            pool_cancel(pool, exchange, ERR_INTERRUPTED);
        else
            pool_recycle(pool, exchange); /* reaped and recorded */
    }
    free(batch);
}

static int bad_text(lua_State *L, const char *text, const struct raw_request *found)
{
    int line = 1, column = 1;
    for (const char *c = text; c < found->at; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    return luaL_error(L, "request(): %s at %d:%d", found->why, line, column);
}

static unsigned count_requests(lua_State *L, const char *text, size_t length)
{
    struct raw_request found;
    unsigned count = 0;
    for (size_t done = 0; done < length; done += found.length) {
        if (!raw_next(&found, text + done, length - done))
            bad_text(L, text, &found);
        count++;
    }
    return count;
}

static int send_batch(lua_State *L, struct strand *strand, struct raw *raw, const char *text, size_t length, bool wanted)
{
    unsigned count = count_requests(L, text, length);
    struct batch *batch = mem_zero(sizeof *batch + count * sizeof *batch->exchanges);
    struct client_options *options = &strand->vu->scenario->client_options;
    struct raw_request found;
    batch->count = batch->left = count;
    for (unsigned i = 0; i < count; i++, text += found.length, length -= found.length) {
        raw_next(&found, text, length);
        batch->exchanges[i] = new_exchange(strand, request_of(L, raw, &found), text, found.length, wanted);
        batch->exchanges[i]->batch = batch;
    }
    if (options->pipeline < count) /* of the connections that are opened from now on */
        options->pipeline = count;
    for (unsigned i = 0; i < count; i++) {
        strand->exchange = batch->exchanges[i];
        api_http_submit(strand);
    }
    strand->exchange = batch->exchanges[0];
    return strand_wait(L, strand, deliver_batch);
}

/* The request of a text that is one alone; NULL: it is several. */
static struct request *only_request(lua_State *L, struct raw *raw, const char *text, size_t length)
{
    struct raw_request found;
    if (raw->text == text)
        return raw->request;
    if (!raw_next(&found, text, length))
        bad_text(L, text, &found);
    raw->request = found.length == length ? request_of(L, raw, &found) : NULL;
    raw->text = text;
    lua_pushvalue(L, 2);
    lua_rawseti(L, LUA_REGISTRYINDEX, raw->anchor);
    return raw->request;
}

/* raw_send(raw, text, wanted); waits. Returns status, head, body, the latter two when they are wanted; for several requests a list of as much for each. Nothing:
 * connects have failed and nothing was sent; to be called again. */
static int send_text(lua_State *L)
{
    struct raw *raw = lua_touserdata(L, 1);
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    bool wanted = lua_toboolean(L, 3);
    struct strand *strand = strand_that_waits(L);
    luaL_argcheck(L, raw, 1, "where to send to expected");
    int64_t after = strand->vu->connect_after;
    if (after && after > clock_ns()) {
        timers_set(&strand->vu->vm->loop->timers, &strand->timer, after);
        return strand_wait(L, strand, NULL);
    }
    struct request *request = only_request(L, raw, text, length);
    if (!request)
        return send_batch(L, strand, raw, text, length, wanted);
    strand->exchange = new_exchange(strand, request, text, length, wanted);
    api_http_submit(strand);
    return strand_wait(L, strand, deliver_one);
}

/* Looking at texts */

/* raw_count(text): how many requests it holds; raises an error when it is not whole. */
static int count_text(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    lua_pushinteger(L, (lua_Integer)count_requests(L, text, length));
    return 1;
}

/* raw_split(text): a list of { method, path, head lines, body } of each request. */
static int split_text(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct raw_request found;
    lua_newtable(L);
    for (int i = 1; length; i++, text += found.length, length -= found.length) {
        if (!raw_next(&found, text, length))
            bad_text(L, text, &found);
        lua_createtable(L, 4, 0);
        lua_pushlstring(L, found.method, found.method_length);
        lua_rawseti(L, -2, 1);
        lua_pushlstring(L, found.path, found.path_length);
        lua_rawseti(L, -2, 2);
        lua_pushlstring(L, found.lines, found.lines_length);
        lua_rawseti(L, -2, 3);
        lua_pushlstring(L, found.body, (size_t)(text + found.length - found.body));
        lua_rawseti(L, -2, 4);
        lua_rawseti(L, -2, i);
    }
    return 1;
}

/* Appends a string or a number; false for anything else. */
static bool append_value(lua_State *L, int index, struct buf *out)
{
    size_t length;
    int type = lua_type(L, index);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
        return false;
    if (type == LUA_TNUMBER)
        lua_pushvalue(L, index); /* converted in place, which would disturb lua_next */
    const char *text = lua_tolstring(L, type == LUA_TNUMBER ? -1 : index, &length);
    buf_append(out, text, length);
    if (type == LUA_TNUMBER)
        lua_pop(L, 1);
    return true;
}

static void append_text(struct buf *out, const char *text)
{
    buf_append(out, text, strlen(text));
}

/* Appends the table at `index` as header lines. */
static bool append_fields(lua_State *L, int index, struct buf *out)
{
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        bool named = append_value(L, -2, out);
        append_text(out, ": ");
        if (!named || !append_value(L, -1, out)) {
            lua_pop(L, 2);
            return false;
        }
        append_text(out, "\r\n");
    }
    return true;
}

/* raw_format(method, path, headers, body): the text of the request; nil when something in it is neither a string nor a number. */
static int format_text(lua_State *L)
{
    struct buf *out = &vm_of(L)->text;
    lua_settop(L, 4);
    luaL_checktype(L, 3, LUA_TTABLE);
    buf_clear(out, KEPT_TEXT);
    bool done = append_value(L, 1, out);
    append_text(out, " ");
    done = done && append_value(L, 2, out);
    append_text(out, " HTTP/1.1\r\n");
    done = done && append_fields(L, 3, out);
    append_text(out, "\r\n");
    done = done && (lua_isnil(L, 4) || append_value(L, 4, out));
    if (!done)
        return 0;
    lua_pushlstring(L, out->data, out->length);
    return 1;
}

/* Adds the field of a line to the table on top of the stack. */
static void add_field(lua_State *L, const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (!colon)
        return;
    const char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && strchr(" \t\r", end[-1]))
        end--;
    lua_pushlstring(L, line, (size_t)(colon - line));
    lua_pushlstring(L, value, (size_t)(end - value));
    lua_rawset(L, -3);
}

/* raw_fields(head): the fields of a response's head, names as the server has spelt them; of several with one name the last. */
static int head_fields(lua_State *L)
{
    size_t length;
    const char *line = luaL_checklstring(L, 1, &length), *end = line + length, *newline;
    lua_createtable(L, 0, 8);
    for (int i = 0; (newline = memchr(line, '\n', (size_t)(end - line))); i++) {
        if (i) /* the first is the status line */
            add_field(L, line, newline);
        line = newline + 1;
        if (line == end)
            break;
    }
    return 1;
}

void api_raw_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "raw", new_raw }, { "raw_send", send_text }, { "raw_count", count_text }, { "raw_split", split_text }, { "raw_fields", head_fields }, { "raw_format", format_text }, { NULL, NULL },
    };
    api_register(L, functions);
    luaL_newmetatable(L, RAW_TYPE);
    lua_pushcfunction(L, release_raw);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}
