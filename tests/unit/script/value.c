/* Plain values from one Lua state to another, and back. */
#include "script/value.h"

#include <lauxlib.h>
#include <lua.h>

#include "script/vm.h"
#include "test.h"

static struct vm *here, *there;

static int set_up(void **state)
{
    here = vm_new(VM_CONTROL, 0);
    there = vm_new(VM_CONTROL, 0);
    return luaL_dostring(here->L, "core = require 'luabench.core'") || luaL_dostring(there->L, "core = require 'luabench.core'");
}

static int tear_down(void **state)
{
    vm_free(here);
    vm_free(there);
    return 0;
}

static void push(const char *expression)
{
    char chunk[400];
    snprintf(chunk, sizeof chunk, "return %s", expression);
    if (luaL_dostring(here->L, chunk))
        fail_msg("%s: %s", expression, lua_tostring(here->L, -1));
}

/* Carries the value of `expression` over, as `v`; `test` is true of it there. */
static void check(const char *expression, const char *test)
{
    struct buf bytes = { 0 }, why = { 0 };
    char chunk[400];
    push(expression);
    int top = lua_gettop(here->L);
    if (!value_encode(here->L, top, &bytes, &why))
        fail_msg("%s: %.*s", expression, (int)why.length, why.data);
    assert_int_equal(lua_gettop(here->L), top);
    lua_settop(here->L, 0);
    value_decode(there->L, &bytes);
    assert_int_equal(lua_gettop(there->L), 1);
    lua_setglobal(there->L, "v");
    snprintf(chunk, sizeof chunk, "return %s", test);
    if (luaL_dostring(there->L, chunk) || !lua_toboolean(there->L, -1))
        fail_msg("%s: not %s", expression, test);
    lua_settop(there->L, 0);
    buf_free(&bytes);
    buf_free(&why);
}

static void carries_plain_values(void **state)
{
    check("nil", "v == nil");
    check("true", "v == true");
    check("false", "v == false");
    check("0.1", "v == 0.1");
    check("-0", "1 / v < 0");
    check("1/0", "v == math.huge");
    check("0/0", "v ~= v");
    check("4111111111111111", "v == 4111111111111111");
    check("''", "v == ''");
    check("'a\\0b\\255'", "v == 'a\\0b\\255'");
    check("('x'):rep(100000)", "v == ('x'):rep(100000)");
    check("core.json_null", "v == core.json_null");
    check("{}", "type(v) == 'table' and next(v) == nil");
    check("{ 1, 2, { a = { b = 'c' } }, n = false, [3.5] = 1, [true] = 2, [''] = 3 }",
          "#v == 3 and v[3].a.b == 'c' and v.n == false and v[3.5] == 1 and v[true] == 2 and v[''] == 3");
    check("core.json_array {}", "core.json_encode(v) == '[]'");
}

static void keeps_what_is_the_same_table(void **state)
{
    check("(function() local t = {} return { t, t, { t } } end)()", "v[1] == v[2] and v[1] == v[3][1] and v[1] ~= v[3]");
    check("(function() local t = {} t.me = { t } return t end)()", "v.me[1] == v");
}

static void carries_what_was_carried(void **state)
{
    struct buf bytes = { 0 }, again = { 0 }, why = { 0 };
    push("{ 1, { a = 'b' }, core.json_array {} }");
    assert_true(value_encode(here->L, 1, &bytes, &why));
    value_decode(there->L, &bytes);
    assert_true(value_encode(there->L, 1, &again, &why));
    assert_int_equal(again.length, bytes.length);
    buf_free(&bytes);
    buf_free(&again);
    buf_free(&why);
}

static void refuses_what_is_not_plain(void **state)
{
    static const struct {
        const char *value, *why;
    } cases[] = {
        { "print", " is a function" },
        { "{ f = print }", ".f is a function" },
        { "{ 1, { x = { [2] = coroutine.create(print) } } }", "[2].x[2] is a thread" },
        { "{ [print] = 1 }", "[a function] is a function" },
        { "{ [{}] = 1 }", "[a table] is a table as a key" },
        { "{ t = setmetatable({}, {}) }", ".t is a table with a metatable" },
        { "(function() local t = {} for i = 1, 200 do t = { t } end return t end)()", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf bytes = { 0 }, why = { 0 };
        push(cases[i].value);
        assert_false(value_encode(here->L, 1, &bytes, &why));
        assert_int_equal(lua_gettop(here->L), 1);
        buf_append(&why, "", 1);
        if (cases[i].why)
            assert_string_equal(why.data, cases[i].why);
        else
            assert_non_null(strstr(why.data, "is a table too deep"));
        lua_settop(here->L, 0);
        buf_free(&bytes);
        buf_free(&why);
    }
}

static void tables_refuse_new_fields(void **state)
{
    check("{ a = 1 }", "not pcall(function() v.b = 1 end) and v.b == nil");
    check("{ a = {} }", "select(2, pcall(function() v.a[1] = 1 end)):find('a new item', 1, true)");
    check("{ a = 1 }", "getmetatable(v) == false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(carries_plain_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_what_is_the_same_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(carries_what_was_carried, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_not_plain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_refuse_new_fields, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
