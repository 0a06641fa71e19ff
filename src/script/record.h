/* What becomes of a request in the figures: which answers are accepted, and what each adds to its name. Sources of the terms: docs/core.md. */
#ifndef LUABENCH_SCRIPT_RECORD_H
#define LUABENCH_SCRIPT_RECORD_H

#include "http/exchange.h"
#include "metrics/metrics.h"

/* The statuses that a request accepts: request->accept, from "200", "2xx" and the like, separated by blanks (checked in Lua). Released with free(). */
void *accept_new(const char *text);

/* What the exchange, which has finished, counts as: its error, or ERR_STATUS, or ERR_NONE. */
enum err record_verdict(const struct exchange *exchange);
/* Adds the finished exchange to the figures of its request's name, as `verdict`: what record_verdict said, or ERR_UNEXPECTED with its `text` (NULL: the exchange's). */
void record_exchange(struct metrics *metrics, const struct exchange *exchange, enum err verdict, const char *text);

/* For record_exchange: puts it into metrics->journal. */
void record_journal(struct metrics *metrics, const struct exchange *exchange, enum err verdict);

/* What a whole response counts as that was not the last of its call, but a step on the way. */
enum step { STEP_REDIRECTED, STEP_RETRIED };
/* Adds a finished exchange that was followed by another one of the same call. */
void record_step(const struct metrics *metrics, const struct exchange *exchange, enum step step);

#endif
