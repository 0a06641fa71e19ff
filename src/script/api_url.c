/* core.check_url: what the engine says of a URL, for Lua to know before anything is sent. */
#include <lauxlib.h>

#include "http/url.h"
#include "script/api.h"

/* check_url(text) -> nil when it can be requested, else what is wrong with it in words. */
static int check_url(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct url url;
    const char *why = url_parse(&url, text, length);
    if (!why)
        return 0;
    lua_pushstring(L, why);
    return 1;
}

void api_url_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "check_url", check_url }, { NULL, NULL } };
    api_register(L, functions);
}
