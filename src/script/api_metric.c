/* core.metric_add: a value for a metric that the script has defined. */
#include <lauxlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "script/api.h"

/* Names a series: the scenario, and tags as Lua gives them, "NAME=VALUE" in lines. */
static struct own_series *find_series(struct vu *vu, const char *name, enum own_kind kind, const char *tags)
{
    struct buf key = { 0 };
    buf_printf(&key, "%s\n%s", vu->scenario->plan->name, tags);
    struct own_series *series = own_find(&vu->vm->metrics->own, name, kind, key.data, key.length);
    buf_free(&key);
    return series;
}

/* metric_add(name, kind, value, tags, scale): `kind` as in enum own_kind, `scale` what a trend's value is multiplied with. Nothing is kept of a warm-up. */
static int add(lua_State *L)
{
    struct vu *vu = vu_running(L);
    const char *name = luaL_checkstring(L, 1), *tags = luaL_checkstring(L, 4);
    enum own_kind kind = (enum own_kind)luaL_checkint(L, 2);
    double value = luaL_checknumber(L, 3), scale = luaL_checknumber(L, 5);
    if (!vu)
        return api_error(L, "only a scenario's functions can add to a metric, while it runs");
    if (!vu_is_warming(vu))
        own_add(find_series(vu, name, kind, tags), kind, value, scale, clock_ns());
    return 0;
}

void api_metric_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "metric_add", add }, { NULL, NULL } };
    api_register(L, functions);
}
