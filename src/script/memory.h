/* A limit on the memory of a Lua state: an allocator before Lua's own that counts, and refuses while scripts run. What the core itself needs meanwhile is always given,
 * since Lua has nobody to tell there. */
#ifndef LUABENCH_SCRIPT_MEMORY_H
#define LUABENCH_SCRIPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct lua_State;

struct memory {
    size_t limit; /* bytes; 0: none, and Lua's own allocator is used */
    size_t used;
    bool enforced; /* a script is running */
    bool full;     /* its last slice wanted more than there is */
    void *(*next)(void *, void *, size_t, size_t); /* Lua's own allocator, with its context */
    void *context;
};

/* From here on the state's memory is counted; from memory_uncount on, which must come before lua_close, no longer. */
void memory_count(struct memory *memory, struct lua_State *L);
void memory_uncount(struct memory *memory, struct lua_State *L);
/* A lua_Alloc, with the struct memory as its context. */
void *memory_allocate(void *context, void *block, size_t old_size, size_t new_size);

#endif
