/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what a tag holds: bytes are summed over its runs, pages are counted once however many of
 * its runs they carry. */
#include <hpm/footprint.h>

#include "account/holdings.h"
#include "arena/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sum {
	uint64_t asked_bytes, held_units;
};

static int sum_runs(struct holdings *holdings, struct sum sums[TAG_MAX + 1],
	const struct hpm_arena *arena, const struct arena_run *runs, size_t count)
{
	uint32_t shift = arena->region.page_shift - arena->unit_shift; /* unit -> page */
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct arena_run *run = &runs[i];

		sums[run->tag].asked_bytes += run->asked_bytes;
		sums[run->tag].held_units += run->units;
		rc = holdings_mark(holdings, run->tag, run->first >> shift,
			(run->first + run->units - 1) >> shift);
	}
	return rc;
}

static void fill_row(struct hpm_footprint *row, const struct hpm_arena *arena, uint8_t tag,
	const struct sum *sum, const struct holdings *holdings)
{
	struct holdings_count count = holdings_count(holdings, tag, NULL);

	memset(row, 0, sizeof(*row));
	memcpy(row->arena, arena->name, sizeof(row->arena));
	snprintf(row->tag, sizeof(row->tag), "%s", tag_name(tag));
	row->asked_bytes = sum->asked_bytes;
	row->held_bytes = sum->held_units << arena->unit_shift;
	row->pages = count.held;
	row->shared_pages = count.shared;
	row->page_shift = arena->region.page_shift;
	row->node = arena->region.node;
}

int hpm_footprint_read(struct hpm_footprint *rows, unsigned n, struct hpm_arena *arena)
{
	struct sum sums[TAG_MAX + 1] = {0};
	struct holdings holdings;
	struct arena_run *runs;
	size_t count;
	unsigned row = 0;
	int rc = arena_runs_copy(arena, &runs, &count);

	if (rc < 0)
		return rc;
	rc = holdings_init(&holdings, arena->region.bytes >> arena->region.page_shift);
	if (rc == 0)
		rc = sum_runs(&holdings, sums, arena, runs, count);
	for (size_t i = 0; i < count && rc == 0; i++) {
		uint8_t tag = runs[i].tag;

		if (sums[tag].held_units == 0)
			continue; /* has its row already */
		if (row < n)
			fill_row(&rows[row], arena, tag, &sums[tag], &holdings);
		sums[tag].held_units = 0;
		row++;
	}
	holdings_free(&holdings);
	free(runs);
	return rc < 0 ? rc : (int)row;
}
