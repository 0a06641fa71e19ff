/* Allocation that cannot fail: a load generator that is out of memory has nothing left to say, so it
 * names the size on standard error and aborts. Every function of the program allocates through these. */
#ifndef LUABENCH_BASE_MEM_H
#define LUABENCH_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory of `size` bytes. Released with free(). */
void *mem_zero(size_t size);
/* Zeroed memory for `count` objects of `size` bytes. Released with free(). */
void *mem_array(size_t count, size_t size);
/* realloc() that aborts on failure; the bytes added are not initialised. */
void *mem_resize(void *memory, size_t size);
/* A copy of `length` bytes of `text`, NUL-terminated. Released with free(). */
char *mem_text(const char *text, size_t length);

/* The struct of `type` whose field `member` is at `pointer`. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
