/* core.spawn and its kin: tasks as scripts see them; and what the wrappers of Lua's coroutines need (lua/luabench/coroutines.lua). The methods of a task are added
 * in Lua, in core.Task, the metatable of the objects. */
#define _GNU_SOURCE
#include <lauxlib.h>
#include <pthread.h>

#include "base/clock.h"
#include "script/api.h"
#include "script/task.h"

#define TASK_TYPE "luabench.task"

enum { STACK_ROOM = 256 * 1024 }; /* bytes that are enough from one look at the stack to the next */

static struct task **check_task(lua_State *L)
{
    return luaL_checkudata(L, 1, TASK_TYPE);
}

static struct task *check_own_task(lua_State *L)
{
    struct task *task = *check_task(L);
    struct vu *vu = vu_running(L);
    if (task && task->strand.vu != vu)
        api_error(L, "the task is another user's");
    return task;
}

/* spawn(f, ...) -> task, which begins when the user waits or ends. */
static int spawn(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    struct strand *strand = strand_running(L);
    if (!strand)
        return api_error(L, "only a scenario's functions can spawn tasks; this is the script's own top level");
    struct task **handle = lua_newuserdata(L, sizeof *handle);
    *handle = NULL;
    luaL_getmetatable(L, TASK_TYPE);
    lua_setmetatable(L, -2);
    lua_insert(L, 1);
    struct task *task = task_new(strand->vu, L, 2);
    task->strand.spawned_in = api_group_around(strand);
    task->handle = handle;
    *handle = task;
    return 1;
}

/* True when the strand of `task` waits, over whatever tasks in between, for `strand`. */
static bool waits_for(const struct task *task, const struct strand *strand)
{
    for (; task; task = task->strand.awaited)
        if (&task->strand == strand)
            return true;
    return false;
}

/* task_wait(task, seconds) -> true and what it returned; false and its error; or nil and "timeout" or "cancelled". */
static int wait_for(lua_State *L)
{
    struct task *task = check_own_task(L);
    struct strand *strand = strand_that_waits(L);
    if (!task) {
        lua_pushnil(L);
        lua_pushliteral(L, "cancelled");
        return 2;
    }
    if (task->state != TASK_RUNS)
        return task_push_outcome(task, L);
    if (waits_for(task, strand))
        return api_error(L, "the task would wait for itself");
    if (!lua_isnoneornil(L, 2))
        timers_set(&strand->vu->vm->loop->timers, &strand->timer, ns_after(clock_ns(), ns_from_seconds(luaL_checknumber(L, 2))));
    strand->awaited = task;
    list_append(&task->waiters, &strand->link);
    return strand_wait(L, strand, NULL);
}

static int cancel(lua_State *L)
{
    struct task *task = check_own_task(L);
    if (!task || task->state != TASK_RUNS)
        return 0;
    if (&task->strand == strand_running(L))
        return api_error(L, "a task cannot cancel itself; it ends when its function returns");
    task_cancel(task);
    return 0;
}

static int is_done(lua_State *L)
{
    struct task *task = *check_task(L);
    lua_pushboolean(L, !task || task->state != TASK_RUNS);
    return 1;
}

static int collect(lua_State *L)
{
    struct task **handle = check_task(L);
    if (*handle)
        task_forget(*handle);
    *handle = NULL;
    return 0;
}

static char *find_stack_end(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return NULL;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return (char *)lowest + STACK_ROOM;
}

/* deeper(): an error when the C stack is nearly used up. To be called before what calls a function of a script's by way of C, and may so be inside itself again and again: Lua
 * knows of the depth of its own stack alone, and each coroutine has a new one. */
static int deeper(lua_State *L)
{
    static __thread char *end;
    if (!end)
        end = find_stack_end();
    if ((char *)__builtin_frame_address(0) < end)
        return api_error(L, "stack overflow: too many calls of string.gsub, load or coroutines inside each other");
    return 0;
}

/* hold(n): n is added to how often waiting has been forbidden. */
static int hold(lua_State *L)
{
    vm_of(L)->held += (unsigned)luaL_checkint(L, 1);
    return 0;
}

/* without_waiting(f, ...) -> what f returns; nothing in it can wait. */
static int without_waiting(lua_State *L)
{
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void api_task_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "spawn", spawn },      { "task_wait", wait_for }, { "task_cancel", cancel }, { "task_done", is_done }, { "hold", hold }, { "deeper", deeper },
        { "without_waiting", without_waiting }, { NULL, NULL },
    };
    api_register(L, functions);
    strand_push_mark(L);
    lua_setfield(L, -2, "WAITS");
    luaL_newmetatable(L, TASK_TYPE);
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_setfield(L, -2, "Task");
}
