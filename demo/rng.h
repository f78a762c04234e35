/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded random numbers: xoshiro256** by Blackman and Vigna, state filled by splitmix64, as its
 * authors advise. The same seed gives the same numbers on every machine; not for secrets.
 *
 * Threads: owner thread. Cost: about 1 ns a number.
 */
#ifndef DEMO_RNG_H
#define DEMO_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		rng->s[i] = z ^ (z >> 31);
	}
}

static inline uint64_t rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t ret = rng_rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotl(s[3], 45);
	return ret;
}

/* Uniform in [0, n), n >= 1; by the high half of a product, whose bias of n / 2^64 nobody sees. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)(((unsigned __int128)rng_next(rng) * n) >> 64);
}

/* Uniform in (0, 1]. */
static inline double rng_unit(struct rng *rng)
{
	return (double)((rng_next(rng) >> 11) + 1) * 0x1p-53;
}

#endif
