/* A limit on the memory of a Lua state: an allocator for lua_newstate that counts, and refuses while scripts run. What the core itself needs meanwhile is always given,
 * since Lua has nobody to tell there. */
#ifndef LUABENCH_SCRIPT_MEMORY_H
#define LUABENCH_SCRIPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory {
    size_t limit; /* bytes; 0: none, and Lua's own allocator is used */
    size_t used;
    bool enforced; /* a script is running */
    bool full;     /* its last slice wanted more than there is */
};

/* A lua_Alloc, with the struct memory as its context. */
void *memory_allocate(void *context, void *block, size_t old_size, size_t new_size);

#endif
