/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: blocks that share no cache line, sums, and adding while others read. */
#include "fake_backend.h"

#include "base/units.h"

#include <hpm/counters.h>
#include <hpm/run.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct hpm_arena *arena; /* 64 pages of 16 KiB */
static struct hpm_reason why;
static struct hpm_counters_opts opts;

static int begin(void **state)
{
	arena = fake_arena(64, 14);
	opts = (struct hpm_counters_opts)HPM_COUNTERS_OPTS_INIT;
	opts.arena = arena;
	opts.tag = "stats";
	opts.count = 10;
	opts.lcores = 4;
	opts.reason = &why;
	return 0;
}

static uint64_t used(void)
{
	return fake_arena_used(arena);
}

static int finish(void **state)
{
	return fake_arena_end(arena);
}

static struct hpm_counters *create(void)
{
	struct hpm_counters *counters = NULL;

	assert_int_equal(hpm_counters_create(&counters, &opts), 0);
	assert_non_null(counters);
	return counters;
}

static void expect_refusal(int rc, const char *sentence)
{
	struct hpm_counters *counters = NULL;

	assert_int_equal(hpm_counters_create(&counters, &opts), rc);
	assert_null(counters);
	assert_string_equal(why.text, sentence);
	assert_true(used() == 0);
}

static void bad_options_are_refused(void **state)
{
	opts.count = 0;
	expect_refusal(-EINVAL, "counters have 1 to 4294967295 cells, not 0");
	opts.count = UINT64_C(1) << 32;
	expect_refusal(-EINVAL, "counters have 1 to 4294967295 cells, not 4294967296");
	opts.count = 10;
	opts.lcores = 0;
	expect_refusal(-EINVAL, "counters have 1 to 4096 lcores, not 0");
	opts.lcores = 4097;
	expect_refusal(-EINVAL, "counters have 1 to 4096 lcores, not 4097");
	opts.lcores = 4;
	opts.kind = 2;
	expect_refusal(-EINVAL, "counters are replicated (0) or owned (1), not kind 2");
	opts.kind = HPM_COUNTERS_OWNED;
	expect_refusal(-EINVAL, "owned counters have one block: set lcores to 1, not 4");
	opts.kind = HPM_COUNTERS_REPLICATED;
	opts.fields = 9;
	expect_refusal(-EINVAL, "counters have 1 to 8 fields, not 9");
	opts.fields = 0;
	opts.tag = "Stats";
	expect_refusal(-EINVAL, "a tag is 1 to 31 of [a-z0-9_.-], not 'Stats'");
	opts.tag = "stats";
	opts.arena = NULL;
	expect_refusal(-EINVAL, "counters need an arena");
}

static void opts_of_another_release_are_told_apart(void **state)
{
	struct {
		struct hpm_counters_opts opts;
		uint64_t unknown;
	} newer = {opts, 1};
	struct hpm_counters *counters = NULL;

	newer.opts.size = sizeof(newer);
	assert_int_equal(hpm_counters_create(&counters, &newer.opts), -E2BIG);
	assert_int_equal(hpm_counters_create(&counters, NULL), -EINVAL);
	assert_null(counters);
}

static void more_than_the_arena_holds_is_enomem(void **state)
{
	opts.count = UINT32_MAX;
	opts.lcores = 4096;
	expect_refusal(-ENOMEM,
		"arena 'fake': no gap of 140737488355328 bytes for 'stats', the longest has "
		"1048576; create it larger");
	opts.count = 16384; /* 8 * 128 KiB = 1 MiB and one cell more */
	opts.lcores = 8;
	hpm_counters_destroy(create());
	opts.count = 16385;
	opts.reason = NULL;
	assert_int_equal(hpm_counters_create(&(struct hpm_counters *){NULL}, &opts), -ENOMEM);
}

static void blocks_never_share_a_cache_line(void **state)
{
	static const uint64_t counts[] = {1, 7, 8, 9, 63, 64, 65};

	opts.lcores = 5;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct hpm_counters *counters;
		uintptr_t end = 0;

		opts.count = counts[i];
		counters = create();
		for (uint32_t lcore = 0; lcore < 5; lcore++) {
			uintptr_t block = (uintptr_t)hpm_counters_block(counters, lcore);

			assert_int_equal(block % 64, 0);
			assert_true(block >= end);
			end = block + counts[i] * 8;
		}
		assert_null(hpm_counters_block(counters, 5));
		assert_null(hpm_counters_block(counters, UINT32_MAX));
		assert_string_equal(hpm_run_tag(arena, (void *)(end - 1)), "stats");
		hpm_counters_destroy(counters);
	}
}

static void a_cell_is_the_sum_of_all_lcores(void **state)
{
	struct hpm_counters *counters = create();

	for (uint32_t cell = 0; cell < 10; cell++)
		assert_true(hpm_counters_read(counters, cell) == 0);
	for (uint32_t lcore = 0; lcore < 4; lcore++)
		hpm_counter_add(&hpm_counters_block(counters, lcore)[9], 10 + lcore);
	assert_true(hpm_counters_read(counters, 9) == 10 + 11 + 12 + 13);
	assert_true(hpm_counters_read(counters, 8) == 0);
	assert_true(hpm_counters_read(counters, 10) == 0);
	assert_true(hpm_counters_read(counters, UINT64_MAX) == 0);
	hpm_counters_destroy(counters);
	hpm_counters_destroy(NULL);
}

static void sums_wrap_around(void **state)
{
	struct hpm_counters *counters = create();

	hpm_counter_add(&hpm_counters_block(counters, 0)[0], UINT64_MAX);
	hpm_counter_add(&hpm_counters_block(counters, 3)[0], 6);
	assert_true(hpm_counters_read(counters, 0) == 5);
	hpm_counter_add(&hpm_counters_block(counters, 0)[0], 2); /* its own cell wraps */
	assert_true(hpm_counters_block(counters, 0)[0] == 1);
	assert_true(hpm_counters_read(counters, 0) == 7);
	hpm_counters_destroy(counters);
}

static void memory_used_before_starts_at_zero_again(void **state)
{
	struct hpm_counters *counters = create();

	hpm_counter_add(&hpm_counters_block(counters, 1)[5], 99);
	hpm_counters_destroy(counters);
	counters = create();
	assert_true(hpm_counters_read(counters, 5) == 0);
	hpm_counters_destroy(counters);
}

static void options_of_the_first_release_are_accepted(void **state)
{
	struct hpm_counters *counters;

	opts.size = 48;
	opts.kind = 77; /* past what that caller knows */
	opts.fields = 77;
	counters = create();
	/* ten cells of eight bytes fill two lines */
	assert_true(hpm_counters_block(counters, 1) - hpm_counters_block(counters, 0) == 16);
	hpm_counters_destroy(counters);
	opts.size = 47;
	assert_int_equal(hpm_counters_create(&counters, &opts), -EINVAL);
}

static void owned_fields_lie_side_by_side_and_are_read_in_bulk(void **state)
{
	struct hpm_counters *counters;
	uint64_t bytes = 0;
	uint64_t out[4] = {9, 9, 9, 9};
	uint64_t *cells;

	opts.kind = HPM_COUNTERS_OWNED;
	opts.lcores = 1;
	opts.count = 1000;
	opts.fields = 2;
	opts.arena = NULL;
	assert_int_equal(hpm_counters_plan(&bytes, &opts), 0);
	opts.arena = arena;
	counters = create();
	assert_true(bytes == 16000 && used() == 16384); /* the arena rounds up to its units */
	cells = hpm_counters_block(counters, 0);
	assert_null(hpm_counters_block(counters, 1));
	hpm_counter_add(&cells[998 * 2 + 1], 5);
	hpm_counter_add(&cells[999 * 2], 1);
	hpm_counter_add(&cells[999 * 2 + 1], 64);
	assert_int_equal(hpm_counters_snapshot(counters, 1997, 4, out), -EINVAL);
	assert_int_equal(hpm_counters_snapshot(counters, UINT64_MAX, 2, out), -EINVAL);
	assert_true(out[0] == 9);
	assert_int_equal(hpm_counters_snapshot(counters, 1997, 3, out), 0);
	assert_true(out[0] == 5 && out[1] == 1 && out[2] == 64 && out[3] == 9);
	assert_int_equal(hpm_counters_snapshot(counters, 2000, 0, out), 0);
	hpm_counters_destroy(counters);
}

#define ADDS 200000

static void *add_many(void *block)
{
	for (int i = 0; i < ADDS; i++) {
		hpm_counter_add((uint64_t *)block, 1);
		hpm_counter_add((uint64_t *)block + 9, 3);
	}
	return NULL;
}

static void reading_while_lcores_add_never_goes_back_and_ends_exact(void **state)
{
	struct hpm_counters *counters = create();
	pthread_t threads[4];
	uint64_t last = 0;

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many,
					 hpm_counters_block(counters, i)),
			0);
	while (last < 4 * ADDS) {
		uint64_t now = hpm_counters_read(counters, 0);

		assert_true(now >= last && now <= 4 * ADDS);
		last = now;
	}
	for (uint32_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(hpm_counters_read(counters, 0) == 4 * ADDS);
	assert_true(hpm_counters_read(counters, 9) == 12 * ADDS);
	hpm_counters_destroy(counters);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	static const struct CMUnitTest tests[] = {
		ROW(bad_options_are_refused),
		ROW(opts_of_another_release_are_told_apart),
		ROW(more_than_the_arena_holds_is_enomem),
		ROW(blocks_never_share_a_cache_line),
		ROW(a_cell_is_the_sum_of_all_lcores),
		ROW(sums_wrap_around),
		ROW(memory_used_before_starts_at_zero_again),
		ROW(options_of_the_first_release_are_accepted),
		ROW(owned_fields_lie_side_by_side_and_are_read_in_bulk),
		ROW(reading_while_lcores_add_never_goes_back_and_ends_exact),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
