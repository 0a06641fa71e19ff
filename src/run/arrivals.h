/* The arrivals of an open scenario, in order, as a pure function of plan, seed and share. Arrival k of the whole (from 0) belongs to the share k mod count: the union
 * over threads is exact, whatever their number. With r(t) the rate and L(t) its area (run/shape.h):
 *
 * - constant: arrival k is due when L = k + 1/2, so that none lies on a boundary and L(D) is rounded to the count;
 * - poisson: when L = E_0 + ... + E_k, the E exponential with mean 1; every share draws the whole sequence and keeps its own;
 * - poisson_exact: exactly n = round(L(D)) arrivals at the order statistics of n uniform numbers, whose gaps are those of a Poisson process given its count. They are
 *   drawn one after another, -log(1 - U_(k)) being the sum of E_j / (n - j) for j <= k (Rényi 1953), so that nothing need be summed beforehand.
 *
 * The warm-up counts for itself: a number of iterations is that of those due after it, and poisson_exact is exact in it and after it. */
#ifndef LUABENCH_RUN_ARRIVALS_H
#define LUABENCH_RUN_ARRIVALS_H

#include "base/rng.h"
#include "run/schedule.h"
#include "run/shape.h"

struct arrival {
    int64_t due;       /* ns after the scenario's start */
    uint64_t sequence; /* of the whole, from 1 */
};

struct arrivals {
    struct shape shape;
    struct share share;
    enum arrivals_kind kind;
    struct rng rng;
    double warm_area;    /* L at the end of the warm-up */
    uint64_t iterations; /* NO_LIMIT: none */
    uint64_t next;       /* the next arrival of the whole, from 0 */
    uint64_t first_warm; /* the first one after the warm-up; NO_LIMIT: not reached */
    uint64_t end;        /* constant: no arrival from this one on */
    double sum;          /* poisson: of exponentials; poisson_exact: of E_j / (n - j) */
    struct window {      /* poisson_exact: the part that is being drawn */
        double from, to; /* areas */
        uint64_t count, drawn;
        bool last;
    } window;
};

/* `scenario` is its index in the script: part of the name of the random stream. */
void arrivals_init(struct arrivals *arrivals, const struct scenario_plan *plan, struct share share, uint64_t seed, size_t scenario);
void arrivals_free(struct arrivals *arrivals);
/* The share's next one; false when there are no more. */
bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival);

#endif
