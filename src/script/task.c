#include "script/task.h"

#include <lua.h>
#include <stdlib.h>

#include "base/mem.h"
#include "script/api.h"

enum { SPARE_TASKS = 256, ROOM = 8 };

/* Making and releasing: a task that returned leaves its coroutine for the next one. */

static struct task *take_spare(struct vu *vu)
{
    struct link *link = list_shift(&vu->vm->spare_tasks);
    if (!link)
        return NULL;
    struct task *task = container_of(link, struct task, all);
    vu->vm->spare_task_count--;
    task->strand.vu = vu;
    task->heeded = false;
    return task;
}

static struct task *make(struct vu *vu)
{
    struct task *task = mem_zero(sizeof *task);
    strand_open(&task->strand, vu);
    task->strand.is_task = true;
    link_init(&task->all);
    link_init(&task->waiters);
    return task;
}

struct task *task_new(struct vu *vu, lua_State *L, int first)
{
    struct task *task = take_spare(vu);
    if (!task)
        task = make(vu);
    int count = lua_gettop(L) - first + 1;
    lua_checkstack(task->strand.co, count + ROOM);
    lua_xmove(L, task->strand.co, count);
    task->strand.given = (int16_t)(count - 1);
    task->state = TASK_RUNS;
    task->of_user = vu->phase == PHASE_START;
    if (!vu->tasks) {
        vu->tasks = mem_zero(sizeof *vu->tasks);
        link_init(vu->tasks);
    }
    list_append(vu->tasks, &task->all);
    strand_ready(&task->strand);
    return task;
}

static void release(struct task *task)
{
    struct vm *vm = task->strand.vu->vm;
    if (task->handle)
        *task->handle = NULL;
    task->handle = NULL;
    list_remove(&task->all);
    if (task->state == TASK_RETURNED && vm->spare_task_count < SPARE_TASKS) {
        lua_settop(task->strand.co, 0);
        api_call_settle_all(&task->strand);
        list_append(&vm->spare_tasks, &task->all);
        vm->spare_task_count++;
        return;
    }
    strand_close(&task->strand);
    free(task);
}

void task_free_spare(struct vm *vm)
{
    struct link *link;
    while ((link = list_shift(&vm->spare_tasks))) {
        struct task *task = container_of(link, struct task, all);
        timers_remove(&vm->loop->timers, &task->strand.timer);
        free(task);
    }
}

/* Waiting */

int task_push_outcome(struct task *task, lua_State *L)
{
    lua_State *co = task->strand.co;
    bool returned = task->state == TASK_RETURNED;
    int count = returned ? lua_gettop(co) : 1, first = lua_gettop(co) - count + 1;
    lua_checkstack(L, count + ROOM);
    lua_checkstack(co, count + ROOM);
    lua_pushboolean(L, returned);
    for (int i = 0; i < count; i++)
        lua_pushvalue(co, first + i);
    lua_xmove(co, L, count);
    task->heeded = true;
    return count + 1;
}

static int push_nothing(lua_State *L, const char *why)
{
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
}

/* The strand, which waited for a task, goes on; `given` values are on its stack. */
static void wake(struct strand *strand, int given)
{
    list_remove(&strand->link);
    timers_clear(&strand->timer);
    strand->awaited = NULL;
    strand->given = (int16_t)given;
    strand_ready(strand);
}

void task_timed_out(struct strand *strand)
{
    wake(strand, push_nothing(strand->co, "timeout"));
}

static void wake_waiters(struct task *task, bool cancelled)
{
    while (!list_empty(&task->waiters)) {
        struct strand *strand = container_of(task->waiters.next, struct strand, link);
        wake(strand, cancelled ? push_nothing(strand->co, "cancelled") : task_push_outcome(task, strand->co));
    }
}

/* Ending */

static enum vu_outcome stopped(enum ending ending, struct vm *vm, lua_State *co)
{
    if (ending == ENDING_STOP_USER)
        return VU_LEAVES;
    vm_stop(vm, lua_tostring(co, -1));
    return VU_STOPS_RUN;
}

enum vu_outcome task_ran(struct task *task, enum strand_outcome outcome)
{
    lua_State *co = task->strand.co;
    enum ending ending;
    if (outcome == STRAND_WAITS)
        return VU_WAITS;
    api_group_cut_all(&task->strand);
    task->state = outcome == STRAND_RETURNED ? TASK_RETURNED : TASK_FAILED;
    if (outcome == STRAND_DIED) {
        lua_pushvalue(co, -1);
        if (vu_ending(co, &ending) && ending != ENDING_FAIL)
            return stopped(ending, task->strand.vu->vm, co);
        lua_pop(co, 1);
    }
    wake_waiters(task, false);
    if (!task->handle && task->state == TASK_RETURNED)
        release(task);
    return VU_WAITS;
}

void task_cancel(struct task *task)
{
    strand_abandon(&task->strand);
    wake_waiters(task, true);
    release(task);
}

void task_forget(struct task *task)
{
    task->handle = NULL;
    if (task->state == TASK_RETURNED || task->heeded)
        release(task);
}

/* Counts an error that nobody has waited for; false when there is one. */
static bool check_heeded(struct task *task)
{
    if (task->state != TASK_FAILED || task->heeded)
        return true;
    vu_count_error(&task->strand);
    task->heeded = true;
    return false;
}

bool task_end_all(struct vu *vu, bool all)
{
    bool good = true;
    struct link *next;
    for (struct link *link = vu->tasks ? vu->tasks->next : NULL; link && link != vu->tasks; link = next) {
        struct task *task = container_of(link, struct task, all);
        next = link->next;
        good = check_heeded(task) && good;
        if (task->of_user && !all)
            continue;
        if (task->state == TASK_RUNS)
            task_cancel(task);
        else
            release(task);
    }
    return good;
}

void task_abandon_all(struct vu *vu)
{
    for (struct link *link = vu->tasks ? vu->tasks->next : NULL; link && link != vu->tasks; link = link->next)
        strand_abandon(&container_of(link, struct task, all)->strand);
}
