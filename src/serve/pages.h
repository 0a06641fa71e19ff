/* What each path of the built-in target answers, and how often each was asked. Knows requests and answers, no connection and no version of HTTP. */
#ifndef LUABENCH_SERVE_PAGES_H
#define LUABENCH_SERVE_PAGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/incoming.h"

enum { PAGES_MAX = 24 };

/* What is done beside an answer, or in place of one, for the tests of clients. */
enum fault_kind {
    FAULT_NONE,
    FAULT_RESET,   /* of the stream, with the code `number`; over HTTP/1.1 of the connection */
    FAULT_CLOSE,   /* of the connection, behind what the answer has */
    FAULT_GOAWAY,  /* this is the last request of the connection; with the code `number` */
    FAULT_STREAMS, /* `number` is the most streams that the connection may have from now on */
    FAULT_WINDOW,  /* `number` is the window of each stream from now on */
};

struct fault {
    enum fault_kind kind;
    uint32_t number;
    int64_t lasts; /* ns until a limit is again what it was; 0: for ever */
};

/* Answers given by one thread, by page. Written by that thread alone, read by all. */
struct tally {
    _Alignas(64) _Atomic uint64_t answered[PAGES_MAX];
};

struct pages {
    struct tally *tallies; /* of all threads */
    int index, count;      /* this thread's, and how many there are */
    const atomic_bool *stopping; /* a long computation gives up when it becomes true */
};

/* Of the request only the head has been read: says whether its body is wanted, and how much of it; max_body 0: it is to be refused. */
void pages_prepare(struct incoming *incoming);
/* Fills the answer of a whole request, or, when it leaves the status at 0, the fault that takes its place. */
void pages_answer(struct pages *pages, struct incoming *incoming, struct fault *fault);
/* Fills the rest of the answer to a request that the codec refused. */
void pages_refuse(struct incoming *incoming);
/* Counts the answer, which is about to be sent. */
void pages_count(struct pages *pages, const struct incoming *incoming);

#endif
