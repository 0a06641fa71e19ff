#include "run/once.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/vu.h"

void once_init(struct once *once, size_t scenarios)
{
    *once = (struct once){ .shared = mem_array(scenarios, sizeof *once->shared), .begun = mem_array(scenarios, sizeof *once->begun) };
}

void once_free(struct once *once, size_t scenarios)
{
    for (size_t i = 0; i < scenarios; i++)
        buf_free(&once->shared[i]);
    free(once->shared);
    free(once->begun);
    free(once->failure);
    free(once->notice);
}

/* Requests go aside. */
static void set_aside(struct vm *vm, struct aside_metrics *aside)
{
    for (size_t i = 0; i < vm->scenario_count; i++) {
        struct scenario_metrics *scenario = vm->scenarios[i].metrics;
        scenario->aside_before = aside ? NS_NEVER : INT64_MIN;
        scenario->aside = aside ? aside : &scenario->warm_up;
    }
}

static enum vu_outcome turn(struct vm *vm)
{
    struct strand *strand;
    enum vu_outcome outcome = VU_WAITS;
    loop_poll(vm->loop, !vm_busy(vm));
    vm_polled(vm);
    vm_reap(vm);
    while (outcome == VU_WAITS && (strand = vm_next(vm)))
        outcome = vu_resume(strand);
    pool_flush(vm->pool);
    return outcome;
}

/* Runs the phase of the scenario in a user of its own; VU_WAITS: it was interrupted. */
static enum vu_outcome run(struct vm *vm, size_t scenario, enum phase phase, const _Atomic int *interrupted)
{
    struct vu *vu = vu_new(vm, scenario, 0);
    enum vu_outcome outcome = VU_WAITS;
    vu_begin(vu, phase, clock_ns());
    while (outcome == VU_WAITS && !atomic_load_explicit(interrupted, memory_order_relaxed))
        outcome = turn(vm);
    if (outcome == VU_WAITS)
        vu_interrupt(vu);
    vu_free(vu);
    vm_reap(vm);
    pool_flush(vm->pool);
    return outcome;
}

/* Requests that have failed and not succeeded later under the same name, in words; NULL when there are none. */
static char *failed_requests(const struct scenario_metrics *scenario)
{
    struct buf text = { 0 };
    for (size_t i = 0; i < scenario->name_count; i++) {
        struct name_metrics *name = scenario->names[i];
        if (name->aside)
            buf_printf(&text, "%s%s: %s", text.length ? ", " : "a request failed: ", name->name, err_name(name->aside));
        name->aside = ERR_NONE;
    }
    return text.data;
}

static void fail(struct once *once, const struct vm_scenario *scenario, const char *text)
{
    once->scenario = scenario->plan->name;
    once->failure = mem_text(text, strlen(text));
}

static void judge(struct vm *vm, struct once *once, size_t index, enum vu_outcome outcome)
{
    const struct vm_scenario *scenario = &vm->scenarios[index];
    char *failed = failed_requests(scenario->metrics);
    if (outcome == VU_FAILED)
        fail(once, scenario, vm->failure ? vm->failure : "an error without a text");
    else if (outcome == VU_LEAVES)
        fail(once, scenario, "it called stop_user(), and there is no user");
    else if (outcome == VU_COMPLETED && failed)
        fail(once, scenario, failed);
    free(failed);
}

/* The first scenario with the same setup; `index` itself when there is none before it. */
static size_t first_with(struct vm *vm, size_t index, bool (*same)(struct vm *, size_t, size_t))
{
    for (size_t i = 0; i < index; i++)
        if (same(vm, i, index))
            return i;
    return index;
}

static bool set_up(struct vm *vm, struct once *once, size_t index, const _Atomic int *interrupted)
{
    size_t first = first_with(vm, index, vm_same_setup);
    once->begun[index] = true;
    if (first != index) {
        buf_append(&once->shared[index], once->shared[first].data, once->shared[first].length);
        return true;
    }
    enum vu_outcome outcome = run(vm, index, PHASE_SETUP, interrupted);
    judge(vm, once, index, outcome);
    if (outcome != VU_COMPLETED || once->scenario)
        return false;
    once->shared[index] = vm->shared;
    vm->shared = (struct buf){ 0 };
    return true;
}

void once_setup(struct vm *vm, struct once *once, const _Atomic int *interrupted)
{
    bool good = true;
    set_aside(vm, &vm->metrics->setup);
    for (size_t i = 0; i < vm->scenario_count; i++) {
        if (!vm_has_setup(vm, i))
            once->begun[i] = true;
        else if (good)
            good = set_up(vm, once, i, interrupted);
    }
    set_aside(vm, NULL);
}

/* Keeps what the teardown's fail() said. */
static void note(struct vm *vm, struct once *once, size_t index)
{
    struct buf text = { 0 };
    if (!vm->failure || once->notice)
        return;
    buf_printf(&text, "teardown of scenario \"%s\" failed: %s", vm->scenarios[index].plan->name, vm->failure);
    once->notice = mem_text(text.data, text.length);
    buf_free(&text);
}

void once_teardown(struct vm *vm, struct once *once, const _Atomic int *interrupted)
{
    set_aside(vm, &vm->metrics->teardown);
    for (size_t i = 0; i < vm->scenario_count; i++) {
        if (!vm_has_teardown(vm, i) || !once->begun[i] || first_with(vm, i, vm_same_teardown) != i)
            continue;
        vm_set_shared(vm, i, &once->shared[i]);
        free(vm->failure);
        vm->failure = NULL;
        if (run(vm, i, PHASE_TEARDOWN, interrupted) == VU_FAILED)
            note(vm, once, i);
    }
    set_aside(vm, NULL);
}

bool once_needed(const struct vm *vm)
{
    for (size_t i = 0; i < vm->scenario_count; i++)
        if (vm_has_setup(vm, i) || vm_has_teardown(vm, i))
            return true;
    return false;
}
