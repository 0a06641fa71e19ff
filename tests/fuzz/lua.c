/* The fuzz targets that are written in Lua: the file FUZZ_SCRIPT returns a function, which is called with each input, in a state that has the program's modules. An error
 * that it raises is a finding. Lines of Lua that run count as covered, as the branches of C do. Beside the modules it has
 *   fuzz.url(text)      what url_parse reads: { tls, host, ipv6, port, userinfo, path }; or nil, why
 *   fuzz.json(text)     what json_read alone reads: true, the value; or false
 *   fuzz.jansson(text)  what Jansson reads, as core.json_decode hands it on: the value; or nil, why
 *   fuzz.plan(command)  what command_read makes of a command (docs/core.md): a list of the scenarios' { users, duration, stages = levels, timeout }, times in seconds */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/url.h"
#include "script/api.h"
#include "script/json_read.h"
#include "script/plan.h"
#include "script/table.h"
#include "script/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 1 << 16, COLLECTED_EVERY = 1000 };

static struct vm *vm;
static __attribute__((section("__libfuzzer_extra_counters"))) uint8_t lines[LINES];

/* A line of Lua is about to run. */
static void count_line(lua_State *L, lua_Debug *ar)
{
    lua_getinfo(L, "S", ar);
    uint32_t hash = 2166136261u ^ (uint32_t)ar->currentline * 40503u;
    for (const char *c = ar->short_src; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    uint8_t *line = &lines[hash % LINES];
    if (*line < UINT8_MAX)
        ++*line;
}

static void set_slice(lua_State *L, const char *key, const char *text, size_t length)
{
    if (!text)
        return;
    lua_pushlstring(L, text, length);
    lua_setfield(L, -2, key);
}

static int parse_url(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    struct url url;
    const char *why = url_parse(&url, text, length);
    if (why) {
        lua_pushnil(L);
        lua_pushstring(L, why);
        return 2;
    }
    lua_newtable(L);
    table_set_bool(L, "tls", url.tls);
    table_set_bool(L, "ipv6", url.ipv6);
    table_set_count(L, "port", url.port);
    set_slice(L, "host", url.host, url.host_length);
    set_slice(L, "userinfo", url.userinfo, url.userinfo_length);
    set_slice(L, "path", url.path, url.path_length);
    return 1;
}

static int read_json(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    int top = lua_gettop(L);
    bool good = json_read(L, text, length, API_JSON_ARRAY);
    if (lua_gettop(L) != top + good)
        return luaL_error(L, "json_read left %d values", lua_gettop(L) - top);
    lua_pushboolean(L, good);
    lua_insert(L, top + 1);
    return 1 + good;
}

static int read_with_jansson(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    return api_json_push(L, text, length);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void push_scenario(lua_State *L, const struct scenario_plan *scenario)
{
    lua_newtable(L);
    table_set_count(L, "users", scenario->users);
    table_set_number(L, "duration", seconds(scenario->duration));
    table_set_number(L, "timeout", seconds(scenario->http.timeout));
    lua_createtable(L, (int)scenario->stage_count, 0);
    for (size_t i = 0; i < scenario->stage_count; i++) {
        lua_pushnumber(L, scenario->stages[i].level);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "stages");
}

static int read_plan(lua_State *L)
{
    struct command command;
    lua_settop(L, 1);
    const char *wrong = command_read(L, &command);
    lua_createtable(L, (int)command.plan.scenario_count, 0);
    for (size_t i = 0; i < command.plan.scenario_count && !wrong; i++) {
        push_scenario(L, &command.plan.scenarios[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    command_free(&command);
    return wrong ? luaL_error(L, "command_read: %s", wrong) : 1;
}

static int traceback(lua_State *L)
{
    const char *text = lua_tostring(L, 1);
    luaL_traceback(L, L, text ? text : luaL_typename(L, 1), 1);
    return 1;
}

static void require_call(lua_State *L, int arguments, int results)
{
    int handler = lua_gettop(L) - arguments;
    lua_pushcfunction(L, traceback);
    lua_insert(L, handler);
    if (lua_pcall(L, arguments, results, handler)) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    lua_remove(L, handler);
}

/* What objects of Lua own is not lost, though LeakSanitizer cannot look into Lua's memory: after this, what is left is. */
static void close_state(void)
{
    vm_free(vm);
}

/* The state, the function of the file on top of its stack. */
static lua_State *open_state(void)
{
    static const luaL_Reg functions[] = { { "url", parse_url }, { "json", read_json }, { "jansson", read_with_jansson }, { "plan", read_plan }, { NULL, NULL } };
    vm = vm_new(VM_CONTROL, false);
    lua_State *L = vm->L;
    atexit(close_state);
    luaL_register(L, "fuzz", functions);
    lua_settop(L, 0);
    luaL_dostring(L, "jit.off()"); /* compiled code calls no hook */
    if (luaL_loadfile(L, FUZZ_SCRIPT)) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    require_call(L, 0, 1);
    lua_sethook(L, count_line, LUA_MASKLINE, 0);
    return L;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned count;
    lua_State *L = vm ? vm->L : open_state();
    lua_pushvalue(L, 1);
    lua_pushlstring(L, (const char *)data, size);
    require_call(L, 1, 0);
    if (++count % COLLECTED_EVERY == 0)
        lua_gc(L, LUA_GCCOLLECT, 0);
    return 0;
}
