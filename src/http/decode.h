/* Content codings of responses (RFC 9110 8.4): gzip, deflate, br and zstd are removed from bodies. Works on whole bodies, streaming what comes out, so that a small
 * body which would become a huge one is given up at the limit. */
#ifndef LUABENCH_HTTP_DECODE_H
#define LUABENCH_HTTP_DECODE_H

#include "http/exchange.h"

/* What decoding needs and keeps from one body to the next. Belongs to one thread. */
struct decoder;

/* Never fails. */
struct decoder *decoder_new(void);
void decoder_free(struct decoder *decoder);
/* Replaces the body of a whole response by what its Content-Encoding says it stands for, the last coding first. A coding that is not known ends that: the body stays
 * as it is from there on. Data that is wrong makes the exchange's error ERR_PROTOCOL, more than max_body bytes, in between too, ERR_TOO_LARGE; its text says why. */
void decoder_run(struct decoder *decoder, struct exchange *exchange);

#endif
