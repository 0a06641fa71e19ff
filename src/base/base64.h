/* Base64 (RFC 4648, section 4): the standard alphabet, with padding, on one line. */
#ifndef LUABENCH_BASE_BASE64_H
#define LUABENCH_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends the encoding of `length` bytes. False, and nothing appended, when that would pass the maximum of `out`. */
bool base64_encode(struct buf *out, const void *data, size_t length);
/* Appends the bytes that `text` stands for. False, and nothing appended, when it is not the encoding of anything (white space, missing padding and
 * stray bits in the last character included), or when the bytes would pass the maximum of `out`. */
bool base64_decode(struct buf *out, const char *text, size_t length);

#endif
