/* SPDX-License-Identifier: BSD-3-Clause */
/* What a window may watch: each refusal has its number and says what a person needs to know. */
#include "account/window.h"
#include "fake_window_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GIB  (UINT64_C(1) << 30)
#define BASE UINT64_C(0x550000000000) /* starts a GiB */

static struct hpm_window *window;
static struct hpm_reason why;

static void map(uintptr_t start, uint64_t bytes, const char *perms, uint32_t shift)
{
	struct fake_mapping *m = fake.mappings;

	while (m->end != 0)
		m++;
	*m = (struct fake_mapping){.start = start,
		.end = start + bytes,
		.perms = perms,
		.shift = shift,
		.flags = shift > 12 ? "sh ht" : "sh"};
}

static int set_up(void **state)
{
	fake_reset();
	memset(&why, 'x', sizeof(why));
	return window_create_on(&window, &fake_window_kernel, &why);
}

static int tear_down(void **state)
{
	hpm_window_destroy(window);
	return 0;
}

static int watch(uintptr_t start, uint64_t bytes)
{
	memset(&why, 'x', sizeof(why));
	return hpm_window_watch(window, (void *)start, bytes, &why);
}

static void no_userfaultfd(void)
{
	hpm_window_destroy(window);
	fake.guard_open_rc = -EPERM;
	assert_int_equal(window_create_on(&window, &fake_window_kernel, &why), 0);
}

/* The reason is one sentence in which these words occur; NULL ends them. */
static void assert_reason(const char *first, ...)
{
	va_list words;

	assert_non_null(memchr(why.text, '\0', sizeof(why.text)));
	va_start(words, first);
	for (const char *word = first; word != NULL; word = va_arg(words, const char *))
		if (strstr(why.text, word) == NULL)
			fail_msg("no '%s' in \"%s\"", word, why.text);
	va_end(words);
}

/* Pages watched now, by a window opened and closed. */
static uint64_t watched_pages(uint32_t shift)
{
	struct hpm_touched rows[8];
	int n;

	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(hpm_window_close(window), 0);
	n = hpm_window_touched(rows, 8, window, NULL);
	assert_in_range(n, 0, 8);
	for (int i = 0; i < n; i++)
		if (rows[i].page_shift == shift)
			return rows[i].held_pages;
	return 0;
}

static void private_memory_is_refused_and_never_zapped(void **state)
{
	map(BASE, 1 << 21, "rw-p", 12);
	assert_int_equal(watch(BASE, 4096), -EPERM);
	assert_reason("0x550000000000", "private", "lose its data", "memfd", NULL);
	assert_int_equal(fake.zaps, 0);
	assert_int_equal(watched_pages(12), 0);
}

static void locked_memory_is_refused(void **state)
{
	map(BASE, 1 << 21, "rw-s", 12);
	fake.mappings[0].flags = "sh lo";
	assert_int_equal(watch(BASE, 4096), -EBUSY);
	assert_reason("0x550000000000", "locked", "mlock", NULL);
	assert_int_equal(fake.zaps, 0);
}

static void transparent_huge_pages_are_refused(void **state)
{
	map(BASE, 1 << 21, "rw-s", 12);
	fake.mappings[0].huge_mapped = 2048;
	assert_int_equal(watch(BASE, 4096), -ENOTSUP);
	assert_reason("mixes page sizes", "transparent", NULL);
	assert_int_equal(fake.zaps, 0);
}

static void shareable_page_tables_need_userfaultfd(void **state)
{
	map(BASE, GIB, "rw-s", 21);
	no_userfaultfd();
	assert_int_equal(watch(BASE, 4096), -EBUSY);
	assert_reason("0x550000000000", "page tables", "another process", "userfaultfd", "5.19",
		"errno 1", NULL);
	assert_int_equal(fake.zaps, 0);
}

/* 1 GiB and more, but no aligned GiB lies inside: the kernel shares whole tables only. */
static void page_tables_that_cannot_be_shared_need_no_userfaultfd(void **state)
{
	map(BASE + (1 << 21), 2 * GIB - (2 << 21), "rw-s", 21);
	no_userfaultfd();
	assert_int_equal(watch(BASE + (1 << 21), GIB), 0);
	assert_string_equal(why.text, "");
	assert_int_equal(watched_pages(21), 512);
}

static void pages_of_1_gib_have_no_table_to_share(void **state)
{
	map(BASE, 4 * GIB, "rw-s", 30);
	no_userfaultfd();
	assert_int_equal(watch(BASE + 1, GIB), 0);
	assert_int_equal(watched_pages(30), 2);
}

static void base_pages_need_userfaultfd(void **state)
{
	map(BASE, 1 << 21, "rw-s", 12);
	no_userfaultfd();
	assert_int_equal(watch(BASE, 4096), -ENOTSUP);
	assert_reason("0x550000000000", "base pages", "fault-around", "userfaultfd", "5.19", NULL);
	assert_int_equal(fake.zaps, 0);
}

static void memory_another_window_watches_is_busy(void **state)
{
	map(BASE, GIB, "rw-s", 30);
	fake.guard_rc = -EBUSY;
	assert_int_equal(watch(BASE, 4096), -EBUSY);
	assert_reason("0x550000000000", "another window", NULL);
}

static void a_kernel_that_cannot_zap_says_which_one_can(void **state)
{
	map(BASE, 1 << 21, "rw-s", 21);
	fake.zap_rc = -EINVAL;
	assert_int_equal(watch(BASE, 4096), -ENOTSUP);
	assert_reason("kernel", "huge pages", "0x550000000000", "5.18", NULL);
	assert_int_equal(fake.guarded_count, 0);
}

static void any_other_failure_to_zap_is_passed_on(void **state)
{
	map(BASE, 1 << 21, "rw-s", 21);
	fake.zap_rc = -EIO;
	assert_int_equal(watch(BASE, 4096), -EIO);
	assert_reason("page-table entries", "0x550000000000", "errno 5", NULL);
	assert_int_equal(fake.guarded_count, 0);
}

static void without_pagemap_there_is_no_window(void **state)
{
	struct hpm_window *none = NULL;

	fake.pagemap_rc = -ENOENT;
	assert_int_equal(window_create_on(&none, &fake_window_kernel, &why), -ENOTSUP);
	assert_reason("/proc/self/pagemap", "errno 2", "CONFIG_PROC_PAGE_MONITOR", NULL);
	fake.pagemap_rc = -EACCES;
	assert_int_equal(window_create_on(&none, &fake_window_kernel, &why), -EACCES);
	assert_reason("/proc/self/pagemap", "changed its user", "PR_SET_DUMPABLE", NULL);
	assert_null(none);
}

static void a_gap_anywhere_in_the_range_is_refused(void **state)
{
	map(BASE, 8192, "rw-s", 12);
	map(BASE + 12288, 8192, "rw-s", 12);
	assert_int_equal(watch(BASE - 4096, 8192), -EINVAL);
	assert_reason("nothing is mapped", "0x54fffffff000", NULL);
	assert_int_equal(watch(BASE + 4096, 12288), -EINVAL);
	assert_reason("nothing is mapped", "0x550000002000", NULL);
	assert_int_equal(watch(BASE + 16384, 4097), -EINVAL);
	assert_reason("nothing is mapped", "0x550000005000", NULL);
	assert_int_equal(watched_pages(12), 0);
	assert_int_equal(fake.guarded_count, 0);
}

static void impossible_ranges_are_refused(void **state)
{
	map(BASE, 8192, "rw-s", 12);
	assert_int_equal(watch(BASE, 0), -EINVAL);
	assert_reason("at least 1 byte", NULL);
	assert_int_equal(watch(BASE, UINT64_MAX), -EOVERFLOW);
	assert_reason("0x550000000000", "18446744073709551615", "overflows", NULL);
	assert_int_equal(watch(UINTPTR_MAX - 4096, 4096), -EOVERFLOW);
	assert_int_equal(hpm_window_watch(window, (void *)BASE, 0, NULL), -EINVAL);
	fake.smaps_rc = -EMFILE;
	assert_int_equal(watch(BASE, 1), -EMFILE);
	assert_reason("/proc/self/smaps", "errno 24", NULL);
	assert_int_equal(fake.zaps, 0);
}

static void a_range_is_extended_to_whole_pages(void **state)
{
	map(BASE, 8 << 21, "rw-s", 21);
	assert_int_equal(watch(BASE + (2 << 21) - 1, 2), 0);
	assert_int_equal(fake.guarded_count, 1);
	assert_true(fake.guarded[0].start == BASE + (1 << 21));
	assert_true(fake.guarded[0].end == BASE + (3 << 21));
	assert_int_equal(watched_pages(21), 2);
}

static void mappings_of_different_page_sizes_give_a_row_each(void **state)
{
	struct hpm_touched rows[3];

	map(BASE, GIB, "rw-s", 30);
	map(BASE + GIB, 4 << 21, "rw-s", 21);
	map(BASE + GIB + (4 << 21), 40960, "rw-s", 12);
	assert_int_equal(watch(BASE, GIB + (4 << 21) + 40960), 0);
	fake.touched[0] = BASE + 4711;
	fake.touched[1] = BASE + GIB + 1;
	fake.touched[2] = BASE + GIB + (2 << 21);
	fake.touched[3] = BASE + GIB + (4 << 21) + 40959;
	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(hpm_window_close(window), 0);
	assert_int_equal(hpm_window_touched(rows, 3, window, NULL), 3);
	assert_true(rows[0].page_shift == 12 && rows[0].pages == 1 && rows[0].held_pages == 10);
	assert_true(rows[1].page_shift == 21 && rows[1].pages == 2 && rows[1].held_pages == 4);
	assert_true(rows[2].page_shift == 30 && rows[2].pages == 1 && rows[2].held_pages == 1);
}

/* Three mappings, the last of which is refused: what the first two had must be let go. */
static void a_failure_half_way_leaves_the_window_as_it_was(void **state)
{
	map(BASE, 8192, "rw-s", 12);
	map(BASE + 8192, 8192, "rw-s", 12);
	map(BASE + 16384, 8192, "rw-p", 12);
	map(BASE + GIB, 4 << 21, "rw-s", 21);
	assert_int_equal(watch(BASE + GIB, 1 << 21), 0);
	assert_int_equal(watch(BASE, 24576), -EPERM);
	assert_int_equal(fake.guarded_count, 1);
	assert_true(fake.guarded[0].start == BASE + GIB);
	assert_int_equal(watched_pages(12), 0);
	assert_int_equal(watched_pages(21), 1);
	fake.zap_rc = -EIO;
	fake.zap_rc_at = BASE + 8192;
	assert_int_equal(watch(BASE, 16384), -EIO);
	assert_int_equal(fake.guarded_count, 1);
	fake.zap_rc = 0;
	fake.guard_rc = -EBUSY;
	fake.guard_rc_at = BASE + 8192;
	assert_int_equal(watch(BASE, 16384), -EBUSY);
	assert_int_equal(fake.guarded_count, 1);
	fake.guard_rc = 0;
	assert_int_equal(watch(BASE, 16384), 0);
	assert_int_equal(watched_pages(12), 4);
	assert_int_equal(watched_pages(21), 1);
}

/* Also where no userfaultfd splits the mapping at what is watched already. */
static void memory_is_watched_once_however_ranges_overlap(void **state)
{
	static const struct {
		unsigned first, pages;
	} overlaps[] = {{2, 2}, {1, 2}, {3, 2}, {0, 8}, {1, 4}, {2, 1}, {3, 1}};

	map(BASE, 8 << 21, "rw-s", 21);
	no_userfaultfd();
	assert_int_equal(watch(BASE + (2 << 21), 2 << 21), 0);
	for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++) {
		assert_int_equal(watch(BASE + ((uint64_t)overlaps[i].first << 21),
					 (uint64_t)overlaps[i].pages << 21),
			-EINVAL);
		assert_reason("watched already", NULL);
	}
	assert_int_equal(watched_pages(21), 2);
	assert_int_equal(watch(BASE, 2 << 21), 0);
	assert_int_equal(watch(BASE + (4 << 21), 4 << 21), 0);
	assert_int_equal(watched_pages(21), 8);
}

/* The lowest free descriptor is the same after as before. */
static void every_descriptor_is_given_back(void **state)
{
	int before = open("/dev/null", O_RDONLY), after;
	struct hpm_window *other;

	assert_true(before >= 0);
	close(before);
	map(BASE, 8192, "rw-s", 12);
	assert_int_equal(window_create_on(&other, &fake_window_kernel, NULL), 0);
	assert_int_equal(hpm_window_watch(other, (void *)BASE, 8193, NULL), -EINVAL);
	assert_int_equal(hpm_window_watch(other, (void *)BASE, 8192, NULL), 0);
	hpm_window_destroy(other);
	hpm_window_destroy(NULL);
	fake.pagemap_rc = -EACCES;
	assert_true(window_create_on(&other, &fake_window_kernel, NULL) < 0);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, before);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(private_memory_is_refused_and_never_zapped),
		fresh(locked_memory_is_refused),
		fresh(transparent_huge_pages_are_refused),
		fresh(shareable_page_tables_need_userfaultfd),
		fresh(page_tables_that_cannot_be_shared_need_no_userfaultfd),
		fresh(pages_of_1_gib_have_no_table_to_share),
		fresh(base_pages_need_userfaultfd),
		fresh(memory_another_window_watches_is_busy),
		fresh(a_kernel_that_cannot_zap_says_which_one_can),
		fresh(any_other_failure_to_zap_is_passed_on),
		fresh(without_pagemap_there_is_no_window),
		fresh(a_gap_anywhere_in_the_range_is_refused),
		fresh(impossible_ranges_are_refused),
		fresh(a_range_is_extended_to_whole_pages),
		fresh(mappings_of_different_page_sizes_give_a_row_each),
		fresh(a_failure_half_way_leaves_the_window_as_it_was),
		fresh(memory_is_watched_once_however_ranges_overlap),
		fresh(every_descriptor_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
