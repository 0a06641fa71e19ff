/* core.target_start, core.target_watch and the target object: a server under test, for comparisons (lua/luabench/compare). Control state only. */
#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/api.h"
#include "target/target.h"

#define TARGET_TYPE "luabench.target"

static struct target *check_target(lua_State *L)
{
    struct target *target = *(struct target **)luaL_checkudata(L, 1, TARGET_TYPE);
    luaL_argcheck(L, target, 1, "it has been freed");
    return target;
}

static int push_target(lua_State *L, struct target *target)
{
    *(struct target **)lua_newuserdata(L, sizeof target) = target;
    luaL_getmetatable(L, TARGET_TYPE);
    lua_setmetatable(L, -2);
    return 1;
}

/* The texts of the list at `index`, ended by NULL, which stay those of Lua. NULL when there is no list. Released with free(). */
static char **texts_of(lua_State *L, int index)
{
    if (!lua_istable(L, index))
        return NULL;
    size_t count = lua_objlen(L, index);
    char **texts = mem_array(count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (int)i + 1);
        texts[i] = (char *)lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    return texts;
}

/* target_start(command, environment, folder) -> target; or nil, why. `command` is a list of texts, `environment` one of NAME=VALUE, or nil, as `folder` may be. */
static int start(lua_State *L)
{
    const char *failed = "";
    luaL_checktype(L, 1, LUA_TTABLE);
    const char *cwd = luaL_optstring(L, 3, NULL);
    char **argv = texts_of(L, 1), **env = texts_of(L, 2);
    struct target *target = target_start(&(struct process_options){ .argv = argv, .env = env, .cwd = cwd }, &failed);
    int error = errno;
    free(argv);
    free(env);
    if (target)
        return push_target(L, target);
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", failed, strerror(error));
    return 2;
}

/* target_watch(pid) or target_watch(nil, port) -> target; nil when there is no such process, or none that may be looked at. */
static int watch(lua_State *L)
{
    pid_t pid = lua_isnil(L, 1) ? tree_listener((unsigned)luaL_checkinteger(L, 2)) : (pid_t)luaL_checkinteger(L, 1);
    struct target *target = pid > 0 ? target_watch(pid) : NULL;
    return target ? push_target(L, target) : 0;
}

/* target:running() -> true; or false and how it ended: "it ended with status 3", "it was ended by signal 9 (Killed)". */
static int running(lua_State *L)
{
    struct target *target = check_target(L);
    target_look(target);
    lua_pushboolean(L, target_running(target));
    if (target_running(target))
        return 1;
    if (!target->own)
        lua_pushliteral(L, "it has ended");
    else if (WIFSIGNALED(target->process.status))
        lua_pushfstring(L, "it was ended by signal %d (%s)", WTERMSIG(target->process.status), strsignal(WTERMSIG(target->process.status)));
    else if (target->tree.count > 0)
        lua_pushfstring(L, "it ended with status %d and left a process behind: a server must stay in the foreground", WEXITSTATUS(target->process.status));
    else
        lua_pushfstring(L, "it ended with status %d", WEXITSTATUS(target->process.status));
    return 2;
}

/* target:output() -> the last of what it printed. */
static int output(lua_State *L)
{
    struct target *target = check_target(L);
    target_look(target);
    lua_pushlstring(L, target->process.tail.data ? target->process.tail.data : "", target->process.tail.length);
    return 1;
}

/* target:forget(): samples are kept from now on. */
static int forget(lua_State *L)
{
    struct target *target = check_target(L);
    target_forget(target);
    target_look(target);
    return 0;
}

static void push_sample(lua_State *L, const struct target_sample *sample)
{
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, ns_to_seconds(sample->time));
    lua_setfield(L, -2, "time");
    lua_pushnumber(L, sample->cpu);
    lua_setfield(L, -2, "cpu");
    lua_pushnumber(L, (lua_Number)sample->memory);
    lua_setfield(L, -2, "memory");
}

/* target:samples() -> list of { time, cpu, memory }, the last one of now: seconds of the clock of core.now, CPU seconds since it is known, bytes resident. */
static int samples(lua_State *L)
{
    struct target *target = check_target(L);
    target_look(target);
    lua_createtable(L, (int)target->count, 0);
    for (size_t i = 0; i < target->count; i++) {
        push_sample(L, &target->samples[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/* target:proportional() -> bytes, pages that its processes share counted once; nil when the system does not say. */
static int proportional(lua_State *L)
{
    uint64_t bytes = tree_proportional(&check_target(L)->tree);
    if (!bytes)
        return 0;
    lua_pushnumber(L, (lua_Number)bytes);
    return 1;
}

/* target:stop(seconds) -> nil, or the number of a process that could not be ended: ends it with all that it started; kills what has not ended by then. Its samples and output
 * stay. */
static int stop(lua_State *L)
{
    pid_t left = target_stop(check_target(L), ns_from_seconds(luaL_optnumber(L, 2, 0)));
    if (!left)
        return 0;
    lua_pushinteger(L, left);
    return 1;
}

static int collect(lua_State *L)
{
    struct target **target = luaL_checkudata(L, 1, TARGET_TYPE);
    if (*target)
        target_free(*target);
    *target = NULL;
    return 0;
}

void api_target_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "target_start", start }, { "target_watch", watch }, { NULL, NULL } };
    static const luaL_Reg methods[] = {
        { "running", running }, { "output", output }, { "forget", forget }, { "samples", samples }, { "proportional", proportional }, { "stop", stop }, { NULL, NULL },
    };
    luaL_newmetatable(L, TARGET_TYPE);
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_newtable(L);
    luaL_register(L, NULL, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    api_register(L, functions);
}
