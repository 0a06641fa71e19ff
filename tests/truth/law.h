/* How long truthd takes for its n-th answer, and what the answer is: a pure function of the law, the seed, n and the time since the first request. Nothing here
 * reads a clock, so that the laws can be checked against their closed forms without waiting.
 *
 * Delays follow the golden-ratio sequence u(n) = frac((n + seed) / phi) through the inverse of the distribution: any 20,000 requests in a row have the law's quantiles
 * to a rank of 0.000125, whichever of them a tool discards. Service times of a queue are hashed and independent instead: evenly spread ones would not be M/M/1. */
#pragma once

#include <stdint.h>

enum law_kind { LAW_FIXED, LAW_TWO, LAW_EXP, LAW_QUEUE_EXP, LAW_QUEUE_DET, LAW_RAMP, LAW_MIX, LAW_TRICKLE };

enum outcome { OUTCOME_OK, OUTCOME_503, OUTCOME_HANG, OUTCOME_RESET, OUTCOME_GONE };

struct law {
    enum law_kind kind;
    double a, b, c; /* parameters in the order in which they are written, see law_parse() */
    uint64_t seed;
};

struct answer {
    int64_t delay; /* nanoseconds; of a queue: the service time */
    enum outcome outcome;
};

/* Reads one of, times in milliseconds
 *     null                 at once
 *     fixed:D              D
 *     two:A:B:P            B with the probability P, else A
 *     exp:M                exponential of mean M, independent of each other
 *     queue-exp:M          one server, first come first served, exponential service times of mean M
 *     queue-det:D          the same, all service times D
 *     ramp:A:B:T           from A at the first request to B at T after it, and B from then on
 *     mix                  93.5% good ones after 10; 3% status 503 after 0.2; 2% never; 1.5% a head at once and a TCP reset after 5
 *     trickle:K:GAP        K pieces, the first at once, then one every GAP
 * Returns 0, or -1 if the text is none of them. The seed stays what it is. */
int law_parse(struct law *law, const char *text);

/* Of the n-th request (from 0), read `since` nanoseconds after the first one. */
struct answer law_answer(const struct law *law, uint64_t n, int64_t since);

/* In [0, 1). */
double law_uniform(uint64_t n, uint64_t seed);
