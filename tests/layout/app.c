/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Somebody else's program, as check-core-alone.py builds it: one tagged megabyte on base pages,
 * which every machine has, and the footprint read back.
 */
#include <hpm/footprint.h>
#include <hpm/run.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEGABYTE ((uint64_t)1 << 20)

static uint32_t base_page_shift(void)
{
	uint32_t shift = 0;

	while ((1L << shift) < sysconf(_SC_PAGESIZE))
		shift++;
	return shift;
}

int main(void)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_footprint row;
	struct hpm_reason why;
	struct hpm_arena *arena;
	void *table;

	opts.name = "app";
	opts.bytes = MEGABYTE;
	opts.page_shifts[0] = base_page_shift();
	opts.reason = &why;
	if (hpm_arena_create(&arena, &opts) < 0 ||
		hpm_run_get(&table, arena, "table", MEGABYTE, 0, &why) < 0) {
		fprintf(stderr, "app: %s\n", why.text);
		return 1;
	}
	memset(table, 1, MEGABYTE);
	if (hpm_footprint_read(&row, 1, arena) != 1 || row.asked_bytes != MEGABYTE ||
		strcmp(row.tag, "table") != 0) {
		fprintf(stderr, "app: the footprint is wrong\n");
		return 1;
	}
	hpm_arena_destroy(arena);
	puts("one table of one megabyte");
	return 0;
}
