/* core.thread_count, core.thread_call: the control state reaches into the states of the workers, before they run and after they have ended. And what wrk's scripts may
 * ask of the system: core.lookup, core.can_connect, core.connect_to, core.time, core.quit. */
#include <errno.h>
#include <lauxlib.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "script/api.h"

enum { DEEPEST = 100, CONNECT_SECONDS = 10 };

/* Copying plain values */

/* Raises an error unless the value is plain all through. */
static void check_plain(lua_State *L, int index, int depth)
{
    int type = lua_type(L, index);
    if (type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING)
        return;
    if (type != LUA_TTABLE)
        luaL_error(L, "cannot transfer '%s' to thread", luaL_typename(L, index));
    if (depth > DEEPEST)
        luaL_error(L, "cannot transfer a table to thread that contains itself or is nested more than %d deep", DEEPEST);
    luaL_checkstack(L, 4, "out of stack");
    lua_pushvalue(L, index);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        check_plain(L, lua_gettop(L) - 1, depth + 1);
        check_plain(L, lua_gettop(L), depth + 1);
    }
    lua_pop(L, 1);
}

/* Pushes the plain value at `index` onto another state. */
static void copy(lua_State *L, int index, lua_State *to)
{
    size_t length;
    const char *text;
    lua_checkstack(to, 4);
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: lua_pushboolean(to, lua_toboolean(L, index)); return;
    case LUA_TNUMBER: lua_pushnumber(to, lua_tonumber(L, index)); return;
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &length);
        lua_pushlstring(to, text, length);
        return;
    case LUA_TTABLE: break;
    default: lua_pushnil(to); return;
    }
    lua_newtable(to);
    lua_pushvalue(L, index);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        copy(L, lua_gettop(L) - 1, to);
        copy(L, lua_gettop(L), to);
        lua_rawset(to, -3);
    }
    lua_pop(L, 1);
}

/* check_plain (value) -> nothing; an error when it cannot be given to another state. */
static int check_value(lua_State *L)
{
    check_plain(L, 1, 0);
    return 0;
}

/* Threads */

static int thread_count(lua_State *L)
{
    lua_pushinteger(L, vm_of(L)->thread_count);
    return 1;
}

/* Pushes the function `name` of the module through which the control state speaks with a worker's. */
static int push_entry(lua_State *L)
{
    const char *name = lua_touserdata(L, 1);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "luabench.wrk.thread");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    return 1;
}

/* Calls the entry with what is on the stack of `from` from `first` on. Results, or an error's text, are on top of the stack of `to`. */
static int call_there(lua_State *from, int first, lua_State *to, const char *name)
{
    lua_pushcfunction(to, push_entry);
    lua_pushlightuserdata(to, (void *)name);
    int status = lua_pcall(to, 1, 1, 0);
    int top = lua_gettop(from);
    if (status)
        return status;
    for (int i = first; i <= top; i++)
        copy(from, i, to);
    return lua_pcall(to, top - first + 1, LUA_MULTRET, 0);
}

/* thread_call(index, name, ...): calls a function of luabench.wrk.thread in the state of that worker (from 1); arguments and results are copied. */
static int thread_call(lua_State *L)
{
    struct vm *vm = vm_of(L);
    int index = luaL_checkint(L, 1);
    const char *name = luaL_checkstring(L, 2);
    luaL_argcheck(L, index >= 1 && (unsigned)index <= vm->thread_count, 1, "there is no such thread");
    int top = lua_gettop(L);
    for (int i = 3; i <= top; i++)
        check_plain(L, i, 0);
    lua_State *there = vm->threads[index - 1]->L;
    int base = lua_gettop(there);
    if (call_there(L, 3, there, name)) {
        const char *text = lua_tostring(there, -1);
        lua_pushstring(L, text ? text : "an error without a text");
        lua_settop(there, base);
        return lua_error(L);
    }
    int count = lua_gettop(there) - base;
    luaL_checkstack(L, count, "too many results");
    for (int i = 1; i <= count; i++)
        copy(there, base + i, L);
    lua_settop(there, base);
    return count;
}

/* Addresses */

static struct addrinfo *resolve(const char *host, const char *service, int *problem)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list = NULL;
    *problem = getaddrinfo(host, service, &hints, &list);
    return *problem ? NULL : list;
}

static const char *problem_text(int problem)
{
    return problem == EAI_SYSTEM ? strerror(errno) : gai_strerror(problem);
}

/* lookup(host, service) -> a list of { address, port }; nil and why not. Waits for the name server. */
static int lookup(lua_State *L)
{
    int problem;
    struct addrinfo *list = resolve(luaL_checkstring(L, 1), luaL_checkstring(L, 2), &problem);
    if (problem) {
        lua_pushnil(L);
        lua_pushstring(L, problem_text(problem));
        return 2;
    }
    lua_newtable(L);
    int i = 0;
    for (struct addrinfo *each = list; each; each = each->ai_next) {
        char host[NI_MAXHOST], port[NI_MAXSERV];
        if (getnameinfo(each->ai_addr, each->ai_addrlen, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
            continue;
        lua_createtable(L, 2, 0);
        lua_pushstring(L, host);
        lua_rawseti(L, -2, 1);
        lua_pushstring(L, port);
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, ++i);
    }
    freeaddrinfo(list);
    return 1;
}

static bool connects(const struct addrinfo *address)
{
    struct timeval limit = { .tv_sec = CONNECT_SECONDS };
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* of connect, too: socket(7) */
    bool done = connect(fd, address->ai_addr, address->ai_addrlen) == 0;
    int problem = errno;
    close(fd);
    errno = problem;
    return done;
}

/* can_connect(address, port) -> true; false and why not. Waits for the connection, and closes it. */
static int can_connect(lua_State *L)
{
    int problem;
    struct addrinfo *list = resolve(luaL_checkstring(L, 1), luaL_checkstring(L, 2), &problem);
    bool done = list && connects(list);
    lua_pushboolean(L, done);
    lua_pushstring(L, done ? "" : problem ? problem_text(problem) : strerror(errno));
    if (list)
        freeaddrinfo(list);
    return 2;
}

/* connect_to(scenario, address, port): connections that are opened from now on go there, whatever the URL says. Worker states only. */
static int connect_to(lua_State *L)
{
    struct vm *vm = vm_of(L);
    size_t scenario = (size_t)luaL_checkint(L, 1) - 1;
    const char *address = luaL_checkstring(L, 2);
    luaL_argcheck(L, vm->scenarios && scenario < vm->scenario_count, 1, "a scenario of a worker expected");
    struct client_options *options = &vm->scenarios[scenario].client_options;
    free(vm->forced.host);
    vm->forced.host = mem_text(address, strlen(address));
    vm->forced.place = (struct connect_to){ .host = vm->forced.host, .port = (uint16_t)atoi(luaL_checkstring(L, 3)) };
    options->connect_to = &vm->forced.place;
    options->connect_to_count = 1;
    return 0;
}

/* The system */

/* time() -> seconds since 1970, to the microsecond */
static int epoch(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    lua_pushnumber(L, (double)now.tv_sec + (double)(now.tv_nsec / 1000) / 1e6);
    return 1;
}

/* quit(status): ends the process at once, files written. Other threads may be running: nothing else is tidied up. */
static int quit(lua_State *L)
{
    int status = luaL_optint(L, 1, EXIT_SUCCESS);
    fflush(NULL);
    _exit(status);
}

void api_threads_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "check_plain", check_value }, { "thread_count", thread_count }, { "thread_call", thread_call }, { "lookup", lookup },
        { "can_connect", can_connect }, { "connect_to", connect_to }, { "time", epoch }, { "quit", quit }, { NULL, NULL },
    };
    api_register(L, functions);
}
