#include "script/json_read.h"

#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 1000,
    TOGETHER = 64,      /* most items that are collected on the stack, so that their table is made in its size */
    SAFE_DIGITS = 15,   /* so many are below 2^53 */
};

struct reader {
    lua_State *L;
    const char *at;  /* the next character; there is a NUL behind the last one, which is none of JSON's */
    const char *end;
    const char *array_type;
    int depth;
};

static bool read_value(struct reader *r);

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')
        r->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Strings */

/* The length of the character of UTF-8 (RFC 3629) at `c`, which is not ASCII; 0: it is none. Reads no further than the NUL. */
static size_t utf8_length(const unsigned char *c)
{
    static const struct {
        unsigned char first, last, second_first, second_last, length;
    } forms[] = {
        { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
        { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (c[0] < forms[i].first || c[0] > forms[i].last)
            continue;
        if (c[1] < forms[i].second_first || c[1] > forms[i].second_last)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (c[k] < 0x80 || c[k] > 0xbf)
                return 0;
        return forms[i].length;
    }
    return 0;
}

/* Moves to the quote that ends the string, or to the first backslash. False: there is something that no string has. */
static bool skip_plain(struct reader *r)
{
    const unsigned char *c = (const unsigned char *)r->at;
    for (;;) {
        while (*c >= 0x20 && *c < 0x80 && *c != '"' && *c != '\\')
            c++;
        if (*c < 0x80)
            break;
        size_t length = utf8_length(c);
        if (!length)
            return false;
        c += length;
    }
    r->at = (const char *)c;
    return *c >= 0x20;
}

/* Four hexadecimal digits, or -1. */
static int read_hex(struct reader *r)
{
    int value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = *r->at;
        if (is_digit(c))
            value = value * 16 + c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value * 16 + (c | 0x20) - 'a' + 10;
        else
            return -1;
    }
    return value;
}

static char *put_utf8(char *to, int c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

/* What follows "\u"; NULL: no character. */
static char *read_code(struct reader *r, char *to)
{
    int c = read_hex(r);
    if (c >= 0xd800 && c < 0xdc00) {
        if (r->at[0] != '\\' || r->at[1] != 'u')
            return NULL;
        r->at += 2;
        int low = read_hex(r);
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c < 0 || (c >= 0xdc00 && c <= 0xdfff)) {
        return NULL;
    }
    return put_utf8(to, c);
}

/* What follows a backslash; NULL: nothing that may. */
static char *read_escape(struct reader *r, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = *r->at++;
    if (c == 'u')
        return read_code(r, to);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return NULL;
    *to++ = into[found - from];
    return to;
}

/* The rest of a string that begins at `start` and has a backslash at r->at. Undone it is never longer. The memory is Lua's, so that an error of Lua's loses none. */
static bool read_escaped(struct reader *r, const char *start)
{
    const char *stop = r->at;
    while (*stop && *stop != '"')
        stop += *stop == '\\' && stop[1] ? 2 : 1;
    char *text = lua_newuserdata(r->L, (size_t)(stop - start) + 1), *to = text;
    while (to) {
        size_t length = (size_t)(r->at - start);
        memcpy(to, start, length);
        to += length;
        if (*r->at == '"')
            break;
        r->at++;
        to = read_escape(r, to);
        start = r->at;
        if (!to || !skip_plain(r))
            return false;
    }
    r->at++;
    lua_pushlstring(r->L, text, (size_t)(to - text));
    lua_remove(r->L, -2);
    return true;
}

/* r->at is behind the quote. */
static bool read_string(struct reader *r)
{
    const char *start = r->at;
    if (!skip_plain(r))
        return false;
    if (*r->at == '\\')
        return read_escaped(r, start);
    lua_pushlstring(r->L, start, (size_t)(r->at++ - start));
    return true;
}

/* Numbers */

static bool skip_digits(struct reader *r)
{
    if (!is_digit(*r->at))
        return false;
    while (is_digit(*r->at))
        r->at++;
    return true;
}

/* The digits from `first` to r->at: a number as long as it is exact, else a string of the digits. */
static void push_integer(struct reader *r, const char *start, const char *first)
{
    size_t digits = (size_t)(r->at - first);
    if (digits <= SAFE_DIGITS) {
        int64_t value = 0;
        for (const char *c = first; c < r->at; c++)
            value = value * 10 + (*c - '0');
        lua_pushnumber(r->L, (lua_Number)(first > start ? -value : value));
        return;
    }
    static const char limit[] = "9007199254740992"; /* 2^53 */
    if (digits == sizeof limit - 1 && memcmp(first, limit, digits) <= 0)
        lua_pushnumber(r->L, strtod(start, NULL));
    else
        lua_pushlstring(r->L, start, (size_t)(r->at - start));
}

static bool read_number(struct reader *r)
{
    const char *start = r->at, *first = start + (*start == '-');
    r->at = first;
    if (*first == '0')
        r->at++;
    else if (!skip_digits(r))
        return false;
    if (*r->at != '.' && (*r->at | 0x20) != 'e') {
        push_integer(r, start, first);
        return true;
    }
    if (*r->at == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if ((*r->at | 0x20) == 'e') {
        r->at++;
        if (*r->at == '+' || *r->at == '-')
            r->at++;
        if (!skip_digits(r))
            return false;
    }
    double value = strtod(start, NULL);
    lua_pushnumber(r->L, value);
    return isfinite(value);
}

/* Lists and objects: items are collected on the stack above `base`, where the table goes. */

static void make_list(lua_State *L, int base, int table_size)
{
    int count = lua_gettop(L) - base;
    lua_createtable(L, table_size, 0);
    lua_insert(L, base + 1);
    for (int i = count; i > 0; i--)
        lua_rawseti(L, base + 1, i);
}

/* The last one of several of one name counts. */
static void make_object(lua_State *L, int base, int table_size)
{
    int top = lua_gettop(L);
    lua_createtable(L, 0, table_size);
    lua_insert(L, base + 1);
    for (int i = base + 2; i <= top; i += 2) {
        lua_pushvalue(L, i);
        lua_pushvalue(L, i + 1);
        lua_rawset(L, base + 1);
    }
    lua_settop(L, base + 1);
}

/* Behind an item: true when another one follows, false at the end of the list, which is passed, or when there is something else: *wrong. */
static bool goes_on(struct reader *r, char end, bool *wrong)
{
    skip_blanks(r);
    char c = *r->at++;
    *wrong = c != ',' && c != end;
    return c == ',';
}

static bool read_list(struct reader *r)
{
    lua_State *L = r->L;
    int base = lua_gettop(L), count = 0;
    bool wrong = false;
    skip_blanks(r);
    if (*r->at == ']') {
        r->at++;
        lua_newtable(L);
        luaL_newmetatable(L, r->array_type);
        lua_setmetatable(L, -2);
        return true;
    }
    do {
        skip_blanks(r);
        if (!read_value(r))
            return false;
        if (++count == TOGETHER)
            make_list(L, base, 2 * TOGETHER);
        else if (count > TOGETHER)
            lua_rawseti(L, base + 1, count);
    } while (goes_on(r, ']', &wrong));
    if (count < TOGETHER && !wrong)
        make_list(L, base, count);
    return !wrong;
}

/* A name and its colon. No name has a NUL: such names are left to Jansson, which refuses them. */
static bool read_name(struct reader *r)
{
    size_t length;
    skip_blanks(r);
    if (*r->at++ != '"' || !read_string(r))
        return false;
    const char *name = lua_tolstring(r->L, -1, &length);
    skip_blanks(r);
    return strlen(name) == length && *r->at++ == ':';
}

static bool read_object(struct reader *r)
{
    lua_State *L = r->L;
    int base = lua_gettop(L), count = 0;
    bool wrong = false;
    skip_blanks(r);
    if (*r->at == '}') {
        r->at++;
        lua_newtable(L);
        return true;
    }
    do {
        if (!read_name(r))
            return false;
        skip_blanks(r);
        if (!read_value(r))
            return false;
        if (++count == TOGETHER)
            make_object(L, base, 2 * TOGETHER);
        else if (count > TOGETHER)
            lua_rawset(L, base + 1);
    } while (goes_on(r, '}', &wrong));
    if (count < TOGETHER && !wrong)
        make_object(L, base, count);
    return !wrong;
}

/* Values */

static bool read_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length))
        return false;
    r->at += length;
    return true;
}

static bool read_nested(struct reader *r, bool (*read)(struct reader *))
{
    if (r->depth == DEPTH || !lua_checkstack(r->L, 2 * TOGETHER + 8))
        return false;
    r->at++;
    r->depth++;
    bool good = read(r);
    r->depth--;
    return good;
}

static bool read_value(struct reader *r)
{
    switch (*r->at) {
    case '{': return read_nested(r, read_object);
    case '[': return read_nested(r, read_list);
    case '"': r->at++; return read_string(r);
    case 't': lua_pushboolean(r->L, 1); return read_word(r, "true");
    case 'f': lua_pushboolean(r->L, 0); return read_word(r, "false");
    case 'n': lua_pushlightuserdata(r->L, NULL); return read_word(r, "null");
    default: return read_number(r);
    }
}

bool json_read(lua_State *L, const char *text, size_t length, const char *array_type)
{
    struct reader reader = { .L = L, .at = text, .end = text + length, .array_type = array_type };
    int top = lua_gettop(L);
    skip_blanks(&reader);
    bool good = lua_checkstack(L, 8) && read_value(&reader);
    skip_blanks(&reader);
    if (good && reader.at == reader.end)
        return true;
    lua_settop(L, top);
    return false;
}
