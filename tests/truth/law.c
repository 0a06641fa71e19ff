/* The laws of truthd; the header says what they are. To add one: a row in `laws`, a case in law_answer(), its closed form in truths.py, and a test of one against the
 * other in test_truthd.py. */
#include "law.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum law_kind kind;
    int parameters;
} laws[] = {
    { "null", LAW_FIXED, 0 },          { "fixed", LAW_FIXED, 1 }, { "two", LAW_TWO, 3 }, { "exp", LAW_EXP, 1 },         { "queue-exp", LAW_QUEUE_EXP, 1 },
    { "queue-det", LAW_QUEUE_DET, 1 }, { "ramp", LAW_RAMP, 3 },   { "mix", LAW_MIX, 0 }, { "trickle", LAW_TRICKLE, 2 },
};

static bool read_parameters(struct law *law, const char *text, int count)
{
    double *into[] = { &law->a, &law->b, &law->c };
    for (int i = 0; i < count; i++) {
        char *end;
        if (*text++ != ':')
            return false;
        *into[i] = strtod(text, &end);
        if (end == text || !(*into[i] >= 0 && *into[i] < 1e7))
            return false;
        text = end;
    }
    return *text == '\0';
}

int law_parse(struct law *law, const char *text)
{
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (strlen(laws[i].name) != length || strncmp(laws[i].name, text, length) != 0)
            continue;
        *law = (struct law){ .kind = laws[i].kind, .seed = law->seed };
        return read_parameters(law, text + length, laws[i].parameters) ? 0 : -1;
    }
    return -1;
}

double law_uniform(uint64_t n, uint64_t seed)
{
    /* frac(k / phi) in 64-bit fixed point: exact for any k, where a product of doubles would lose digits. */
    return (double)(((n + seed) * 0x9E3779B97F4A7C15u) >> 11) * 0x1p-53;
}

/* splitmix64, https://prng.di.unimi.it/splitmix64.c */
static double hashed_uniform(uint64_t n, uint64_t seed)
{
    uint64_t z = (n + 1 + (seed << 32)) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static struct answer after(double milliseconds, enum outcome outcome)
{
    return (struct answer){ .delay = llround(milliseconds * 1e6), .outcome = outcome };
}

static struct answer mixed(double u)
{
    if (u < 0.935)
        return after(10, OUTCOME_OK);
    if (u < 0.965)
        return after(0.2, OUTCOME_503);
    if (u < 0.985)
        return after(0, OUTCOME_HANG);
    return after(5, OUTCOME_RESET);
}

struct answer law_answer(const struct law *law, uint64_t n, int64_t since)
{
    double u = law_uniform(n, law->seed);
    switch (law->kind) {
    case LAW_TWO:
        return after(u < law->c ? law->b : law->a, OUTCOME_OK);
    case LAW_EXP:
        return after(-law->a * log1p(-u), OUTCOME_OK);
    case LAW_QUEUE_EXP:
        return after(-law->a * log1p(-hashed_uniform(n, law->seed)), OUTCOME_OK);
    case LAW_RAMP:
        return after(law->a + (law->b - law->a) * fmin((double)since / 1e6 / law->c, 1), OUTCOME_OK);
    case LAW_MIX:
        return mixed(u);
    case LAW_TRICKLE:
        return after(0, OUTCOME_OK);
    default:
        return after(law->a, OUTCOME_OK);
    }
}
