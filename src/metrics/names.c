#include "metrics/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char cut_mark[] = "...";

void names_init(struct names *names, size_t limit)
{
    *names = (struct names){ .limit = limit, .slot_count = 2 };
    while (names->slot_count < 2 * (limit + 1))
        names->slot_count *= 2;
    names->texts = mem_array(limit + 1, sizeof *names->texts);
    names->slots = mem_array(names->slot_count, sizeof *names->slots);
}

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->slots);
    *names = (struct names){ 0 };
}

/* FNV-1a, 32 bits. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static bool is_same(const char *known, const char *text, size_t length)
{
    return !strncmp(known, text, length) && !known[length];
}

/* The slot of the name, or the empty one where it belongs; there always is one, since the table is at most half full. */
static uint16_t *find_slot(const struct names *names, const char *text, size_t length)
{
    size_t at = hash_of(text, length) & (names->slot_count - 1);
    while (names->slots[at] && !is_same(names->texts[names->slots[at] - 1], text, length))
        at = (at + 1) & (names->slot_count - 1);
    return &names->slots[at];
}

/* The length of the part of a text that may be cut: its first line. Tags, which follow, are bounded where they are read. */
static size_t first_line(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    return end ? (size_t)(end - text) : length;
}

/* A copy of a text whose first line, of `line` bytes, is cut, at the beginning of a character of UTF-8. */
static char *cut(const char *text, size_t line, size_t *length)
{
    size_t mark = strlen(cut_mark), kept = NAMES_LONGEST - mark, rest = *length - line;
    while (kept > NAMES_LONGEST - mark - 4 && (text[kept] & 0xc0) == 0x80)
        kept--;
    char *copy = mem_zero(kept + mark + rest + 1);
    memcpy(copy, text, kept);
    memcpy(copy + kept, cut_mark, mark);
    memcpy(copy + kept + mark, text + line, rest);
    *length = kept + mark + rest;
    return copy;
}

size_t names_index(struct names *names, const char *text, size_t length)
{
    length = strnlen(text, length);
    size_t line = first_line(text, length);
    if (line > NAMES_LONGEST) {
        char *shorter = cut(text, line, &length);
        size_t index = names_index(names, shorter, length);
        free(shorter);
        return index;
    }
    uint16_t *slot = find_slot(names, text, length);
    if (!*slot && names->count >= names->limit) {
        text = NAMES_OTHER;
        length = strlen(NAMES_OTHER);
        slot = find_slot(names, text, length);
    }
    if (!*slot) {
        names->texts[names->count++] = mem_text(text, length);
        *slot = (uint16_t)names->count;
    }
    return *slot - 1U;
}
