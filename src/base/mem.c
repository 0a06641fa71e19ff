#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_abort(void *memory, size_t size)
{
    if (!memory && size) {
        fprintf(stderr, "luabench: out of memory (%zu bytes asked for)\n", size);
        abort();
    }
    return memory;
}

void *mem_zero(size_t size)
{
    return or_abort(calloc(1, size), size);
}

void *mem_array(size_t count, size_t size)
{
    return or_abort(calloc(count, size), count * size);
}

void *mem_resize(void *memory, size_t size)
{
    return or_abort(realloc(memory, size), size);
}

char *mem_text(const char *text, size_t length)
{
    char *copy = or_abort(malloc(length + 1), length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
