/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the bound: an arena of the size said here is never too small, whatever gaps are used. */
#include "needs.h"

#include <rte_common.h>

const struct table_info table_info[TABLES] = {
	[TABLE_ACL] = {"acl", KIND_HEAP},
	[TABLE_HASH] = {"hash", KIND_HEAP},
	[TABLE_SESSION] = {"session", KIND_OBJECTS},
	[TABLE_METER] = {"meter", KIND_OBJECTS},
	[TABLE_STATS] = {"stats", KIND_OBJECTS},
	[TABLE_LPM] = {"lpm", KIND_HEAP},
	[TABLE_COUNTERS] = {"counters", KIND_CELLS},
};

#define HEAP_UNIT    (UINT64_C(2) << 20) /* heaps are registered with DPDK in such units */
#define SMALL_UNIT   UINT64_C(4096)
#define BITMAP_SHARE 4 /* a pool's bitmap takes less than a quarter byte an object */

/* End of a run of `bytes` that starts at `at` or behind, by the arena's rule. */
static uint64_t after_run(uint64_t at, uint64_t bytes, uint64_t unit, uint64_t page)
{
	bytes = RTE_ALIGN_CEIL(bytes, unit);
	at = RTE_ALIGN_CEIL(at, unit);
	if (bytes >= page || at % page + bytes > page)
		at = RTE_ALIGN_CEIL(at, page);
	return at + bytes;
}

/*
 * Runs laid one behind the other, never back into a gap. The arena does use gaps, so it ends at or
 * before this: its end after each run is at most the end here.
 */
uint64_t needs_arena_bytes(const struct need needs[TABLES], unsigned kinds, uint32_t page_shift)
{
	uint64_t page = UINT64_C(1) << page_shift, at = 0;

	for (int i = 0; i < TABLES; i++) {
		const struct need *need = &needs[i];
		enum table_kind kind = table_info[i].kind;

		if ((kinds & 1U << kind) == 0)
			continue;
		if (kind == KIND_OBJECTS)
			at = after_run(
				at, need->count / BITMAP_SHARE + SMALL_UNIT, SMALL_UNIT, page);
		at = after_run(at, kind == KIND_HEAP ? need->bytes : need->count * need->bytes,
			kind == KIND_HEAP ? HEAP_UNIT : SMALL_UNIT, page);
	}
	return RTE_ALIGN_CEIL(at, page);
}
