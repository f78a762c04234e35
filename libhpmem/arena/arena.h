/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of an arena, for the rooms that build on it. Words used all over the house:
 *
 *   page     a kernel page of the backing, named by its log2 size (12, 21, 30)
 *   region   one mapping of pages of one size on one node
 *   arena    a dense span on one node: regions side by side in one reserved address range
 *   unit     the grain of lending: 4 KiB, or the base page where that is larger
 *   run      consecutive units lent to one user, under a tag
 *
 *   arena (node 0, 2 MiB pages)
 *   +--------------------+--------------------+--------------------+
 *   | page 0             | page 1             | page 2             |
 *   | SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS m | ccc rr             |
 *   +--------------------+--------------------+--------------------+
 *     S session run, starts on a page          c r runs below a page: never straddle
 *                                      m small run in the tail of page 1
 *
 * The unit is no smaller than a base page so that two tags never share one: a hypervisor that
 * splinters huge pages makes base pages the real TLB unit.
 */
#ifndef ARENA_ARENA_H
#define ARENA_ARENA_H

#include "region/region.h"

#include <hpm/arena.h>

#include <pthread.h>

#define ARENA_REGIONS 16

struct arena_run {
	uint64_t first; /* unit */
	uint64_t units;
	uint64_t asked_bytes;
	uint8_t tag;
};

struct hpm_arena {
	char name[HPM_NAME_MAX];
	uint32_t asked_page_shift;
	uint32_t unit_shift;
	char *base;              /* of the reserved addresses */
	uint64_t reserved_bytes; /* of them */
	const struct region_backend *backend;
	pthread_mutex_t lock;                 /* all below */
	struct region regions[ARENA_REGIONS]; /* [n_regions], adjoining from base on */
	unsigned n_regions;
	struct arena_run *runs; /* [count], ascending, disjoint */
	size_t count;
	size_t room;    /* entries allocated */
	uint64_t clean; /* units from here on were never lent and are still zero */
};

/* Bytes of all regions: what lies in [base, base + bytes) is there. With the lock. */
static inline uint64_t arena_bytes(const struct hpm_arena *arena)
{
	const struct region *last = &arena->regions[arena->n_regions - 1];

	return (uint64_t)(last->addr - arena->base) + last->bytes;
}

/* The region of a unit; the last one's for units beyond. With the lock. */
static inline const struct region *arena_region(const struct hpm_arena *arena, uint64_t unit)
{
	const struct region *r = arena->regions;
	const struct region *last = &arena->regions[arena->n_regions - 1];

	while (r < last &&
		unit >= ((uint64_t)(r->addr - arena->base) + r->bytes) >> arena->unit_shift)
		r++;
	return r;
}

static inline uint32_t arena_page_shift(const struct hpm_arena *arena, uint64_t unit)
{
	return arena_region(arena, unit)->page_shift;
}

/* arena_bytes(), and copies of the regions when `regions` is not NULL. Takes the lock. */
uint64_t arena_span(
	struct hpm_arena *arena, struct region regions[ARENA_REGIONS], unsigned *n_regions);

/* hpm_arena_create() on a backend of the caller's: the tests' fake. */
int arena_create_on(struct hpm_arena **ret, const struct hpm_arena_opts *opts,
	const struct region_backend *backend);

/* A copy of the runs as they are now, freed by the caller. 0, -ENOMEM. */
int arena_runs_copy(struct hpm_arena *arena, struct arena_run **ret, size_t *count);

#endif
