/* The writing half of h1_server: an answer as bytes of HTTP/1.1. Small answers are copied behind each other, so that those of one turn leave in one write; large
 * contents are pointed at, however long, with their framing computed from the position alone. */
#ifndef LUABENCH_HTTP_H1_ANSWER_H
#define LUABENCH_HTTP_H1_ANSWER_H

#include <sys/uio.h>

#include "http/incoming.h"

struct h1_answer {
    struct buf out;       /* heads and small contents */
    size_t written;       /* of `out` */
    struct content content;
    size_t piece;         /* content per chunk; 0: not chunked */
    char line[24];        /* chunked: "\r\n1000\r\n", what stands before the content of each chunk */
    size_t line_length;
    uint64_t position, end; /* in the content as it is sent, framing included */
};

/* Appends `text` to what is written next, outside of any answer ("HTTP/1.1 100 Continue\r\n\r\n"). */
void h1_answer_interim(struct h1_answer *writer, const char *text);
/* Renders the answer of `incoming`, whose keep_alive it takes from it. Only when h1_answer_done. */
void h1_answer_begin(struct h1_answer *writer, const struct incoming *incoming);
/* Everything of the last answer but `out` is written. */
static inline bool h1_answer_done(const struct h1_answer *writer)
{
    return writer->position == writer->end;
}
/* Fills at most `limit` vectors with what is to be written next; returns how many. */
int h1_answer_vectors(struct h1_answer *writer, struct iovec *vectors, int limit);
/* `length` bytes of the vectors were written. */
void h1_answer_wrote(struct h1_answer *writer, size_t length);
void h1_answer_free(struct h1_answer *writer);

#endif
