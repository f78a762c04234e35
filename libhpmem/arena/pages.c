/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which of the caller's page sizes an arena gets: the first that can be had whole. Nothing
 * that is not on the list is ever tried, and which entry it was can be read back.
 */
#include "arena/pages.h"

#include "base/log.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#define PAGE_SHIFT_MAX 40 /* no backend offers larger ones */

/* Base pages come from a memfd whatever the source of huge pages. */
static const struct region_backend *backend_for(
	const struct region_backend *backend, uint32_t page_shift)
{
	bool base = UINT64_C(1) << (page_shift & 63) == (uint64_t)sysconf(_SC_PAGESIZE);

	return base && backend == &backend_hugetlbfs ? &backend_memfd : backend;
}

/* How many addresses the list may need: each size rounds up to its own pages. Sizes that cannot be
 * are left to region_acquire(), which has a sentence for each. */
static uint64_t reserve_bytes(const struct hpm_arena_opts *opts, uint32_t *shift)
{
	uint64_t most = 0;

	*shift = 0;
	for (int i = 0; i < HPM_PAGE_SIZES_MAX && opts->page_shifts[i] != 0; i++) {
		uint32_t page_shift = opts->page_shifts[i];
		uint64_t bytes;

		if (page_shift > PAGE_SHIFT_MAX ||
			!round_up(&bytes, opts->bytes, UINT64_C(1) << page_shift) ||
			bytes > REGION_BYTES_MAX)
			continue;
		if (bytes > most)
			most = bytes;
		if (page_shift > *shift)
			*shift = page_shift;
	}
	return most;
}

static int reserve(struct hpm_arena *arena, const struct hpm_arena_opts *opts)
{
	uint32_t shift;
	uint64_t bytes = reserve_bytes(opts, &shift);
	void *base;
	int rc;

	if (bytes == 0)
		return 0; /* nothing on the list can be mapped */
	rc = arena->backend->reserve(&base, bytes, shift);
	if (rc < 0)
		return fail(rc, opts->reason,
			"arena '%s': cannot reserve %" PRIu64
			" bytes of addresses (errno %d); is there a limit (ulimit -v)?",
			opts->name, bytes, -rc);
	arena->base = base;
	arena->reserved_bytes = bytes;
	return 0;
}

/* Tries the list in order; the reason told is that of the first, what was really wanted. */
static int fall_back(struct hpm_arena *arena, const struct hpm_arena_opts *opts)
{
	struct hpm_reason first = {""}, other;
	int first_rc = 0;

	for (int i = 0; i < HPM_PAGE_SIZES_MAX && opts->page_shifts[i] != 0; i++) {
		struct region_request want = {.at = arena->base,
			.name = opts->name,
			.bytes = opts->bytes,
			.page_shift = opts->page_shifts[i],
			.node = opts->node,
			.backend = backend_for(arena->backend, opts->page_shifts[i])};
		int rc = region_acquire(&arena->regions[0], &want, i == 0 ? &first : &other);

		if (rc == 0) {
			arena->n_regions = 1;
			if (i > 0)
				log_msg(HPM_LOG_WARNING, "arena",
					"'%s' fell back to page size 2^%u: %s", opts->name,
					want.page_shift, first.text);
			return 0;
		}
		if (i == 0)
			first_rc = rc;
	}
	return fail(first_rc, opts->reason, "%s", first.text);
}

int pages_first(struct hpm_arena *arena, const struct hpm_arena_opts *opts)
{
	int rc = reserve(arena, opts);

	if (rc == 0)
		rc = fall_back(arena, opts);
	if (rc < 0)
		pages_give_back(arena);
	return rc;
}

void pages_give_back(struct hpm_arena *arena)
{
	for (unsigned i = 0; i < arena->n_regions; i++)
		region_release(&arena->regions[i]);
	if (arena->base != NULL)
		arena->backend->unreserve(arena->base, arena->reserved_bytes);
}
