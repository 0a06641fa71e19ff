/* core.address, core.check_http: what the network side says of options, before anything is sent. */
#include <lauxlib.h>

#include "net/resolve.h"
#include "script/api.h"
#include "script/plan_http.h"

/* address(text) -> 4 or 6 when it is an IP address of that version, else nil. */
static int address(lua_State *L)
{
    struct address parsed;
    if (!address_literal(&parsed, luaL_checkstring(L, 1), 0))
        return 0;
    lua_pushinteger(L, parsed.any.sa_family == AF_INET ? 4 : 6);
    return 1;
}

/* check_http(http) -> nil when connections can be made with the `http` table of a scenario's plan, else why not. */
static int check_http(lua_State *L)
{
    struct http_plan http;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    http_plan_read(L, &http);
    lua_pushstring(L, http_plan_check(&http));
    http_plan_free(&http);
    return 1;
}

void api_net_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "address", address }, { "check_http", check_http }, { NULL, NULL } };
    api_register(L, functions);
}
