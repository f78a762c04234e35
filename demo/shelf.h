/* SPDX-License-Identifier: BSD-3-Clause */
/* One arena with tables in it: a DPDK heap, a pool or counters for each. */
#ifndef DEMO_SHELF_H
#define DEMO_SHELF_H

#include "needs.h"

#include <hpm/hpm.h>

struct hpm_dpdk_heap;

/* By enum table; NULL where the shelf holds no such table. */
struct shelf {
	struct hpm_arena *arena;
	struct hpm_dpdk_heap *heaps[TABLES];
	struct hpm_pool *pools[TABLES];
	struct hpm_counters *counters[TABLES];
};

/*
 * Makes an arena of one page size, as large as needed, and fills it with the tables whose kind is
 * in `kinds` (bit 1 << kind). On failure nothing is held.
 */
int shelf_open(struct shelf *ret, const struct need needs[TABLES], unsigned kinds,
	uint32_t page_shift, struct hpm_reason *reason);

/* Tables in heaps were freed before. */
void shelf_close(struct shelf *shelf);

#endif
