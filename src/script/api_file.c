/* core.rows_open and the object `rows` that a script's file.csv, file.lines and file.json give: rows of a file that all threads share (rows.h).
 *
 * The object's environment table has the column names at 1, 2, ..., the metatable of rows as `row`, and the path as the script gave it as `path`. */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/api.h"
#include "script/rows.h"

#define ROWS_TYPE "luabench.rows"

enum mode { MODE_CIRCULAR, MODE_RANDOM, MODE_UNIQUE };
enum { WHY = 300 };

struct rows_object {
    struct rows_source *source;
    enum mode mode;
    struct buf scratch;
};

static struct rows_object *check_rows(lua_State *L, const char *call)
{
    struct rows_object *object = api_test_object(L, 1, ROWS_TYPE);
    if (!object)
        api_error(L, "call it with a colon: rows:%s()", call);
    return object;
}

/* The path as the script gave it, on top of the stack. */
static const char *push_path(lua_State *L, int object)
{
    lua_getfenv(L, object);
    lua_getfield(L, -1, "path");
    lua_remove(L, -2);
    return lua_tostring(L, -1);
}

/* Rows as Lua values */

static int wrong_width(lua_State *L, struct rows_object *object, size_t index, int cells, int columns)
{
    const struct rows_file *file = object->source->file;
    size_t line = rows_line(file, rows_at(file, index).text);
    return api_error(L, "%s, line %d: %d cells, where the header names %d columns", push_path(L, 1), (int)line, cells, columns);
}

static void push_cells(lua_State *L, struct rows_object *object, struct rows_span row)
{
    struct rows_span cell;
    lua_newtable(L);
    for (int i = 1; rows_cell(&row, &object->scratch, &cell); i++) {
        lua_pushlstring(L, cell.text, cell.length);
        lua_rawseti(L, -2, i);
    }
}

static int push_record(lua_State *L, struct rows_object *object, size_t index)
{
    struct rows_span row = rows_at(object->source->file, index), cell;
    lua_getfenv(L, 1);
    int names = lua_gettop(L), columns = (int)lua_objlen(L, names), cells = 0;
    lua_createtable(L, 0, columns);
    while (rows_cell(&row, &object->scratch, &cell)) {
        if (++cells > columns)
            continue;
        lua_rawgeti(L, names, cells);
        lua_pushlstring(L, cell.text, cell.length);
        lua_rawset(L, -3);
    }
    if (cells != columns)
        return wrong_width(L, object, index, cells, columns);
    lua_getfield(L, names, "row");
    lua_setmetatable(L, -2);
    lua_remove(L, names);
    return 1;
}

/* Pushes the row at index (from 0) of the object at stack index 1. */
static int push_row(lua_State *L, struct rows_object *object, size_t index)
{
    const struct rows_file *file = object->source->file;
    struct rows_span row = rows_at(file, index);
    if (file->format == ROWS_LINES) {
        lua_pushlstring(L, row.text, row.length);
    } else if (file->format == ROWS_JSON) {
        if (api_json_push(L, row.text, row.length) != 1)
            return lua_error(L);
    } else if (file->names.text) {
        return push_record(L, object, index);
    } else {
        push_cells(L, object, row);
    }
    return 1;
}

/* row.COLUMN for a column that is not there; upvalue 2: the environment table of its rows. */
static int missing_column(lua_State *L)
{
    struct buf columns = { 0 };
    lua_settop(L, 2);
    int count = (int)lua_objlen(L, lua_upvalueindex(2));
    for (int i = 1; i <= count; i++) {
        lua_rawgeti(L, lua_upvalueindex(2), i);
        buf_printf(&columns, "%s%s", i > 1 ? ", " : "", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    const char *key = lua_isstring(L, 2) ? lua_tostring(L, 2) : luaL_typename(L, 2);
    lua_pushlstring(L, columns.data ? columns.data : "", columns.length);
    buf_free(&columns);
    lua_getfield(L, lua_upvalueindex(2), "path");
    return api_error(L, "%s has no column `%s`; its columns: %s", lua_tostring(L, -1), key, lua_tostring(L, -2));
}

/* Methods */

/* A user that finds no row left ends; how many did is said at the end of the run. */
static int out_of_rows(lua_State *L, struct rows_object *object)
{
    atomic_fetch_add(&object->source->users_out, 1);
    lua_pushliteral(L, "");
    return vu_raise(L, ENDING_STOP_USER);
}

static int next_row(lua_State *L)
{
    struct rows_object *object = check_rows(L, "next");
    struct vu *vu = vu_running(L);
    if (!vu)
        return api_error(L, "rows:next() is called while the script is loaded, when there are no users yet; rows[1] or rows:each() can be used here");
    if (lua_gettop(L) > 1)
        return api_error(L, "rows:next() takes no argument");
    size_t count = object->source->file->count;
    if (object->mode == MODE_RANDOM)
        return push_row(L, object, rng_below(vu_random(vu), count));
    uint64_t number = share_member(vu->vm->share, atomic_fetch_add(&object->source->drawn, 1));
    if (object->mode == MODE_UNIQUE && number >= count)
        return out_of_rows(L, object);
    return push_row(L, object, number % count);
}

static int row_of(lua_State *L)
{
    struct rows_object *object = check_rows(L, "of");
    if (lua_gettop(L) != 2 || !lua_isuserdata(L, 2))
        return api_error(L, "rows:of(user) takes the user that `run` is given");
    lua_getfield(L, 2, "id");
    double id = lua_tonumber(L, -1);
    lua_settop(L, 1);
    if (id < 1)
        return api_error(L, "rows:of(user): this user has no number");
    return push_row(L, object, ((uint64_t)id - 1) % object->source->file->count);
}

/* The iterator of each(): upvalue 2 the object, upvalue 3 how many rows it has given. */
static int step(lua_State *L)
{
    lua_settop(L, 0);
    lua_pushvalue(L, lua_upvalueindex(2));
    struct rows_object *object = lua_touserdata(L, 1);
    size_t given = (size_t)lua_tonumber(L, lua_upvalueindex(3));
    if (given >= object->source->file->count)
        return 0;
    lua_pushnumber(L, (lua_Number)(given + 1));
    lua_replace(L, lua_upvalueindex(3));
    return push_row(L, object, given);
}

static int each(lua_State *L)
{
    check_rows(L, "each");
    lua_pushlightuserdata(L, vm_of(L));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, step, 3);
    return 1;
}

/* rows[i], or a method; upvalue 2: the methods. */
static int index_rows(lua_State *L)
{
    struct rows_object *object = luaL_checkudata(L, 1, ROWS_TYPE);
    if (lua_type(L, 2) == LUA_TNUMBER) {
        double i = lua_tonumber(L, 2);
        if (i < 1 || i > (double)object->source->file->count || i != (double)(size_t)i)
            return 0;
        return push_row(L, object, (size_t)i - 1);
    }
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(2));
    if (lua_isnil(L, -1))
        return api_error(L, "rows have no field `%s`; there are rows:next(), rows:of(user), rows:each(), rows[i] and #rows",
                          lua_isstring(L, 2) ? lua_tostring(L, 2) : luaL_typename(L, 2));
    return 1;
}

static int length(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)((struct rows_object *)luaL_checkudata(L, 1, ROWS_TYPE))->source->file->count);
    return 1;
}

static int release(lua_State *L)
{
    buf_free(&((struct rows_object *)luaL_checkudata(L, 1, ROWS_TYPE))->scratch);
    return 0;
}

/* Making */

static void push_metatable(lua_State *L)
{
    static const luaL_Reg methods[] = { { "next", next_row }, { "of", row_of }, { "each", each }, { NULL, NULL } };
    if (!luaL_newmetatable(L, ROWS_TYPE))
        return;
    lua_pushlightuserdata(L, vm_of(L));
    lua_newtable(L);
    api_register(L, methods);
    lua_pushcclosure(L, index_rows, 2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, length);
    lua_setfield(L, -2, "__len");
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
}

/* Adds the column names to the table on top of the stack; false when one is there twice. */
static bool add_names(lua_State *L, struct rows_object *object, char *why)
{
    struct rows_span row = object->source->file->names, cell;
    for (int i = 1; rows_cell(&row, &object->scratch, &cell); i++) {
        lua_pushlstring(L, cell.text, cell.length);
        for (int k = 1; k < i; k++) {
            lua_rawgeti(L, -2, k);
            if (lua_rawequal(L, -1, -2)) {
                snprintf(why, WHY, "the header names the column `%s` twice", lua_tostring(L, -1));
                return false;
            }
            lua_pop(L, 1);
        }
        lua_rawseti(L, -2, i);
    }
    return true;
}

/* Adds `row`, the metatable of rows, to the environment table on top of the stack. */
static void add_row_metatable(lua_State *L)
{
    lua_createtable(L, 0, 2);
    lua_pushlightuserdata(L, vm_of(L));
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, missing_column, 2);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setfield(L, -2, "row");
}

/* rows_open(path, shown, format, mode, header, nth): the `nth` source over the file at `path`, which messages call `shown`; nil, text when it cannot be read. */
static int open_rows(lua_State *L)
{
    static const char *const formats[] = { "csv", "lines", "json", NULL }, *const modes[] = { "circular", "random", "unique", NULL };
    char why[WHY] = "";
    const char *path = luaL_checkstring(L, 1);
    enum rows_format format = (enum rows_format)luaL_checkoption(L, 3, NULL, formats);
    struct rows_source *source = rows_open(path, format, lua_toboolean(L, 5), (unsigned)luaL_checkint(L, 6), why, sizeof why);
    if (source) {
        struct rows_object *object = lua_newuserdata(L, sizeof *object);
        *object = (struct rows_object){ .source = source, .mode = (enum mode)luaL_checkoption(L, 4, NULL, modes) };
        push_metatable(L);
        lua_setmetatable(L, -2);
        int place = lua_gettop(L);
        lua_newtable(L);
        lua_pushvalue(L, 2);
        lua_setfield(L, -2, "path");
        if (add_names(L, object, why)) {
            add_row_metatable(L);
            lua_setfenv(L, place);
            return 1;
        }
    }
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
}

/* rows_exhausted() -> list of { path, rows, users }: sources in which users found no row left, and ended. */
static int exhausted(lua_State *L)
{
    lua_newtable(L);
    int count = 0;
    for (struct rows_source *source = NULL; (source = rows_next_exhausted(source));) {
        lua_createtable(L, 0, 3);
        lua_pushstring(L, source->file->path);
        lua_setfield(L, -2, "path");
        lua_pushnumber(L, (lua_Number)source->file->count);
        lua_setfield(L, -2, "rows");
        lua_pushnumber(L, (lua_Number)atomic_load(&source->users_out));
        lua_setfield(L, -2, "users");
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* realpath(path) -> the path without symbolic links, or nil, text. */
static int real_path(lua_State *L)
{
    char *path = realpath(luaL_checkstring(L, 1), NULL);
    if (!path) {
        lua_pushnil(L);
        lua_pushstring(L, strerror(errno));
        return 2;
    }
    lua_pushstring(L, path);
    free(path);
    return 1;
}

void api_file_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "rows_open", open_rows }, { "rows_exhausted", exhausted }, { "realpath", real_path }, { NULL, NULL } };
    api_register(L, functions);
}
