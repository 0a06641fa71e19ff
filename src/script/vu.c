#include "script/vu.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/api.h"
#include "script/task.h"
#include "script/value.h"

enum { ANCHOR_USER = 1 }; /* beside the coroutine, in the slot of vu->main */

/* What lies at the bottom of the user's own coroutine, below whatever runs in it: pushing a copy is cheaper than asking the registry in every iteration. */
enum { AT_RUN = 1, AT_USER, AT_SHARED, BOTTOM = AT_SHARED };

static int function_of(const struct vm_scenario *scenario, enum phase phase)
{
    switch (phase) {
    case PHASE_START: return scenario->on_start;
    case PHASE_STOP: return scenario->on_stop;
    case PHASE_SETUP: return scenario->setup;
    case PHASE_TEARDOWN: return scenario->teardown;
    default: return scenario->run;
    }
}

bool vu_has(const struct vu *vu, enum phase phase)
{
    return function_of(vu->scenario, phase) != LUA_NOREF;
}

/* The user's own, or the one that all users of its scenario share. */
static struct client *client_of(struct vm *vm, struct vm_scenario *scenario)
{
    if (scenario->client)
        return scenario->client;
    struct client *client = client_new(vm->pool, &scenario->client_options, &scenario->connections);
    if (scenario->client_options.shared)
        scenario->client = client;
    return client;
}

/* Lays the bottom into the user's new coroutine. */
static void prime(struct vu *vu)
{
    lua_rawgeti(vu->main.co, LUA_REGISTRYINDEX, vu->scenario->run);
    anchor_push(vu->vm, vu->main.co, vu->main.slot, ANCHOR_USER);
    lua_rawgeti(vu->main.co, LUA_REGISTRYINDEX, vu->scenario->shared);
}

/* A new coroutine in place of one that is dead or abandoned. */
static void renew(struct vu *vu)
{
    strand_renew(&vu->main);
    prime(vu);
}

struct vu *vu_new(struct vm *vm, size_t scenario, uint64_t id)
{
    struct vu *vu = mem_zero(sizeof *vu);
    vu->vm = vm;
    vu->scenario = &vm->scenarios[scenario];
    vu->id = id;
    vu->welcome = !vu_has(vu, PHASE_START);
    link_init(&vu->all);
    strand_open(&vu->main, vu);
    vu->client = client_of(vm, vu->scenario);
    vu->handle = api_user_new(vm->L, vu);
    anchor_set(vm, vu->main.slot, ANCHOR_USER);
    prime(vu);
    return vu;
}

static void clear_state(struct vu *vu)
{
    if (vu->anchored_state)
        luaL_unref(vu->vm->L, LUA_REGISTRYINDEX, vu->anchored_state);
    vu->anchored_state = 0;
}

void vu_free(struct vu *vu)
{
    task_end_all(vu, true);
    *vu->handle = NULL;
    clear_state(vu);
    strand_close(&vu->main);
    if (pool_finished(vu->vm->pool)) /* what was cancelled must have left the pool */
        vm_reap(vu->vm);
    if (vu->client != vu->scenario->client)
        client_free(vu->client);
    list_remove(&vu->all);
    free(vu->random);
    free(vu->tasks);
    free(vu);
}

void vu_push_state(struct vu *vu, lua_State *L, bool make)
{
    if (vu->anchored_state) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, vu->anchored_state);
    } else if (make) {
        lua_newtable(L);
        lua_pushvalue(L, -1);
        vu->anchored_state = luaL_ref(L, LUA_REGISTRYINDEX);
    } else {
        lua_pushnil(L);
    }
}

void vu_replace(struct vu *vu)
{
    lua_State *L = vu->vm->L;
    clear_state(vu);
    anchor_push(vu->vm, L, vu->main.slot, ANCHOR_USER);
    api_user_empty(L);
    lua_pop(L, 1);
    task_end_all(vu, true);
    vu->welcome = !vu_has(vu, PHASE_START);
}

/* Running */

/* Those of the phase's function; returns how many. */
static int push_arguments(lua_State *co, enum phase phase)
{
    if (phase == PHASE_SETUP)
        return 0;
    if (phase != PHASE_TEARDOWN)
        lua_pushvalue(co, AT_USER);
    lua_pushvalue(co, AT_SHARED);
    return phase == PHASE_TEARDOWN ? 1 : 2;
}

void vu_begin(struct vu *vu, enum phase phase, int64_t due)
{
    lua_State *co = vu->main.co;
    vu->phase = (uint8_t)phase;
    vu->due = due;
    vu->began = vu->goes_on;
    vu->next_due = 0;
    vu->intended = phase == PHASE_RUN && vu->scenario->plan->model == MODEL_OPEN ? due : 0;
    vu->waited = false;
    if (phase == PHASE_RUN)
        lua_pushvalue(co, AT_RUN);
    else
        lua_rawgeti(co, LUA_REGISTRYINDEX, function_of(vu->scenario, phase));
    vu->main.given = (int16_t)push_arguments(co, phase);
    if (!vu->goes_on) {
        strand_ready(&vu->main);
        return;
    }
    if (vu->late == LATE_UNKNOWN)
        vu->late = vu->began - due;
    vu->goes_on = 0;
    strand_ready_next(&vu->main);
}

void vu_rest(struct vu *vu, int64_t until)
{
    timers_set(&vu->vm->loop->timers, &vu->main.timer, until);
}

void vu_count_error(struct strand *strand)
{
    struct vu *vu = strand->vu;
    struct vm *vm = vu->vm;
    enum ending ending;
    lua_pushvalue(strand->co, -1);
    bool on_purpose = vu_ending(strand->co, &ending);
    if (vu->phase >= PHASE_SETUP)
        vm_keep_failure(vm, on_purpose ? lua_tostring(strand->co, -1) : NULL);
    else if (on_purpose && !scenario_is_aside(vu->scenario->metrics, vu->due))
        metrics_failure(vm->metrics, lua_tostring(strand->co, -1));
    lua_pop(strand->co, 1);
    if (!on_purpose)
        api_script_error(strand);
}

/* The user's own strand is dead, its error object on top of the stack. */
static enum vu_outcome died(struct vu *vu)
{
    lua_State *co = vu->main.co;
    enum vu_outcome outcome = VU_FAILED;
    enum ending ending;
    lua_pushvalue(co, -1);
    if (vu_ending(co, &ending) && ending != ENDING_FAIL)
        outcome = ending == ENDING_STOP_USER ? VU_LEAVES : VU_STOPS_RUN;
    if (outcome == VU_STOPS_RUN)
        vm_stop(vu->vm, lua_tostring(co, -1));
    lua_pop(co, 1);
    if (outcome == VU_FAILED)
        vu_count_error(&vu->main);
    renew(vu);
    return outcome;
}

/* The user's own strand has returned. */
static enum vu_outcome returned(struct vu *vu)
{
    lua_State *co = vu->main.co;
    bool good = vu->phase != PHASE_SETUP || vm_keep_shared(vu->vm, co, BOTTOM + 1);
    lua_settop(co, BOTTOM);
    return good ? VU_COMPLETED : VU_FAILED;
}

/* The phase is over. */
static enum vu_outcome end_phase(struct vu *vu, enum vu_outcome outcome)
{
    if (vu->tasks && !task_end_all(vu, false) && outcome == VU_COMPLETED)
        outcome = VU_FAILED;
    vu->phase = PHASE_NONE;
    return outcome;
}

enum vu_outcome vu_resume(struct strand *strand)
{
    struct vu *vu = strand->vu;
    if (!vu->began) {
        vu->began = clock_ns();
        if (vu->late == LATE_UNKNOWN)
            vu->late = vu->began - vu->due;
    }
    enum strand_outcome outcome = strand_resume(strand);
    if (!strand->is_task) {
        if (outcome == STRAND_WAITS)
            return VU_WAITS;
        if (strand->groups)
            api_group_cut_all(strand);
        return end_phase(vu, outcome == STRAND_RETURNED ? returned(vu) : died(vu));
    }
    enum vu_outcome stops = task_ran(container_of(strand, struct task, strand), outcome);
    if (stops == VU_WAITS)
        return VU_WAITS;
    strand_abandon(&vu->main);
    renew(vu);
    return end_phase(vu, stops);
}

enum vu_outcome vu_complete(struct vu *vu)
{
    strand_abandon(&vu->main);
    renew(vu);
    return end_phase(vu, VU_COMPLETED);
}

void vu_abandon(struct vu *vu)
{
    strand_abandon(&vu->main);
    task_abandon_all(vu);
    vu->phase = PHASE_NONE;
}

void vu_interrupt(struct vu *vu)
{
    strand_abandon(&vu->main);
    renew(vu);
    task_end_all(vu, false);
    vu->phase = PHASE_NONE;
}

struct vu *vu_running(lua_State *L)
{
    struct strand *strand = vm_of(L)->running;
    return strand ? strand->vu : NULL;
}
