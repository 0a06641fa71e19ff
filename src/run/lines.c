#include "run/lines.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

void lines_init(struct lines *lines)
{
    *lines = (struct lines){ .waiting = { .maximum = 1 << 20 } };
    pthread_mutex_init(&lines->lock, NULL);
}

void lines_free(struct lines *lines)
{
    pthread_mutex_destroy(&lines->lock);
    buf_free(&lines->waiting);
    for (size_t i = 0; i < lines->once_count; i++)
        free(lines->once[i]);
}

void lines_add(struct lines *lines, const char *text, size_t length)
{
    int64_t second = clock_ns() / NS_PER_SECOND;
    pthread_mutex_lock(&lines->lock);
    if (second != lines->second) {
        lines->second = second;
        lines->count = 0;
    }
    if (lines->count < LINES_A_SECOND && buf_reserve(&lines->waiting, length + 1)) {
        lines->count++;
        buf_append(&lines->waiting, text, strnlen(text, length));
        buf_append(&lines->waiting, "", 1);
    } else {
        lines->dropped++;
    }
    pthread_mutex_unlock(&lines->lock);
}

/* True the first time that it is asked for this text. */
static bool is_new(struct lines *lines, const char *text, size_t length)
{
    for (size_t i = 0; i < lines->once_count; i++)
        if (strlen(lines->once[i]) == length && !memcmp(lines->once[i], text, length))
            return false;
    if (lines->once_count == LINES_ONCE)
        return false;
    lines->once[lines->once_count++] = mem_text(text, length);
    return true;
}

void lines_add_once(struct lines *lines, const char *text, size_t length)
{
    pthread_mutex_lock(&lines->lock);
    bool new = is_new(lines, text, length);
    pthread_mutex_unlock(&lines->lock);
    if (new)
        lines_add(lines, text, length);
}

uint64_t lines_take(struct lines *lines, struct buf *out)
{
    pthread_mutex_lock(&lines->lock);
    buf_append(out, lines->waiting.data, lines->waiting.length);
    buf_clear(&lines->waiting, 0);
    uint64_t dropped = lines->dropped;
    lines->dropped = 0;
    pthread_mutex_unlock(&lines->lock);
    return dropped;
}
