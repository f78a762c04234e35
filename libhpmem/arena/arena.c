/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what an arena is allowed to be, and tells what it has become. Its pages come from
 * pages.c, which runs it lends is decided in run.c.
 */
#include "arena/arena.h"

#include "arena/pages.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNIT_SHIFT 12 /* 4 KiB, see arena.h */

static int check_opts(struct hpm_arena_opts *opts, const struct hpm_arena_opts *from)
{
	int rc = opts_copy(opts, sizeof(*opts), from, sizeof(*opts));
	size_t length;

	if (rc < 0)
		return rc;
	reason_clear(opts->reason);
	length = opts->name != NULL ? strnlen(opts->name, HPM_NAME_MAX) : 0;
	if (length == 0 || length == HPM_NAME_MAX)
		return fail(-EINVAL, opts->reason, "an arena's name has 1 to %d bytes",
			HPM_NAME_MAX - 1);
	if (opts->bytes == 0)
		return fail(-EINVAL, opts->reason, "arena '%s': 0 bytes", opts->name);
	if (opts->page_shifts[0] == 0)
		return fail(-EINVAL, opts->reason,
			"arena '%s': no page size; write e.g. page_shifts = {21} for 2 MiB",
			opts->name);
	return 0;
}

int arena_create_on(struct hpm_arena **ret, const struct hpm_arena_opts *from,
	const struct region_backend *backend)
{
	struct hpm_arena_opts opts;
	struct hpm_arena *arena;
	int rc = check_opts(&opts, from);

	if (rc < 0)
		return rc;
	if (backend == NULL)
		return fail(-EINVAL, opts.reason, "arena '%s': unknown source %d", opts.name,
			opts.source);
	arena = calloc(1, sizeof(*arena));
	if (arena == NULL)
		return fail(-ENOMEM, opts.reason, "arena '%s': out of memory", opts.name);
	snprintf(arena->name, sizeof(arena->name), "%s", opts.name);
	arena->backend = backend;
	arena->asked_page_shift = opts.page_shifts[0];
	arena->unit_shift = shift_of((uint64_t)sysconf(_SC_PAGESIZE));
	if (arena->unit_shift < UNIT_SHIFT)
		arena->unit_shift = UNIT_SHIFT;
	rc = pages_first(arena, &opts);
	if (rc < 0) {
		free(arena);
		return rc;
	}
	reason_clear(opts.reason);
	pthread_mutex_init(&arena->lock, NULL);
	*ret = arena;
	return 0;
}

int hpm_arena_create(struct hpm_arena **ret, const struct hpm_arena_opts *opts)
{
	struct hpm_arena_opts copy;
	int rc = opts_copy(&copy, sizeof(copy), opts, sizeof(copy));

	return rc < 0 ? rc : arena_create_on(ret, &copy, region_backend_of(copy.source));
}

void hpm_arena_destroy(struct hpm_arena *arena)
{
	if (arena == NULL)
		return;
	pages_give_back(arena);
	pthread_mutex_destroy(&arena->lock);
	free(arena->runs);
	free(arena);
}

uint64_t arena_span(
	struct hpm_arena *arena, struct region regions[ARENA_REGIONS], unsigned *n_regions)
{
	uint64_t bytes;

	pthread_mutex_lock(&arena->lock);
	bytes = arena_bytes(arena);
	if (regions != NULL) {
		memcpy(regions, arena->regions, sizeof(arena->regions));
		*n_regions = arena->n_regions;
	}
	pthread_mutex_unlock(&arena->lock);
	return bytes;
}

/* With the lock. */
static uint64_t used_bytes(const struct hpm_arena *arena)
{
	uint64_t units = 0;

	for (size_t i = 0; i < arena->count; i++)
		units += arena->runs[i].units;
	return units << arena->unit_shift;
}

int hpm_arena_info_read(struct hpm_arena *arena, struct hpm_arena_info *info)
{
	const struct region *r = arena->regions;
	struct hpm_arena_info full = {.base = arena->base,
		.page_shift = r->page_shift,
		.asked_page_shift = arena->asked_page_shift,
		.unit_shift = arena->unit_shift,
		.node = r->node,
		.fd = r->fd};

	pthread_mutex_lock(&arena->lock);
	full.bytes = arena_bytes(arena);
	full.used_bytes = used_bytes(arena);
	for (unsigned i = 0; i < arena->n_regions; i++)
		full.pages += r[i].bytes >> r[i].page_shift;
	pthread_mutex_unlock(&arena->lock);
	memcpy(full.name, arena->name, sizeof(full.name));
	return opts_fill(info, &full, sizeof(full), sizeof(full));
}

int64_t hpm_arena_misplaced(const struct hpm_arena *arena, struct hpm_reason *reason)
{
	/* the lock is no part of what an arena is */
	struct hpm_arena *locked = (struct hpm_arena *)(uintptr_t)arena;
	struct region regions[ARENA_REGIONS];
	int64_t sum = 0;
	unsigned n;
	int first = -1;

	reason_clear(reason);
	arena_span(locked, regions, &n);
	for (unsigned i = 0; i < n; i++) {
		int where = -1;
		int64_t wrong = region_misplaced(&regions[i], &where);

		if (wrong < 0)
			return fail(-EIO, reason,
				"arena '%s': the kernel does not say where its pages are",
				arena->name);
		if (sum == 0)
			first = where;
		sum += wrong;
	}
	if (sum > 0)
		fail(0, reason, "arena '%s': %lld pages are on node %d instead of %d", arena->name,
			(long long)sum, first, regions[0].node);
	return sum;
}
