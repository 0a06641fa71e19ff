#include "script/plan.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/fields.h"

/* The index in `words`, a list ended by NULL, of the text field; 0 when it is absent or none of them. */
static int field_word(lua_State *L, const char *key, const char *const *words)
{
    int found = 0;
    lua_getfield(L, -1, key);
    const char *text = lua_tostring(L, -1);
    for (int i = 0; text && words[i]; i++)
        if (!strcmp(text, words[i]))
            found = i;
    lua_pop(L, 1);
    return found;
}

/* The list of stages on top of the stack. */
static void read_stages(lua_State *L, struct scenario_plan *scenario)
{
    scenario->stage_count = lua_objlen(L, -1);
    scenario->stages = mem_array(scenario->stage_count, sizeof *scenario->stages);
    for (size_t i = 0; i < scenario->stage_count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        scenario->stages[i] = (struct stage_plan){
            .level = field_number(L, "level", 0), .over = field_duration(L, "over", 0), .hold = field_duration(L, "hold", 0),
        };
        lua_pop(L, 1);
    }
}

/* What a scenario without stages does, as a stage. */
static void make_stage(lua_State *L, struct scenario_plan *scenario)
{
    bool open = scenario->model == MODEL_OPEN;
    scenario->stages = mem_array(1, sizeof *scenario->stages);
    scenario->stage_count = 1;
    scenario->stages[0] = (struct stage_plan){
        .level = open ? field_number(L, "rate", 0) : scenario->users, .over = open ? 0 : field_duration(L, "ramp_up", 0),
        .hold = open ? scenario->duration : NS_NEVER,
    };
}

static void read_load(lua_State *L, struct scenario_plan *scenario)
{
    static const char *const models[] = { "closed", "open", NULL }, *const kinds[] = { "constant", "poisson", "poisson_exact", NULL };
    static const char *const overflows[] = { "queue", "drop", NULL };
    scenario->model = (enum model)field_word(L, "model", models);
    scenario->users = (unsigned)field_count(L, scenario->model == MODEL_OPEN ? "max_users" : "users", 1);
    scenario->duration = field_duration(L, "duration", NS_NEVER);
    scenario->iterations = field_count(L, "iterations", NO_LIMIT);
    scenario->iterations_per_user = field_count(L, "iterations_per_user", NO_LIMIT);
    scenario->start_after = field_duration(L, "start_after", 0);
    scenario->warm_up = field_duration(L, "warm_up", 0);
    scenario->warm_up_auto = field_bool(L, "warm_up_auto");
    scenario->graceful_stop = field_duration(L, "graceful_stop", 30 * NS_PER_SECOND);
    scenario->fresh = field_bool(L, "fresh");
    scenario->arrivals = (enum arrivals_kind)field_word(L, "arrivals", kinds);
    scenario->min_users = (unsigned)field_count(L, "min_users", 0);
    scenario->overflow = (enum overflow)field_word(L, "overflow", overflows);
    lua_getfield(L, -1, "stages");
    scenario->staged = lua_istable(L, -1);
    if (scenario->staged)
        read_stages(L, scenario);
    lua_pop(L, 1);
    if (!scenario->staged)
        make_stage(L, scenario);
}

static const char *read_scenario(lua_State *L, struct scenario_plan *scenario)
{
    scenario->name = field_text(L, "name", "");
    scenario->where = field_text(L, "where", "");
    read_load(L, scenario);
    lua_getfield(L, -1, "http");
    bool has_http = lua_istable(L, -1);
    if (has_http)
        http_plan_read(L, &scenario->http);
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
        for (size_t k = 0; k < i && !wrong; k++)
            http_plan_share(&plan->scenarios[i].http, &plan->scenarios[k].http);
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

static void read_export(lua_State *L, struct plan *plan)
{
    lua_getfield(L, -1, "export");
    plan->exported = lua_istable(L, -1);
    if (plan->exported) {
        plan->export_host = field_text(L, "host", "");
        plan->export_port = (int)field_number(L, "port", 0);
    }
    lua_pop(L, 1);
}

static char *text_or_null(lua_State *L, const char *key)
{
    lua_getfield(L, -1, key);
    const char *text = lua_tostring(L, -1);
    char *copy = text ? mem_text(text, strlen(text)) : NULL;
    lua_pop(L, 1);
    return copy;
}

static const char *read_slice(lua_State *L, struct slice *slice)
{
    *slice = (struct slice){ .method = text_or_null(L, "method"), .group = text_or_null(L, "group"), .first = (int)field_count(L, "first", 0), .last = (int)field_count(L, "last", 0) };
    char *error = field_text(L, "error", "");
    for (int i = ERR_NONE + 1; i < ERR_COUNT; i++)
        if (!strcmp(error, err_name((enum err)i)))
            slice->error = (enum err)i;
    const char *wrong = *error && !slice->error ? "the error of a slice is not known" : NULL;
    free(error);
    return wrong;
}

static const char *read_slices(lua_State *L, struct slices *slices)
{
    const char *wrong = NULL;
    lua_getfield(L, -1, "slices");
    size_t count = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
    if (count > SLICES_MOST)
        wrong = "there are too many slices";
    if (count && !wrong)
        *slices = (struct slices){ .list = mem_array(count, sizeof *slices->list), .count = count };
    for (size_t i = 0; i < slices->count && !wrong; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        wrong = read_slice(L, &slices->list[i]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return wrong;
}

static struct share read_share(lua_State *L)
{
    struct share share = { 0, 1 };
    lua_getfield(L, -1, "share");
    if (lua_istable(L, -1))
        share = (struct share){ (unsigned)field_count(L, "index", 0), (unsigned)field_count(L, "count", 1) };
    lua_pop(L, 1);
    return share;
}

static const char *read_plan(lua_State *L, struct plan *plan)
{
    plan->threads = (unsigned)field_count(L, "threads", 0);
    plan->seed = field_count(L, "seed", 0);
    plan->share = read_share(L);
    plan->watched = field_bool(L, "watched");
    plan->script_memory = field_count(L, "script_memory", 0);
    plan->script_timeout = field_duration(L, "script_timeout", 10 * NS_PER_SECOND);
    plan->interval = field_duration(L, "interval", 10 * NS_PER_SECOND);
    plan->progress = read_progress(L);
    plan->slot = field_text(L, "slot", "");
    journal_plan_read(L, &plan->journal);
    read_export(L, plan);
    const char *wrong = read_slices(L, &plan->slices);
    lua_getfield(L, -1, "scenarios");
    if (!wrong)
        wrong = lua_istable(L, -1) ? read_scenarios(L, plan) : "there is no list of scenarios";
    lua_pop(L, 1);
    return wrong;
}

const char *command_read(lua_State *L, struct command *command)
{
    *command = (struct command){ 0 };
    if (!lua_istable(L, -1))
        return "the command is no table";
    char *action = field_text(L, "action", "");
    const char *wrong = NULL;
    if (!strcmp(action, "run")) {
        command->action = ACTION_RUN;
        wrong = read_plan(L, &command->plan);
    } else if (!strcmp(action, "serve")) {
        command->action = ACTION_SERVE;
        serve_plan_read(L, &command->serve);
    } else if (!strcmp(action, "exit")) {
        command->status = (int)field_number(L, "status", 0);
    } else {
        wrong = "the action is not known";
    }
    free(action);
    return wrong;
}

const char *plan_load_tls(const struct plan *plan)
{
    const char *why = NULL;
    for (size_t i = 0; i < plan->scenario_count && !why; i++)
        if (plan->scenarios[i].http.expects_tls)
            why = tls_context_load(plan->scenarios[i].http.client.tls);
    return why;
}

void plan_metrics_init(const struct plan *plan, struct metrics *metrics)
{
    const char **names = mem_array(plan->scenario_count, sizeof *names);
    for (size_t i = 0; i < plan->scenario_count; i++)
        names[i] = plan->scenarios[i].name;
    metrics_init(metrics, names, plan->scenario_count);
    metrics->slices = plan->slices.count ? &plan->slices : NULL;
    free(names);
}

void command_free(struct command *command)
{
    for (size_t i = 0; i < command->plan.scenario_count; i++) {
        free(command->plan.scenarios[i].name);
        free(command->plan.scenarios[i].where);
        free(command->plan.scenarios[i].stages);
        http_plan_free(&command->plan.scenarios[i].http);
    }
    slices_free(&command->plan.slices);
    free(command->plan.scenarios);
    free(command->plan.slot);
    journal_plan_free(&command->plan.journal);
    free(command->plan.export_host);
    serve_plan_free(&command->serve);
    *command = (struct command){ 0 };
}
