/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks and counts pages by tag. Invariant: twice is a subset of once, held[t] of once for every t.
 */
#include "account/holdings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int holdings_init(struct holdings *h, uint64_t pages)
{
	memset(h, 0, sizeof(*h));
	if (holdings_grow(h, pages) < 0) {
		free(h->once);
		free(h->twice);
		memset(h, 0, sizeof(*h));
		return -ENOMEM;
	}
	return 0;
}

void holdings_free(struct holdings *h)
{
	free(h->once);
	free(h->twice);
	for (unsigned t = 0; t <= TAG_MAX; t++)
		free(h->held[t]);
	memset(h, 0, sizeof(*h));
}

static int grow_bitmap(uint64_t **bits, size_t old_words, size_t words)
{
	uint64_t *more = realloc(*bits, words * sizeof(**bits));

	if (more == NULL)
		return -ENOMEM;
	memset(more + old_words, 0, (words - old_words) * sizeof(**bits));
	*bits = more;
	return 0;
}

int holdings_grow(struct holdings *h, uint64_t pages)
{
	size_t old_words = bitmap_words(h->pages), words = bitmap_words(pages);

	if (words > old_words) {
		/* A failure half-way leaves some bitmaps longer than they must be: harmless. */
		if (grow_bitmap(&h->once, old_words, words) < 0 ||
			grow_bitmap(&h->twice, old_words, words) < 0)
			return -ENOMEM;
		for (unsigned t = 0; t <= TAG_MAX; t++)
			if (h->held[t] != NULL && grow_bitmap(&h->held[t], old_words, words) < 0)
				return -ENOMEM;
	}
	h->pages = pages;
	return 0;
}

/* The bits of one word that lie in first..last. */
static uint64_t word_mask(size_t word, uint64_t first, uint64_t last)
{
	uint64_t mask = ~UINT64_C(0);

	if (word == first / 64)
		mask &= ~UINT64_C(0) << (first % 64);
	if (word == last / 64)
		mask &= ~UINT64_C(0) >> (63 - last % 64);
	return mask;
}

int holdings_mark(struct holdings *h, uint8_t tag, uint64_t first, uint64_t last)
{
	uint64_t *held = h->held[tag];

	if (held == NULL) {
		held = calloc(bitmap_words(h->pages), sizeof(*held));
		if (held == NULL)
			return -ENOMEM;
		h->held[tag] = held;
	}
	for (size_t word = first / 64; word <= last / 64; word++) {
		uint64_t fresh = word_mask(word, first, last) & ~held[word];

		h->twice[word] |= fresh & h->once[word];
		h->once[word] |= fresh;
		held[word] |= fresh;
	}
	return 0;
}

struct holdings_count holdings_count(const struct holdings *h, uint8_t tag, const uint64_t *mask)
{
	struct holdings_count count = {0};
	const uint64_t *held = h->held[tag];
	uint64_t tail = h->pages % 64 != 0 ? (UINT64_C(1) << (h->pages % 64)) - 1 : ~UINT64_C(0);
	size_t words = bitmap_words(h->pages);

	if (held == NULL && tag != TAG_NONE)
		return count;
	for (size_t i = 0; i < words; i++) {
		uint64_t own = tag != TAG_NONE ? held[i] : i == words - 1 ? tail : ~UINT64_C(0);
		uint64_t touched = mask != NULL ? own & mask[i] : own;

		count.held += (uint64_t)__builtin_popcountll(own);
		count.touched += (uint64_t)__builtin_popcountll(touched);
		count.shared += (uint64_t)__builtin_popcountll(touched & h->twice[i]);
	}
	return count;
}
