/* The chunked transfer coding (RFC 9112 7.1), taken apart. Sizes in any case and with leading zeros, extensions and trailer fields are taken; these two are
 * skipped. Knows no buffer: it hands out pieces of what it is given. */
#ifndef LUABENCH_HTTP_CHUNKED_H
#define LUABENCH_HTTP_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, but for `lenient`, it expects the first chunk. */
struct chunked {
    uint64_t left;     /* bytes of the present chunk */
    const char *wrong; /* what is wrong, in words; NULL: nothing */
    uint8_t state;
    bool lenient;      /* lines may end with LF alone */
};

/* Takes bytes as far as a piece of the body, the end or something wrong; returns how many. *body_length bytes at *body are of the body; 0: none yet. */
size_t chunked_take(struct chunked *chunked, const char *data, size_t length, const char **body, size_t *body_length);
/* The body and its trailer fields are complete; nothing more is taken. */
bool chunked_done(const struct chunked *chunked);

#endif
