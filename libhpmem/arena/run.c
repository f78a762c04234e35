/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides where in an arena a run lies: at the lowest address where it spans the fewest pages.
 * Invariant: runs are ascending and disjoint; a run smaller than a page lies inside one page, a
 * larger one starts on a page.
 */
#include <hpm/run.h>

#include "arena/arena.h"
#include "base/log.h"
#include "base/tag.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint64_t first;   /* unit */
	size_t index;     /* in runs[]: the run goes before this one */
	uint64_t longest; /* units that the best gap could have given, when nothing fits */
};

static uint64_t align_up(uint64_t n, uint64_t pow2)
{
	return (n + pow2 - 1) & ~(pow2 - 1);
}

/*
 * First unit at or after `from` where a run may start. Counted from address 0 rather than from the
 * arena's base, so that any alignment holds. No sum overflows: all are addresses below 2^47 or
 * alignments below 2^62, in units of 4 KiB and more.
 */
static uint64_t start_at(
	const struct hpm_arena *arena, uint64_t from, uint64_t units, uint64_t align)
{
	uint64_t base = (uintptr_t)arena->base >> arena->unit_shift;
	uint64_t first = align_up(base + from, align);

	for (;;) {
		uint64_t page = UINT64_C(1)
				<< (arena_page_shift(arena, first - base) - arena->unit_shift);

		if (first % page == 0 || first / page == (first + units - 1) / page)
			return first - base;
		/* may lie in the next region, whose pages have another size */
		first = align_up(first, align > page ? align : page);
	}
}

/* What a gap that does not fit could give: all of it, or what is left after its first place. */
static uint64_t usable(uint64_t gap, uint64_t end, uint64_t first, uint64_t units)
{
	if (end - gap < units)
		return end - gap;
	return first < end ? end - first : 0;
}

/* Lowest gap that fits. */
static bool find_place(
	struct place *ret, const struct hpm_arena *arena, uint64_t units, uint64_t align)
{
	uint64_t total = arena_bytes(arena) >> arena->unit_shift;
	uint64_t gap = 0; /* start of the gap before run i */

	ret->longest = 0;
	for (size_t i = 0; i <= arena->count; i++) {
		uint64_t end = i < arena->count ? arena->runs[i].first : total;
		uint64_t first = start_at(arena, gap, units, align);

		if (first + units <= end) {
			ret->first = first;
			ret->index = i;
			return true;
		}
		if (usable(gap, end, first, units) > ret->longest)
			ret->longest = usable(gap, end, first, units);
		if (i < arena->count)
			gap = end + arena->runs[i].units;
	}
	return false;
}

static int make_room(struct hpm_arena *arena)
{
	size_t room = arena->room ? 2 * arena->room : 16;
	struct arena_run *runs;

	if (arena->count < arena->room)
		return 0;
	runs = realloc(arena->runs, room * sizeof(*runs));
	if (runs == NULL)
		return -ENOMEM;
	arena->runs = runs;
	arena->room = room;
	return 0;
}

/* Units below `clean` may hold an earlier run's bytes. */
static void zero_dirty(struct hpm_arena *arena, const struct arena_run *run)
{
	uint64_t end = run->first + run->units;
	uint64_t dirty_end = end < arena->clean ? end : arena->clean;

	if (run->first < dirty_end)
		memset(arena->base + (run->first << arena->unit_shift), 0,
			(dirty_end - run->first) << arena->unit_shift);
	if (end > arena->clean)
		arena->clean = end;
}

static int get_locked(void **ret, struct hpm_arena *arena, const struct arena_run *want,
	uint64_t align_units, struct hpm_reason *reason)
{
	struct arena_run run = *want;
	struct place place;

	if (!find_place(&place, arena, run.units, align_units))
		return fail(-ENOMEM, reason,
			"arena '%s': no gap of %" PRIu64 " bytes for '%s', the longest has %" PRIu64
			"; create it larger",
			arena->name, run.asked_bytes, tag_name(run.tag),
			place.longest << arena->unit_shift);
	if (make_room(arena) < 0)
		return fail(
			-ENOMEM, reason, "arena '%s': out of memory for its books", arena->name);
	run.first = place.first;
	memmove(&arena->runs[place.index + 1], &arena->runs[place.index],
		(arena->count - place.index) * sizeof(run));
	arena->runs[place.index] = run;
	arena->count++;
	zero_dirty(arena, &run);
	*ret = arena->base + (run.first << arena->unit_shift);
	return 0;
}

int hpm_run_get(void **ret, struct hpm_arena *arena, const char *tag, uint64_t bytes,
	uint64_t align, struct hpm_reason *reason)
{
	uint64_t unit = UINT64_C(1) << arena->unit_shift;
	struct arena_run run = {.units = units_of(bytes, arena->unit_shift), .asked_bytes = bytes};
	int number, rc;

	reason_clear(reason);
	if (bytes == 0 || (align != 0 && !is_pow2(align)))
		return fail(-EINVAL, reason,
			"a run has at least 1 byte and a power of two as alignment");
	if (bytes > (UINT64_C(1) << 63) - 1 || align > UINT64_C(1) << 62)
		return fail(-EOVERFLOW, reason, "a run of %" PRIu64 " bytes is beyond any arena",
			bytes);
	number = tag_intern(tag);
	if (number < 0)
		return fail(number, reason,
			number == -ENOSPC ? "255 tags are in use, '%.31s' is one too many"
					  : "a tag is 1 to 31 of [a-z0-9_.-], not '%.31s'",
			tag != NULL ? tag : "(null)");
	run.tag = (uint8_t)number;
	if (align < unit)
		align = unit;
	pthread_mutex_lock(&arena->lock);
	rc = get_locked(ret, arena, &run, align >> arena->unit_shift, reason);
	pthread_mutex_unlock(&arena->lock);
	return rc;
}

/* The run that holds a unit; NULL when it is in a gap. */
static struct arena_run *find_run(struct hpm_arena *arena, uint64_t unit)
{
	size_t low = 0, high = arena->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct arena_run *run = &arena->runs[mid];

		if (unit < run->first)
			high = mid;
		else if (unit >= run->first + run->units)
			low = mid + 1;
		else
			return run;
	}
	return NULL;
}

static bool contains(const struct hpm_arena *arena, const void *addr)
{
	uintptr_t at = (uintptr_t)addr, base = (uintptr_t)arena->base;

	return at >= base && at - base < arena->reserved_bytes;
}

int hpm_run_put(struct hpm_arena *arena, void *block)
{
	struct arena_run *run = NULL;
	uint64_t offset;
	int rc = -EINVAL;

	if (!contains(arena, block))
		return -EINVAL;
	offset = (uint64_t)((char *)block - arena->base);
	pthread_mutex_lock(&arena->lock);
	run = find_run(arena, offset >> arena->unit_shift);
	if (run != NULL && run->first << arena->unit_shift == offset) {
		size_t index = (size_t)(run - arena->runs);

		memmove(run, run + 1, (arena->count - index - 1) * sizeof(*run));
		arena->count--;
		rc = 0;
	}
	pthread_mutex_unlock(&arena->lock);
	return rc;
}

const char *hpm_run_tag(struct hpm_arena *arena, const void *addr)
{
	const struct arena_run *run;
	uint8_t tag = TAG_NONE;

	if (!contains(arena, addr))
		return NULL;
	pthread_mutex_lock(&arena->lock);
	run = find_run(arena, (uint64_t)((const char *)addr - arena->base) >> arena->unit_shift);
	if (run != NULL)
		tag = run->tag;
	pthread_mutex_unlock(&arena->lock);
	return tag_name(tag);
}

int arena_runs_copy(struct hpm_arena *arena, struct arena_run **ret, size_t *count)
{
	struct arena_run *copy;

	pthread_mutex_lock(&arena->lock);
	copy = malloc((arena->count + 1) * sizeof(*copy)); /* never malloc(0) */
	if (copy != NULL) {
		for (size_t i = 0; i < arena->count; i++)
			copy[i] = arena->runs[i];
		*count = arena->count;
		*ret = copy;
	}
	pthread_mutex_unlock(&arena->lock);
	return copy != NULL ? 0 : -ENOMEM;
}
