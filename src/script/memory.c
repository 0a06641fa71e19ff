#include "script/memory.h"

#include <stdlib.h>

void *memory_allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    struct memory *memory = context;
    size_t after = memory->used - (block ? old_size : 0) + new_size;
    if (new_size == 0) {
        free(block);
        memory->used = after;
        return NULL;
    }
    if (memory->enforced && new_size > old_size && after > memory->limit)
        return NULL;
    void *moved = realloc(block, new_size);
    if (moved)
        memory->used = after;
    return moved;
}
