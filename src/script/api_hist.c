/* The hist object of docs/core.md: reads a histogram of nanoseconds, speaks seconds. */
#include <lauxlib.h>
#include <math.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "script/api.h"

#define HIST_TYPE "luabench.hist"

static const struct hist *check_hist(lua_State *L)
{
    return *(const struct hist **)luaL_checkudata(L, 1, HIST_TYPE);
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
    lua_pushnumber(L, (lua_Number)check_hist(L)->count);
    return 1;
}

static int min(lua_State *L)
{
    const struct hist *hist = check_hist(L);
    return push_seconds(L, hist->count ? (double)hist->min : NAN);
}

static int max(lua_State *L)
{
    const struct hist *hist = check_hist(L);
    return push_seconds(L, hist->count ? (double)hist->max : NAN);
}

static int mean(lua_State *L)
{
    return push_seconds(L, hist_mean(check_hist(L)));
}

static int stddev(lua_State *L)
{
    return push_seconds(L, hist_stddev(check_hist(L)));
}

static int quantile(lua_State *L)
{
    double q = luaL_checknumber(L, 2);
    luaL_argcheck(L, q >= 0 && q <= 1, 2, "a quantile from 0 to 1 expected");
    return push_seconds(L, hist_quantile(check_hist(L), q));
}

static int encode(lua_State *L)
{
    struct buf bytes = { 0 }, text = { 0 };
    hist_encode(check_hist(L), &bytes);
    base64_encode(&text, bytes.data, bytes.length);
    lua_pushlstring(L, text.data ? text.data : "", text.length);
    buf_free(&bytes);
    buf_free(&text);
    return 1;
}

void api_hist_push(lua_State *L, const struct hist *hist)
{
    static const luaL_Reg methods[] = {
        { "count", count }, { "min", min }, { "max", max }, { "mean", mean }, { "stddev", stddev }, { "quantile", quantile }, { "encode", encode }, { NULL, NULL },
    };
    const struct hist **object = lua_newuserdata(L, sizeof *object);
    *object = hist;
    if (luaL_newmetatable(L, HIST_TYPE)) {
        lua_newtable(L);
        luaL_register(L, NULL, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}
