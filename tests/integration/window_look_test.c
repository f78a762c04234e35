/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ways to look at page tables, PAGEMAP_SCAN and reading pagemap entries (kernels before 6.7),
 * against a model that knows what was touched. Usage: window_look_test PAGE_SHIFT
 */
#include "need.h"

#include "account/window.h"

#include <hpm/hpm.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint32_t shift;
static uint64_t pages;
static struct hpm_arena *arena;
static volatile char *base;
static unsigned char *touched; /* [pages]: the model */

static uint64_t next_random(void)
{
	static uint64_t state = 7;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static void touch(uint64_t page)
{
	uint64_t at = (page << shift) + next_random() % (UINT64_C(1) << shift);

	touched[page] = 1;
	if (next_random() % 2)
		base[at] = 1;
	else
		(void)base[at];
}

/* More separate stretches than one PAGEMAP_SCAN call returns (256), where there are pages enough.
 */
static void every_other(void)
{
	for (uint64_t page = 0; page < pages; page += 2)
		touch(page);
}

static void at_random(void)
{
	for (uint64_t i = 0; i < pages / 2; i++)
		touch(next_random() % pages);
}

static void both_ends(void)
{
	touch(0);
	touch(pages - 1);
}

static void nothing(void)
{
}

static void assert_bits_equal_model(const uint64_t *bits)
{
	for (uint64_t page = 0; page < pages; page++)
		assert_int_equal(bits[page / 64] >> (page % 64) & 1, touched[page]);
}

/* Runs each pattern in a window that looks in one way, and asks that way again, page by page. */
static void assert_counts(int (*look)(int, uintptr_t, uint64_t, uint32_t, uint64_t *))
{
	static void (*const patterns[])(void) = {every_other, at_random, nothing, both_ends};
	struct window_kernel kernel = window_kernel_live;
	uint64_t *bits = calloc(bitmap_words(pages), sizeof(*bits));
	struct hpm_window *window;
	struct hpm_touched row;
	struct hpm_reason why;

	assert_non_null(bits);
	kernel.look = look;
	assert_int_equal(window_create_on(&window, &kernel, &why), 0);
	if (hpm_window_watch_arena(window, arena, &why) != 0)
		fail_msg("%s", why.text);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		uint64_t expected = 0;

		memset(touched, 0, pages);
		assert_int_equal(hpm_window_open(window), 0);
		patterns[i]();
		assert_int_equal(hpm_window_close(window), 0);
		for (uint64_t page = 0; page < pages; page++)
			expected += touched[page];
		assert_int_equal(hpm_window_touched(&row, 1, window, NULL), 1);
		assert_int_equal(row.pages, expected);
		memset(bits, 0, bitmap_words(pages) * sizeof(*bits));
		assert_int_equal(look(window->pagemap_fd, (uintptr_t)base, pages, shift, bits), 0);
		assert_bits_equal_model(bits);
	}
	hpm_window_destroy(window);
	free(bits);
}

static void scanning_finds_exactly_the_touched_pages(void **state)
{
	assert_counts(window_kernel_live.look);
}

static void reading_entries_finds_exactly_the_touched_pages(void **state)
{
	assert_counts(look_by_entries);
}

/* A descriptor that is no pagemap: an error, not a count. */
static void what_cannot_be_read_is_an_error(void **state)
{
	uint64_t word = 0;
	FILE *empty = tmpfile();

	assert_non_null(empty);
	assert_true(look_by_entries(fileno(empty), (uintptr_t)base, 1, shift, &word) < 0);
	assert_true(window_kernel_live.look(fileno(empty), (uintptr_t)base, 1, shift, &word) < 0);
	assert_true(look_by_entries(-1, (uintptr_t)base, 1, shift, &word) < 0);
	assert_int_equal(word, 0);
	fclose(empty);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(scanning_finds_exactly_the_touched_pages),
		cmocka_unit_test(reading_entries_finds_exactly_the_touched_pages),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
	};
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena_info info = {.size = sizeof(info)};
	struct hpm_reason why;
	uint64_t free_before;
	int failed;

	shift = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
	pages = shift >= 30 ? 1 : shift >= 21 ? 64 : 2500;
	if (shift > 12)
		need_pages(shift, pages);
	free_before = free_pages(shift);
	touched = calloc(pages, 1);
	opts.name = "look-test";
	opts.bytes = pages << shift;
	opts.page_shifts[0] = shift;
	opts.reason = &why;
	if (touched == NULL || hpm_arena_create(&arena, &opts) != 0) {
		fprintf(stderr, "%s\n", touched != NULL ? why.text : "out of memory");
		return 1;
	}
	if (hpm_arena_info_read(arena, &info) != 0)
		return 1;
	base = info.base;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hpm_arena_destroy(arena);
	free(touched);
	return failed != 0 || free_pages(shift) != free_before;
}
