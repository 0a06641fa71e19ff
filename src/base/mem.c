#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 3 };

/* Takes no memory itself. */
void mem_exhausted(size_t size)
{
    char text[120];
    int length = size ? snprintf(text, sizeof text, "luabench: not enough memory (%zu bytes more were asked for)\n", size)
                      : snprintf(text, sizeof text, "luabench: not enough memory\n");
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(EXIT_CANNOT_RUN);
    _exit(EXIT_CANNOT_RUN);
}

static void *or_end(void *memory, size_t size)
{
    if (!memory && size)
        mem_exhausted(size);
    return memory;
}

void *mem_zero(size_t size)
{
    return or_end(calloc(1, size), size);
}

void *mem_array(size_t count, size_t size)
{
    return or_end(calloc(count, size), count * size);
}

void *mem_resize(void *memory, size_t size)
{
    return or_end(realloc(memory, size), size);
}

char *mem_text(const char *text, size_t length)
{
    char *copy = or_end(malloc(length + 1), length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
