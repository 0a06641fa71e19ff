/* core.call, core.step, core.settle: a call of http.* that takes several requests (redirects, an answer to a challenge), or whose answer the script itself judges. Its
 * answers are held back here until Lua has said what they count as, so that each call is one request in the figures. One that Lua says nothing of, since an error or the
 * end of the run came first, counts as what it is. */
#include <lauxlib.h>

#include "script/api.h"
#include "script/record.h"

#define CALL_TYPE "luabench.call"

struct call {
    struct link link; /* vm->calls, while it holds an answer */
    struct vm *vm;
    uint64_t slices;           /* of its first request */
    struct exchange *exchange; /* finished, delivered, not recorded; NULL: none */
    int64_t started, intended, deadline; /* ns, of its first request; started 0: nothing was sent yet */
};

static struct call *check_call(lua_State *L)
{
    return luaL_checkudata(L, 1, CALL_TYPE);
}

struct call *api_call_argument(lua_State *L, int argument)
{
    if (lua_isnoneornil(L, argument))
        return NULL;
    struct call *call = luaL_checkudata(L, argument, CALL_TYPE);
    luaL_argcheck(L, !call->exchange, argument, "a call whose last answer is settled expected");
    return call;
}

bool api_call_begin(struct call *call, struct exchange *exchange)
{
    if (call->started) {
        exchange->earlier = exchange->started - call->started;
        exchange->intended = call->intended;
        exchange->deadline = call->deadline;
        exchange->slices = call->slices;
        return false;
    }
    call->started = exchange->started;
    call->intended = exchange->intended;
    call->deadline = exchange->deadline;
    call->slices = exchange->slices;
    return true;
}

void api_call_hold(struct call *call, struct exchange *exchange)
{
    call->exchange = exchange;
    list_append(&call->vm->calls, &call->link);
}

static void let_go(struct call *call)
{
    struct exchange *exchange = call->exchange;
    call->exchange = NULL;
    list_remove(&call->link);
    pool_recycle(call->vm->pool, exchange);
}

/* Records the answer as what it is, or as `unexpected` with why. */
static void settle(struct call *call, const char *unexpected)
{
    const struct exchange *exchange = call->exchange;
    if (!exchange)
        return;
    enum err verdict = unexpected && !exchange->error ? ERR_UNEXPECTED : exchange->verdict;
    record_exchange(call->vm->metrics, exchange, verdict, unexpected);
    let_go(call);
}

void api_call_settle_all(struct strand *strand)
{
    struct link *next, *calls = &strand->vu->vm->calls;
    for (struct link *link = calls->next; link != calls; link = next) {
        struct call *call = container_of(link, struct call, link);
        next = link->next;
        if (call->exchange->owner == strand)
            settle(call, NULL);
    }
}

/* call() -> a call, for core.send. */
static int new_call(lua_State *L)
{
    struct call *call = lua_newuserdata(L, sizeof *call);
    *call = (struct call){ .vm = vm_of(L) };
    link_init(&call->link);
    luaL_getmetatable(L, CALL_TYPE);
    lua_setmetatable(L, -2);
    return 1;
}

/* step(call, "redirected" | "retried"): the last answer was not the one that was wanted, and another request follows. */
static int count_step(lua_State *L)
{
    static const char *const names[] = { "redirected", "retried", NULL };
    struct call *call = check_call(L);
    enum step step = luaL_checkoption(L, 2, NULL, names) ? STEP_RETRIED : STEP_REDIRECTED;
    if (!call->exchange)
        return 0;
    record_step(call->vm->metrics, call->exchange, step);
    let_go(call);
    return 0;
}

/* settle(call, text): records the last answer; `text` says why it is not the expected one, nil: it counts as what it is. */
static int settle_call(lua_State *L)
{
    settle(check_call(L), luaL_optstring(L, 2, NULL));
    return 0;
}

static int forget_call(lua_State *L)
{
    settle(check_call(L), NULL);
    return 0;
}

void api_call_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "call", new_call }, { "step", count_step }, { "settle", settle_call }, { NULL, NULL } };
    api_register(L, functions);
    luaL_newmetatable(L, CALL_TYPE);
    lua_pushcfunction(L, forget_call);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}
