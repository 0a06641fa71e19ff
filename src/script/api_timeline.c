/* The timeline object of docs/core.md: the course of a scenario in slots of time. Speaks seconds; slots are numbered from 1. */
#include <lauxlib.h>
#include <math.h>

#include "base/clock.h"
#include "script/api.h"

#define TIMELINE_TYPE "luabench.timeline"

static const struct timeline *check_timeline(lua_State *L)
{
    return *(const struct timeline **)luaL_checkudata(L, 1, TIMELINE_TYPE);
}

/* The slots that the arguments 2 and 3 mean: from the first to the last one. */
static size_t first_slot(lua_State *L)
{
    lua_Number first = luaL_checknumber(L, 2);
    luaL_argcheck(L, first >= 1, 2, "a slot from 1 expected");
    return (size_t)first - 1;
}

static size_t slot_count(lua_State *L)
{
    lua_Number first = luaL_checknumber(L, 2), last = luaL_checknumber(L, 3);
    return last < first ? 0 : (size_t)(last - first) + 1;
}

/* t:size() -> how many slots, how many seconds each is wide */
static int size(lua_State *L)
{
    const struct timeline *timeline = check_timeline(L);
    lua_pushnumber(L, (lua_Number)timeline->count);
    lua_pushnumber(L, ns_to_seconds(timeline->width));
    return 2;
}

/* t:flow(i) -> iterations due in the slot, and ended in it */
static int flow(lua_State *L)
{
    const struct timeline *timeline = check_timeline(L);
    size_t slot = first_slot(L);
    luaL_argcheck(L, slot < timeline->count, 2, "no such slot");
    lua_pushnumber(L, (lua_Number)timeline->slots[slot].due);
    lua_pushnumber(L, (lua_Number)timeline->slots[slot].ended);
    return 2;
}

/* t:responses(first, last) */
static int responses(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)timeline_responses(check_timeline(L), first_slot(L), slot_count(L)));
    return 1;
}

/* t:upto(first, last, seconds) -> responses that took at most so long */
static int upto(lua_State *L)
{
    lua_pushnumber(L, timeline_upto(check_timeline(L), first_slot(L), slot_count(L), luaL_checknumber(L, 4) * 1e9));
    return 1;
}

/* t:quantile(first, last, q) -> seconds, nil without responses */
static int quantile(lua_State *L)
{
    double ns = timeline_quantile(check_timeline(L), first_slot(L), slot_count(L), luaL_checknumber(L, 4));
    if (isnan(ns))
        lua_pushnil(L);
    else
        lua_pushnumber(L, ns / 1e9);
    return 1;
}

void api_timeline_push(lua_State *L, const struct timeline *timeline)
{
    static const luaL_Reg methods[] = { { "size", size }, { "flow", flow }, { "responses", responses }, { "upto", upto }, { "quantile", quantile }, { NULL, NULL } };
    const struct timeline **object = lua_newuserdata(L, sizeof *object);
    *object = timeline;
    if (luaL_newmetatable(L, TIMELINE_TYPE)) {
        lua_newtable(L);
        luaL_register(L, NULL, methods);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}
