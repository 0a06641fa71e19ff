/* Random numbers that can be repeated: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded by splitmix64 from a
 * list of numbers that names the stream: the seed of the run, the scenario, the user. Streams of different names are independent for every purpose here. */
#ifndef LUABENCH_BASE_RNG_H
#define LUABENCH_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* The stream named by `count` numbers. */
void rng_seed(struct rng *rng, const uint64_t *name, size_t count);
/* 64 random bits. */
uint64_t rng_bits(struct rng *rng);
/* Uniform in [0, 1): 53 bits. */
double rng_uniform(struct rng *rng);
/* Uniform in 0 .. limit - 1, without bias; `limit` is at least 1. */
uint64_t rng_below(struct rng *rng, uint64_t limit);
/* Exponential with mean 1. */
double rng_exponential(struct rng *rng);
/* Fills `length` bytes. */
void rng_fill(struct rng *rng, void *bytes, size_t length);
/* Bits that nobody knows, from the kernel. */
uint64_t rng_unknown(void);

#endif
