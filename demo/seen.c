/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with linear probing. Invariant: at most half of the slots are taken, so that a
 * probe always ends at a free one. */
#include "seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int seen_open(struct seen *s, const void *base, uint32_t n, size_t stride, size_t key)
{
	uint64_t slots = 16;

	while (slots < 2 * (uint64_t)n)
		slots *= 2;
	s->slot = calloc(slots, sizeof(s->slot[0]));
	if (s->slot == NULL)
		return -ENOMEM;
	s->mask = slots - 1;
	s->base = base;
	s->stride = stride;
	s->key = key;
	return 0;
}

void seen_close(struct seen *s)
{
	free(s->slot);
	s->slot = NULL;
}

/* FNV-1a, then a mix, because linear probing wants the low bits to depend on all of it. */
static uint64_t hash_of(const unsigned char *bytes, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ULL;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

uint32_t seen_add(struct seen *s, uint32_t i)
{
	const unsigned char *record = s->base + (size_t)i * s->stride;
	uint64_t at = hash_of(record, s->key) & s->mask;

	for (; s->slot[at] != 0; at = (at + 1) & s->mask) {
		uint32_t other = s->slot[at] - 1;

		if (memcmp(s->base + (size_t)other * s->stride, record, s->key) == 0)
			return other;
	}
	s->slot[at] = i + 1;
	return SEEN_NEW;
}
