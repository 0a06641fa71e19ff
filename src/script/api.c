#include "script/api.h"

#include <lauxlib.h>
#include <string.h>

/* The list of API files. */
static void (*const files[])(lua_State *) = {
    api_call_open, api_hist_open, api_html_open, api_http_open, api_time_open, api_outcome_open, api_json_open, api_net_open, api_system_open, api_upload_open, api_url_open,
    api_file_open, api_metric_open, api_group_open, api_random_open, api_task_open, api_text_open, api_raw_open, api_threads_open,
    api_target_open, api_read_open,
};

int api_open(lua_State *L)
{
    lua_newtable(L);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        files[i](L);
    lua_pushliteral(L, LUABENCH_VERSION);
    lua_setfield(L, -2, "VERSION");
    return 1;
}

void api_register(lua_State *L, const luaL_Reg *functions)
{
    for (; functions->name; functions++) {
        lua_pushlightuserdata(L, vm_of(L));
        lua_pushcclosure(L, functions->func, 1);
        lua_setfield(L, -2, functions->name);
    }
}

/* What the names of our own chunks begin with (cmake/EmbedLua). */
static const char ours[] = "@lua/luabench/";

/* Pushes "script.lua:12: " of the innermost line of the script that is being executed, or "". */
static void push_where(lua_State *L)
{
    lua_Debug info;
    for (int level = 1; lua_getstack(L, level, &info); level++) {
        lua_getinfo(L, "Sl", &info);
        if (info.currentline > 0 && strncmp(info.source, ours, sizeof ours - 1)) {
            lua_pushfstring(L, "%s:%d: ", info.short_src, info.currentline);
            return;
        }
    }
    lua_pushliteral(L, "");
}

int api_error(lua_State *L, const char *format, ...)
{
    va_list arguments;
    push_where(L);
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    lua_concat(L, 2);
    return lua_error(L);
}

void *api_test_object(lua_State *L, int index, const char *type)
{
    void *object = lua_touserdata(L, index);
    if (!object || !lua_getmetatable(L, index))
        return NULL;
    luaL_getmetatable(L, type);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same ? object : NULL;
}
