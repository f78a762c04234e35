/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lays the levels out and walks them; what get and put need is inline in bitmap.h.
 * Invariant: a bit of level i + 1 is set exactly when its word of level i is not 0, and bits at and
 * after `bits` are 0 in every level.
 */
#include "alloc/bitmap.h"

#include <string.h>

/* Words of a level that has so many bits. */
static uint32_t words_of(uint32_t bits)
{
	return bits / 64 + (bits % 64 != 0);
}

uint64_t bitmap_bytes(uint32_t bits)
{
	uint64_t words = 0;

	do {
		bits = words_of(bits);
		words += bits;
	} while (bits > 1);
	return words * sizeof(uint64_t);
}

static void set_first(uint64_t *words, uint32_t bits)
{
	memset(words, 0xff, (uint64_t)(bits / 64) * sizeof(*words));
	if (bits % 64 != 0)
		words[bits / 64] = (UINT64_C(1) << (bits % 64)) - 1;
}

void bitmap_init(struct bitmap *b, void *memory, uint32_t bits)
{
	uint64_t *end = (uint64_t *)memory + bitmap_bytes(bits) / sizeof(uint64_t);
	uint32_t level_bits = bits;

	*b = (struct bitmap){.bits = bits};
	do {
		end -= words_of(level_bits);
		set_first(end, level_bits);
		b->level[b->levels++] = end;
		level_bits = words_of(level_bits);
	} while (level_bits > 1);
}

uint32_t bitmap_next_taken(const struct bitmap *b, uint32_t from)
{
	uint32_t words = words_of(b->bits);
	uint64_t mask = UINT64_MAX << (from % 64);

	for (uint32_t i = from / 64; i < words; i++, mask = UINT64_MAX) {
		uint64_t taken = ~b->level[0][i] & mask;

		if (taken != 0) {
			uint64_t index = (uint64_t)i * 64 + (uint64_t)__builtin_ctzll(taken);

			return index < b->bits ? (uint32_t)index : BITMAP_NONE;
		}
	}
	return BITMAP_NONE;
}

uint32_t bitmap_prev_taken(const struct bitmap *b, uint32_t from)
{
	uint64_t mask = UINT64_MAX >> (63 - from % 64);

	for (uint32_t i = from / 64 + 1; i-- > 0; mask = UINT64_MAX) {
		uint64_t taken = ~b->level[0][i] & mask;

		if (taken != 0)
			return i * 64 + 63 - (uint32_t)__builtin_clzll(taken);
	}
	return BITMAP_NONE;
}

/* Whether a level is 0 after its last bit, and says of the one below what is true. */
static bool check_level(const struct bitmap *b, uint32_t i, uint32_t bits)
{
	const uint64_t *words = b->level[i];

	if (bits % 64 != 0 && words[bits / 64] >> (bits % 64) != 0)
		return false;
	for (uint32_t bit = 0; i > 0 && bit < bits; bit++)
		if ((words[bit / 64] >> (bit % 64) & 1) != (b->level[i - 1][bit] != 0))
			return false;
	return true;
}

bool bitmap_check(const struct bitmap *b)
{
	uint32_t bits = b->bits;

	for (uint32_t i = 0; i < b->levels; i++) {
		if (!check_level(b, i, bits))
			return false;
		bits = words_of(bits);
	}
	for (uint32_t word = 0; word < b->low; word++)
		if (b->level[0][word] != 0)
			return false;
	return bits == 1 && b->low < words_of(b->bits);
}
