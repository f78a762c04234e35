/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what a window may watch, and refuses what it could not count exactly or would harm:
 * private mappings (a zap loses their data), locked ones (cannot be zapped), page tables that
 * another process may fill, base pages whose neighbours the kernel would map too.
 *
 * A watch is all or nothing: the range is checked whole before the window changes.
 */
#include "account/window.h"

#include "arena/arena.h"
#include "base/log.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A table of page-table entries for 2 MiB pages covers 1 GiB; the kernel shares it between
 * processes when a shared hugetlb mapping covers it whole (huge_pmd_share, mm/hugetlb.c).
 */
#define PMD_SHIFT 21
#define PUD_BYTES (UINT64_C(1) << 30)

/* A part of one mapping that is about to be watched. */
struct piece {
	uintptr_t start, end; /* whole pages */
	uint32_t shift;
	bool guarded;
};

/* A list of maps under construction. */
struct draft {
	struct window_map *maps;
	size_t count, room;
};

static void draft_free(struct draft *draft)
{
	for (size_t i = 0; i < draft->count; i++) {
		holdings_free(&draft->maps[i].holdings);
		free(draft->maps[i].touched);
	}
	free(draft->maps);
}

/* Adjoining pieces of one kind become one map. */
static int draft_add(struct draft *draft, const struct piece *p)
{
	struct window_map *last = draft->count ? &draft->maps[draft->count - 1] : NULL;
	uint64_t pages = (p->end - p->start) >> p->shift;

	if (last != NULL && last->shift == p->shift && last->guarded == p->guarded &&
		last->start + map_bytes(last) == p->start)
		return holdings_grow(&last->holdings, last->holdings.pages + pages);
	if (draft->count == draft->room) {
		size_t room = draft->room ? 2 * draft->room : 8;
		struct window_map *maps = realloc(draft->maps, room * sizeof(*maps));

		if (maps == NULL)
			return -ENOMEM;
		draft->maps = maps;
		draft->room = room;
	}
	last = &draft->maps[draft->count];
	*last = (struct window_map){.start = p->start, .shift = p->shift, .guarded = p->guarded};
	if (holdings_init(&last->holdings, pages) < 0)
		return -ENOMEM;
	draft->count++;
	return 0;
}

static bool page_tables_may_be_shared(const struct smaps_entry *m)
{
	uint64_t first = (m->start + PUD_BYTES - 1) & ~(PUD_BYTES - 1);

	return m->hugetlb && m->page_shift == PMD_SHIFT && first + PUD_BYTES <= m->end;
}

static bool is_base(const struct smaps_entry *m)
{
	return !m->hugetlb && UINT64_C(1) << m->page_shift == (uint64_t)sysconf(_SC_PAGESIZE);
}

static int check_kind(const struct smaps_entry *m, struct hpm_reason *reason)
{
	if (!m->shared)
		return fail(-EPERM, reason,
			"mapping at 0x%" PRIxPTR
			" is private: counting its pages would lose its data; map "
			"it shared (memfd or hugetlbfs)",
			m->start);
	if (m->locked)
		return fail(-EBUSY, reason,
			"mapping at 0x%" PRIxPTR " is locked (mlock): its pages cannot be counted",
			m->start);
	if (m->page_shift == 0 || m->huge_mapped || (!m->hugetlb && !is_base(m)))
		return fail(-ENOTSUP, reason,
			"mapping at 0x%" PRIxPTR " mixes page sizes (transparent huge pages)",
			m->start);
	return 0;
}

/* Registers what must not share page tables or map neighbours; says why where that fails. */
static int guard(const struct hpm_window *window, const struct smaps_entry *m, struct piece *p,
	struct hpm_reason *reason)
{
	int rc = window->guard_fd;

	if (rc >= 0)
		rc = window->kernel->guard(window->guard_fd, p->start, p->end - p->start);
	p->guarded = rc >= 0;
	if (rc == -EBUSY)
		return fail(-EBUSY, reason,
			"memory at 0x%" PRIxPTR " is watched by another window or userfaultfd",
			p->start);
	if (rc < 0 && page_tables_may_be_shared(m))
		return fail(-EBUSY, reason,
			"page tables at 0x%" PRIxPTR
			" may be shared with another process, whose touches would "
			"count; ending that needs userfaultfd write-protect (kernel 5.19; errno "
			"%d)",
			p->start, -rc);
	if (rc < 0 && is_base(m))
		return fail(-ENOTSUP, reason,
			"base pages at 0x%" PRIxPTR
			" would be over-counted (fault-around); switching that off "
			"needs userfaultfd write-protect (kernel 5.19; errno %d)",
			p->start, -rc);
	return 0;
}

/* Only what this window registered: older kernels let one userfaultfd unregister another's. */
static void unguard(const struct hpm_window *window, const struct piece *p)
{
	if (p->guarded)
		window->kernel->unguard(window->guard_fd, p->start, p->end - p->start);
}

/* Lets go of what a failed watch had registered, so that another window can have it. */
static void draft_unguard(const struct hpm_window *window, const struct draft *draft)
{
	for (size_t i = 0; i < draft->count; i++) {
		const struct window_map *map = &draft->maps[i];
		struct piece p = {.start = map->start,
			.end = map->start + map_bytes(map),
			.guarded = map->guarded};

		unguard(window, &p);
	}
}

static int try_zap(const struct hpm_window *window, const struct smaps_entry *m, uintptr_t start,
	struct hpm_reason *reason)
{
	int rc = window->kernel->zap(start, UINT64_C(1) << m->page_shift);

	if (rc == -EINVAL)
		return fail(-ENOTSUP, reason,
			"this kernel cannot drop page-table entries of %s at 0x%" PRIxPTR
			" (hugetlb needs 5.18)",
			m->hugetlb ? "huge pages" : "this mapping", start);
	if (rc < 0)
		fail(rc, reason, "cannot drop page-table entries at 0x%" PRIxPTR " (errno %d)",
			start, -rc);
	return rc;
}

static bool overlaps(const struct hpm_window *window, const struct piece *p)
{
	for (size_t i = 0; i < window->count; i++) {
		const struct window_map *map = &window->maps[i];

		if (map->start < p->end && p->start < map->start + map_bytes(map))
			return true;
	}
	return false;
}

/* Takes the part of one mapping that lies in [from, to) into the draft. */
static int take(const struct hpm_window *window, struct draft *draft, const struct smaps_entry *m,
	uintptr_t from, uintptr_t to, struct hpm_reason *reason)
{
	struct piece p = {.shift = m->page_shift};
	int rc = check_kind(m, reason);
	uint64_t page;

	if (rc < 0)
		return rc;
	page = UINT64_C(1) << p.shift;
	p.start = from > m->start ? from & ~(page - 1) : m->start;
	p.end = to < m->end ? (to + page - 1) & ~(page - 1) : m->end;
	if (overlaps(window, &p))
		return fail(
			-EINVAL, reason, "memory at 0x%" PRIxPTR " is watched already", p.start);
	rc = guard(window, m, &p, reason);
	if (rc < 0)
		return rc;
	rc = try_zap(window, m, p.start, reason);
	if (rc == 0)
		rc = draft_add(draft, &p);
	if (rc < 0)
		unguard(window, &p);
	return rc;
}

/* Drafts the maps of [from, to), which must be mapped without a gap. */
static int survey(const struct hpm_window *window, struct draft *draft, uintptr_t from,
	uintptr_t to, struct hpm_reason *reason)
{
	FILE *smaps = window->kernel->smaps_open();
	uintptr_t at = from;
	struct smaps_entry m;
	int rc = 0;

	if (smaps == NULL)
		return fail(-errno, reason, "cannot read /proc/self/smaps (errno %d)", errno);
	while (rc == 0 && at < to && smaps_next(&m, smaps)) {
		if (m.end <= at)
			continue;
		if (m.start > at)
			break;
		rc = take(window, draft, &m, at, to, reason);
		at = m.end;
	}
	fclose(smaps);
	if (rc == 0 && at < to)
		rc = fail(-EINVAL, reason, "nothing is mapped at 0x%" PRIxPTR, at);
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct window_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Moves the drafted maps into the window. */
static int adopt(struct hpm_window *window, struct draft *draft)
{
	struct window_map *maps;

	for (size_t i = 0; i < draft->count; i++) {
		size_t words = bitmap_words(draft->maps[i].holdings.pages);

		draft->maps[i].touched = calloc(words, sizeof(*maps->touched));
		if (draft->maps[i].touched == NULL)
			return -ENOMEM;
	}
	maps = realloc(window->maps, (window->count + draft->count) * sizeof(*maps));
	if (maps == NULL)
		return -ENOMEM;
	memcpy(maps + window->count, draft->maps, draft->count * sizeof(*maps));
	window->maps = maps;
	window->count += draft->count;
	qsort(maps, window->count, sizeof(*maps), by_start);
	draft->count = 0;
	return 0;
}

/* The map that holds an address; NULL. */
static struct window_map *find(struct window_map *maps, size_t count, uintptr_t addr)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct window_map *map = &maps[mid];

		if (addr < map->start)
			high = mid;
		else if (addr - map->start >= map_bytes(map))
			low = mid + 1;
		else
			return map;
	}
	return NULL;
}

/* Whether every byte of [from, to) lies in a map. */
static bool covered(struct window_map *maps, size_t count, uintptr_t from, uintptr_t to)
{
	while (from < to) {
		const struct window_map *map = find(maps, count, from);

		if (map == NULL)
			return false;
		from = map->start + map_bytes(map);
	}
	return true;
}

/* Marks [from, to), which the maps cover. 0, -ENOMEM. */
static int mark(struct window_map *maps, size_t count, uint8_t tag, uintptr_t from, uintptr_t to)
{
	int rc = 0;

	while (from < to && rc == 0) {
		struct window_map *map = find(maps, count, from);
		uint64_t first = (from - map->start) >> map->shift;
		uint64_t last = (to - 1 - map->start) >> map->shift;

		if (last >= map->holdings.pages)
			last = map->holdings.pages - 1;
		rc = holdings_mark(&map->holdings, tag, first, last);
		from = map->start + map_bytes(map);
	}
	return rc;
}

/* Marks an arena's runs in maps that cover it. */
static int mark_runs(const struct draft *draft, struct hpm_arena *arena)
{
	uintptr_t base = (uintptr_t)arena->base;
	struct arena_run *runs;
	size_t count;
	int rc = arena_runs_copy(arena, &runs, &count);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count && rc == 0; i++) {
		uintptr_t from = base + (runs[i].first << arena->unit_shift);

		uintptr_t to = from + (runs[i].units << arena->unit_shift);

		/* one in pages that came since the survey is not watched */
		if (covered(draft->maps, draft->count, from, to))
			rc = mark(draft->maps, draft->count, runs[i].tag, from, to);
	}
	free(runs);
	return rc;
}

static int check_range(
	const struct hpm_window *window, uintptr_t from, uint64_t bytes, struct hpm_reason *reason)
{
	uintptr_t to;

	if (bytes == 0)
		return fail(-EINVAL, reason, "a range to watch has at least 1 byte");
	if (__builtin_add_overflow(from, bytes, &to) || to > UINTPTR_MAX - PUD_BYTES)
		return fail(
			-EOVERFLOW, reason, "0x%" PRIxPTR " + %" PRIu64 " overflows", from, bytes);
	if (window_is_foreign(window))
		return fail(-ECHILD, reason,
			"the window was created before fork(2), by the parent; create another");
	if (window->state == WINDOW_OPEN)
		return fail(-EINVAL, reason, "the window is open");
	return 0;
}

/* Watches a range, marked as the runs of an arena (NULL for none) say. */
static int watch(struct hpm_window *window, uintptr_t from, uint64_t bytes, struct hpm_arena *arena,
	struct hpm_reason *reason)
{
	struct draft draft = {0};
	int rc;

	reason_clear(reason);
	rc = check_range(window, from, bytes, reason);
	if (rc < 0)
		return rc;
	rc = survey(window, &draft, from, from + bytes, reason);
	if (rc == 0 && arena != NULL)
		rc = mark_runs(&draft, arena);
	if (rc == 0)
		rc = adopt(window, &draft);
	if (rc == 0)
		window->state = WINDOW_NEW;
	else
		draft_unguard(window, &draft);
	if (rc == -ENOMEM)
		fail(rc, reason, "a window: out of memory");
	draft_free(&draft);
	return rc;
}

int hpm_window_watch_arena(
	struct hpm_window *window, struct hpm_arena *arena, struct hpm_reason *reason)
{
	return watch(window, (uintptr_t)arena->base, arena_span(arena, NULL, NULL), arena, reason);
}

int hpm_window_watch(
	struct hpm_window *window, const void *addr, uint64_t bytes, struct hpm_reason *reason)
{
	return watch(window, (uintptr_t)addr, bytes, NULL, reason);
}

int hpm_window_mark(struct hpm_window *window, const char *tag, const void *addr, uint64_t bytes)
{
	uintptr_t from = (uintptr_t)addr, to;
	int number;

	if (bytes == 0 || __builtin_add_overflow(from, bytes, &to) ||
		!covered(window->maps, window->count, from, to))
		return -EINVAL;
	number = tag_intern(tag);
	return number < 0 ? number : mark(window->maps, window->count, (uint8_t)number, from, to);
}
