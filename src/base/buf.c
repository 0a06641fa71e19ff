#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

bool buf_reserve(struct buf *buf, size_t more)
{
    size_t needed = buf->length + more;
    if (needed < more || (buf->maximum && needed > buf->maximum))
        return false;
    if (needed <= buf->capacity)
        return true;
    size_t capacity = buf->capacity ? buf->capacity : 256;
    while (capacity < needed)
        capacity += capacity < needed / 2 ? needed / 2 : capacity;
    buf->data = mem_resize(buf->data, capacity);
    buf->capacity = capacity;
    return true;
}

bool buf_append(struct buf *buf, const void *data, size_t length)
{
    if (!length)
        return true;
    if (!buf_reserve(buf, length))
        return false;
    memcpy(buf->data + buf->length, data, length);
    buf->length += length;
    return true;
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    bool fits = length >= 0 && buf_reserve(buf, (size_t)length + 1);
    if (fits) {
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
    return fits;
}

void buf_clear(struct buf *buf, size_t keep)
{
    buf->length = 0;
    if (buf->capacity > keep)
        buf_free(buf);
}

void buf_consume(struct buf *buf, size_t length)
{
    buf->length -= length;
    memmove(buf->data, buf->data + length, buf->length);
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->length = buf->capacity = 0;
}
