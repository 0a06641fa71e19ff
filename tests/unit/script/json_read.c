/* json_read against Jansson: what it accepts Jansson accepts, as the same value; what it leaves, Jansson refuses. On texts made by changing good ones at random, and
 * on those of RFC 8259 and its critics. */
#include "script/json_read.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>

#include "script/api.h"
#include "script/vm.h"
#include "test.h"

static struct vm *vm;

static int set_up(void **state)
{
    vm = vm_new(VM_CONTROL, false);
    return luaL_dostring(vm->L, "core = require 'luabench.core'");
}

static int tear_down(void **state)
{
    vm_free(vm);
    return 0;
}

/* Pushes core.json_encode of the value on top, in its place. */
static void encode(lua_State *L)
{
    lua_getglobal(L, "core");
    lua_getfield(L, -1, "json_encode");
    lua_remove(L, -2);
    lua_insert(L, -2);
    lua_call(L, 1, 1);
}

/* True when json_read has taken it. */
static bool compare(const char *text, size_t length)
{
    lua_State *L = vm->L;
    lua_settop(L, 0);
    lua_pushlstring(L, text, length); /* in memory of its size, for the sanitizer */
    const char *copy = lua_tostring(L, 1);
    bool taken = json_read(L, copy, length, API_JSON_ARRAY);
    assert_int_equal(lua_gettop(L), taken ? 2 : 1);
    bool valid = api_json_push(L, copy, length) == 1;
    if (taken != valid)
        fail_msg("json_read %s, and Jansson %s: %.*s", taken ? "takes it" : "leaves it", valid ? "takes it" : "refuses it", (int)length, text);
    if (taken) {
        encode(L);
        lua_insert(L, 2);
        encode(L);
        if (!lua_rawequal(L, 2, 3))
            fail_msg("\"%.*s\" is %s and, for Jansson, %s", (int)length, text, lua_tostring(L, 3), lua_tostring(L, 2));
    }
    return taken;
}

static void takes_what_is_valid(void **state)
{
    static const char *const texts[] = {
        "0", "-0", "-1", "12", "1.5", "-1.5e3", "1E+2", "1e-2", "0.0", "0e0", "123456789012345", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740992",
        "-9007199254740993", "1234567890123456", "123456789012345678", "1234567890123456789012345678901234567890", "-99999999999999999999", "1.7976931348623157e308", "5e-324",
        "0.1", "0.30000000000000004", "100000000000000000000.0", "true", "false", "null", " \t\r\n1 \n", "\"\"", "\"a\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u00e4\\u20AC\\ud834\\uDD1E\"",
        "\"\\u0000\"", "\"a\\u0000b\"", "\"\x7f\"", "\"\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\"", "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"", "[]", "[ ]", "{}", "{ }",
        "[1,2,3]", "[[],[[]],{}]", "[null,true,[false]]", "{\"a\":1}", "{\"a\":1,\"b\":[{\"c\":null}],\"\":\"\"}", "{\"a\":1,\"a\":2}", "{ \"a\" : 1 , \"b\" : 2 }",
        "[\"\\\"\",\"x\"]", "{\"a\\n\":\"b\"}", "[1e2,2E-1]",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!compare(texts[i], strlen(texts[i])))
            fail_msg("%s is refused", texts[i]);
}

static void leaves_what_is_not(void **state)
{
    static const char *const texts[] = {
        "", " ", "-", "+1", "01", "-01", "1.", ".5", "1.e1", "1e", "1e+", "0x1", "1a", "1 2", "1e999", "-1e999", "NaN", "Infinity", "tru", "True", "nul", "truex", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"",
        "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\ud800\\\"", "\"\n\"", "\"\t\"", "\"\x01\"", "'a'", "\"\x80\"", "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xe0\x80\x80\"",
        "\"\xed\xa0\x80\"", "\"\xf0\x80\x80\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xc3\"", "\"\xe2\x82\"", "\"\xf0\x9d\x84\"", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", "{a:1}",
        "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{\"a\" 1}", "{1:2}", "{\"a\":1]", "{,}", "[]]", "{}{}", "\xef\xbb\xbf[]", "/**/1", "1//", "{\"a\\u0000\":1}", "\xc3\xa4", "\x0b" "1",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (compare(texts[i], strlen(texts[i])))
            fail_msg("%s is taken", texts[i]);
    assert_false(compare("1\0", 2));
    assert_false(compare("[1\0]", 4));
    assert_false(compare("\"a\0b\"", 5));
}

/* Lists and objects around the size at which they are not collected on the stack any more. */
static void makes_tables_of_any_size(void **state)
{
    for (int count = 1; count < 300; count += count < 60 || count > 130 ? 17 : 1) {
        char *text = malloc(20 * (size_t)count + 3);
        size_t length = 0;
        for (int i = 0; i < count; i++)
            length += (size_t)sprintf(text + length, "%c%d", i ? ',' : '[', i);
        text[length++] = ']';
        assert_true(compare(text, length));
        length = 0;
        for (int i = 0; i < count; i++)
            length += (size_t)sprintf(text + length, "%c\"k%d\":%d", i ? ',' : '{', i % 100, i);
        text[length++] = '}';
        assert_true(compare(text, length));
        free(text);
    }
}

static void nests(void **state)
{
    static const int depths[] = { 1, 10, 100, 999, 1000 };
    for (size_t i = 0; i < COUNT(depths); i++) {
        char text[4000];
        size_t depth = (size_t)depths[i];
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        lua_settop(vm->L, 0);
        lua_pushlstring(vm->L, text, 2 * depth);
        assert_true(json_read(vm->L, lua_tostring(vm->L, 1), 2 * depth, API_JSON_ARRAY));
    }
    char text[5000];
    memset(text, '[', 5000);
    lua_settop(vm->L, 0);
    lua_pushlstring(vm->L, text, 5000);
    assert_false(json_read(vm->L, lua_tostring(vm->L, 1), 5000, API_JSON_ARRAY));
    assert_int_equal(lua_gettop(vm->L), 1);
}

/* Changes of good texts: bytes replaced, left out, doubled, by those that matter. */
static void agrees_on_changed_texts(void **state)
{
    static const char *const seeds[] = {
        "{\"id\":17,\"name\":\"th\\u00efng\",\"price\":-12.5e-3,\"tags\":[\"a\",\"b\\n\",[]],\"stock\":{\"n\":5,\"x\":null,\"y\":true}}",
        "[0,-0.0,1e5,123456789012345678901234567890,\"\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\",\"\\ud834\\udd1e\",{\"\":{}},false]",
        " [ 1 , \"\\\\\\\"\" , { \"a\" : [ ] } ] ",
    };
    static const char bytes[] = "{}[]\",:\\0123456789.eE+-ntfulras /u \t\n\x80\xbf\xc2\xe0\xed\xf0\xf4\x01";
    uint64_t seed = 7;
    int taken = 0;
    for (int round = 0; round < 60000; round++) {
        const char *from = seeds[round % (int)COUNT(seeds)];
        char text[300];
        size_t length = strlen(from);
        memcpy(text, from, length);
        for (uint64_t changes = 1 + random_below(&seed, 3); changes; changes--) {
            size_t at = (size_t)random_below(&seed, length);
            char byte = bytes[random_below(&seed, sizeof bytes - 1)];
            switch (random_below(&seed, 3)) {
            case 0: text[at] = byte; break;
            case 1: memmove(text + at, text + at + 1, --length - at); break;
            default:
                memmove(text + at + 1, text + at, length++ - at);
                text[at] = byte;
            }
        }
        taken += compare(text, length);
    }
    assert_true(taken > 5000 && taken < 55000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_valid), cmocka_unit_test(leaves_what_is_not), cmocka_unit_test(makes_tables_of_any_size), cmocka_unit_test(nests),
        cmocka_unit_test(agrees_on_changed_texts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
