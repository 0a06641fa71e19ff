#include "run/arrivals.h"

#include <math.h>

#include "base/clock.h"

/* "arrivals": tells the stream from those of users. */
static const uint64_t stream = UINT64_C(0x6172726976616c73);

/* How many of k = 0, 1, ... have k + 1/2 below `area`. */
static uint64_t count_constant(double area)
{
    if (area <= 0.5)
        return 0;
    return isinf(area) ? NO_LIMIT : (uint64_t)ceil(area - 0.5);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The warm-up, if there is one, and what follows it. */
static void open_window(struct arrivals *arrivals, bool last)
{
    struct window *window = &arrivals->window;
    double from = last ? arrivals->warm_area : 0, to = last ? arrivals->shape.area : arrivals->warm_area;
    uint64_t count = isinf(to) ? NO_LIMIT : (uint64_t)llround(to - from);
    if (last && arrivals->iterations < count) {
        count = arrivals->iterations;
        to = from + (double)count;
    }
    *window = (struct window){ .from = from, .to = to, .count = count, .last = last };
    arrivals->sum = 0;
}

void arrivals_init(struct arrivals *arrivals, const struct scenario_plan *plan, struct share share, uint64_t seed, size_t scenario)
{
    *arrivals = (struct arrivals){ .share = share, .kind = plan->arrivals, .iterations = plan->iterations, .first_warm = NO_LIMIT };
    shape_init(&arrivals->shape, plan->stages, plan->stage_count);
    rng_seed(&arrivals->rng, (uint64_t[]){ seed, stream, scenario }, 3);
    arrivals->warm_area = shape_area(&arrivals->shape, ns_to_seconds(plan->warm_up));
    uint64_t warm = count_constant(arrivals->warm_area), all = count_constant(arrivals->shape.area);
    arrivals->end = plan->iterations == NO_LIMIT ? all : least(all, warm + plan->iterations);
    arrivals->next = plan->arrivals == ARRIVALS_CONSTANT ? share.index : 0;
    open_window(arrivals, arrivals->warm_area == 0);
}

void arrivals_free(struct arrivals *arrivals)
{
    shape_free(&arrivals->shape);
}

/* The arrival `number` of the whole, due when the area is `area`. */
static struct arrival at(const struct arrivals *arrivals, uint64_t number, double area)
{
    return (struct arrival){ .due = ns_from_seconds(shape_when(&arrivals->shape, area)), .sequence = number + 1 };
}

static bool next_constant(struct arrivals *arrivals, struct arrival *arrival)
{
    uint64_t number = arrivals->next;
    if (number >= arrivals->end)
        return false;
    *arrival = at(arrivals, number, (double)number + 0.5);
    arrivals->next += arrivals->share.count;
    return true;
}

static bool is_own(const struct arrivals *arrivals, uint64_t number)
{
    return number % arrivals->share.count == arrivals->share.index;
}

static bool next_poisson(struct arrivals *arrivals, struct arrival *arrival)
{
    for (;;) {
        arrivals->sum += rng_exponential(&arrivals->rng);
        uint64_t number = arrivals->next++;
        if (arrivals->sum >= arrivals->shape.area)
            return false;
        if (arrivals->first_warm == NO_LIMIT && arrivals->sum >= arrivals->warm_area)
            arrivals->first_warm = number;
        if (arrivals->first_warm != NO_LIMIT && number - arrivals->first_warm >= arrivals->iterations)
            return false;
        if (is_own(arrivals, number)) {
            *arrival = at(arrivals, number, arrivals->sum);
            return true;
        }
    }
}

/* The next window that has something left; false when there is none. */
static bool find_window(struct arrivals *arrivals)
{
    while (arrivals->window.drawn == arrivals->window.count) {
        if (arrivals->window.last)
            return false;
        open_window(arrivals, true);
    }
    return true;
}

static bool next_exact(struct arrivals *arrivals, struct arrival *arrival)
{
    struct window *window = &arrivals->window;
    while (find_window(arrivals)) {
        arrivals->sum += rng_exponential(&arrivals->rng) / (double)(window->count - window->drawn);
        window->drawn++;
        uint64_t number = arrivals->next++;
        if (is_own(arrivals, number)) {
            double area = window->from - expm1(-arrivals->sum) * (window->to - window->from);
            *arrival = at(arrivals, number, fmin(area, window->to));
            return true;
        }
    }
    return false;
}

bool arrivals_next(struct arrivals *arrivals, struct arrival *arrival)
{
    switch (arrivals->kind) {
    case ARRIVALS_CONSTANT: return next_constant(arrivals, arrival);
    case ARRIVALS_POISSON: return next_poisson(arrivals, arrival);
    default: return next_exact(arrivals, arrival);
    }
}
