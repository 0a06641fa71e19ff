/* What each path of the built-in target answers, and how often each was asked. Knows requests and answers, no connection and no version of HTTP. */
#ifndef LUABENCH_SERVE_PAGES_H
#define LUABENCH_SERVE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/incoming.h"

enum { PAGES_MAX = 16 };

/* Answers given by one thread, by page. Written by that thread alone, read by all. */
struct tally {
    _Alignas(64) _Atomic uint64_t answered[PAGES_MAX];
};

struct pages {
    struct tally *tallies; /* of all threads */
    int index, count;      /* this thread's, and how many there are */
    const atomic_bool *stopping; /* a long computation gives up when it becomes true */
};

/* Whether the body of the request, of which only the head has been read, is wanted. */
bool pages_want_body(const struct incoming *incoming);
/* Fills the answer of a whole request. */
void pages_answer(struct pages *pages, struct incoming *incoming);
/* Fills the rest of the answer to a request that the codec refused. */
void pages_refuse(struct incoming *incoming);
/* Counts the answer, which is about to be sent. */
void pages_count(struct pages *pages, const struct incoming *incoming);

#endif
