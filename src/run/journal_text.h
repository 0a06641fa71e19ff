/* Writing numbers and texts into a buffer that has room, fast: a line a request is written 50,000 times a second. Each returns where to go on. */
#ifndef LUABENCH_RUN_JOURNAL_TEXT_H
#define LUABENCH_RUN_JOURNAL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PUT(at, literal) put_bytes(at, literal, sizeof(literal) - 1)

static inline char *put_bytes(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

/* 00 to 99 (two digits at a time: half the divisions). */
extern const char journal_pairs[200];

static inline char *put_pair(char *at, uint32_t value)
{
    return put_bytes(at, &journal_pairs[value * 2], 2);
}

/* `value` below 10^4 in four digits. */
static inline char *put_four(char *at, uint32_t value)
{
    return put_pair(put_pair(at, value / 100), value % 100);
}

/* `value` below 10^6 in six digits, below 10^9 in nine. */
static inline char *put_six(char *at, uint32_t value)
{
    return put_four(put_pair(at, value / 10000), value % 10000);
}

static inline char *put_nine(char *at, uint32_t value)
{
    *at++ = (char)('0' + value / 100000000);
    value %= 100000000;
    return put_four(put_four(at, value / 10000), value % 10000);
}

static inline char *put_count(char *at, uint64_t value)
{
    char digits[20], *first = digits + sizeof digits;
    while (value >= 100) {
        first -= 2;
        put_pair(first, (uint32_t)(value % 100));
        value /= 100;
    }
    if (value >= 10) {
        first -= 2;
        put_pair(first, (uint32_t)value);
    } else {
        *--first = (char)('0' + value);
    }
    return put_bytes(at, first, (size_t)(digits + sizeof digits - first));
}

/* ns as seconds with nine digits behind the point. */
static inline char *put_seconds(char *at, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0, whole = 0;
    if (value >= UINT64_C(1000000000)) { /* few are */
        whole = value / 1000000000;
        value %= 1000000000;
    }
    at = put_count(at, whole);
    *at++ = '.';
    return put_nine(at, (uint32_t)value);
}

#endif
