#include "http/h2_hpack.h"

enum {
    LAST_STATIC = 61, /* entry of the static table */
    ENTRY = 32,       /* bytes of an entry of the dynamic table beside name and value */
};

/* An integer with a prefix of `bits` (RFC 7541 5.1) at *at, which is moved behind it. False: it does not end, or is too large to matter. */
static bool read_integer(const uint8_t **at, const uint8_t *end, int bits, size_t *number)
{
    size_t mask = ((size_t)1 << bits) - 1;
    if (*at == end)
        return false;
    *number = *(*at)++ & mask;
    if (*number < mask)
        return true;
    for (int shift = 0; shift <= 21 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *number += (size_t)(byte & 127) << shift;
        if (!(byte & 128))
            return true;
    }
    return false;
}

static bool skip_string(const uint8_t **at, const uint8_t *end)
{
    size_t length;
    if (!read_integer(at, end, 7, &length) || length > (size_t)(end - *at))
        return false;
    *at += length;
    return true;
}

/* One field (RFC 7541 6); false: it is none, or changes the size of the table. */
static bool read_field(const uint8_t **at, const uint8_t *end, struct h2_effect *effect)
{
    uint8_t kind = **at;
    size_t index;
    bool indexed = kind & 0x80, added = (kind & 0xc0) == 0x40;
    if (!indexed && !added && kind & 0x20)
        return false;
    if (!read_integer(at, end, indexed ? 7 : added ? 6 : 4, &index))
        return false;
    effect->depends = effect->depends || index > LAST_STATIC;
    effect->adds += added ? ENTRY : 0;
    if (indexed)
        return index > 0;
    return (index || skip_string(at, end)) && skip_string(at, end);
}

struct h2_effect h2_effect_of(const uint8_t *block, size_t length)
{
    const uint8_t *end = block + length;
    struct h2_effect effect = { .adds = 0 };
    while (block < end && !effect.resizes)
        effect.resizes = !read_field(&block, end, &effect);
    return effect;
}
