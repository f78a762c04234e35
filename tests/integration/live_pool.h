/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena of real pages and a pool in it, for the tests that count on what pages objects lie. */
#ifndef TESTS_LIVE_POOL_H
#define TESTS_LIVE_POOL_H

#include "need.h"

#include <hpm/pool.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HUGE_SHIFT 21

static struct hpm_arena *arena;
static struct hpm_arena_info info = {.size = sizeof(info)};
static struct hpm_pool *pool;

static inline int live_pool_begin(
	const char *name, uint64_t pages, uint64_t count, uint64_t object_bytes)
{
	struct hpm_reason why;
	struct hpm_arena_opts arena_opts = HPM_ARENA_OPTS_INIT;
	struct hpm_pool_opts opts = HPM_POOL_OPTS_INIT;

	arena_opts.name = name;
	arena_opts.bytes = pages << HUGE_SHIFT;
	arena_opts.page_shifts[0] = HUGE_SHIFT;
	arena_opts.reason = &why;
	if (hpm_arena_create(&arena, &arena_opts) != 0)
		fail_msg("%s", why.text);
	opts.arena = arena;
	opts.tag = "session";
	opts.count = count;
	opts.object_bytes = object_bytes;
	opts.reason = &why;
	if (hpm_pool_create(&pool, &opts) != 0)
		fail_msg("%s", why.text);
	return hpm_arena_info_read(arena, &info);
}

static inline int live_pool_end(void **state)
{
	hpm_pool_destroy(pool);
	hpm_arena_destroy(arena);
	return 0;
}

#endif
