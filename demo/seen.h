/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records of an array have been seen: a hash set of indexes that compares the records' first
 * `key` bytes, which therefore must hold no padding. The array must not move meanwhile.
 *
 * Threads: set-up only.
 */
#ifndef DEMO_SEEN_H
#define DEMO_SEEN_H

#include <stddef.h>
#include <stdint.h>

#define SEEN_NEW UINT32_MAX

struct seen {
	uint32_t *slot; /* [mask + 1] index + 1 of a record, 0 when free */
	uint64_t mask;
	const unsigned char *base;
	size_t stride, key; /* bytes from record to record, bytes of it that are compared */
};

/* For up to n < 2^31 records at `base`, which stays the caller's. seen_close() releases. -ENOMEM.
 */
int seen_open(struct seen *s, const void *base, uint32_t n, size_t stride, size_t key);

void seen_close(struct seen *s);

/* Adds record i. SEEN_NEW, or the index of an equal record seen before (then i is not added). */
uint32_t seen_add(struct seen *s, uint32_t i);

#endif
