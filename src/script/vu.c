#include "script/vu.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/api.h"

#define ENDING_TYPE "luabench.ending"

struct ending_object {
    enum ending ending;
};

/* Anchors: the table keeps of the user in slot n the coroutine, the object `user` and its state at these indices. */

enum { PER_USER = 3, ANCHOR_COROUTINE = 1, ANCHOR_USER, ANCHOR_STATE };

static int anchor_of(const struct vu *vu, int which)
{
    return (int)(PER_USER * vu->slot) + which;
}

static unsigned take_slot(struct vm *vm)
{
    if (vm->free_slot_count)
        return vm->free_slots[--vm->free_slot_count];
    vm->free_slots = mem_resize(vm->free_slots, (vm->slot_count + 1) * sizeof *vm->free_slots);
    return (unsigned)vm->slot_count++;
}

/* Anchors the value on top of the main stack, and pops it. */
static void anchor(struct vu *vu, int which)
{
    lua_State *L = vu->vm->L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, vu->vm->anchors);
    lua_insert(L, -2);
    lua_rawseti(L, -2, anchor_of(vu, which));
    lua_pop(L, 1);
}

static void make_coroutine(struct vu *vu)
{
    vu->co = lua_newthread(vu->vm->L);
    anchor(vu, ANCHOR_COROUTINE);
}

static void push_anchored(const struct vu *vu, lua_State *L, int which)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, vu->vm->anchors);
    lua_rawgeti(L, -1, anchor_of(vu, which));
    lua_remove(L, -2);
}

void vu_push_state(struct vu *vu, lua_State *L, bool make)
{
    if (vu->has_state) {
        push_anchored(vu, L, ANCHOR_STATE);
    } else if (make) {
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_xmove(L, vu->vm->L, 1);
        anchor(vu, ANCHOR_STATE);
        vu->has_state = true;
    } else {
        lua_pushnil(L);
    }
}

void vu_clear_state(struct vu *vu)
{
    lua_pushnil(vu->vm->L);
    anchor(vu, ANCHOR_STATE);
    vu->has_state = false;
}

static void on_timer(struct timer *timer)
{
    struct vu *vu = container_of(timer, struct vu, timer);
    if (vu->unsent) {
        api_http_submit(vu);
        return;
    }
    hist_record(&vu->vm->lag, clock_ns() - timer->queued);
    vu_ready(vu);
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

struct vu *vu_new(struct vm *vm, size_t scenario, uint64_t id)
{
    struct vu *vu = mem_zero(sizeof *vu);
    vu->vm = vm;
    vu->scenario = &vm->scenarios[scenario];
    vu->scenario_index = scenario;
    vu->id = id;
    vu->slot = take_slot(vm);
    link_init(&vu->link);
    link_init(&vu->all);
    timer_init(&vu->timer, on_timer);
    vu->client = client_of(vm, vu->scenario);
    make_coroutine(vu);
    vu->handle = api_user_new(vm->L, vu);
    anchor(vu, ANCHOR_USER);
    return vu;
}

void vu_free(struct vu *vu)
{
    struct vm *vm = vu->vm;
    *vu->handle = NULL;
    api_call_settle_all(vu);
    for (int which = 1; which <= PER_USER; which++) {
        lua_pushnil(vm->L);
        anchor(vu, which);
    }
    vm->free_slots[vm->free_slot_count++] = vu->slot;
    timers_remove(&vm->loop->timers, &vu->timer);
    if (vu->client != vu->scenario->client)
        client_free(vu->client);
    free(vu->random);
    list_remove(&vu->link);
    list_remove(&vu->all);
    free(vu);
}

void vu_ready(struct vu *vu)
{
    list_append(&vu->vm->ready, &vu->link);
}

void vu_rest(struct vu *vu, int64_t until)
{
    timers_set(&vu->vm->loop->timers, &vu->timer, until);
}

void vu_begin(struct vu *vu, uint64_t sequence, int64_t due)
{
    vu->iteration++;
    vu->sequence = sequence;
    vu->due = due;
    vu->began = clock_ns();
    vu->next_due = 0;
    vu->waited = false;
    vu->running = true;
    lua_rawgeti(vu->co, LUA_REGISTRYINDEX, vu->scenario->run);
    push_anchored(vu, vu->co, ANCHOR_USER);
    lua_pushnil(vu->co); /* shared: what setup() returned */
    vu_ready(vu);
}

/* The error object of the dead coroutine is on top of its stack. Counts it; the coroutine is replaced. */
static enum vu_outcome died(struct vu *vu)
{
    struct vm *vm = vu->vm;
    struct ending_object *object = api_test_object(vu->co, -1, ENDING_TYPE);
    enum vu_outcome outcome = VU_FAILED;
    if (object) {
        lua_getfenv(vu->co, -1);
        lua_getfield(vu->co, -1, "text");
        const char *text = lua_isstring(vu->co, -1) ? lua_tostring(vu->co, -1) : "";
        if (object->ending == ENDING_FAIL) {
            metrics_failure(vm->metrics, text);
        } else if (object->ending == ENDING_STOP_RUN && !vm->stop_text) {
            vm->stop_text = mem_text(text, strlen(text));
        }
        outcome = object->ending == ENDING_FAIL ? VU_FAILED : object->ending == ENDING_STOP_USER ? VU_LEAVES : VU_STOPS_RUN;
    } else {
        api_script_error(vu);
    }
    make_coroutine(vu);
    return outcome;
}

enum vu_outcome vu_resume(struct vu *vu)
{
    struct vm *vm = vu->vm;
    lua_State *co = vu->co;
    int arguments = 2; /* run(user, shared) */
    if (lua_status(co) == LUA_YIELD)
        arguments = vu->deliver ? vu->deliver(vu, co) : 0;
    vu->deliver = NULL;
    vu->pacing = false;
    vm->running = vu;
    vm->slices++;
    vm->in_lua = 1;
    int status = lua_resume(co, arguments);
    vm->in_lua = 0;
    vm->running = NULL;
    if (status == LUA_YIELD)
        return VU_WAITS;
    vu->running = false;
    if (status)
        return died(vu);
    lua_settop(co, 0);
    return VU_COMPLETED;
}

void vu_abandon(struct vu *vu)
{
    list_remove(&vu->link);
    timers_clear(&vu->timer);
    if (vu->exchange)
        api_http_abandon(vu);
    api_call_settle_all(vu);
    vu->deliver = NULL;
    vu->running = false;
}

void vu_interrupt(struct vu *vu)
{
    vu_abandon(vu);
    make_coroutine(vu);
}

struct vu *vu_running(lua_State *L)
{
    return vm_of(L)->running;
}

struct vu *vu_that_waits(lua_State *L)
{
    struct vu *vu = vu_running(L);
    if (!vu)
        luaL_error(L, "only a scenario's functions can send requests and wait; this is the script's own top level");
    if (vu->co != L)
        luaL_error(L, "cannot wait inside a coroutine that the script has made");
    if (!lua_isyieldable(L))
        luaL_error(L, "cannot wait inside table.sort, string.gsub, require, an xpcall handler or __gc");
    return vu;
}

int vu_wait(lua_State *L, struct vu *vu, int (*deliver)(struct vu *, lua_State *))
{
    vu->deliver = deliver;
    vu->waited = true;
    return lua_yield(L, 0);
}

static int ending_text(lua_State *L)
{
    lua_getfenv(L, 1);
    lua_getfield(L, -1, "text");
    return 1;
}

int vu_raise(lua_State *L, enum ending ending)
{
    struct ending_object *object = lua_newuserdata(L, sizeof *object); /* text, object */
    object->ending = ending;
    if (luaL_newmetatable(L, ENDING_TYPE)) {
        lua_pushcfunction(L, ending_text);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "text");
    lua_setfenv(L, -2);
    return lua_error(L);
}
