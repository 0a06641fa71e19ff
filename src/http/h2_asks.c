#include "http/h2_asks.h"

#include "http/h2_hpack.h"

enum { LONGEST = 2048 }; /* bytes of a block; longer ones are not remembered */

static bool is_own(const struct exchange *exchange)
{
    return exchange->lines_length || exchange->content;
}

const struct buf *h2_asks_recall(const struct h2_asks *asks, const struct exchange *exchange)
{
    if (is_own(exchange) || exchange->upload)
        return NULL;
    for (size_t i = 0; i < H2_ASKS; i++)
        if (asks->kept[i].request == exchange->request)
            return &asks->kept[i].block;
    return NULL;
}

static void forget(struct h2_ask *ask)
{
    if (ask->request)
        request_release(ask->request);
    ask->request = NULL;
}

static struct h2_ask *place_for(struct h2_asks *asks, const struct request *request)
{
    for (size_t i = 0; i < H2_ASKS; i++)
        if (asks->kept[i].request == request)
            return &asks->kept[i];
    asks->next = (asks->next + 1) % H2_ASKS;
    return &asks->kept[asks->next];
}

void h2_asks_sent(struct h2_asks *asks, const uint8_t *block, size_t length, const struct exchange *exchange)
{
    struct h2_effect effect = h2_effect_of(block, length);
    if (effect.adds || effect.resizes) {
        for (size_t i = 0; i < H2_ASKS; i++)
            if (asks->kept[i].depends)
                forget(&asks->kept[i]);
        return;
    }
    if (!exchange || is_own(exchange) || exchange->upload || length > LONGEST)
        return;
    struct h2_ask *ask = place_for(asks, exchange->request);
    forget(ask);
    ask->request = request_hold(exchange->request);
    ask->block.length = 0;
    buf_append(&ask->block, block, length);
    ask->depends = effect.depends;
}

void h2_asks_free(struct h2_asks *asks)
{
    for (size_t i = 0; i < H2_ASKS; i++) {
        forget(&asks->kept[i]);
        buf_free(&asks->kept[i].block);
    }
}
