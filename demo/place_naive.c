/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an application does that never thought about pages: one malloc an object, tables on base
 * pages. The malloc is jemalloc, whose hooks let it take its memory from a shared mapping, because
 * the pages of a private one cannot be counted. Its addresses are its own decision.
 */
#include "fail.h"
#include "place.h"
#include "shelf.h"

#include <hpm/dpdk.h>

#include <errno.h>
#include <jemalloc/jemalloc.h>
#include <rte_common.h>
#include <stdlib.h>
#include <unistd.h>

/* jemalloc takes extents in growing steps and keeps its own records among them. */
#define EXTENTS_SLACK (UINT64_C(64) << 20)

struct place_naive {
	struct place base;
	struct shelf shelf; /* heaps and counters */
	uint64_t object_bytes[TABLES];

	struct hpm_arena *arena; /* jemalloc's memory */
	extent_hooks_t hooks;
	char *base_addr;
	uint64_t bytes, used; /* extents lie in [0, used); they are never returned */
	unsigned index;       /* of jemalloc's arena */
};

static void *take_extent(extent_hooks_t *hooks, void *wanted, size_t bytes, size_t align,
	bool *zero, bool *commit, unsigned index)
{
	struct place_naive *p = container_of(hooks, struct place_naive, hooks);
	uint64_t at = RTE_ALIGN_CEIL((uint64_t)(uintptr_t)p->base_addr + p->used, align) -
		      (uint64_t)(uintptr_t)p->base_addr;

	if (wanted != NULL || at > p->bytes || bytes > p->bytes - at)
		return NULL;
	p->used = at + bytes;
	*zero = true; /* an arena's pages start as zeroes, and are handed out once */
	*commit = true;
	return p->base_addr + at;
}

static bool keep_extent(
	extent_hooks_t *hooks, void *addr, size_t bytes, bool committed, unsigned index)
{
	return true; /* jemalloc retains it */
}

static bool split_extent(extent_hooks_t *hooks, void *addr, size_t bytes, size_t a, size_t b,
	bool committed, unsigned index)
{
	return false;
}

static bool merge_extents(extent_hooks_t *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes,
	bool committed, unsigned index)
{
	return false;
}

static uint32_t base_page_shift(void)
{
	return (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
}

static struct place_naive *naive(struct place *base)
{
	return container_of(base, struct place_naive, base);
}

static int naive_socket(struct place *base, enum table table)
{
	return hpm_dpdk_heap_socket(naive(base)->shelf.heaps[table]);
}

/* No thread cache: one would be bound to jemalloc's default arena. */
static int flags_of(const struct place_naive *p)
{
	return MALLOCX_ARENA(p->index) | MALLOCX_TCACHE_NONE | MALLOCX_ALIGN(HPM_CACHE_LINE);
}

static void *naive_get(struct place *base, enum table table)
{
	return mallocx(naive(base)->object_bytes[table], flags_of(naive(base)));
}

static void naive_put(struct place *base, enum table table, void *object)
{
	dallocx(object, MALLOCX_TCACHE_NONE);
}

static uint64_t *naive_cells(struct place *base, enum table table)
{
	return hpm_counters_block(naive(base)->shelf.counters[table], 0);
}

static struct span naive_span(struct place *base, void *object)
{
	return (struct span){object, sallocx(object, 0)};
}

static int naive_watch(struct place *base, struct hpm_window *window, struct hpm_reason *reason)
{
	struct place_naive *p = naive(base);
	int rc = hpm_window_watch_arena(window, p->shelf.arena, reason);

	/* jemalloc's arena by range: what its bytes are for, the objects' marks say */
	return rc < 0 ? rc : hpm_window_watch(window, p->base_addr, p->bytes, reason);
}

static void naive_close(struct place *base)
{
	struct place_naive *p = naive(base);
	char name[64];

	snprintf(name, sizeof(name), "arena.%u.destroy", p->index);
	if (mallctl(name, NULL, NULL, NULL, 0) != 0)
		return; /* jemalloc still knows the memory: it must stay */
	hpm_arena_destroy(p->arena);
	shelf_close(&p->shelf);
	free(p);
}

static int open_objects(
	struct place_naive *p, const struct need needs[TABLES], struct hpm_reason *reason)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena_info info = {.size = sizeof(info)};
	extent_hooks_t *hooks = &p->hooks;
	size_t length = sizeof(p->index);
	int rc;

	opts.name = "malloc";
	for (int i = 0; i < TABLES; i++)
		if (table_info[i].kind == KIND_OBJECTS) {
			p->object_bytes[i] = needs[i].bytes;
			opts.bytes += needs[i].count * needs[i].bytes;
		}
	opts.bytes += opts.bytes / 2 + EXTENTS_SLACK;
	opts.page_shifts[0] = base_page_shift();
	opts.reason = reason;
	rc = hpm_arena_create(&p->arena, &opts);
	if (rc == 0)
		rc = hpm_arena_info_read(p->arena, &info);
	if (rc < 0)
		return rc;
	p->base_addr = info.base;
	p->bytes = info.bytes;
	rc = mallctl("arenas.create", &p->index, &length, &hooks, sizeof(hooks));
	return rc == 0 ? 0 : demo_fail(-rc, reason, "jemalloc: no arena with our hooks");
}

int place_naive_open(struct place **ret, const struct need needs[TABLES], struct hpm_reason *reason)
{
	struct place_naive *p = calloc(1, sizeof(*p));
	int rc;

	if (p == NULL)
		return demo_fail(-ENOMEM, reason, "out of memory");
	p->hooks = (extent_hooks_t){.alloc = take_extent,
		.dalloc = keep_extent,
		.split = split_extent,
		.merge = merge_extents};
	rc = shelf_open(
		&p->shelf, needs, 1U << KIND_HEAP | 1U << KIND_CELLS, base_page_shift(), reason);
	if (rc == 0) {
		rc = open_objects(p, needs, reason);
		if (rc < 0) {
			hpm_arena_destroy(p->arena);
			shelf_close(&p->shelf);
		}
	}
	if (rc < 0) {
		free(p);
		return rc;
	}
	p->base = (struct place){.socket = naive_socket,
		.get = naive_get,
		.put = naive_put,
		.cells = naive_cells,
		.span = naive_span,
		.watch = naive_watch,
		.close = naive_close,
		.arena = p->shelf.arena};
	*ret = &p->base;
	return 0;
}
