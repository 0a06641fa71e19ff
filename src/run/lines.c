#include "run/lines.h"

#include "base/clock.h"

void lines_init(struct lines *lines)
{
    *lines = (struct lines){ .waiting = { .maximum = 1 << 20 } };
    pthread_mutex_init(&lines->lock, NULL);
}

void lines_free(struct lines *lines)
{
    pthread_mutex_destroy(&lines->lock);
    buf_free(&lines->waiting);
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
