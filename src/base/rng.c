#include "base/rng.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

void rng_seed(struct rng *rng, const uint64_t *name, size_t count)
{
    uint64_t state = 0;
    for (size_t i = 0; i < count; i++) {
        state ^= name[i];
        state = splitmix(&state);
    }
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix(&state);
}

uint64_t rng_bits(struct rng *rng)
{
    uint64_t *s = rng->state, result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_bits(rng) >> 11) * 0x1p-53;
}

/* Lemire, "Fast random integer generation in an interval", 2019. */
uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    unsigned __int128 product = (unsigned __int128)rng_bits(rng) * limit;
    if ((uint64_t)product < limit) {
        uint64_t least = -limit % limit;
        while ((uint64_t)product < least)
            product = (unsigned __int128)rng_bits(rng) * limit;
    }
    return (uint64_t)(product >> 64);
}

double rng_exponential(struct rng *rng)
{
    return -log1p(-rng_uniform(rng));
}

void rng_fill(struct rng *rng, void *bytes, size_t length)
{
    char *at = bytes;
    while (length) {
        uint64_t bits = rng_bits(rng);
        size_t part = length < sizeof bits ? length : sizeof bits;
        memcpy(at, &bits, part);
        at += part;
        length -= part;
    }
}

uint64_t rng_unknown(void)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = (uint64_t)clock_ns();
    return bits;
}
