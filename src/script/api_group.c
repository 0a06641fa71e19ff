/* core.group_begin, core.group_end: the timing of group(). Open groups are frames on a list of their strand, the innermost first; a frame is known to Lua by its number
 * alone, since a coroutine of the script's own may outlive it. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "script/api.h"

struct group_frame {
    struct group_frame *outer;
    struct group_metrics *metrics;
    uint64_t number;
    int64_t began;         /* ns */
    int64_t asleep;        /* ns that the strand has slept in it; while it sleeps, less the time when that began */
    bool counts;           /* false: in a warm-up, in setup or teardown */
};

static struct group_frame *new_frame(struct vm *vm)
{
    struct group_frame *frame = vm->spare_frames;
    if (!frame)
        return mem_zero(sizeof *frame);
    vm->spare_frames = frame->outer;
    return frame;
}

static void drop_frame(struct vm *vm, struct group_frame *frame)
{
    frame->outer = vm->spare_frames;
    vm->spare_frames = frame;
}

void api_group_free(struct vm *vm)
{
    struct group_frame *frame;
    while ((frame = vm->spare_frames)) {
        vm->spare_frames = frame->outer;
        free(frame);
    }
}

/* The figures of the group in the one that is open: `outer/name`. */
static struct group_metrics *find_group(const struct strand *strand, const char *name, size_t length)
{
    const struct vu *vu = strand->vu;
    const char *around = api_group_around(strand);
    if (!around)
        return metrics_group(vu->vm->metrics, vu->scenario->index, name, length);
    struct buf path = { 0 };
    buf_printf(&path, "%s/", around);
    buf_append(&path, name, length);
    struct group_metrics *found = metrics_group(vu->vm->metrics, vu->scenario->index, path.data, path.length);
    buf_free(&path);
    return found;
}

/* group_begin(name) -> its number. */
static int group_begin(lua_State *L)
{
    size_t length;
    const char *name = luaL_checklstring(L, 1, &length);
    struct strand *strand = strand_running(L);
    luaL_argcheck(L, strand, 1, "no user runs");
    struct vm *vm = strand->vu->vm;
    struct group_metrics *metrics = find_group(strand, name, length);
    struct group_frame *frame = new_frame(vm);
    *frame = (struct group_frame){ .outer = strand->groups, .metrics = metrics, .number = ++vm->group_count, .began = clock_ns() };
    frame->counts = !scenario_is_aside(strand->vu->scenario->metrics, vu_dated(strand->vu, frame->began));
    strand->groups = frame;
    lua_pushnumber(L, (lua_Number)frame->number);
    return 1;
}

/* group_end(number, good): records its time, or that it was cut; one that its iteration has not survived is known as cut already. */
static int group_end(lua_State *L)
{
    uint64_t number = (uint64_t)luaL_checknumber(L, 1);
    struct strand *strand = strand_running(L);
    luaL_argcheck(L, strand, 1, "no user runs");
    struct group_frame **at = &strand->groups;
    while (*at && (*at)->number != number)
        at = &(*at)->outer;
    struct group_frame *frame = *at;
    if (!frame)
        return 0;
    *at = frame->outer;
    if (frame->outer)
        frame->outer->asleep += frame->asleep;
    if (frame->counts && lua_toboolean(L, 2))
        hist_record(&frame->metrics->duration, clock_ns() - frame->began - frame->asleep);
    else if (frame->counts)
        frame->metrics->cut++;
    drop_frame(strand->vu->vm, frame);
    return 0;
}

const char *api_group_around(const struct strand *strand)
{
    return strand->groups ? strand->groups->metrics->name : strand->spawned_in;
}

void api_group_slept(struct strand *strand, int64_t ns)
{
    if (strand->groups)
        strand->groups->asleep += ns;
}

void api_group_cut_all(struct strand *strand)
{
    struct group_frame *frame;
    while ((frame = strand->groups)) {
        strand->groups = frame->outer;
        frame->metrics->cut += frame->counts;
        drop_frame(strand->vu->vm, frame);
    }
}

void api_group_open(lua_State *L)
{
    static const luaL_Reg functions[] = { { "group_begin", group_begin }, { "group_end", group_end }, { NULL, NULL } };
    api_register(L, functions);
}
