/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Question: what does a session cost to take and give back, and on how many pages do the live ones
 * lie? 128-byte objects: take all and write the first word of each, give all back in random order.
 *
 * Known shape: malloc's header costs 16 bytes an object (9 pages for 8), a pool's bitmap two bits.
 * Cross-check: pages are counted from the objects' addresses, for every contender alike.
 */
#include "bench.h"

#include <hpm/hpm.h>

#ifdef BENCH_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 128
#define OBJECTS      262144

struct state {
	struct hpm_arena *arena;
	struct hpm_pool *pool;
	struct hpm_lane *lane; /* of the contender that takes one */
	void **objects;
	uint32_t *order; /* of giving back */
};

static void teardown(void *arg)
{
	struct state *s = arg;

	hpm_lane_close(s->lane);
	hpm_pool_destroy(s->pool);
	hpm_arena_destroy(s->arena);
	free(s->objects);
	free(s->order);
	free(s);
}

static int setup(void **ret, uint64_t n, struct hpm_reason *reason)
{
	struct state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->objects = calloc(n, sizeof(*s->objects));
	s->order = bench_shuffle((uint32_t)n);
	if (s->objects == NULL || s->order == NULL) {
		teardown(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static int setup_pool(
	void **ret, uint64_t n, uint32_t page_shift, uint32_t lanes, struct hpm_reason *reason)
{
	struct hpm_arena_opts arena = HPM_ARENA_OPTS_INIT;
	struct hpm_pool_opts pool = HPM_POOL_OPTS_INIT;
	struct state *s;
	int rc = setup(ret, n, reason);

	if (rc < 0)
		return rc;
	s = *ret;
	arena.name = "bench";
	arena.bytes = n * OBJECT_BYTES + (UINT64_C(4) << 20); /* and the bitmap */
	arena.page_shifts[0] = page_shift;
	arena.reason = reason;
	rc = hpm_arena_create(&s->arena, &arena);
	if (rc == 0) {
		pool.arena = s->arena;
		pool.tag = "session";
		pool.count = n;
		pool.object_bytes = OBJECT_BYTES;
		pool.align = HPM_CACHE_LINE;
		pool.lanes = lanes;
		pool.reason = reason;
		rc = hpm_pool_create(&s->pool, &pool);
	}
	if (rc == 0 && lanes > 0)
		rc = hpm_lane_open(&s->lane, s->pool, reason);
	if (rc < 0)
		teardown(s);
	return rc;
}

static int setup_pool_base(void **ret, uint64_t n, struct hpm_reason *reason)
{
	return setup_pool(ret, n, 12, 0, reason);
}

static int setup_pool_2m(void **ret, uint64_t n, struct hpm_reason *reason)
{
	return setup_pool(ret, n, 21, 0, reason);
}

static int setup_lane_2m(void **ret, uint64_t n, struct hpm_reason *reason)
{
	return setup_pool(ret, n, 21, 1, reason);
}

/* One take and one give for each way, so that each contender's loop is its own. */
#define TAKE(s, n, expression)                                                                     \
	for (uint64_t i = 0; i < (n); i++) {                                                       \
		(s)->objects[i] = (expression);                                                    \
		if ((s)->objects[i] == NULL)                                                       \
			abort();                                                                   \
		*(volatile uint64_t *)(s)->objects[i] = i;                                         \
	}

static void run_pool(void *arg, uint64_t n)
{
	struct state *s = arg;

	TAKE(s, n, hpm_pool_get(s->pool));
	for (uint64_t i = 0; i < n; i++)
		if (hpm_pool_put(s->pool, s->objects[s->order[i]]) != 0)
			abort();
}

static void run_lane(void *arg, uint64_t n)
{
	struct state *s = arg;

	TAKE(s, n, hpm_lane_get(s->lane));
	for (uint64_t i = 0; i < n; i++)
		if (hpm_lane_put(s->lane, s->objects[s->order[i]]) != 0)
			abort();
}

static void run_malloc(void *arg, uint64_t n)
{
	struct state *s = arg;

	TAKE(s, n, malloc(OBJECT_BYTES));
	for (uint64_t i = 0; i < n; i++)
		free(s->objects[s->order[i]]);
}

static uint64_t pages_pool(void *arg, uint64_t n, uint32_t shift)
{
	struct state *s = arg;
	uint64_t pages;

	TAKE(s, n, hpm_pool_get(s->pool));
	pages = bench_pages(s->objects, n, OBJECT_BYTES, shift);
	return hpm_pool_put_bulk(s->pool, s->objects, (uint32_t)n) == 0 ? pages : UINT64_MAX;
}

static uint64_t pages_lane(void *arg, uint64_t n, uint32_t shift)
{
	struct state *s = arg;
	uint64_t pages;

	TAKE(s, n, hpm_lane_get(s->lane));
	pages = bench_pages(s->objects, n, OBJECT_BYTES, shift);
	for (uint64_t i = 0; i < n; i++)
		if (hpm_lane_put(s->lane, s->objects[i]) != 0)
			abort();
	return pages;
}

static uint64_t pages_malloc(void *arg, uint64_t n, uint32_t shift)
{
	struct state *s = arg;
	uint64_t pages;

	TAKE(s, n, malloc(OBJECT_BYTES));
	pages = bench_pages(s->objects, n, OBJECT_BYTES, shift);
	for (uint64_t i = 0; i < n; i++)
		free(s->objects[i]);
	return pages;
}

#ifdef BENCH_JEMALLOC
static void run_jemalloc(void *arg, uint64_t n)
{
	struct state *s = arg;

	TAKE(s, n, mallocx(OBJECT_BYTES, 0));
	for (uint64_t i = 0; i < n; i++)
		dallocx(s->objects[s->order[i]], 0);
}

static uint64_t pages_jemalloc(void *arg, uint64_t n, uint32_t shift)
{
	struct state *s = arg;
	uint64_t pages;

	TAKE(s, n, mallocx(OBJECT_BYTES, 0));
	pages = bench_pages(s->objects, n, OBJECT_BYTES, shift);
	for (uint64_t i = 0; i < n; i++)
		dallocx(s->objects[i], 0);
	return pages;
}
#endif

static const struct contender contenders[] = {
	{"glibc malloc", setup, run_malloc, pages_malloc, teardown},
#ifdef BENCH_JEMALLOC
	{"jemalloc", setup, run_jemalloc, pages_jemalloc, teardown},
#endif
	{"hpm_pool, base pages", setup_pool_base, run_pool, pages_pool, teardown},
	{"hpm_pool, 2 MiB pages", setup_pool_2m, run_pool, pages_pool, teardown},
	{"hpm_lane, 2 MiB pages", setup_lane_2m, run_lane, pages_lane, teardown},
};

const struct bench_case bench_case_pool = {.name = "pool",
	.question = "take and give back 128-byte objects: ns each, and pages the live ones lie on",
	.unit = "object",
	.n = OBJECTS,
	.contenders = contenders,
	.count = sizeof(contenders) / sizeof(contenders[0])};
