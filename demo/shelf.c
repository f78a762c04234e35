/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides the order of tables in an arena: that of enum table, whose first are the hottest, so that
 * they share pages from its start.
 */
#include "shelf.h"

#include "fail.h"

#include <hpm/dpdk.h>

#include <errno.h>
#include <string.h>

static int add_heap(
	struct shelf *s, enum table table, const struct need *need, struct hpm_reason *reason)
{
	struct hpm_dpdk_heap_opts opts = HPM_DPDK_HEAP_OPTS_INIT;

	opts.arena = s->arena;
	opts.tag = table_info[table].tag;
	opts.bytes = need->bytes;
	opts.reason = reason;
	return hpm_dpdk_heap_create(&s->heaps[table], &opts);
}

static int add_pool(
	struct shelf *s, enum table table, const struct need *need, struct hpm_reason *reason)
{
	struct hpm_pool_opts opts = HPM_POOL_OPTS_INIT;

	opts.arena = s->arena;
	opts.tag = table_info[table].tag;
	opts.count = need->count;
	opts.object_bytes = need->bytes;
	opts.align = HPM_CACHE_LINE;
	opts.reason = reason;
	return hpm_pool_create(&s->pools[table], &opts);
}

static int add_counters(
	struct shelf *s, enum table table, const struct need *need, struct hpm_reason *reason)
{
	struct hpm_counters_opts opts = HPM_COUNTERS_OPTS_INIT;

	opts.arena = s->arena;
	opts.tag = table_info[table].tag;
	opts.count = need->count;
	opts.lcores = 1; /* the forwarding lcore is the only writer */
	opts.reason = reason;
	return hpm_counters_create(&s->counters[table], &opts);
}

int shelf_open(struct shelf *ret, const struct need needs[TABLES], unsigned kinds,
	uint32_t page_shift, struct hpm_reason *reason)
{
	static int (*const add[])(
		struct shelf *, enum table, const struct need *, struct hpm_reason *) = {
		[KIND_HEAP] = add_heap, [KIND_OBJECTS] = add_pool, [KIND_CELLS] = add_counters};
	struct shelf s = {NULL};
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	int rc;

	opts.name = "tables";
	opts.bytes = needs_arena_bytes(needs, kinds, page_shift);
	opts.page_shifts[0] = page_shift;
	opts.reason = reason;
	rc = hpm_arena_create(&s.arena, &opts);
	for (int i = 0; i < TABLES && rc == 0; i++)
		if (kinds & 1U << table_info[i].kind)
			rc = add[table_info[i].kind](&s, (enum table)i, &needs[i], reason);
	if (rc < 0) {
		shelf_close(&s);
		return rc;
	}
	*ret = s;
	return 0;
}

void shelf_close(struct shelf *shelf)
{
	for (int i = 0; i < TABLES; i++) {
		if (hpm_dpdk_heap_destroy(shelf->heaps[i]) < 0)
			return; /* still in use: its memory must stay */
		hpm_pool_destroy(shelf->pools[i]);
		hpm_counters_destroy(shelf->counters[i]);
	}
	hpm_arena_destroy(shelf->arena);
	memset(shelf, 0, sizeof(*shelf));
}
