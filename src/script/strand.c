#include "script/strand.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/api.h"
#include "script/task.h"

enum { PER_SLOT = 2 };

struct ending_object {
    enum ending ending;
};

/* Anchors */

unsigned anchor_take(struct vm *vm)
{
    if (vm->free_slot_count)
        return vm->free_slots[--vm->free_slot_count];
    vm->free_slots = mem_resize(vm->free_slots, (vm->slot_count + 1) * sizeof *vm->free_slots);
    return (unsigned)vm->slot_count++;
}

static int index_of(unsigned slot, int which)
{
    return (int)(PER_SLOT * slot) + which + 1;
}

void anchor_set(struct vm *vm, unsigned slot, int which)
{
    lua_rawgeti(vm->L, LUA_REGISTRYINDEX, vm->anchors);
    lua_insert(vm->L, -2);
    lua_rawseti(vm->L, -2, index_of(slot, which));
    lua_pop(vm->L, 1);
}

void anchor_push(struct vm *vm, lua_State *L, unsigned slot, int which)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->anchors);
    lua_rawgeti(L, -1, index_of(slot, which));
    lua_remove(L, -2);
}

void anchor_give_back(struct vm *vm, unsigned slot)
{
    for (int which = 0; which < PER_SLOT; which++) {
        lua_pushnil(vm->L);
        anchor_set(vm, slot, which);
    }
    vm->free_slots[vm->free_slot_count++] = slot;
}

/* Strands */

static void on_timer(struct timer *timer)
{
    struct strand *strand = container_of(timer, struct strand, timer);
    if (strand->unsent) {
        api_http_submit(strand);
        return;
    }
    if (strand->awaited) {
        task_timed_out(strand);
        return;
    }
    int64_t now = clock_ns();
    if (strand->sleeps)
        api_group_slept(strand, now);
    strand->sleeps = false;
    hist_record(&strand->vu->vm->lag, now - timer->queued);
    strand_ready(strand);
}

void strand_renew(struct strand *strand)
{
    strand->co = lua_newthread(strand->vu->vm->L);
    anchor_set(strand->vu->vm, strand->slot, 0);
    strand->given = 0;
}

void strand_open(struct strand *strand, struct vu *vu)
{
    strand->vu = vu;
    strand->slot = anchor_take(vu->vm);
    link_init(&strand->link);
    timer_init(&strand->timer, on_timer);
    strand_renew(strand);
}

void strand_close(struct strand *strand)
{
    struct vm *vm = strand->vu->vm;
    api_call_settle_all(strand);
    timers_remove(&vm->loop->timers, &strand->timer);
    list_remove(&strand->link);
    anchor_give_back(vm, strand->slot);
}

void strand_ready(struct strand *strand)
{
    list_append(&strand->vu->vm->ready, &strand->link);
}

void strand_ready_next(struct strand *strand)
{
    list_prepend(&strand->vu->vm->ready, &strand->link);
}

void strand_enter(struct strand *strand)
{
    struct vm *vm = strand->vu->vm;
    vm->running = strand;
    vm->slices++;
    vm->memory.enforced = vm->memory.limit;
    vm->in_lua = 1;
}

void strand_leave(struct strand *strand)
{
    struct vm *vm = strand->vu->vm;
    vm->in_lua = 0;
    vm->memory.enforced = false;
    vm->running = NULL;
}

enum strand_outcome strand_resume(struct strand *strand)
{
    struct vm *vm = strand->vu->vm;
    lua_State *co = strand->co;
    int arguments = strand->deliver ? strand->deliver(strand, co) : strand->given;
    strand->deliver = NULL;
    strand->given = 0;
    strand->pacing = false;
    if (vm->memory.full)
        lua_gc(co, LUA_GCCOLLECT, 0); /* what the last slice could not give back before it was dead */
    strand_enter(strand);
    int status = lua_resume(co, arguments);
    strand_leave(strand);
    vm->memory.full = status == LUA_ERRMEM;
    return status == LUA_YIELD ? STRAND_WAITS : status ? STRAND_DIED : STRAND_RETURNED;
}

void strand_abandon(struct strand *strand)
{
    list_remove(&strand->link);
    timers_clear(&strand->timer);
    if (strand->exchange)
        api_http_abandon(strand);
    api_call_settle_all(strand);
    api_group_cut_all(strand);
    strand->deliver = NULL;
    strand->awaited = NULL;
    strand->given = 0;
    strand->sleeps = strand->pacing = false;
}

/* Waiting */

struct strand *strand_running(lua_State *L)
{
    return vm_of(L)->running;
}

static const char mark; /* its address */

void strand_push_mark(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)&mark);
}

struct strand *strand_that_waits(lua_State *L)
{
    struct vm *vm = vm_of(L);
    if (!vm->running)
        api_error(L, "only a scenario's functions can send requests and wait; this is the script's own top level");
    if (!lua_isyieldable(L) || vm->held)
        api_error(L, "cannot wait inside table.sort, string.gsub, require, an xpcall handler or __gc");
    return vm->running;
}

int strand_wait(lua_State *L, struct strand *strand, int (*deliver)(struct strand *, lua_State *))
{
    strand->deliver = deliver;
    strand->vu->waited = true;
    if (L != strand->co) { /* in a coroutine of the script's own */
        strand_push_mark(L);
        lua_insert(L, 1);
    }
    return lua_yield(L, lua_gettop(L));
}

/* Endings */

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

bool vu_ending(lua_State *L, enum ending *ending)
{
    struct ending_object *object = api_test_object(L, -1, ENDING_TYPE);
    if (!object)
        return false;
    *ending = object->ending;
    lua_getfenv(L, -1);
    lua_getfield(L, -1, "text");
    if (!lua_isstring(L, -1)) {
        lua_pop(L, 1);
        lua_pushliteral(L, "");
    }
    lua_replace(L, -3);
    lua_pop(L, 1);
    return true;
}
