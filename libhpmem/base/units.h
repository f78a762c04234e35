/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes: overflow-checked arithmetic, and how people write them. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Room for any size_text(). */
#define SIZE_TEXT_MAX 32

static inline bool is_pow2(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/* log2 of a power of two */
static inline uint32_t shift_of(uint64_t pow2)
{
	return (uint32_t)__builtin_ctzll(pow2);
}

/* Rounds up to a power of two; false on overflow. */
static inline bool round_up(uint64_t *ret, uint64_t n, uint64_t pow2)
{
	uint64_t sum;

	if (__builtin_add_overflow(n, pow2 - 1, &sum))
		return false;
	*ret = sum & ~(pow2 - 1);
	return true;
}

/* n in pages or units of 2^shift, rounded up; never overflows. */
static inline uint64_t units_of(uint64_t n, uint32_t shift)
{
	return (n >> shift) + ((n & ((1ULL << shift) - 1)) != 0);
}

/* Writes "2 MiB", "1 GiB", "4 KiB", "1536 B": the largest unit that is exact. Returns buf. */
const char *size_text(char buf[SIZE_TEXT_MAX], uint64_t bytes);

/* Reads "4096", "2M", "1G", "4K", "2MB", "1GiB"; -EINVAL, -EOVERFLOW. */
int size_parse(uint64_t *ret, const char *text);

#endif
