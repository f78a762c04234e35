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

/* One page size of an arena: its regions of that size, as if their pages were numbered through. */
struct part {
	const struct hpm_arena *arena;
	const struct region *regions; /* of the arena, all */
	unsigned n_regions;
	uint32_t page_shift;
	uint64_t pages;
	struct holdings holdings;
	struct sum sums[TAG_MAX + 1];
};

/* What of a run lies in one region, whose first page has the number `page` in the part. */
static int sum_piece(
	struct part *part, const struct arena_run *run, const struct region *r, uint64_t page)
{
	uint32_t unit_shift = part->arena->unit_shift;
	uint64_t start = (uint64_t)(r->addr - part->arena->base) >> unit_shift;
	uint64_t end = start + (r->bytes >> unit_shift);
	uint64_t first = run->first > start ? run->first : start;
	uint64_t last = run->first + run->units < end ? run->first + run->units : end;
	uint64_t before, asked;

	if (first >= last)
		return 0;
	before = (first - run->first) << unit_shift;
	asked = run->asked_bytes - before;
	if (asked > (last - first) << unit_shift)
		asked = (last - first) << unit_shift;
	part->sums[run->tag].asked_bytes += asked;
	part->sums[run->tag].held_units += last - first;
	return holdings_mark(&part->holdings, run->tag,
		page + (((first - start) << unit_shift) >> part->page_shift),
		page + (((last - 1 - start) << unit_shift) >> part->page_shift));
}

static int sum_runs(struct part *part, const struct arena_run *runs, size_t count)
{
	uint64_t page = 0;
	int rc = 0;

	for (unsigned i = 0; i < part->n_regions; i++) {
		const struct region *r = &part->regions[i];

		if (r->page_shift != part->page_shift)
			continue;
		for (size_t j = 0; j < count && rc == 0; j++)
			rc = sum_piece(part, &runs[j], r, page);
		page += r->bytes >> r->page_shift;
	}
	return rc;
}

static void fill_row(struct hpm_footprint *row, const struct part *part, uint8_t tag)
{
	const struct hpm_arena *arena = part->arena;
	struct holdings_count count = holdings_count(&part->holdings, tag, NULL);

	memset(row, 0, sizeof(*row));
	memcpy(row->arena, arena->name, sizeof(row->arena));
	snprintf(row->tag, sizeof(row->tag), "%s", tag_name(tag));
	row->asked_bytes = part->sums[tag].asked_bytes;
	row->held_bytes = part->sums[tag].held_units << arena->unit_shift;
	row->pages = count.held;
	row->shared_pages = count.shared;
	row->page_shift = part->page_shift;
	row->node = part->regions[0].node;
}

/* The rows of one page size, from rows[row] on: the next row, or -ENOMEM. */
static int read_part(struct hpm_footprint *rows, unsigned n, struct part *part,
	const struct arena_run *runs, size_t count)
{
	unsigned row = 0;
	int rc = holdings_init(&part->holdings, part->pages);

	if (rc == 0)
		rc = sum_runs(part, runs, count);
	for (size_t i = 0; i < count && rc == 0; i++) {
		uint8_t tag = runs[i].tag;

		if (part->sums[tag].held_units == 0)
			continue; /* has its row already, or nothing here */
		if (row < n)
			fill_row(&rows[row], part, tag);
		part->sums[tag].held_units = 0;
		row++;
	}
	holdings_free(&part->holdings);
	return rc < 0 ? rc : (int)row;
}

/* The pages of the size of region i; 0 when an earlier region has that size. */
static uint64_t pages_like(const struct region *regions, unsigned n, unsigned i)
{
	uint64_t pages = 0;

	for (unsigned j = 0; j < n; j++) {
		if (regions[j].page_shift != regions[i].page_shift)
			continue;
		if (j < i)
			return 0;
		pages += regions[j].bytes >> regions[j].page_shift;
	}
	return pages;
}

int hpm_footprint_read(struct hpm_footprint *rows, unsigned n, struct hpm_arena *arena)
{
	struct region regions[ARENA_REGIONS];
	unsigned n_regions, row = 0;
	struct arena_run *runs;
	size_t count;
	int rc = arena_runs_copy(arena, &runs, &count);

	if (rc < 0)
		return rc;
	arena_span(arena, regions, &n_regions); /* after the runs: they all lie in it */
	for (unsigned i = 0; i < n_regions && rc >= 0; i++) {
		struct part part = {.arena = arena,
			.regions = regions,
			.n_regions = n_regions,
			.page_shift = regions[i].page_shift,
			.pages = pages_like(regions, n_regions, i)};

		if (part.pages == 0)
			continue;
		rc = read_part(
			row < n ? rows + row : NULL, row < n ? n - row : 0, &part, runs, count);
		if (rc > 0)
			row += (unsigned)rc;
	}
	free(runs);
	return rc < 0 ? rc : (int)row;
}
