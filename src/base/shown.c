#include "base/shown.h"

#include <stddef.h>
#include <stdio.h>

enum { LONGEST = 4 }; /* of what stands for a byte */

const char *shown(const char *text, char out[SHOWN_SIZE])
{
    size_t at = 0;
    for (; *text && at + LONGEST < SHOWN_SIZE; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte >= 0x20 && byte < 0x7f)
            out[at++] = *text;
        else
            at += (size_t)snprintf(out + at, LONGEST + 1, "\\x%02x", byte);
    }
    out[at] = '\0';
    return out;
}
