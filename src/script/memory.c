#include "script/memory.h"

#include <lua.h>

void memory_count(struct memory *memory, lua_State *L)
{
    memory->next = lua_getallocf(L, &memory->context);
    memory->used = (size_t)lua_gc(L, LUA_GCCOUNT, 0) << 10;
    lua_setallocf(L, memory_allocate, memory);
}

void memory_uncount(struct memory *memory, lua_State *L)
{
    if (memory->next)
        lua_setallocf(L, memory->next, memory->context);
}

void *memory_allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    struct memory *memory = context;
    size_t after = memory->used - (block ? old_size : 0) + new_size;
    if (memory->enforced && new_size > old_size && after > memory->limit)
        return NULL;
    void *moved = memory->next(memory->context, block, old_size, new_size);
    if (moved || !new_size)
        memory->used = after;
    return moved;
}
