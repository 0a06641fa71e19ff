#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static bool fits(const struct buf *buf, size_t more)
{
    size_t needed = buf->length + more;
    return needed >= more && (!buf->maximum || needed <= buf->maximum);
}

static void grow(struct buf *buf, size_t needed)
{
    if (needed <= buf->capacity)
        return;
    size_t capacity = buf->capacity ? buf->capacity : 256;
    while (capacity < needed)
        capacity += capacity < needed / 2 ? needed / 2 : capacity;
    buf->data = mem_resize(buf->data, capacity);
    buf->capacity = capacity;
}

bool buf_reserve(struct buf *buf, size_t more)
{
    if (!fits(buf, more))
        return false;
    grow(buf, buf->length + more);
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
    bool whole = length >= 0 && fits(buf, (size_t)length);
    if (whole) {
        grow(buf, buf->length + (size_t)length + 1); /* the NUL is written, but is no part of the contents */
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
    return whole;
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
    if (buf->length)
        memmove(buf->data, buf->data + length, buf->length);
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->length = buf->capacity = 0;
}
