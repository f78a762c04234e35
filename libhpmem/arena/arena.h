/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of an arena, for the rooms that build on it. Words used all over the house:
 *
 *   page     a kernel page of the backing, named by its log2 size (12, 21, 30)
 *   region   one mapping of pages of one size on one node
 *   arena    a dense span on one node; here: one region
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

struct arena_run {
	uint64_t first; /* unit */
	uint64_t units;
	uint64_t asked_bytes;
	uint8_t tag;
};

struct hpm_arena {
	char name[HPM_NAME_MAX];
	struct region region;
	uint32_t asked_page_shift;
	uint32_t unit_shift;
	pthread_mutex_t lock;   /* all below */
	struct arena_run *runs; /* [count], ascending, disjoint */
	size_t count;
	size_t room;    /* entries allocated */
	uint64_t clean; /* units from here on were never lent and are still zero */
};

/* hpm_arena_create() on a backend of the caller's: the tests' fake. */
int arena_create_on(struct hpm_arena **ret, const struct hpm_arena_opts *opts,
	const struct region_backend *backend);

/* A copy of the runs as they are now, freed by the caller. 0, -ENOMEM. */
int arena_runs_copy(struct hpm_arena *arena, struct arena_run **ret, size_t *count);

#endif
