/* core.json_*: JSON to and from Lua values. What is valid is read by json_read; Jansson says what is wrong with the rest, and quotes strings; numbers are written here,
 * since Jansson 2.14 cannot write a double in its shortest form. Whole numbers below 2^53 are written in digits, and larger integers are read as strings of their digits: no digit of an identifier is ever lost. */
#include <jansson.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "script/api.h"
#include "script/json_read.h"

#define ARRAY_TYPE API_JSON_ARRAY

enum { DEPTH = 200, INDENT = 2 };

static const double exact_integer = 9007199254740992.0; /* 2^53 */

struct writer {
    lua_State *L;
    struct buf out;
    const char *wrong; /* why it cannot be written, or NULL */
    char wrong_text[80];
    bool pretty;
    int depth;
};

static void write_value(struct writer *w);

static void write_integer(struct writer *w, double value)
{
    char text[24], *first = text + sizeof text;
    uint64_t left = (uint64_t)fabs(value);
    do
        *--first = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--first = '-';
    buf_append(&w->out, first, (size_t)(text + sizeof text - first));
}

static void write_number(struct writer *w, double value)
{
    char text[32];
    if (!isfinite(value)) {
        w->wrong = "JSON has no NaN and no infinity";
        return;
    }
    if (value == floor(value) && fabs(value) < exact_integer) {
        write_integer(w, value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_append(&w->out, text, strlen(text));
}

static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

static void write_string(struct writer *w, const char *text, size_t length)
{
    if (is_plain(text, length)) {
        buf_append(&w->out, "\"", 1);
        buf_append(&w->out, text, length);
        buf_append(&w->out, "\"", 1);
        return;
    }
    json_t *string = json_stringn(text, length);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (quoted)
        buf_append(&w->out, quoted, strlen(quoted));
    else
        w->wrong = "a string is not valid UTF-8";
    free(quoted);
    json_decref(string);
}

static void new_line(struct writer *w)
{
    if (!w->pretty)
        return;
    buf_append(&w->out, "\n", 1);
    for (int i = 0; i < w->depth * INDENT; i++)
        buf_append(&w->out, " ", 1);
}

static void write_array(struct writer *w, size_t count)
{
    buf_append(&w->out, "[", 1);
    w->depth++;
    for (size_t i = 1; i <= count && !w->wrong; i++) {
        if (i > 1)
            buf_append(&w->out, ",", 1);
        new_line(w);
        lua_rawgeti(w->L, -1, (int)i);
        write_value(w);
        lua_pop(w->L, 1);
    }
    w->depth--;
    if (count)
        new_line(w);
    buf_append(&w->out, "]", 1);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The keys of the table on top, as a new list of pointers into Lua's strings; `wrong` when one is no string. */
static const char **keys_of(struct writer *w, size_t count)
{
    const char **keys = mem_array(count ? count : 1, sizeof *keys);
    size_t i = 0;
    lua_pushnil(w->L);
    while (lua_next(w->L, -2)) {
        lua_pop(w->L, 1);
        if (lua_type(w->L, -1) == LUA_TSTRING) {
            keys[i++] = lua_tostring(w->L, -1);
            continue;
        }
        w->wrong = "a table has both list items and names, or holes; JSON has lists or objects";
        lua_pop(w->L, 1);
        break;
    }
    return keys;
}

static void write_object(struct writer *w, size_t count)
{
    const char **keys = keys_of(w, count);
    if (!w->wrong)
        qsort(keys, count, sizeof *keys, by_text);
    buf_append(&w->out, "{", 1);
    w->depth++;
    for (size_t i = 0; i < count && !w->wrong; i++) {
        if (i)
            buf_append(&w->out, ",", 1);
        new_line(w);
        write_string(w, keys[i], strlen(keys[i]));
        buf_append(&w->out, w->pretty ? ": " : ":", w->pretty ? 2 : 1);
        lua_getfield(w->L, -1, keys[i]);
        write_value(w);
        lua_pop(w->L, 1);
    }
    w->depth--;
    if (count)
        new_line(w);
    buf_append(&w->out, "}", 1);
    free(keys);
}

static size_t count_keys(lua_State *L)
{
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        count++;
    }
    return count;
}

static bool marked_as_array(lua_State *L)
{
    if (!lua_getmetatable(L, -1))
        return false;
    luaL_getmetatable(L, ARRAY_TYPE);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

static void write_table(struct writer *w)
{
    if (w->depth >= DEPTH) {
        w->wrong = "the value is nested too deeply (is it inside itself?)";
        return;
    }
    size_t length = lua_objlen(w->L, -1), count = count_keys(w->L);
    if (length == count && (count || marked_as_array(w->L)))
        write_array(w, count);
    else
        write_object(w, count);
}

/* Writes the value on top of the stack and leaves it there. */
static void write_value(struct writer *w)
{
    lua_State *L = w->L;
    size_t length;
    if (!lua_checkstack(L, 8)) {
        w->wrong = "the value is nested too deeply";
        return;
    }
    switch (lua_type(L, -1)) {
    case LUA_TNIL: buf_append(&w->out, "null", 4); break;
    case LUA_TBOOLEAN: buf_append(&w->out, lua_toboolean(L, -1) ? "true" : "false", lua_toboolean(L, -1) ? 4 : 5); break;
    case LUA_TNUMBER: write_number(w, lua_tonumber(L, -1)); break;
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, -1, &length);
        write_string(w, text, length);
        break;
    }
    case LUA_TTABLE: write_table(w); break;
    case LUA_TLIGHTUSERDATA:
        if (!lua_touserdata(L, -1)) {
            buf_append(&w->out, "null", 4);
            break;
        } /* fall through */
    default:
        snprintf(w->wrong_text, sizeof w->wrong_text, "a %s cannot be written as JSON", luaL_typename(L, -1));
        w->wrong = w->wrong_text;
    }
}

static int encode(lua_State *L, bool pretty)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    struct writer w = { .L = L, .pretty = pretty };
    write_value(&w);
    lua_settop(L, 1);
    if (w.wrong) {
        lua_pushnil(L);
        lua_pushstring(L, w.wrong);
    } else {
        lua_pushlstring(L, w.out.data ? w.out.data : "", w.out.length);
    }
    buf_free(&w.out);
    return w.wrong ? 2 : 1;
}

static int encode_compact(lua_State *L)
{
    return encode(L, false);
}

static int encode_pretty(lua_State *L)
{
    return encode(L, true);
}

/* Reading */

static void push_json(lua_State *L, json_t *value);

static void mark_as_array(lua_State *L)
{
    luaL_newmetatable(L, ARRAY_TYPE);
    lua_setmetatable(L, -2);
}

static void push_array(lua_State *L, json_t *array)
{
    size_t count = json_array_size(array);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        push_json(L, json_array_get(array, i));
        lua_rawseti(L, -2, (int)i + 1);
    }
    if (!count)
        mark_as_array(L);
}

static void push_object(lua_State *L, json_t *object)
{
    const char *key;
    json_t *value;
    lua_createtable(L, 0, (int)json_object_size(object));
    json_object_foreach(object, key, value) {
        lua_pushstring(L, key);
        push_json(L, value);
        lua_rawset(L, -3);
    }
}

static void push_integer(lua_State *L, json_int_t value)
{
    char digits[32];
    if (value <= (json_int_t)exact_integer && value >= -(json_int_t)exact_integer) {
        lua_pushnumber(L, (lua_Number)value);
        return;
    }
    snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, value);
    lua_pushstring(L, digits);
}

static void push_json(lua_State *L, json_t *value)
{
    luaL_checkstack(L, 4, "JSON nested too deeply");
    switch (json_typeof(value)) {
    case JSON_OBJECT: push_object(L, value); break;
    case JSON_ARRAY: push_array(L, value); break;
    case JSON_STRING: lua_pushlstring(L, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: push_integer(L, json_integer_value(value)); break;
    case JSON_REAL: lua_pushnumber(L, json_real_value(value)); break;
    case JSON_TRUE:
    case JSON_FALSE: lua_pushboolean(L, json_is_true(value)); break;
    default: lua_pushlightuserdata(L, NULL);
    }
}

/* A copy of `text` in which integers of more than 18 digits stand in quotes: Jansson refuses them. */
static void quote_long_integers(struct buf *out, const char *text, size_t length)
{
    bool inside = false;
    for (size_t i = 0; i < length; i++) {
        size_t start = i;
        if (inside && text[i] == '\\' && i + 1 < length) {
            i++;
        } else if (text[i] == '"') {
            inside = !inside;
        } else if (!inside && (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))) {
            while (i + 1 < length && text[i + 1] >= '0' && text[i + 1] <= '9')
                i++;
            bool quote = i - start >= 18 && (i + 1 == length || !strchr(".eE", text[i + 1]));
            buf_printf(out, quote ? "\"%.*s\"" : "%.*s", (int)(i - start + 1), text + start);
            continue;
        }
        buf_append(out, text + start, i - start + 1);
    }
}

static json_t *parse(const char *text, size_t length, json_error_t *error)
{
    json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
    if (value || json_error_code(error) != json_error_numeric_overflow)
        return value;
    struct buf quoted = { 0 };
    quote_long_integers(&quoted, text, length);
    value = json_loadb(quoted.data, quoted.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
    buf_free(&quoted);
    return value;
}

/* Runs push_json protected, so that an error of Lua's (memory) does not leak the parsed value. */
static int push_protected(lua_State *L)
{
    json_t *value = lua_touserdata(L, 1);
    push_json(L, value);
    return 1;
}

int api_json_push(lua_State *L, const char *text, size_t length)
{
    json_error_t error = { .text = "a zero byte", .line = 1 };
    json_t *value = memchr(text, '\0', length) ? NULL : parse(text, length, &error); /* Jansson takes it for the end */
    if (!value) {
        lua_pushnil(L);
        lua_pushfstring(L, "not JSON: %s (line %d, column %d)", error.text, error.line, error.column);
        return 2;
    }
    lua_pushcfunction(L, push_protected);
    lua_pushlightuserdata(L, value);
    int status = lua_pcall(L, 1, 1, 0);
    json_decref(value);
    return status ? lua_error(L) : 1;
}

static int decode(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    return json_read(L, text, length, ARRAY_TYPE) ? 1 : api_json_push(L, text, length);
}

static int make_array(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    mark_as_array(L);
    return 1;
}

void api_json_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "json_encode", encode_compact }, { "json_pretty", encode_pretty }, { "json_decode", decode }, { "json_array", make_array }, { NULL, NULL },
    };
    api_register(L, functions);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "json_null");
}
