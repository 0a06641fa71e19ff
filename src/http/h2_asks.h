/* Heads of requests that are sent again and again are not encoded again and again. The counterpart of h2_heads.h: nghttp2 is given the method alone, and when its
 * HEADERS frame comes out, the block that the request had before is sent in its place. Only blocks that do not change HPACK's dynamic table are remembered, and those
 * that refer to it as long as it stays the same. */
#ifndef LUABENCH_HTTP_H2_ASKS_H
#define LUABENCH_HTTP_H2_ASKS_H

#include "base/buf.h"
#include "http/exchange.h"

enum { H2_ASKS = 2 }; /* requests that a connection remembers */

struct h2_ask {
    struct request *request; /* held; NULL: unused */
    struct buf block;
    bool depends; /* it refers to the dynamic table */
};

/* Zeroed, it knows none. */
struct h2_asks {
    struct h2_ask kept[H2_ASKS];
    unsigned next; /* which is replaced next */
};

/* The block of the exchange's head, or NULL. */
const struct buf *h2_asks_recall(const struct h2_asks *asks, const struct exchange *exchange);
/* This block was sent; unless NULL, it was the whole head of this exchange, which is to be remembered. */
void h2_asks_sent(struct h2_asks *asks, const uint8_t *block, size_t length, const struct exchange *exchange);
void h2_asks_free(struct h2_asks *asks);

#endif
