/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bitmap that finds its lowest set bit in a few steps: 1 = free, 0 = taken.
 *
 *   level 2 (top, one word)   | 1 0 1 ... |      bit i: word i of the level below is not 0
 *                               |     \
 *   level 1                   | 1 1 0 ... | 0 | 1 0 0 ... | ...
 *                               | \
 *   level 0                   | 0 1 1 ... | 1 1 1 ... | 0 | ...      bit i: object i is free
 *
 * A level has 1/64 of the words of the one below, so 1,000,000 bits are 4 levels and 2^32 - 1 are
 * 6. The memory is the caller's: bitmap_bytes() of it, top level first.
 *
 * `low` remembers the word the last search ended in: no word of level 0 before it has a free bit.
 * Most searches therefore look at one word.
 */
#ifndef ALLOC_BITMAP_H
#define ALLOC_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#define BITMAP_LEVELS_MAX 6          /* 64^6 >= 2^32 */
#define BITMAP_NONE       UINT32_MAX /* the index that names no bit */

struct bitmap {
	uint64_t *level[BITMAP_LEVELS_MAX]; /* level[0 .. levels) */
	uint32_t low;                       /* level 0 words before it are 0 */
	uint32_t levels;
	uint32_t bits; /* indexes 0 .. bits - 1 */
};

/* Memory for so many bits, in bytes: a multiple of 8. */
uint64_t bitmap_bytes(uint32_t bits);

/* Starts with all bits free. `memory` is 8-byte aligned and kept; bits >= 1. */
void bitmap_init(struct bitmap *b, void *memory, uint32_t bits);

/* The lowest taken bit at or after `from`; BITMAP_NONE. Walks level 0 a word at a time. */
uint32_t bitmap_next_taken(const struct bitmap *b, uint32_t from);

/* The highest taken bit at or before `from` < bits; BITMAP_NONE. Walks as bitmap_next_taken(). */
uint32_t bitmap_prev_taken(const struct bitmap *b, uint32_t from);

/* Whether every upper level, `low` and the tail say what level 0 makes them say. For tests. */
bool bitmap_check(const struct bitmap *b);

static inline bool bitmap_is_free(const struct bitmap *b, uint32_t index)
{
	return b->level[0][index / 64] >> (index % 64) & 1;
}

/* The lowest free bit; BITMAP_NONE. */
static inline uint32_t bitmap_lowest(struct bitmap *b)
{
	uint64_t word = b->level[0][b->low];

	if (__builtin_expect(word == 0, 0)) {
		uint32_t at = 0;

		if (b->level[b->levels - 1][0] == 0)
			return BITMAP_NONE;
		for (uint32_t i = b->levels - 1; i > 0; i--)
			at = at * 64 + (uint32_t)__builtin_ctzll(b->level[i][at]);
		b->low = at;
		word = b->level[0][at];
	}
	return b->low * 64 + (uint32_t)__builtin_ctzll(word);
}

/* Takes a bit that is free. */
static inline void bitmap_take(struct bitmap *b, uint32_t index)
{
	for (uint32_t i = 0; i < b->levels; i++) {
		uint64_t *word = &b->level[i][index / 64];

		*word &= ~(UINT64_C(1) << (index % 64));
		if (__builtin_expect(*word != 0, 1))
			return;
		index /= 64;
	}
}

/*
 * Takes up to n of the lowest free bits, all in one word: their mask, bit i for index *first + i. 0
 * when there is none; n >= 1.
 */
static inline uint64_t bitmap_take_some(struct bitmap *b, uint32_t *first, uint32_t n)
{
	uint32_t lowest = bitmap_lowest(b), at = lowest / 64;
	uint64_t word, rest;

	if (lowest == BITMAP_NONE)
		return 0;
	word = rest = b->level[0][at];
	for (uint32_t i = 0; i < n && rest != 0; i++)
		rest &= rest - 1;
	*first = at * 64;
	b->level[0][at] = rest;
	for (uint32_t i = 1; rest == 0 && i < b->levels; i++, at /= 64) {
		b->level[i][at / 64] &= ~(UINT64_C(1) << (at % 64));
		rest = b->level[i][at / 64];
	}
	return word ^ b->level[0][lowest / 64];
}

/* Gives a bit back that is taken. */
static inline void bitmap_give(struct bitmap *b, uint32_t index)
{
	if (index / 64 < b->low)
		b->low = index / 64;
	for (uint32_t i = 0; i < b->levels; i++) {
		uint64_t *word = &b->level[i][index / 64];
		uint64_t before = *word;

		*word = before | UINT64_C(1) << (index % 64);
		if (__builtin_expect(before != 0, 1))
			return;
		index /= 64;
	}
}

#endif
