/* The hist object of docs/core.md: reads a histogram of nanoseconds, speaks seconds. */
#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "script/api.h"

#define HIST_TYPE "luabench.hist"

struct hist_object {
    const struct hist *hist; /* the core's, or `own` */
    struct hist *own;        /* of hist_merge, or NULL; apart, since Lua aligns its memory to 8 bytes only and a hist wants 16 */
};

static const struct hist *check_hist(lua_State *L, int index)
{
    return ((struct hist_object *)luaL_checkudata(L, index, HIST_TYPE))->hist;
}

/* Pushes ns as seconds; nil for NaN. */
static int push_seconds(lua_State *L, double ns)
{
    if (isnan(ns))
        lua_pushnil(L);
    else
        lua_pushnumber(L, ns / 1e9);
    return 1;
}

static int count(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)check_hist(L, 1)->count);
    return 1;
}

static int min(lua_State *L)
{
    const struct hist *hist = check_hist(L, 1);
    return push_seconds(L, hist->count ? (double)hist->min : NAN);
}

static int max(lua_State *L)
{
    const struct hist *hist = check_hist(L, 1);
    return push_seconds(L, hist->count ? (double)hist->max : NAN);
}

static int mean(lua_State *L)
{
    return push_seconds(L, hist_mean(check_hist(L, 1)));
}

static int stddev(lua_State *L)
{
    return push_seconds(L, hist_stddev(check_hist(L, 1)));
}

static int quantile(lua_State *L)
{
    double q = luaL_checknumber(L, 2);
    luaL_argcheck(L, q >= 0 && q <= 1, 2, "a quantile from 0 to 1 expected");
    return push_seconds(L, hist_quantile(check_hist(L, 1), q));
}

/* h:upto(seconds): how many values are at most so large, to the accuracy of a counter. */
static int upto(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)hist_count_upto(check_hist(L, 1), (int64_t)(luaL_checknumber(L, 2) * 1e9)));
    return 1;
}

static int encode(lua_State *L)
{
    struct buf bytes = { 0 }, text = { 0 };
    hist_encode(check_hist(L, 1), &bytes);
    base64_encode(&text, bytes.data, bytes.length);
    lua_pushlstring(L, text.data ? text.data : "", text.length);
    buf_free(&bytes);
    buf_free(&text);
    return 1;
}

/* Into the two lists below the top of the stack: see counters(). */
static void add_counter(void *context, int64_t low, int64_t high, uint64_t times)
{
    lua_State *L = context;
    int next = (int)lua_objlen(L, -1) + 1;
    lua_pushnumber(L, ((double)low + (double)high) / 2e9);
    lua_rawseti(L, -3, next);
    lua_pushnumber(L, (lua_Number)times);
    lua_rawseti(L, -2, next);
}

/* h:counters() -> the values that were recorded, to the accuracy of a counter, from small to large; and how often each. */
static int counters(lua_State *L)
{
    const struct hist *hist = check_hist(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    hist_each(hist, add_counter, L);
    return 2;
}

static void add_bucket(void *context, int64_t low, int64_t high, uint64_t times)
{
    lua_State *L = context;
    int next = (int)lua_objlen(L, -1) + 1;
    lua_Number fields[] = { (lua_Number)low, (lua_Number)high, (lua_Number)times };
    for (int i = 0; i < 3; i++) {
        lua_pushnumber(L, fields[i]);
        lua_rawseti(L, i - 4, next);
    }
}

/* h:buckets() -> lists of the lowest and the highest values (ns) of the counters that are not empty, from small to large, and of their counts. */
static int buckets(lua_State *L)
{
    const struct hist *hist = check_hist(L, 1);
    for (int i = 0; i < 3; i++)
        lua_newtable(L);
    hist_each(hist, add_bucket, L);
    return 3;
}

static int release(lua_State *L)
{
    struct hist_object *object = luaL_checkudata(L, 1, HIST_TYPE);
    if (object->own)
        hist_free(object->own);
    free(object->own);
    object->own = NULL;
    return 0;
}

static struct hist_object *new_object(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "count", count }, { "min", min }, { "max", max }, { "mean", mean }, { "stddev", stddev }, { "quantile", quantile }, { "upto", upto }, { "encode", encode }, { "counters", counters }, { "buckets", buckets }, { NULL, NULL },
    };
    struct hist_object *object = lua_newuserdata(L, sizeof *object);
    *object = (struct hist_object){ 0 };
    if (luaL_newmetatable(L, HIST_TYPE)) {
        lua_newtable(L);
        luaL_register(L, NULL, methods);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, release);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return object;
}

void api_hist_push(lua_State *L, const struct hist *hist)
{
    new_object(L)->hist = hist;
}

/* Gives the object on top of the stack, an empty one, counts of its own. */
static struct hist *own_hist(struct hist_object *object)
{
    object->hist = object->own = mem_zero(sizeof *object->own);
    return object->own;
}

void api_hist_push_encoded(lua_State *L, const struct buf *bytes)
{
    hist_decode(own_hist(new_object(L)), bytes->data, bytes->length);
}

/* hist_decode(text) -> a new hist object of what h:encode() gave; nil when it is damaged. */
static int decode(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct buf bytes = { 0 };
    struct hist *hist = own_hist(new_object(L));
    bool good = base64_decode(&bytes, text, length) && hist_decode(hist, bytes.data, bytes.length);
    buf_free(&bytes);
    if (!good)
        lua_pushnil(L);
    return 1;
}

/* hist_merge(list): a new hist object with the counts of all of them. */
static int hist_merge_list(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    struct hist *sum = own_hist(new_object(L));
    int length = (int)lua_objlen(L, 1);
    for (int i = 1; i <= length; i++) {
        lua_rawgeti(L, 1, i);
        hist_merge(sum, check_hist(L, -1));
        lua_pop(L, 1);
    }
    return 1;
}

/* hist_without(all, some): a new hist object with the counts of the first that are not in the second, whose values are all among the first's. */
static int hist_without(lua_State *L)
{
    const struct hist *all = check_hist(L, 1), *some = check_hist(L, 2);
    struct hist *rest = own_hist(new_object(L));
    hist_merge(rest, all);
    hist_subtract(rest, some);
    return 1;
}

void api_hist_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "hist_merge", hist_merge_list }, { "hist_without", hist_without }, { "hist_decode", decode }, { NULL, NULL } };
    api_register(L, functions);
}
