/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small data path for trace_oracle.py: look-ups in a table, statistics, sessions that come and
 * go. Always the same one.
 *
 *   oracle_workload PAGE_SHIFT count   counts by window: "touched TAG PAGES" for each tag
 *   oracle_workload PAGE_SHIFT trace   no window; tells where things are, for who traces it:
 *                                      "range TAG ADDRESS BYTES", "markers FIRST LAST"
 *
 * The work lies between a store to the first marker and one to the last.
 */
#include "need.h"

#include <hpm/hpm.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_BYTES (UINT64_C(5) << 20)
#define STATS_BYTES (UINT64_C(1) << 20)
#define SESSIONS    20000
#define LIVE        64
#define STEPS       4000

static volatile uint64_t markers[2];

static struct hpm_arena *arena;
static struct hpm_pool *sessions;
static volatile uint64_t *table, *stats;

static void give_up(const char *what, const struct hpm_reason *reason)
{
	fprintf(stderr, "%s: %s\n", what, reason->text);
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64, Marsaglia 2003 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void work(void)
{
	uint64_t *live[LIVE] = {NULL}, random = 88172645463325252u;

	for (int i = 0; i < STEPS; i++) {
		uint64_t r = next_random(&random), slot = r % LIVE;
		uint64_t cell = r % 4 == 0 ? r % (TABLE_BYTES / 8) : r % (TABLE_BYTES / 80);

		stats[(table[cell] + r) % (STATS_BYTES / 16)]++;
		if (live[slot] != NULL && hpm_pool_put(sessions, live[slot]) != 0)
			exit(1);
		live[slot] = hpm_pool_get(sessions);
		live[slot][r % 16] = r;
	}
}

static void build(uint32_t shift)
{
	struct hpm_arena_opts a = HPM_ARENA_OPTS_INIT;
	struct hpm_pool_opts p = HPM_POOL_OPTS_INIT;
	struct hpm_reason why = {""};
	void *block;

	a.name = "oracle";
	a.bytes = UINT64_C(24) << 20;
	a.page_shifts[0] = shift;
	a.reason = &why;
	if (hpm_arena_create(&arena, &a) < 0)
		give_up("arena", &why);
	if (hpm_run_get(&block, arena, "table", TABLE_BYTES, 0, &why) < 0)
		give_up("table", &why);
	table = block;
	if (hpm_run_get(&block, arena, "stats", STATS_BYTES, 0, &why) < 0)
		give_up("stats", &why);
	stats = block;
	p.arena = arena;
	p.tag = "session";
	p.count = SESSIONS;
	p.object_bytes = 128;
	p.reason = &why;
	if (hpm_pool_create(&sessions, &p) < 0)
		give_up("pool", &why);
}

static void count(void)
{
	static const char *const tags[] = {"table", "stats", "session", HPM_POOL_META_TAG};
	struct hpm_window *window;
	struct hpm_touched row;
	struct hpm_reason why = {""};

	if (hpm_window_create(&window, &why) < 0 || hpm_window_watch_arena(window, arena, &why) < 0)
		give_up("window", &why);
	if (hpm_window_open(window) < 0)
		exit(1);
	work();
	if (hpm_window_close(window) < 0)
		exit(1);
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (hpm_window_touched(&row, 1, window, tags[i]) != 1)
			exit(1);
		printf("touched %s %" PRIu64 "\n", tags[i], row.pages);
	}
	if (hpm_window_touched(&row, 1, window, NULL) != 1)
		exit(1);
	printf("touched total %" PRIu64 "\n", row.pages);
	hpm_window_destroy(window);
}

/* The ends of a tag's run, found by asking for the tag of one unit after the other. */
static void tell_ranges(void)
{
	struct hpm_arena_info info = {.size = sizeof(info)};
	const char *tag = NULL, *start = NULL;

	if (hpm_arena_info_read(arena, &info) < 0)
		exit(1);
	for (uint64_t at = 0; at <= info.bytes; at += UINT64_C(1) << info.unit_shift) {
		const char *here = (const char *)info.base + at;
		const char *now = at < info.bytes ? hpm_run_tag(arena, here) : NULL;

		if (now == tag)
			continue;
		if (tag != NULL)
			printf("range %s %#" PRIxPTR " %td\n", tag, (uintptr_t)start, here - start);
		tag = now;
		start = here;
	}
	printf("markers %#" PRIxPTR " %#" PRIxPTR "\n", (uintptr_t)&markers[0],
		(uintptr_t)&markers[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint32_t shift = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;

	if (argc != 3)
		return 2;
	if (shift > 12)
		need_pages(shift, 12);
	build(shift);
	if (strcmp(argv[2], "count") == 0) {
		count();
	} else {
		tell_ranges();
		markers[0] = 1;
		work();
		markers[1] = 1;
	}
	hpm_pool_destroy(sessions);
	hpm_arena_destroy(arena);
	return 0;
}
