#include "script/vm.h"

#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/decode.h"
#include "script/api.h"
#include "script/embedded.h"
#include "script/results.h"
#include "script/task.h"
#include "script/value.h"
#include "script/vu.h"

enum { EXIT_BUG = 70, LEAST_GARBAGE_KB = 8192 };

struct vm *vm_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int traceback(lua_State *L)
{
    const char *text = lua_tostring(L, 1);
    luaL_traceback(L, L, text ? text : "(error object without a text)", 1);
    return 1;
}

/* lua_pcall with a traceback: the one protected call of the core. On an error its text with traceback is left in place of the results. */
static bool call(lua_State *L, int arguments, int results)
{
    int function = lua_gettop(L) - arguments;
    lua_pushcfunction(L, traceback);
    lua_insert(L, function);
    int status = lua_pcall(L, arguments, results, function);
    if (status == LUA_ERRMEM)
        mem_exhausted(0);
    lua_remove(L, function);
    return !status;
}

/* A bug in our own Lua code: says so with the traceback on top of the stack, and pops it. */
static int report_bug(lua_State *L)
{
    fprintf(stderr, "luabench: internal error: %s\n", lua_tostring(L, -1));
    lua_pop(L, 1);
    return EXIT_BUG;
}

/* Pushes require(module)[function]. */
static bool push_function(lua_State *L, const char *module, const char *function)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    if (!call(L, 1, 1))
        return false;
    lua_getfield(L, -1, function);
    lua_remove(L, -2);
    return true;
}

/* Opening */

/* package.preload of an embedded module; upvalue 1: its struct. */
static int load_embedded(lua_State *L)
{
    const struct embedded_module *module = lua_touserdata(L, lua_upvalueindex(1));
    bool loaded = module->code_size && !luaL_loadbuffer(L, module->code, module->code_size, module->chunk);
    if (!loaded && luaL_loadbuffer(L, module->text, module->text_size, module->chunk))
        return lua_error(L);
    lua_pushstring(L, module->name);
    lua_call(L, 1, 1);
    return 1;
}

static void preload(lua_State *L, const char *name, lua_CFunction loader, void *upvalue)
{
    lua_pushlightuserdata(L, upvalue);
    lua_pushcclosure(L, loader, 1);
    lua_setfield(L, -2, name);
}

/* An error outside of every protected call: memory is all that can be short there. */
static int on_panic(lua_State *L)
{
    fprintf(stderr, "luabench: %s\n", lua_tostring(L, -1));
    mem_exhausted(0);
}

/* Runs protected: opens the libraries and announces our modules. */
static int open_state(lua_State *L)
{
    struct vm *vm = lua_touserdata(L, 1);
    luaL_openlibs(L);
    if (vm->counted) /* an error of memory cannot leave compiled code: LuaJIT 2.1 loses its way */
        luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    preload(L, "luabench.core", api_open, vm);
    for (const struct embedded_module *module = embedded_modules; module->name; module++)
        preload(L, module->name, load_embedded, (void *)module);
    lua_newtable(L);
    vm->anchors = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

struct vm *vm_new(enum vm_role role, bool counted)
{
    struct vm *vm = mem_zero(sizeof *vm);
    vm->role = role;
    vm->counted = counted;
    vm->command = LUA_NOREF;
    link_init(&vm->ready);
    link_init(&vm->yielded);
    link_init(&vm->calls);
    link_init(&vm->spare_tasks);
    vm->L = luaL_newstate();
    if (vm->L)
        lua_atpanic(vm->L, on_panic);
    if (vm->L && counted)
        memory_count(&vm->memory, vm->L);
    int status = vm->L ? lua_cpcall(vm->L, open_state, vm) : LUA_ERRMEM;
    if (status == LUA_ERRMEM)
        mem_exhausted(0);
    if (status)
        on_panic(vm->L);
    return vm;
}

static void free_scenario(struct vm_scenario *scenario)
{
    if (scenario->client)
        client_free(scenario->client);
    counts_free(&scenario->connections);
}

void vm_free(struct vm *vm)
{
    if (!vm)
        return;
    memory_uncount(&vm->memory, vm->L);
    lua_close(vm->L);
    task_free_spare(vm);
    api_group_free(vm);
    if (vm->decoder)
        decoder_free(vm->decoder);
    hist_free(&vm->lag);
    for (size_t i = 0; i < vm->scenario_count && vm->scenarios; i++) {
        free_scenario(&vm->scenarios[i]);
        buf_free(&vm->scenarios[i].shared_as_it_was);
    }
    free(vm->scenarios);
    free(vm->free_slots);
    free(vm->forced.host);
    buf_free(&vm->text);
    free(vm->stop_text);
    free(vm->failure);
    buf_free(&vm->shared);
    free(vm);
}

/* The command */

/* Reads the command on top of the stack, and keeps it. */
static void take_command(struct vm *vm, struct command *command)
{
    const char *wrong = command_read(vm->L, command);
    if (wrong) {
        fprintf(stderr, "luabench: internal error: luabench.main: %s\n", wrong);
        command_free(command);
        command->status = EXIT_BUG;
    }
    vm->command = luaL_ref(vm->L, LUA_REGISTRYINDEX);
}

/* What a worker's state has left to say (docs/core.md, `text`). */
static void print_text(struct vm *vm)
{
    lua_rawgeti(vm->L, LUA_REGISTRYINDEX, vm->command);
    if (lua_istable(vm->L, -1)) {
        lua_getfield(vm->L, -1, "text");
        fprintf(stderr, "%s", lua_isstring(vm->L, -1) ? lua_tostring(vm->L, -1) : "");
        lua_pop(vm->L, 1);
    }
    lua_pop(vm->L, 1);
}

void vm_command(struct vm *vm, int argc, char **argv, struct command *command)
{
    lua_State *L = vm->L;
    *command = (struct command){ .action = ACTION_EXIT, .status = EXIT_BUG };
    if (!push_function(L, "luabench.main", "command")) {
        report_bug(L);
        return;
    }
    lua_createtable(L, argc, 0);
    for (int i = 1; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_pushstring(L, vm->role == VM_CONTROL ? "control" : "worker");
    lua_pushstring(L, vm->slot ? vm->slot : "");
    if (!call(L, 3, 1)) {
        report_bug(L);
        return;
    }
    take_command(vm, command);
    if (vm->role == VM_WORKER && command->action == ACTION_EXIT)
        print_text(vm);
}

/* Whatever was to come, the program ends. */
static bool end_with_bug(struct vm *vm, struct command *command)
{
    command_free(command);
    *command = (struct command){ .action = ACTION_EXIT, .status = report_bug(vm->L) };
    return true;
}

bool vm_continue(struct vm *vm, int status, struct command *command)
{
    lua_State *L = vm->L;
    if (!push_function(L, "luabench.main", "continue"))
        return end_with_bug(vm, command);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->command);
    lua_pushinteger(L, status);
    if (!call(L, 2, 1))
        return end_with_bug(vm, command);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return false;
    }
    command_free(command);
    luaL_unref(L, LUA_REGISTRYINDEX, vm->command);
    take_command(vm, command);
    return true;
}

/* The reference of a function in the table on top of the stack; LUA_NOREF when it is none. */
static int function_field(lua_State *L, const char *key)
{
    lua_getfield(L, -1, key);
    if (lua_isfunction(L, -1))
        return luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
    return LUA_NOREF;
}

/* The scenario's table is on top of the stack. */
static void attach_scenario(lua_State *L, size_t index, struct vm_scenario *scenario, const struct scenario_plan *plan, struct scenario_metrics *metrics)
{
    scenario->index = index;
    scenario->plan = plan;
    scenario->metrics = metrics;
    scenario->client_options = plan->http.client;
    scenario->run = function_field(L, "run");
    scenario->on_start = function_field(L, "on_start");
    scenario->on_stop = function_field(L, "on_stop");
    scenario->setup = function_field(L, "setup");
    scenario->teardown = function_field(L, "teardown");
    scenario->shared = LUA_REFNIL;
    metrics->open = plan->model == MODEL_OPEN;
    metrics->by_iterations = plan->iterations != NO_LIMIT || plan->iterations_per_user != NO_LIMIT;
}

bool vm_attach(struct vm *vm, const struct plan *plan, struct loop *loop, struct pool *pool, struct metrics *metrics)
{
    lua_State *L = vm->L;
    vm->loop = loop;
    vm->pool = pool;
    vm->metrics = metrics;
    vm->seed = plan->seed;
    vm->share = plan->share;
    vm->scenario_count = plan->scenario_count;
    vm->scenarios = mem_array(plan->scenario_count, sizeof *vm->scenarios);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->command);
    lua_getfield(L, -1, "scenarios");
    bool same = lua_istable(L, -1) && lua_objlen(L, -1) == plan->scenario_count;
    for (size_t i = 0; same && i < plan->scenario_count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        same = lua_istable(L, -1);
        if (same)
            attach_scenario(L, i, &vm->scenarios[i], &plan->scenarios[i], &metrics->scenarios[i]);
        same = same && vm->scenarios[i].run != LUA_NOREF;
        lua_pop(L, 1);
    }
    lua_settop(L, 0);
    vm_tune_collector(vm);
    return same;
}

/* Setup and what it shares */

void vm_stop(struct vm *vm, const char *text)
{
    if (!vm->stop_text)
        vm->stop_text = mem_text(text, strlen(text));
}

void vm_keep_failure(struct vm *vm, const char *text)
{
    if (!vm->failure && text)
        vm->failure = mem_text(text, strlen(text));
}

bool vm_keep_shared(struct vm *vm, lua_State *co, int index)
{
    struct buf why = { 0 }, text = { 0 };
    buf_clear(&vm->shared, 0);
    lua_settop(co, index); /* nil when it returned nothing */
    bool good = value_encode(co, index, &vm->shared, &why);
    if (!good) {
        buf_printf(&text, "setup returned what cannot be shared: shared%.*s; only texts, numbers, true, false and tables of them can", (int)why.length, why.data);
        vm_keep_failure(vm, text.data);
    }
    buf_free(&why);
    buf_free(&text);
    return good;
}

static void encode_shared(struct vm *vm, const struct vm_scenario *scenario, struct buf *out)
{
    struct buf why = { 0 };
    lua_rawgeti(vm->L, LUA_REGISTRYINDEX, scenario->shared);
    value_encode(vm->L, lua_gettop(vm->L), out, &why);
    lua_pop(vm->L, 1);
    buf_free(&why);
}

void vm_set_shared(struct vm *vm, size_t scenario, const struct buf *bytes)
{
    struct vm_scenario *to = &vm->scenarios[scenario];
    value_decode(vm->L, bytes);
    luaL_unref(vm->L, LUA_REGISTRYINDEX, to->shared);
    to->shared = luaL_ref(vm->L, LUA_REGISTRYINDEX);
    buf_clear(&to->shared_as_it_was, 0);
    encode_shared(vm, to, &to->shared_as_it_was);
}

bool vm_shared_changed(struct vm *vm, size_t scenario)
{
    const struct vm_scenario *of = &vm->scenarios[scenario];
    struct buf now = { 0 };
    if (!of->shared_as_it_was.length)
        return false;
    encode_shared(vm, of, &now);
    bool changed = now.length != of->shared_as_it_was.length || memcmp(now.data, of->shared_as_it_was.data, now.length);
    buf_free(&now);
    return changed;
}

bool vm_has_setup(const struct vm *vm, size_t scenario)
{
    return vm->scenarios[scenario].setup != LUA_NOREF;
}

bool vm_has_teardown(const struct vm *vm, size_t scenario)
{
    return vm->scenarios[scenario].teardown != LUA_NOREF;
}

static bool same_value(lua_State *L, int a, int b)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, a);
    lua_rawgeti(L, LUA_REGISTRYINDEX, b);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

bool vm_same_setup(struct vm *vm, size_t a, size_t b)
{
    return same_value(vm->L, vm->scenarios[a].setup, vm->scenarios[b].setup);
}

bool vm_same_teardown(struct vm *vm, size_t a, size_t b)
{
    return same_value(vm->L, vm->scenarios[a].teardown, vm->scenarios[b].teardown);
}

/* The turn */

void vm_reap(struct vm *vm)
{
    struct exchange *exchange;
    while ((exchange = pool_reap(vm->pool)))
        api_http_finished(vm, exchange);
}

struct strand *vm_next(struct vm *vm)
{
    struct link *link = list_shift(&vm->ready);
    return link ? container_of(link, struct strand, link) : NULL;
}

void vm_polled(struct vm *vm)
{
    list_splice(&vm->ready, &vm->yielded);
}

void vm_tune_collector(struct vm *vm)
{
    int used = lua_gc(vm->L, LUA_GCCOUNT, 0) + 1; /* KB */
    int garbage = used > LEAST_GARBAGE_KB ? used : LEAST_GARBAGE_KB;
    if (vm->memory.limit) {
        int left = ((int)(vm->memory.limit >> 10) - used) / 2;
        garbage = left < 1 ? 1 : left < garbage ? left : garbage;
    }
    lua_gc(vm->L, LUA_GCSETPAUSE, 100 + (int)(100LL * garbage / used));
}

bool vm_busy(const struct vm *vm)
{
    return !list_empty(&vm->ready) || !list_empty(&vm->yielded) || pool_finished(vm->pool);
}

/* The control state's calls */

int vm_prepare(struct vm *vm, struct vm **threads, unsigned count)
{
    lua_State *L = vm->L;
    vm->threads = threads;
    vm->thread_count = count;
    if (!push_function(L, "luabench.main", "prepare"))
        return report_bug(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->command);
    if (!call(L, 1, 1))
        return report_bug(L);
    int status = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return status;
}

int vm_finish(struct vm *vm, const struct results *results)
{
    lua_State *L = vm->L;
    if (!push_function(L, "luabench.main", "finish"))
        return report_bug(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->command);
    results_push(L, results);
    if (!call(L, 2, 1))
        return report_bug(L);
    int status = lua_isnumber(L, -1) ? (int)lua_tointeger(L, -1) : EXIT_BUG;
    lua_pop(L, 1);
    return status;
}

bool vm_settled(struct vm *vm, const double *medians, size_t count)
{
    lua_State *L = vm->L;
    bool settled = false;
    if (!push_function(L, "luabench.steady", "settled")) {
        report_bug(L);
        return false;
    }
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushnumber(L, medians[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    if (!call(L, 1, 1)) {
        report_bug(L);
        return false;
    }
    settled = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return settled;
}

/* Pushes luabench.live's `function` and the plan; false after saying what is wrong. */
static bool push_live(struct vm *vm, const char *function)
{
    if (!push_function(vm->L, "luabench.live", function)) {
        report_bug(vm->L);
        return false;
    }
    lua_rawgeti(vm->L, LUA_REGISTRYINDEX, vm->command);
    return true;
}

void vm_export(struct vm *vm, const struct results *results, struct buf *out)
{
    lua_State *L = vm->L;
    size_t length;
    if (!push_function(L, "luabench.prometheus", "render")) {
        report_bug(L);
        return;
    }
    results_push(L, results);
    if (!call(L, 1, 1)) {
        report_bug(L);
        return;
    }
    const char *text = lua_tolstring(L, -1, &length);
    if (text)
        buf_append(out, text, length);
    lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0); /* what was pushed looks into structs that end now */
}

bool vm_watch(struct vm *vm, const struct results *results)
{
    lua_State *L = vm->L;
    bool over = false;
    if (!push_function(L, "luabench.thresholds", "watch")) {
        report_bug(L);
        return false;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, vm->command);
    results_push(L, results);
    if (call(L, 2, 1)) {
        over = lua_toboolean(L, -1);
        lua_pop(L, 1);
    } else {
        report_bug(L);
    }
    lua_gc(L, LUA_GCCOLLECT, 0); /* what was pushed looks into structs that end now */
    return over;
}

void vm_live_update(struct vm *vm, const struct live_state *state)
{
    if (!push_live(vm, "update"))
        return;
    live_state_push(vm->L, state);
    if (!call(vm->L, 2, 0))
        report_bug(vm->L);
}

void vm_live_notice(struct vm *vm, const char *text, size_t length)
{
    if (!push_live(vm, "notice"))
        return;
    lua_pushlstring(vm->L, text, length);
    if (!call(vm->L, 2, 0))
        report_bug(vm->L);
}

void vm_live_done(struct vm *vm)
{
    if (push_live(vm, "done") && !call(vm->L, 1, 0))
        report_bug(vm->L);
}
