/* Allocation that cannot fail: a load generator that is out of memory has nothing left to measure, so it says so on standard error and ends with status 3 (the run could not be
 * carried through). Every function of the program allocates through these. */
#ifndef LUABENCH_BASE_MEM_H
#define LUABENCH_BASE_MEM_H

#include <stddef.h>

/* Ends the program for want of memory; `size` bytes were asked for, 0: not known. */
__attribute__((noreturn)) void mem_exhausted(size_t size);
/* Zeroed memory of `size` bytes. Released with free(). */
void *mem_zero(size_t size);
/* Zeroed memory for `count` objects of `size` bytes. Released with free(). */
void *mem_array(size_t count, size_t size);
/* realloc() that ends the program on failure; the bytes added are not initialised. */
void *mem_resize(void *memory, size_t size);
/* A copy of `length` bytes of `text`, NUL-terminated. Released with free(). */
char *mem_text(const char *text, size_t length);

/* The struct of `type` whose field `member` is at `pointer`. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
