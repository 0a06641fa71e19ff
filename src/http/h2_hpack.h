/* What a block of compressed header fields (HPACK, RFC 7541) does to the dynamic table, without decoding it. */
#ifndef LUABENCH_HTTP_H2_HPACK_H
#define LUABENCH_HTTP_H2_HPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct h2_effect {
    bool depends; /* it refers to the table */
    bool resizes; /* it changes the table's size, or is not well-formed */
    size_t adds;  /* bytes that it adds at least */
};

struct h2_effect h2_effect_of(const uint8_t *block, size_t length);

#endif
