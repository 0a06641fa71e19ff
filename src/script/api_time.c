/* core.now, core.sleep, core.pace: time, and the shortest examples of calls that wait. */
#include <lauxlib.h>
#include <math.h>

#include "base/clock.h"
#include "script/api.h"

static int seconds_now(lua_State *L)
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

static int sleep_until(lua_State *L, struct strand *strand, int64_t now, int64_t until)
{
    strand->sleeps = true;
    api_group_slept(strand, -now);
    timers_set(&strand->vu->vm->loop->timers, &strand->timer, until);
    return strand_wait(L, strand, NULL);
}

static int sleep_for(lua_State *L)
{
    int64_t delay = check_delay(L, 1), now = clock_ns();
    struct strand *strand = strand_that_waits(L);
    struct vu *vu = strand->vu;
    if (vu->intended && !strand->is_task) /* the request that is still to be sent is due that much later */
        vu->intended = ns_after(vu->intended, delay);
    return sleep_until(L, strand, now, ns_after(now, delay));
}

/* The next iteration is due `delay` after this one was, whatever this one took: a late one begins at once. */
static int pace(lua_State *L)
{
    int64_t delay = check_delay(L, 1), now = clock_ns();
    struct strand *strand = strand_that_waits(L);
    struct vu *vu = strand->vu;
    if (strand->is_task)
        return api_error(L, "pace() is for the iteration as a whole, not for a task of it");
    vu->next_due = ns_after(vu->due, delay);
    if (vu->next_due <= now)
        return 0;
    strand->pacing = true;
    return sleep_until(L, strand, now, vu->next_due);
}

void api_time_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "now", seconds_now }, { "sleep", sleep_for }, { "pace", pace }, { NULL, NULL } };
    api_register(L, functions);
}
