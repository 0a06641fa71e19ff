/* The head of a request as HTTP/2 wants it (RFC 9113 8.2, 8.3): a list of fields with lower-case names, the first of which stand for the request line and Host. Made
 * once for each struct request and kept by it. */
#ifndef LUABENCH_HTTP_H2_REQUEST_H
#define LUABENCH_HTTP_H2_REQUEST_H

#include "base/buf.h"
#include "http/exchange.h"

/* The fields of the exchange's head: *count of nghttp2_nv, for nghttp2 to copy before the next call. What `scratch` held is overwritten. */
const void *h2_request_fields(const struct exchange *exchange, struct buf *scratch, size_t *count);

#endif
