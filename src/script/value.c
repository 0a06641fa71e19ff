#include "script/value.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "script/api.h"

#define SHARED_TYPE "luabench.shared"

enum { DEPTH = 100, LONGEST_KEY = 40 };

/* One byte, then: NUMBER 8 bytes; STRING and LIST, 4 bytes of length and that many bytes or fields; AGAIN, 4 bytes: the number of a table met before. */
enum { NIL = 'n', FALSE = 'f', TRUE = 't', NULL_JSON = '0', NUMBER = 'd', STRING = 's', TABLE = '{', ARRAY = '[', AGAIN = '@', END = '}' };

struct writer {
    lua_State *L;
    struct buf *out, *why;
    int seen;       /* index of a table: table -> its number */
    uint32_t count; /* of tables */
    int depth;
};

static void put_byte(struct writer *w, char byte)
{
    buf_append(w->out, &byte, 1);
}

static void put_count(struct writer *w, char kind, uint32_t count)
{
    put_byte(w, kind);
    buf_append(w->out, &count, sizeof count);
}

static bool refuse(struct writer *w, const char *what)
{
    buf_printf(w->why, " %s", what);
    return false;
}

/* Puts a step of the way to the refused value in front of the words: ".name" or "[2]". */
static void prepend_key(struct writer *w, int key)
{
    struct buf text = { 0 };
    lua_State *L = w->L;
    if (lua_type(L, key) == LUA_TSTRING)
        buf_printf(&text, ".%.*s", LONGEST_KEY, lua_tostring(L, key));
    else if (lua_type(L, key) == LUA_TNUMBER)
        buf_printf(&text, "[%.14g]", lua_tonumber(L, key));
    else
        buf_printf(&text, "[a %s]", luaL_typename(L, key));
    buf_append(&text, w->why->data, w->why->length);
    buf_clear(w->why, SIZE_MAX);
    buf_append(w->why, text.data, text.length);
    buf_free(&text);
}

static bool write_value(struct writer *w);

/* The fields of the table on top of the stack. */
static bool write_fields(struct writer *w)
{
    lua_State *L = w->L;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2); /* key, value, key */
        bool good = lua_type(L, -1) != LUA_TTABLE ? write_value(w) : refuse(w, "is a table as a key");
        lua_pop(L, 1);
        good = good && write_value(w);
        if (!good) {
            prepend_key(w, lua_gettop(L) - 1);
            lua_pop(L, 2);
            return false;
        }
        lua_pop(L, 1);
    }
    put_byte(w, END);
    return true;
}

/* Whether the metatable of the table on top of the stack is that of the name; NULL: any. */
static bool has_metatable(lua_State *L, const char *name)
{
    if (!lua_getmetatable(L, -1))
        return false;
    if (name)
        luaL_getmetatable(L, name);
    else
        lua_pushvalue(L, -1);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

/* The table on top of the stack. */
static bool write_table(struct writer *w)
{
    lua_State *L = w->L;
    lua_pushvalue(L, -1);
    lua_rawget(L, w->seen);
    uint32_t number = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (number) {
        put_count(w, AGAIN, number);
        return true;
    }
    if (w->depth == DEPTH || !lua_checkstack(L, 8))
        return refuse(w, "is a table too deep");
    bool array = has_metatable(L, API_JSON_ARRAY);
    if (!array && !has_metatable(L, SHARED_TYPE) && has_metatable(L, NULL))
        return refuse(w, "is a table with a metatable");
    lua_pushvalue(L, -1);
    lua_pushinteger(L, (lua_Integer)++w->count);
    lua_rawset(L, w->seen);
    put_byte(w, array ? ARRAY : TABLE);
    w->depth++;
    bool good = write_fields(w);
    w->depth--;
    return good;
}

static bool write_string(struct writer *w)
{
    size_t length;
    const char *text = lua_tolstring(w->L, -1, &length);
    if (length > UINT32_MAX)
        return refuse(w, "is a text of more than 4 GB");
    put_count(w, STRING, (uint32_t)length);
    buf_append(w->out, text, length);
    return true;
}

static bool write_number(struct writer *w)
{
    double number = lua_tonumber(w->L, -1);
    put_byte(w, NUMBER);
    buf_append(w->out, &number, sizeof number);
    return true;
}

/* The value on top of the stack, which stays. */
static bool write_value(struct writer *w)
{
    lua_State *L = w->L;
    switch (lua_type(L, -1)) {
    case LUA_TNIL: put_byte(w, NIL); return true;
    case LUA_TBOOLEAN: put_byte(w, lua_toboolean(L, -1) ? TRUE : FALSE); return true;
    case LUA_TNUMBER: return write_number(w);
    case LUA_TSTRING: return write_string(w);
    case LUA_TTABLE: return write_table(w);
    default: break;
    }
    if (lua_islightuserdata(L, -1) && !lua_touserdata(L, -1)) { /* core.json_null */
        put_byte(w, NULL_JSON);
        return true;
    }
    char what[40];
    snprintf(what, sizeof what, "is a %s", luaL_typename(L, -1));
    return refuse(w, what);
}

bool value_encode(lua_State *L, int index, struct buf *out, struct buf *why)
{
    lua_pushvalue(L, index);
    lua_newtable(L);
    lua_insert(L, -2); /* seen, value */
    struct writer w = { .L = L, .out = out, .why = why, .seen = lua_gettop(L) - 1 };
    bool good = write_value(&w);
    lua_pop(L, 2);
    return good;
}

/* Reading; the bytes are our own. */

struct reader {
    lua_State *L;
    const char *at;
    int seen; /* index of a list of the tables */
    int count;
};

static int refuse_field(lua_State *L)
{
    return api_error(L, "`shared` is the same for all users and cannot be changed (%s); what belongs to one user goes into user.vars",
                      lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "a new item");
}

static void set_metatable(lua_State *L)
{
    if (luaL_newmetatable(L, SHARED_TYPE)) {
        lua_pushcfunction(L, refuse_field);
        lua_setfield(L, -2, "__newindex");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

static void take(struct reader *r, void *into, size_t length)
{
    memcpy(into, r->at, length);
    r->at += length;
}

static void read_value(struct reader *r);

static void read_table(struct reader *r, bool array)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 8, NULL);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, r->seen, ++r->count);
    while (*r->at != END) {
        read_value(r);
        read_value(r);
        lua_rawset(L, -3);
    }
    r->at++;
    if (array) {
        luaL_newmetatable(L, API_JSON_ARRAY);
        lua_setmetatable(L, -2);
    } else {
        set_metatable(L);
    }
}

static void read_string(struct reader *r)
{
    uint32_t length;
    take(r, &length, sizeof length);
    lua_pushlstring(r->L, r->at, length);
    r->at += length;
}

static void read_number(struct reader *r)
{
    double number;
    take(r, &number, sizeof number);
    lua_pushnumber(r->L, number);
}

static void read_again(struct reader *r)
{
    uint32_t number;
    take(r, &number, sizeof number);
    lua_rawgeti(r->L, r->seen, (int)number);
}

/* Pushes the next value. */
static void read_value(struct reader *r)
{
    char kind = *r->at++;
    switch (kind) {
    case FALSE:
    case TRUE: lua_pushboolean(r->L, kind == TRUE); break;
    case NUMBER: read_number(r); break;
    case STRING: read_string(r); break;
    case TABLE:
    case ARRAY: read_table(r, kind == ARRAY); break;
    case AGAIN: read_again(r); break;
    case NULL_JSON: lua_pushlightuserdata(r->L, NULL); break;
    default: lua_pushnil(r->L);
    }
}

void value_decode(lua_State *L, const struct buf *bytes)
{
    if (!bytes->length) {
        lua_pushnil(L);
        return;
    }
    lua_newtable(L);
    struct reader r = { .L = L, .at = bytes->data, .seen = lua_gettop(L) };
    read_value(&r);
    lua_remove(L, -2);
}
