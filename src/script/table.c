#include "script/table.h"

#include <lua.h>

#include "script/api.h"

void table_set_count(lua_State *L, const char *key, uint64_t value)
{
    lua_pushnumber(L, (lua_Number)value);
    lua_setfield(L, -2, key);
}

void table_set_number(lua_State *L, const char *key, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void table_set_share(lua_State *L, const char *key, double value)
{
    if (value >= 0)
        table_set_number(L, key, value);
}

void table_set_text(lua_State *L, const char *key, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

void table_set_bool(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void table_set_hist(lua_State *L, const char *key, const struct hist *hist)
{
    api_hist_push(L, hist);
    lua_setfield(L, -2, key);
}
