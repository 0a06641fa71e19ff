/* Checks, failures, script errors, and the object `user`: what an iteration has to say about itself. */
#include <lauxlib.h>
#include <string.h>

#include "base/buf.h"
#include "metrics/names.h"
#include "script/api.h"

#define USER_TYPE "luabench.user"
#define NOTED_ERROR "luabench.noted_error"
#define NOTED_TRACEBACK "luabench.noted_traceback"

/* Checks are called by the script itself, without Lua in between, since a test may have several for each request. */

/* What is wrong with the arguments of check() or must(), raised at the script's line. */
static int refuse_check(lua_State *L, const char *call, int count)
{
    if (!vm_of(L)->running)
        return api_error(L, "%s() can only be called by a scenario's functions, while it runs", call);
    if (count < 2)
        return api_error(L, "%s(name, value): first the name, then what must be true: %s(\"status is 200\", res.status == 200)", call, call);
    if (lua_type(L, 1) != LUA_TSTRING)
        return api_error(L, "%s(name, value): the name must be a text, not a %s; the order is %s(\"status is 200\", res.status == 200)", call,
                          luaL_typename(L, 1), call);
    if (lua_type(L, 2) == LUA_TFUNCTION)
        return api_error(L, "%s(name, value): the value is a function, which would always pass; write what must be true: %s(\"status is 200\", res.status == 200)", call, call);
    return api_error(L, "%s(name, value, why) takes three arguments, not %d", call, count);
}

/* The counters of the name at index 1, one for each scenario, found in a table of this state (upvalue 2). Lua keeps one copy of each text, and the table keeps it alive. */
static struct check_metrics *look_up_check(lua_State *L)
{
    lua_pushvalue(L, 1);
    lua_rawget(L, lua_upvalueindex(2));
    struct check_metrics *counter = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (counter)
        return counter;
    size_t length;
    const char *name = lua_tolstring(L, 1, &length);
    counter = metrics_check(vm_of(L)->metrics, name, length);
    if (strcmp(counter->name, NAMES_OTHER)) { /* names made up at run time do not pile up here */
        lua_pushvalue(L, 1);
        lua_pushlightuserdata(L, counter);
        lua_rawset(L, lua_upvalueindex(2));
    }
    return counter;
}

/* The same, in most cases by the address of the name. */
static struct check_metrics *find_check(lua_State *L, struct vm *vm)
{
    const char *name = lua_tostring(L, 1);
    size_t slot = ((uintptr_t)name >> 4) % VM_CHECKS;
    if (vm->checks[slot].name == name)
        return vm->checks[slot].counter;
    struct check_metrics *counter = look_up_check(L);
    if (strcmp(counter->name, NAMES_OTHER)) {
        vm->checks[slot].name = name;
        vm->checks[slot].counter = counter;
    }
    return counter;
}

enum { LONGEST_ERROR = 4000 };

/* Cuts the text on top of the stack, at the beginning of a character of UTF-8: an error is repeated in reports and files. */
static void cut_text(lua_State *L)
{
    size_t length, end = LONGEST_ERROR;
    const char *text = lua_tolstring(L, -1, &length);
    if (length <= LONGEST_ERROR)
        return;
    while (end > LONGEST_ERROR - 4 && (text[end] & 0xc0) == 0x80)
        end--;
    lua_pushlstring(L, text, end);
    lua_pushfstring(L, "... (%d bytes in all)", (int)length);
    lua_concat(L, 2);
    lua_replace(L, -2);
}

/* Replaces a reason that is no string by what tostring() makes of it; the text, or NULL. */
static const char *reason(lua_State *L)
{
    if (lua_isnoneornil(L, 3))
        return NULL;
    lua_getglobal(L, "tostring");
    lua_pushvalue(L, 3);
    lua_call(L, 1, 1);
    if (lua_isstring(L, -1))
        cut_text(L);
    lua_replace(L, 3);
    return lua_tostring(L, 3);
}

/* Counts; true when the value is. */
static bool count_check(lua_State *L, const char *call)
{
    int count = lua_gettop(L);
    struct vm *vm = vm_of(L);
    if (count < 2 || count > 3 || lua_type(L, 1) != LUA_TSTRING || lua_type(L, 2) == LUA_TFUNCTION || !vm->running)
        refuse_check(L, call, count);
    if (vu_is_warming(vm->running->vu)) {
        reason(L);
        return lua_toboolean(L, 2);
    }
    struct check_metrics *counter = find_check(L, vm) + vm->running->vu->scenario->index;
    if (lua_toboolean(L, 2)) {
        counter->passes++;
        return true;
    }
    counter->fails++;
    const char *why = reason(L);
    if (why && !counter->why)
        counter->why = mem_text(why, strlen(why));
    return false;
}

/* check(name, value, why) -> value: counts, never stops. */
static int check(lua_State *L)
{
    count_check(L, "check");
    if (lua_gettop(L) > 2)
        lua_settop(L, 2);
    return 1;
}

/* must(name, value, why) -> value: the same, and a failure ends the iteration. */
static int must(lua_State *L)
{
    if (!count_check(L, "must")) {
        const char *name = lua_tostring(L, 1);
        if (lua_isnoneornil(L, 3))
            lua_pushstring(L, name);
        else
            lua_pushfstring(L, "%s: %s", name, lua_tostring(L, 3));
        return vu_raise(L, ENDING_FAIL);
    }
    lua_settop(L, 2);
    return 1;
}

static int raise_ending(lua_State *L, enum ending ending)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_pushliteral(L, "");
    }
    luaL_checkstring(L, 1);
    lua_settop(L, 1);
    cut_text(L);
    return vu_raise(L, ending);
}

static int fail(lua_State *L)
{
    return raise_ending(L, ENDING_FAIL);
}

static int stop_user(lua_State *L)
{
    return raise_ending(L, ENDING_STOP_USER);
}

static int stop_run(lua_State *L)
{
    return raise_ending(L, ENDING_STOP_RUN);
}

static int scenario(lua_State *L)
{
    struct vu *vu = vu_running(L);
    if (!vu)
        return 0;
    lua_pushinteger(L, (lua_Integer)vu->scenario->index + 1);
    if (!vu->anchored_state)
        return 1;
    vu_push_state(vu, L, false);
    return 2;
}

/* `user`: what it is made of, and behind that the fields that Lua knows */

static struct vu *check_user(lua_State *L)
{
    struct vu **handle = luaL_checkudata(L, 1, USER_TYPE);
    if (!*handle)
        api_error(L, "this user has ended");
    return *handle;
}

/* Calls what core.user_fields has been given, with the arguments on the stack. */
static int call_lua(lua_State *L, const char *function, int arguments)
{
    luaL_getmetatable(L, USER_TYPE);
    lua_getfield(L, -1, function);
    lua_insert(L, 1);
    lua_pop(L, 1);
    lua_call(L, arguments, 1);
    return 1;
}

/* Pushes the vars of the user at index 1: the environment of the object, made on first use, since not every script has any. */
static void push_vars(lua_State *L)
{
    lua_getfenv(L, 1);
    if (!lua_rawequal(L, -1, LUA_GLOBALSINDEX))
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfenv(L, 1);
}

void api_user_empty(lua_State *L)
{
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_setfenv(L, -2);
}

static int user_index(lua_State *L)
{
    struct vu *vu = check_user(L);
    const char *key = lua_tostring(L, 2);
    if (!key)
        lua_pushnil(L);
    else if (!strcmp(key, "vars"))
        push_vars(L);
    else if (!strcmp(key, "id"))
        lua_pushnumber(L, (lua_Number)vu->id);
    else if (!strcmp(key, "iteration"))
        lua_pushnumber(L, (lua_Number)vu->iteration);
    else if (!strcmp(key, "sequence"))
        lua_pushnumber(L, (lua_Number)vu->sequence);
    else if (!strcmp(key, "scenario"))
        lua_pushstring(L, vu->scenario->plan->name);
    else
        return call_lua(L, "read", 2);
    return 1;
}

static int user_newindex(lua_State *L)
{
    const char *key = lua_tostring(L, 2);
    if (!strcmp(key ? key : "", "vars") && lua_istable(L, 3)) {
        lua_setfenv(L, 1);
        return 0;
    }
    return call_lua(L, "write", 3);
}

static int user_text(lua_State *L)
{
    struct vu **handle = luaL_checkudata(L, 1, USER_TYPE);
    if (*handle)
        lua_pushfstring(L, "user %d", (int)(*handle)->id);
    else
        lua_pushliteral(L, "user that has ended");
    return 1;
}

/* user_fields(read, write): the functions for all further fields, called as __index and __newindex are. */
static int user_fields(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    luaL_newmetatable(L, USER_TYPE);
    lua_insert(L, 1);
    lua_setfield(L, 1, "write");
    lua_setfield(L, 1, "read");
    return 0;
}

/* state(user, make) -> the table in which Lua keeps what is the user's own, or nil when it has none. Without arguments that of the running user, made when needed. */
static int state(lua_State *L)
{
    struct vu *vu = lua_gettop(L) ? check_user(L) : vu_running(L);
    if (!vu)
        return api_error(L, "no user runs");
    vu_push_state(vu, L, lua_gettop(L) ? lua_toboolean(L, 2) : true);
    return 1;
}

struct vu **api_user_new(lua_State *L, struct vu *vu)
{
    struct vu **handle = lua_newuserdata(L, sizeof *handle);
    *handle = vu;
    luaL_newmetatable(L, USER_TYPE);
    lua_getfield(L, -1, "__index");
    if (lua_isnil(L, -1)) {
        static const luaL_Reg methods[] = { { "__index", user_index }, { "__newindex", user_newindex }, { "__tostring", user_text }, { NULL, NULL } };
        lua_pop(L, 1);
        luaL_register(L, NULL, methods);
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        lua_pushnil(L);
    }
    lua_pop(L, 1);
    lua_setmetatable(L, -2);
    api_user_empty(L);
    return handle;
}

/* Lua errors */

/* tostring of the value on top of the stack, protected; `strand` as for error_text. */
static int call_tostring(lua_State *L, struct strand *strand)
{
    lua_getglobal(L, "tostring");
    lua_insert(L, -2);
    if (!strand)
        return lua_pcall(L, 1, 1, 0);
    strand_enter(strand);
    int status = lua_pcall(L, 1, 1, 0);
    strand_leave(strand);
    return status;
}

/* Puts the text of the error object on top of the stack in its place. Errors are counted by their text: the address of a table must not be in it. `strand`: whose error it is;
 * NULL where a script is running anyway. */
static const char *error_text(lua_State *L, struct strand *strand)
{
    int type = lua_type(L, -1);
    bool has_text = luaL_getmetafield(L, -1, "__tostring");
    lua_pop(L, has_text);
    if (has_text || type == LUA_TNUMBER || type == LUA_TSTRING) {
        if (call_tostring(L, strand) || !lua_isstring(L, -1)) {
            lua_pop(L, 1);
            lua_pushliteral(L, "an error was raised whose __tostring gives no text");
        }
    } else {
        const char *value = type == LUA_TBOOLEAN ? lua_toboolean(L, -1) ? "true" : "false" : lua_typename(L, type);
        bool thing = type != LUA_TNIL && type != LUA_TBOOLEAN;
        lua_pop(L, 1);
        lua_pushfstring(L, "an error that is %s%s was raised, without a text", thing ? "a " : "", value);
    }
    if (!lua_objlen(L, -1)) {
        lua_pop(L, 1);
        lua_pushliteral(L, "an error was raised whose text is empty");
    }
    cut_text(L);
    return lua_tostring(L, -1);
}

/* error_text(value) -> what is shown of an error. */
static int text_of_error(lua_State *L)
{
    lua_settop(L, 1);
    error_text(L, NULL);
    return 1;
}

/* True for a line of a traceback that shows the script, and not our own Lua or C. */
static bool shows_script(const char *line)
{
    return strncmp(line, "\t[C]:", 5) && strncmp(line, "\tlua/luabench/", 14);
}

/* Replaces the traceback on top, of the error `text`, by its lines that show the script; it stays as it is when there are none, or when it is no traceback. */
static void keep_script_frames(lua_State *L, const char *text)
{
    static const char heading[] = "\nstack traceback:";
    const char *whole = lua_tostring(L, -1);
    size_t length = strlen(text);
    if (strncmp(whole, text, length) || strncmp(whole + length, heading, sizeof heading - 1))
        return;
    const char *frames = whole + length + sizeof heading - 1;
    struct buf kept = { 0 };
    buf_append(&kept, whole, (size_t)(frames - whole));
    size_t start = kept.length;
    for (const char *line = frames, *end; *line; line = end) {
        end = line + 1 + strcspn(line + 1, "\n");
        if (shows_script(line + 1))
            buf_append(&kept, line, (size_t)(end - line));
    }
    if (kept.length > start) {
        lua_pushlstring(L, kept.data, kept.length);
        lua_replace(L, -2);
    }
    buf_free(&kept);
}

/* Where an error was raised that Lua has caught and raised again: the traceback that note_error has kept, when it is of the same error. */
static bool push_noted(lua_State *L, lua_State *co)
{
    if (lua_isnil(co, -1))
        return false;
    lua_getfield(L, LUA_REGISTRYINDEX, NOTED_ERROR);
    lua_pushvalue(co, -1);
    lua_xmove(co, L, 1);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    if (same)
        lua_getfield(L, LUA_REGISTRYINDEX, NOTED_TRACEBACK);
    return same;
}

/* note_error(error) -> error: the message handler of an xpcall in our own Lua code that raises the error again. */
static int note_error(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_isnil(L, 1) || api_test_object(L, 1, ENDING_TYPE))
        return 1;
    lua_getfield(L, LUA_REGISTRYINDEX, NOTED_ERROR);
    bool known = lua_rawequal(L, 1, -1);
    lua_pop(L, 1);
    if (known)
        return 1;
    lua_pushvalue(L, 1);
    luaL_traceback(L, L, error_text(L, NULL), 1);
    lua_setfield(L, LUA_REGISTRYINDEX, NOTED_TRACEBACK);
    lua_pushvalue(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, NOTED_ERROR);
    return 1;
}

static void log_error(struct vm *vm, const struct vu *vu, const char *traceback)
{
    struct buf line = { 0 };
    const char *phase = vu->phase == PHASE_SETUP ? ", setup" : vu->phase == PHASE_TEARDOWN ? ", teardown" : "";
    if (!vm->log)
        return;
    buf_printf(&line, "scenario \"%s\"%s: %s", vu->scenario->plan->name, phase, traceback);
    vm->log(vm->log_context, line.data, line.length, true);
    buf_free(&line);
}

void api_script_error(struct strand *strand)
{
    const struct vu *vu = strand->vu;
    struct vm *vm = vu->vm;
    int top = lua_gettop(vm->L);
    lua_pushvalue(strand->co, -1);
    lua_xmove(strand->co, vm->L, 1);
    const char *text = error_text(vm->L, strand);
    if (!push_noted(vm->L, strand->co))
        luaL_traceback(vm->L, strand->co, text, 0);
    keep_script_frames(vm->L, text);
    const char *traceback = lua_tostring(vm->L, -1);
    if (vu->phase == PHASE_SETUP)
        vm_keep_failure(vm, text);
    if (vu->phase == PHASE_SETUP || metrics_script_error(vm->metrics, vu->scenario->index, text, traceback))
        log_error(vm, vu, traceback);
    lua_settop(vm->L, top);
}

/* Pushes `function` with the vm and the table on top as its upvalues. */
static void push_check(lua_State *L, lua_CFunction function)
{
    lua_pushlightuserdata(L, vm_of(L));
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, function, 2);
}

void api_outcome_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "fail", fail }, { "stop_user", stop_user }, { "stop_run", stop_run }, { "scenario", scenario },
        { "note_error", note_error }, { "error_text", text_of_error },
        { "state", state }, { "user_fields", user_fields }, { NULL, NULL },
    };
    api_register(L, functions);
    lua_newtable(L); /* core, counters by name */
    push_check(L, check);
    lua_setfield(L, -3, "check");
    push_check(L, must);
    lua_setfield(L, -3, "must");
    lua_pop(L, 1);
}
