/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Footprints of arenas whose runs are laid by hand: where each lies follows from hpm/run.h, and the
 * numbers expected are counted from the drawings.
 */
#include "fake_backend.h"

#include <hpm/footprint.h>
#include <hpm/run.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static void *run(struct hpm_arena *arena, const char *tag, uint64_t bytes)
{
	void *at;

	assert_int_equal(hpm_run_get(&at, arena, tag, bytes, 0, NULL), 0);
	return at;
}

static void assert_row(const struct hpm_footprint *row, const char *tag, uint64_t asked,
	uint64_t held, uint64_t pages_and_shared[2])
{
	assert_string_equal(row->tag, tag);
	assert_int_equal(row->asked_bytes, asked);
	assert_int_equal(row->held_bytes, held);
	assert_int_equal(row->pages, pages_and_shared[0]);
	assert_int_equal(row->shared_pages, pages_and_shared[1]);
}

#define PAGES(pages, shared)                                                                       \
	(uint64_t[2])                                                                              \
	{                                                                                          \
		pages, shared                                                                      \
	}

static void an_arena_without_runs_has_no_rows(void **state)
{
	struct hpm_arena *arena = fake_arena(2, 21);
	struct hpm_footprint row;

	assert_int_equal(hpm_footprint_read(&row, 1, arena), 0);
	assert_int_equal(hpm_footprint_read(NULL, 0, arena), 0);
	hpm_arena_destroy(arena);
}

/*
 *   page 0   session (2 MiB)
 *   page 1   session (1 MiB) | acl (8 KiB) | lpm (4 KiB) | acl (4 KiB) | stats (4 KiB) | .
 *   page 2   acl (3 MiB)
 *   page 3   acl             | .
 */
static void tags_that_share_huge_pages_are_told_so(void **state)
{
	struct hpm_arena *arena = fake_arena(4, 21);
	struct hpm_arena_info info = {.size = sizeof(info)};
	struct hpm_footprint rows[4];

	run(arena, "session", 3 * MIB);
	run(arena, "acl", 5000);
	run(arena, "lpm", 1);
	run(arena, "acl", 4096);
	run(arena, "acl", 3 * MIB - 1);
	assert_int_equal(hpm_run_put(arena, run(arena, "gone", 8192)), 0);
	run(arena, "stats", 64);
	assert_int_equal(hpm_footprint_read(rows, 4, arena), 4);
	assert_row(&rows[0], "session", 3 * MIB, 3 * MIB, PAGES(2, 1));
	assert_row(&rows[1], "acl", 5000 + 4096 + 3 * MIB - 1, 12 * KIB + 3 * MIB, PAGES(3, 1));
	assert_row(&rows[2], "lpm", 1, 4 * KIB, PAGES(1, 1));
	assert_row(&rows[3], "stats", 64, 4 * KIB, PAGES(1, 1));
	assert_int_equal(hpm_arena_info_read(arena, &info), 0);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(rows[i].arena, info.name);
		assert_int_equal(rows[i].page_shift, 21);
		assert_int_equal(rows[i].node, info.node);
	}
	hpm_arena_destroy(arena);
}

static void on_base_pages_no_two_tags_share_one(void **state)
{
	struct hpm_arena *arena = fake_arena(16, 12);
	struct hpm_footprint rows[3];

	run(arena, "b", 1);
	run(arena, "a", 3 * 4096 + 1);
	run(arena, "b", 4096);
	assert_int_equal(hpm_footprint_read(rows, 3, arena), 2);
	assert_row(&rows[0], "b", 4097, 8192, PAGES(2, 0));
	assert_row(&rows[1], "a", 3 * 4096 + 1, 4 * 4096, PAGES(4, 0));
	assert_int_equal(rows[0].page_shift, 12);
	hpm_arena_destroy(arena);
}

/* The lowest address decides, not the order in which runs were asked for. */
static void rows_come_in_order_of_first_address(void **state)
{
	struct hpm_arena *arena = fake_arena(1, 21);
	struct hpm_footprint rows[3];
	void *first = run(arena, "early", 4096);

	run(arena, "zeta", 4096);
	run(arena, "early", 4096);
	assert_int_equal(hpm_run_put(arena, first), 0);
	run(arena, "late", 4096);
	assert_int_equal(hpm_footprint_read(rows, 3, arena), 3);
	assert_string_equal(rows[0].tag, "late");
	assert_string_equal(rows[1].tag, "zeta");
	assert_string_equal(rows[2].tag, "early");
	hpm_arena_destroy(arena);
}

static void a_short_array_still_reports_the_full_count(void **state)
{
	struct hpm_arena *arena = fake_arena(1, 21);
	struct hpm_footprint rows[3];

	memset(rows, 0xA5, sizeof(rows));
	run(arena, "one", 4096);
	run(arena, "two", 4096);
	run(arena, "three", 4096);
	assert_int_equal(hpm_footprint_read(NULL, 0, arena), 3);
	assert_int_equal(hpm_footprint_read(rows, 2, arena), 3);
	assert_string_equal(rows[1].tag, "two");
	for (size_t i = 0; i < sizeof(rows[2]); i++)
		assert_int_equal(((unsigned char *)&rows[2])[i], 0xA5);
	hpm_arena_destroy(arena);
}

/* Held pages of all tags, each page once, cannot exceed the arena: here they fill it. */
static void every_page_of_a_full_arena_is_somebodys(void **state)
{
	struct hpm_arena *arena = fake_arena(8, 21);
	struct hpm_footprint rows[2];

	for (int i = 0; i < 4; i++) {
		run(arena, "even", 2 * MIB);
		run(arena, "odd", 2 * MIB);
	}
	assert_int_equal(hpm_footprint_read(rows, 2, arena), 2);
	assert_row(&rows[0], "even", 8 * MIB, 8 * MIB, PAGES(4, 0));
	assert_row(&rows[1], "odd", 8 * MIB, 8 * MIB, PAGES(4, 0));
	hpm_arena_destroy(arena);
	assert_true(fake_is_clean());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_arena_without_runs_has_no_rows),
		cmocka_unit_test(tags_that_share_huge_pages_are_told_so),
		cmocka_unit_test(on_base_pages_no_two_tags_share_one),
		cmocka_unit_test(rows_come_in_order_of_first_address),
		cmocka_unit_test(a_short_array_still_reports_the_full_count),
		cmocka_unit_test(every_page_of_a_full_arena_is_somebodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
