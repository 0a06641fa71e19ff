/* core.now, core.sleep, core.pace: time, and the shortest examples of calls that wait. */
#include <lauxlib.h>
#include <math.h>

#include "base/clock.h"
#include "script/api.h"

static int now(lua_State *L)
{
    lua_pushnumber(L, ns_to_seconds(clock_ns()));
    return 1;
}

static int64_t check_delay(lua_State *L, int argument)
{
    double seconds = luaL_checknumber(L, argument);
    luaL_argcheck(L, seconds >= 0, argument, "a time that is not negative expected");
    return ns_from_seconds(seconds);
}

static int sleep_for(lua_State *L)
{
    int64_t delay = check_delay(L, 1);
    struct vu *vu = vu_that_waits(L);
    timers_set(&vu->vm->loop->timers, &vu->timer, ns_after(clock_ns(), delay));
    return vu_wait(L, vu, NULL);
}

/* The next iteration is due `delay` after this one was, whatever this one took: a late one begins at once. */
static int pace(lua_State *L)
{
    int64_t delay = check_delay(L, 1);
    struct vu *vu = vu_that_waits(L);
    vu->next_due = ns_after(vu->due, delay);
    if (vu->next_due <= clock_ns())
        return 0;
    vu->pacing = true;
    timers_set(&vu->vm->loop->timers, &vu->timer, vu->next_due);
    return vu_wait(L, vu, NULL);
}

void api_time_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "now", now }, { "sleep", sleep_for }, { "pace", pace }, { NULL, NULL } };
    api_register(L, functions);
}
