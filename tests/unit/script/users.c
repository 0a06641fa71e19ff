/* Users, their strands and tasks, driven as a worker drives them but without a worker: what becomes of each phase, and that nothing is left behind. */
#include <lauxlib.h>
#include <lua.h>

#include "base/clock.h"
#include "script/task.h"
#include "script/vm.h"
#include "test.h"

static struct vm *vm;
static struct loop loop;
static struct pool *pool;
static struct metrics metrics;
static struct scenario_plan scenario;
static struct plan plan;

/* A worker's state with one scenario, whose functions are those of `keys`. */
static void attach(const char *keys)
{
    char chunk[4000];
    const char *names[] = { "s" };
    scenario = (struct scenario_plan){ .name = "s", .where = "s.lua:1" };
    plan = (struct plan){ .scenarios = &scenario, .scenario_count = 1, .seed = 1 };
    metrics_init(&metrics, names, 1);
    assert_true(loop_init(&loop));
    pool = pool_new(&loop);
    vm = vm_new(VM_WORKER, 0);
    snprintf(chunk, sizeof chunk, "core = require 'luabench.core' log = {} function say(text) log[#log + 1] = tostring(text) end return { scenarios = { { %s } } }", keys);
    if (luaL_dostring(vm->L, chunk))
        fail_msg("%s", lua_tostring(vm->L, -1));
    vm->command = luaL_ref(vm->L, LUA_REGISTRYINDEX);
    assert_true(vm_attach(vm, &plan, &loop, pool, &metrics));
}

static void detach(void)
{
    assert_true(list_empty(&vm->ready) && list_empty(&vm->calls) && !vm->running);
    assert_int_equal(vm->free_slot_count + vm->spare_task_count, vm->slot_count); /* every coroutine has been given back */
    vm_free(vm);
    pool_free(pool);
    loop_free(&loop);
    metrics_free(&metrics);
}

/* What the functions have said, joined by blanks. */
static void assert_said(const char *expected)
{
    luaL_dostring(vm->L, "local text = table.concat(log, ' ') log = {} return text");
    assert_string_equal(lua_tostring(vm->L, -1), expected);
    lua_settop(vm->L, 0);
}

/* Runs the phase to its end. */
static enum vu_outcome run(struct vu *vu, enum phase phase)
{
    enum vu_outcome outcome = VU_WAITS;
    vu->iteration++;
    vu->sequence++;
    vu_begin(vu, phase, clock_ns());
    while (outcome == VU_WAITS) {
        struct strand *strand;
        loop_poll(&loop, !vm_busy(vm));
        vm_polled(vm);
        vm_reap(vm);
        while (outcome == VU_WAITS && (strand = vm_next(vm)))
            outcome = vu_resume(strand);
        pool_flush(pool);
    }
    assert_int_equal(vu->phase, PHASE_NONE);
    return outcome;
}

static void phases_call_their_functions(void **state)
{
    attach("run = function(user, shared) say('run' .. user.iteration) say(shared) end, on_start = function(user) user.vars.x = 1 say('start') end, "
           "on_stop = function(user) say('stop' .. user.vars.x) end, setup = function() say('setup') return 'shared' end, teardown = function(x) say('teardown') say(x) end");
    struct vu *vu = vu_new(vm, 0, 0);
    assert_int_equal(run(vu, PHASE_SETUP), VU_COMPLETED);
    vm_set_shared(vm, 0, &vm->shared);
    vu_free(vu);
    vu = vu_new(vm, 0, 1);
    assert_false(vu->welcome);
    assert_true(vu_has(vu, PHASE_START) && vu_has(vu, PHASE_STOP));
    assert_int_equal(run(vu, PHASE_START), VU_COMPLETED);
    assert_int_equal(run(vu, PHASE_RUN), VU_COMPLETED);
    assert_int_equal(run(vu, PHASE_STOP), VU_COMPLETED);
    assert_int_equal(run(vu, PHASE_TEARDOWN), VU_COMPLETED);
    assert_said("setup start run2 shared stop1 teardown shared");
    vu_replace(vu);
    assert_false(vu->welcome);
    assert_int_equal(run(vu, PHASE_STOP), VU_FAILED); /* vars are empty */
    vu_free(vu);
    detach();
}

static void outcomes_are_told_apart(void **state)
{
    static const struct {
        const char *code;
        enum vu_outcome outcome;
    } cases[] = {
        { "return 1", VU_COMPLETED }, { "core.fail('f')", VU_FAILED }, { "error('e')", VU_FAILED }, { "error({})", VU_FAILED }, { "error(nil)", VU_FAILED },
        { "core.stop_user()", VU_LEAVES }, { "core.stop_run('s')", VU_STOPS_RUN }, { "pcall(core.fail, 'f')", VU_COMPLETED }, { "core.sleep(0.001)", VU_COMPLETED },
        { "core.spawn(core.stop_user) core.sleep(60)", VU_LEAVES }, { "core.spawn(core.stop_run, 's') core.sleep(60)", VU_STOPS_RUN },
        { "core.spawn(error, 'e') core.sleep(0)", VU_FAILED }, { "core.task_wait(core.spawn(error, 'e'))", VU_COMPLETED }, { "core.spawn(core.sleep, 60)", VU_COMPLETED },
        { "core.spawn(core.sleep, 60) core.sleep(0) core.fail('f')", VU_FAILED },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char keys[200];
        snprintf(keys, sizeof keys, "run = function() %s end", cases[i].code);
        attach(keys);
        struct vu *vu = vu_new(vm, 0, 1);
        for (int round = 0; round < 3; round++) {
            if (run(vu, PHASE_RUN) != cases[i].outcome)
                fail_msg("%s: not %d", cases[i].code, cases[i].outcome);
            assert_true(!vu->tasks || list_empty(vu->tasks));
        }
        vu_free(vu);
        detach();
    }
}

/* What a task leaves behind is used for the next one: thousands need a few coroutines. */
static void tasks_use_coroutines_again(void **state)
{
    attach("run = function() for i = 1, 3000 do if i % 100 == 0 then collectgarbage() end local ok, a, b = core.task_wait(core.spawn(function(x, y) core.sleep(0) return y, x end, i, 'y'))"
           " assert(ok and a == 'y' and b == i) end say('done') end");
    struct vu *vu = vu_new(vm, 0, 1);
    assert_int_equal(run(vu, PHASE_RUN), VU_COMPLETED);
    assert_said("done");
    vu_free(vu);
    assert_in_range(vm->slot_count, 2, 120); /* their objects are collected after every 100 */
    detach();
}

static void tasks_of_on_start_are_the_users(void **state)
{
    attach("on_start = function() task = core.spawn(function() while true do say('beat') core.sleep(0.002) end end) end, "
           "run = function() core.sleep(0.02) say(core.task_done(task) and 'done' or 'alive') end");
    struct vu *vu = vu_new(vm, 0, 1);
    assert_int_equal(run(vu, PHASE_START), VU_COMPLETED);
    assert_int_equal(run(vu, PHASE_RUN), VU_COMPLETED);
    luaL_dostring(vm->L, "assert(log[#log] == 'alive' and log[1] == 'beat')");
    assert_false(list_empty(vu->tasks));
    vu_free(vu);
    luaL_dostring(vm->L, "return core.task_done(task)");
    assert_true(lua_toboolean(vm->L, -1));
    lua_settop(vm->L, 0);
    detach();
}

static void interrupted_users_leave_nothing(void **state)
{
    attach("run = function() for i = 1, 5 do core.spawn(function() core.group_begin('t') core.sleep(60) end) end "
           "core.group_begin('g') core.group_begin('h') core.task_wait(core.spawn(core.sleep, 60), 60) end");
    struct vu *vu = vu_new(vm, 0, 1);
    struct strand *strand;
    vu_begin(vu, PHASE_RUN, clock_ns());
    while ((strand = vm_next(vm)))
        assert_int_equal(vu_resume(strand), VU_WAITS);
    vu_interrupt(vu);
    assert_int_equal(metrics.scenarios[0].group_count, 3);
    assert_string_equal(metrics.scenarios[0].groups[1]->name, "g/h");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(metrics.scenarios[0].groups[i]->duration.count, 0);
        assert_int_equal(metrics.scenarios[0].groups[i]->cut, strcmp(metrics.scenarios[0].groups[i]->name, "t") ? 1 : 5);
    }
    vu_free(vu);
    detach();
}

static void pace_completes_when_it_is_asked_to(void **state)
{
    attach("run = function() core.sleep(0) core.pace(60) say('never') end");
    struct vu *vu = vu_new(vm, 0, 1);
    vu_begin(vu, PHASE_RUN, clock_ns());
    while (!vu->main.pacing) {
        struct strand *strand = vm_next(vm);
        if (strand)
            assert_int_equal(vu_resume(strand), VU_WAITS);
        else
            loop_poll(&loop, true);
    }
    assert_int_equal(vu_complete(vu), VU_COMPLETED);
    assert_said("");
    vu_free(vu);
    detach();
}

/* The first request of an iteration of the open model is due when that was, later by what is slept before. */
static void sleep_moves_what_is_due(void **state)
{
    attach("run = function() core.sleep(0.001) core.sleep(0.002) say('x') core.sleep(60) end");
    scenario.model = MODEL_OPEN;
    struct vu *vu = vu_new(vm, 0, 1);
    int64_t due = clock_ns() - NS_PER_SECOND;
    vu_begin(vu, PHASE_RUN, due);
    assert_int_equal(vu->intended, due);
    while (vu->intended < due + 60 * NS_PER_SECOND) {
        struct strand *strand = vm_next(vm);
        if (strand)
            assert_int_equal(vu_resume(strand), VU_WAITS);
        else
            loop_poll(&loop, true);
    }
    assert_int_equal(vu->intended, due + 60003 * NS_PER_MS);
    vu_interrupt(vu);
    vu_free(vu);
    detach();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_call_their_functions),
        cmocka_unit_test(outcomes_are_told_apart),
        cmocka_unit_test(tasks_use_coroutines_again),
        cmocka_unit_test(tasks_of_on_start_are_the_users),
        cmocka_unit_test(interrupted_users_leave_nothing),
        cmocka_unit_test(pace_completes_when_it_is_asked_to),
        cmocka_unit_test(sleep_moves_what_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
