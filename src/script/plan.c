#include "script/plan.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* The readers below look at the table on top of the stack and leave the stack as it was. */

static double number_field(lua_State *L, const char *key, double absent)
{
    lua_getfield(L, -1, key);
    double value = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : absent;
    lua_pop(L, 1);
    return value;
}

static int64_t duration_field(lua_State *L, const char *key, int64_t absent)
{
    double seconds = number_field(L, key, NAN);
    return isnan(seconds) ? absent : ns_from_seconds(seconds);
}

static uint64_t count_field(lua_State *L, const char *key, uint64_t absent)
{
    double value = number_field(L, key, NAN);
    return isnan(value) ? absent : (uint64_t)value;
}

static bool bool_field(lua_State *L, const char *key)
{
    lua_getfield(L, -1, key);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

static char *text_field(lua_State *L, const char *key, const char *absent)
{
    lua_getfield(L, -1, key);
    size_t length = strlen(absent);
    const char *text = lua_isstring(L, -1) ? lua_tolstring(L, -1, &length) : absent;
    char *copy = mem_text(text, length);
    lua_pop(L, 1);
    return copy;
}

static void read_http(lua_State *L, struct http_plan *http)
{
    http->timeout = duration_field(L, "timeout", 30 * NS_PER_SECOND);
    http->connect_timeout = duration_field(L, "connect_timeout", 10 * NS_PER_SECOND);
    http->max_body = (size_t)count_field(L, "max_body", 64 << 20);
    http->connections_per_user = (unsigned)count_field(L, "connections_per_user", 6);
    http->requests_per_connection = count_field(L, "requests_per_connection", 0);
    http->keep_alive = bool_field(L, "keep_alive");
    http->retry = bool_field(L, "retry");
    http->lenient = bool_field(L, "lenient");
}

static const char *read_scenario(lua_State *L, struct scenario_plan *scenario)
{
    scenario->name = text_field(L, "name", "");
    scenario->where = text_field(L, "where", "");
    scenario->users = (unsigned)count_field(L, "users", 1);
    scenario->duration = duration_field(L, "duration", NS_NEVER);
    scenario->iterations = count_field(L, "iterations", NO_LIMIT);
    scenario->iterations_per_user = count_field(L, "iterations_per_user", NO_LIMIT);
    scenario->ramp_up = duration_field(L, "ramp_up", 0);
    scenario->start_after = duration_field(L, "start_after", 0);
    scenario->graceful_stop = duration_field(L, "graceful_stop", 30 * NS_PER_SECOND);
    lua_getfield(L, -1, "http");
    bool has_http = lua_istable(L, -1);
    if (has_http)
        read_http(L, &scenario->http);
    lua_pop(L, 1);
    return has_http ? NULL : "a scenario has no http table";
}

static const char *read_scenarios(lua_State *L, struct plan *plan)
{
    const char *wrong = NULL;
    plan->scenario_count = lua_objlen(L, -1);
    plan->scenarios = mem_array(plan->scenario_count, sizeof *plan->scenarios);
    for (size_t i = 0; i < plan->scenario_count && !wrong; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        wrong = lua_istable(L, -1) ? read_scenario(L, &plan->scenarios[i]) : "a scenario is no table";
        lua_pop(L, 1);
    }
    return wrong;
}

static enum progress read_progress(lua_State *L)
{
    lua_getfield(L, -1, "progress");
    const char *text = lua_isstring(L, -1) ? lua_tostring(L, -1) : "none";
    enum progress progress = !strcmp(text, "block") ? PROGRESS_BLOCK : !strcmp(text, "lines") ? PROGRESS_LINES : PROGRESS_NONE;
    lua_pop(L, 1);
    return progress;
}

static const char *read_plan(lua_State *L, struct plan *plan)
{
    plan->threads = (unsigned)count_field(L, "threads", 0);
    plan->script_timeout = duration_field(L, "script_timeout", 10 * NS_PER_SECOND);
    plan->interval = duration_field(L, "interval", 10 * NS_PER_SECOND);
    plan->progress = read_progress(L);
    lua_getfield(L, -1, "scenarios");
    const char *wrong = lua_istable(L, -1) ? read_scenarios(L, plan) : "there is no list of scenarios";
    lua_pop(L, 1);
    return wrong;
}

const char *command_read(lua_State *L, struct command *command)
{
    *command = (struct command){ 0 };
    if (!lua_istable(L, -1))
        return "the command is no table";
    char *action = text_field(L, "action", "");
    const char *wrong = NULL;
    if (!strcmp(action, "run")) {
        command->action = ACTION_RUN;
        wrong = read_plan(L, &command->plan);
    } else if (!strcmp(action, "serve")) {
        command->action = ACTION_SERVE;
        command->host = text_field(L, "host", "127.0.0.1");
        command->port = (int)number_field(L, "port", 8080);
        command->threads = (int)number_field(L, "threads", 1);
    } else if (!strcmp(action, "exit")) {
        command->status = (int)number_field(L, "status", 0);
    } else {
        wrong = "the action is not known";
    }
    free(action);
    return wrong;
}

void command_free(struct command *command)
{
    for (size_t i = 0; i < command->plan.scenario_count; i++) {
        free(command->plan.scenarios[i].name);
        free(command->plan.scenarios[i].where);
    }
    free(command->plan.scenarios);
    free(command->host);
    *command = (struct command){ 0 };
}
