/* Requests that somebody has written out: where one ends and the next begins. What is sent is the text itself; this only tells how many answers to expect, and to
 * which method. Lines may end with a bare LF. */
#ifndef LUABENCH_HTTP_RAW_H
#define LUABENCH_HTTP_RAW_H

#include <stdbool.h>
#include <stddef.h>

struct raw_request {
    size_t length; /* of all of it */
    const char *method, *path, *lines, *body; /* in the text; lines: the header lines, the last one's end included; body: up to `length` */
    size_t method_length, path_length, lines_length;
    bool head;       /* the method is HEAD */
    const char *why; /* what is wrong, in words */
    const char *at;  /* and where */
};

/* The request at the beginning of the text; false: there is none, or it is not whole. */
bool raw_next(struct raw_request *request, const char *text, size_t length);

#endif
