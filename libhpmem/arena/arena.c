/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which of the caller's page sizes an arena gets: the first that can be had whole. Nothing
 * that is not on the list is ever tried, and which entry it was can be read back.
 */
#include "arena/arena.h"

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

/* Base pages come from a memfd whatever the source of huge pages. */
static const struct region_backend *backend_for(
	const struct region_backend *backend, uint32_t page_shift)
{
	bool base = UINT64_C(1) << (page_shift & 63) == (uint64_t)sysconf(_SC_PAGESIZE);

	return base && backend == &backend_hugetlbfs ? &backend_memfd : backend;
}

/* Tries the list in order; the reason told is that of the first, what was really wanted. */
static int acquire(
	struct region *ret, const struct hpm_arena_opts *opts, const struct region_backend *backend)
{
	struct hpm_reason first = {""}, other;
	int first_rc = 0;

	for (int i = 0; i < HPM_PAGE_SIZES_MAX && opts->page_shifts[i] != 0; i++) {
		struct region_request want = {.name = opts->name,
			.bytes = opts->bytes,
			.page_shift = opts->page_shifts[i],
			.node = opts->node,
			.backend = backend_for(backend, opts->page_shifts[i])};
		int rc = region_acquire(ret, &want, i == 0 ? &first : &other);

		if (rc == 0) {
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
	rc = acquire(&arena->region, &opts, backend);
	if (rc < 0) {
		free(arena);
		return rc;
	}
	reason_clear(opts.reason);
	snprintf(arena->name, sizeof(arena->name), "%s", opts.name);
	arena->asked_page_shift = opts.page_shifts[0];
	arena->unit_shift = shift_of((uint64_t)sysconf(_SC_PAGESIZE));
	if (arena->unit_shift < UNIT_SHIFT)
		arena->unit_shift = UNIT_SHIFT;
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
	region_release(&arena->region);
	pthread_mutex_destroy(&arena->lock);
	free(arena->runs);
	free(arena);
}

static uint64_t used_bytes(struct hpm_arena *arena)
{
	uint64_t units = 0;

	pthread_mutex_lock(&arena->lock);
	for (size_t i = 0; i < arena->count; i++)
		units += arena->runs[i].units;
	pthread_mutex_unlock(&arena->lock);
	return units << arena->unit_shift;
}

int hpm_arena_info_read(struct hpm_arena *arena, struct hpm_arena_info *info)
{
	const struct region *r = &arena->region;
	struct hpm_arena_info full = {.base = r->addr,
		.bytes = r->bytes,
		.used_bytes = used_bytes(arena),
		.pages = r->bytes >> r->page_shift,
		.page_shift = r->page_shift,
		.asked_page_shift = arena->asked_page_shift,
		.unit_shift = arena->unit_shift,
		.node = r->node,
		.fd = r->fd};

	memcpy(full.name, arena->name, sizeof(full.name));
	return opts_fill(info, &full, sizeof(full), sizeof(full));
}

int64_t hpm_arena_misplaced(const struct hpm_arena *arena, struct hpm_reason *reason)
{
	int where = -1;
	int64_t wrong = region_misplaced(&arena->region, &where);

	reason_clear(reason);
	if (wrong < 0)
		return fail(-EIO, reason, "arena '%s': the kernel does not say where its pages are",
			arena->name);
	if (wrong > 0)
		fail(0, reason, "arena '%s': %lld pages are on node %d instead of %d", arena->name,
			(long long)wrong, where, arena->region.node);
	return wrong;
}
