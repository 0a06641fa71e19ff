/* How the client writes a request of HTTP/1.1: the prepared bytes, the lines of this exchange, what the body needs to be framed, the body. */
#ifndef LUABENCH_HTTP_H1_REQUEST_H
#define LUABENCH_HTTP_H1_REQUEST_H

#include <sys/uio.h>

#include "http/exchange.h"

enum { H1_REQUEST_VECTORS = 4 }; /* what a request without an upload takes at most */

/* Nothing of it is written: sets length, written and tail. True when the connection ends with it, because it says Connection: close. */
bool h1_request_begin(struct exchange *exchange);
/* Fills at most `room` vectors, H1_REQUEST_VECTORS or more, with what of it is not written; returns how many. Of an upload that may be less than there is: *more. The
 * upload says when it could not be read. */
int h1_request_vectors(const struct exchange *exchange, struct iovec *vectors, int room, bool *more);

#endif
