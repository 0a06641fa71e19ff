/* The primitives of luabench.core that need no run, as Lua sees them. The expected values come from RFC 8259 and from the arithmetic of doubles. */
#include <lauxlib.h>
#include <lua.h>

#include "metrics/hist.h"
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

/* Runs `chunk`, which returns true when all is well, or false and a text. */
static void check(const char *chunk)
{
    lua_settop(vm->L, 0);
    if (luaL_loadstring(vm->L, chunk) || lua_pcall(vm->L, 0, 2, 0))
        fail_msg("%s\n%s", lua_tostring(vm->L, -1), chunk);
    if (!lua_toboolean(vm->L, 1))
        fail_msg("%s\n%s", lua_isstring(vm->L, 2) ? lua_tostring(vm->L, 2) : "not true", chunk);
    lua_settop(vm->L, 0);
}

static void json_numbers(void **state)
{
    static const struct {
        const char *lua, *json;
    } cases[] = {
        { "4111111111111111", "4111111111111111" }, /* 16 digits: more than %.14g keeps */
        { "9007199254740991", "9007199254740991" }, /* 2^53 - 1 */
        { "-9007199254740991", "-9007199254740991" },
        { "0", "0" },
        { "-0", "0" },
        { "0.1", "0.1" },
        { "1/3", "0.3333333333333333" },
        { "0.1 + 0.2", "0.30000000000000004" },
        { "1e300", "1e+300" },
        { "5e-324", "4.94065645841247e-324" },
        { "1.5", "1.5" },
        { "100", "100" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char chunk[200];
        snprintf(chunk, sizeof chunk, "local j = core.json_encode(%s) return j == '%s', j", cases[i].lua, cases[i].json);
        check(chunk);
    }
    check("local j, why = core.json_encode(0/0) return j == nil and why:find('NaN')");
    check("local j, why = core.json_encode({ 1, { x = 1/0 } }) return j == nil and why:find('infinity')");
}

static void json_shapes(void **state)
{
    check("return core.json_encode({}) == '{}'");
    check("return core.json_encode(core.json_array({})) == '[]'");
    check("return core.json_encode({ 1, 'a', true, core.json_null }) == '[1,\"a\",true,null]'");
    check("return core.json_encode({ b = 1, a = { c = core.json_array({}) } }) == '{\"a\":{\"c\":[]},\"b\":1}'");
    check("return core.json_encode('a\"b\\\\c\\n\\0\\31\\195\\164') == '\"a\\\\\"b\\\\\\\\c\\\\n\\\\u0000\\\\u001F\\195\\164\"', core.json_encode('a\"b\\\\c\\n\\0\\31\\195\\164')");
    check("local j, why = core.json_encode('\\255') return j == nil and why:find('UTF%-8')");
    check("local j, why = core.json_encode({ 1, x = 2 }) return j == nil and why:find('list')");
    check("local j, why = core.json_encode({ [1] = 1, [3] = 3 }) return j == nil");
    check("local j, why = core.json_encode(print) return j == nil and why:find('function')");
    check("local t = {} t.t = t local j, why = core.json_encode(t) return j == nil and why:find('deep')");
    check("return core.json_pretty({ a = { 1, 2 } }) == '{\\n  \"a\": [\\n    1,\\n    2\\n  ]\\n}'");
}

static void json_reading(void **state)
{
    check("local v = core.json_decode('{\"a\":[1,2.5,\"x\",null,true,[]]}') return v.a[1] == 1 and v.a[2] == 2.5 and v.a[3] == 'x' and v.a[4] == core.json_null and v.a[5] == true");
    check("return core.json_encode(core.json_decode('{\"a\":[]}')) == '{\"a\":[]}'");
    check("return core.json_decode('12345678901234567890') == '12345678901234567890'");
    check("return core.json_decode('9007199254740993') == '9007199254740993'");
    check("return core.json_decode('9007199254740992') == 9007199254740992");
    check("local v = core.json_decode('{\"a\\\\\"1\":123456789012345678901234567890,\"b\":\"123456789012345678901234567890\",\"c\":1.5e3}') "
          "return v['a\"1'] == '123456789012345678901234567890' and v.b == v['a\"1'] and v.c == 1500");
    check("local v, why = core.json_decode('{\"a\":}') return v == nil and why:find('not JSON') and why:find('column')");
    check("local v, why = core.json_decode('') return v == nil and why");
    check("local v, why = core.json_decode('<html>') return v == nil and why");
    check("return core.json_decode('\"\\\\u0000x\"') == '\\0x'");
    check("local v = core.json_decode(('['):rep(3000) .. (']'):rep(3000)) return v == nil");
}

static void histograms(void **state)
{
    static struct hist hist, other;
    for (int i = 1; i <= 100; i++)
        hist_record(&hist, i * INT64_C(1000000));
    hist_record(&other, INT64_C(1000000000));
    api_hist_push(vm->L, &hist);
    lua_setglobal(vm->L, "h");
    api_hist_push(vm->L, &other);
    lua_setglobal(vm->L, "o");
    check("return h:count() == 100 and h:min() == 0.001 and h:max() == 0.1 and math.abs(h:mean() - 0.0505) < 1e-9");
    check("return math.abs(h:quantile(0.5) - 0.050) < 0.0001 and math.abs(h:quantile(0.99) - 0.099) < 0.0001");
    check("local m = core.hist_merge({ h, o, h }) collectgarbage() return m:count() == 201 and m:max() == 1 and #m:encode() > 20");
    check("local m = core.hist_merge({}) return m:count() == 0 and m:min() == nil and m:quantile(0.5) == nil and m:mean() == nil");
    hist_free(&hist);
    hist_free(&other);
}

/* What waits is refused outside of a user, in words. */
static void nothing_waits_at_load(void **state)
{
    check("local ok, why = pcall(core.sleep, 1) return not ok and why:find('scenario'), why");
    check("local ok, why = pcall(core.send) return not ok and why:find('scenario'), why");
    check("local ok, why = pcall(core.prepare, 1, 'GET', 'http://a/', '', 'n') return not ok, why");
    check("return core.scenario() == nil");
    check("local ok, e = pcall(core.fail, 'so') return not ok and tostring(e) == 'so'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(histograms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_waits_at_load, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
