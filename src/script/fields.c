#include "script/fields.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

double field_number(lua_State *L, const char *key, double absent)
{
    lua_getfield(L, -1, key);
    double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : absent;
    lua_pop(L, 1);
    return value;
}

int64_t field_duration(lua_State *L, const char *key, int64_t absent)
{
    double seconds = field_number(L, key, NAN);
    return isnan(seconds) ? absent : ns_from_seconds(seconds);
}

uint64_t field_count(lua_State *L, const char *key, uint64_t absent)
{
    double value = field_number(L, key, NAN);
    return isnan(value) ? absent : (uint64_t)value;
}

bool field_bool(lua_State *L, const char *key)
{
    lua_getfield(L, -1, key);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

char *field_text(lua_State *L, const char *key, const char *absent)
{
    lua_getfield(L, -1, key);
    size_t length = strlen(absent);
    const char *text = lua_isstring(L, -1) ? lua_tolstring(L, -1, &length) : absent;
    char *copy = mem_text(text, length);
    lua_pop(L, 1);
    return copy;
}
