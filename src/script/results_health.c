#include "script/results_health.h"

#include <lua.h>

#include "base/clock.h"
#include "script/table.h"

static const char *const causes[] = {
    [STALL_COMPUTING] = "computing", [STALL_WAITING] = "waiting", [STALL_STOPPED] = "stopped", [STALL_STOLEN] = "stolen", [STALL_UNKNOWN] = "unknown",
};

static void push_stalls(lua_State *L, const struct health_figures *figures)
{
    lua_createtable(L, (int)figures->stall_count, 0);
    for (size_t i = 0; i < figures->stall_count; i++) {
        const struct stall *stall = &figures->stalls[i];
        lua_createtable(L, 0, 4);
        table_set_number(L, "time", ns_to_seconds(stall->at - figures->start));
        table_set_number(L, "length", ns_to_seconds(stall->length));
        table_set_text(L, "cause", causes[stall->cause]);
        table_set_count(L, "thread", stall->worker + 1);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "stalls");
}

static void push_places(lua_State *L, const struct health_figures *figures)
{
    lua_createtable(L, (int)figures->place_count, 0);
    for (size_t i = 0; i < figures->place_count; i++) {
        lua_createtable(L, 0, 2);
        table_set_text(L, "where", figures->places[i].where);
        table_set_count(L, "seen", figures->places[i].seen);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "places");
}

void results_push_health(lua_State *L, const struct health_figures *figures)
{
    lua_newtable(L);
    table_set_hist(L, "away", &figures->away);
    push_stalls(L, figures);
    table_set_count(L, "more_stalls", figures->more_stalls);
    push_places(L, figures);
    table_set_count(L, "seconds", figures->seconds);
    table_set_count(L, "busy_seconds", figures->busy_seconds);
    table_set_count(L, "full_seconds", figures->full_seconds);
    if (figures->seconds)
        table_set_number(L, "busiest", figures->busiest);
    table_set_share(L, "waited", figures->waited);
    table_set_share(L, "stolen", figures->stolen);
    table_set_share(L, "machine", figures->machine);
    table_set_share(L, "retransmits", (double)figures->retransmits);
    table_set_text(L, "clocksource", figures->clocksource[0] ? figures->clocksource : NULL);
    lua_setfield(L, -2, "health");
}
