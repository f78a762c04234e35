/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who holds bytes on which pages of one span: a bitmap per tag, and two over all tags.
 *
 *   page       0 1 2 3 4
 *   held[acl]  1 1 . . .
 *   held[lpm]  . 1 1 . .
 *   once       1 1 1 . .    at least one tag holds bytes there
 *   twice      . 1 . . .    at least two do: the page is shared
 */
#ifndef ACCOUNT_HOLDINGS_H
#define ACCOUNT_HOLDINGS_H

#include "base/tag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct holdings {
	uint64_t pages;
	uint64_t *once, *twice;      /* [words] */
	uint64_t *held[TAG_MAX + 1]; /* [words] each; NULL for a tag that holds nothing */
};

/* How many pages a bitmap of so many pages has words for. */
static inline size_t bitmap_words(uint64_t pages)
{
	return (size_t)((pages + 63) / 64);
}

/* 0, -ENOMEM. Nothing is held on failure. */
int holdings_init(struct holdings *h, uint64_t pages);
void holdings_free(struct holdings *h);

/* Makes room for more pages; what was marked stays. 0, -ENOMEM (nothing changed). */
int holdings_grow(struct holdings *h, uint64_t pages);

/* A tag holds bytes on pages first..last, both below h->pages. 0, -ENOMEM. */
int holdings_mark(struct holdings *h, uint8_t tag, uint64_t first, uint64_t last);

struct holdings_count {
	uint64_t held;    /* pages with bytes of the tag */
	uint64_t touched; /* of them, pages in the mask */
	uint64_t shared;  /* of them (of held, without a mask), pages other tags share */
};

/* Counts a tag's pages, those of all of `h` for TAG_NONE; `mask` (may be NULL) has h->pages bits.
 */
struct holdings_count holdings_count(const struct holdings *h, uint8_t tag, const uint64_t *mask);

#endif
