/* SPDX-License-Identifier: BSD-3-Clause */
/* Arenas: each errno that hpm/arena.h lists, and fallback along the caller's list and nowhere else.
 * On a fake machine. */
#include "fake_backend.h"

#include "base/units.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PAGE_2M (UINT64_C(1) << 21)

static struct hpm_reason why;
static struct hpm_arena_opts opts; /* 3 pages of 2 MiB on node 1 */

static int fresh(void **state)
{
	fake_reset();
	opts = (struct hpm_arena_opts)HPM_ARENA_OPTS_INIT;
	opts.name = "t";
	opts.bytes = 3 * PAGE_2M;
	opts.node = 1;
	opts.page_shifts[0] = 21;
	opts.reason = &why;
	strcpy(why.text, "not written");
	return 0;
}

static struct hpm_arena *create(void)
{
	struct hpm_arena *arena = NULL;

	assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), 0);
	assert_non_null(arena);
	assert_string_equal(why.text, "");
	return arena;
}

static struct hpm_arena_info info_of(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};

	assert_int_equal(hpm_arena_info_read(arena, &info), 0);
	return info;
}

static void expect_failure(int rc, const char *sentence)
{
	struct hpm_arena *arena = NULL;

	assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), rc);
	assert_null(arena);
	assert_string_equal(why.text, sentence);
	assert_true(fake_is_clean());
}

static void an_arena_tells_what_it_has_become(void **state)
{
	struct hpm_arena *arena = create();
	struct hpm_arena_info info = info_of(arena);

	assert_string_equal(info.name, "t");
	assert_true(info.bytes == 3 * PAGE_2M);
	assert_true(info.pages == 3);
	assert_true(info.used_bytes == 0);
	assert_int_equal(info.page_shift, 21);
	assert_int_equal(info.asked_page_shift, 21);
	assert_int_equal(info.unit_shift, 12);
	assert_int_equal(info.node, 1);
	assert_int_equal((uintptr_t)info.base % PAGE_2M, 0);
	info.size = 8;
	assert_int_equal(hpm_arena_info_read(arena, &info), -EINVAL);
	hpm_arena_destroy(arena);
	assert_true(fake_is_clean());
	hpm_arena_destroy(NULL);
}

static void memory_can_be_written_to_the_last_byte(void **state)
{
	struct hpm_arena *arena = create();

	memset(info_of(arena).base, 1, 3 * PAGE_2M);
	hpm_arena_destroy(arena);
}

static void names_have_1_to_31_bytes(void **state)
{
	struct hpm_arena *arena;

	opts.name = NULL;
	expect_failure(-EINVAL, "an arena's name has 1 to 31 bytes");
	opts.name = "";
	expect_failure(-EINVAL, "an arena's name has 1 to 31 bytes");
	opts.name = "exactly-thirty-two-bytes-long-xx";
	expect_failure(-EINVAL, "an arena's name has 1 to 31 bytes");
	opts.name = "exactly-thirty-one-bytes-long-x";
	arena = create();
	assert_string_equal(info_of(arena).name, "exactly-thirty-one-bytes-long-x");
	hpm_arena_destroy(arena);
}

static void nothing_and_no_page_size_are_einval(void **state)
{
	opts.bytes = 0;
	expect_failure(-EINVAL, "arena 't': 0 bytes");
	opts.bytes = 1;
	opts.page_shifts[0] = 0;
	opts.page_shifts[1] = 21; /* behind the end of the list */
	expect_failure(-EINVAL, "arena 't': no page size; write e.g. page_shifts = {21} for 2 MiB");
	assert_int_equal(fake.steps, 0);
}

static void machines_without_the_page_or_node_are_einval(void **state)
{
	opts.page_shifts[0] = 25;
	expect_failure(-EINVAL,
		"arena 't': this machine has no pages of 32 MiB; see /sys/kernel/mm/hugepages");
	opts.page_shifts[0] = 21;
	opts.node = 1000;
	expect_failure(-EINVAL, "arena 't': there is no node 1000; see /sys/devices/system/node");
}

static void unknown_sources_are_einval(void **state)
{
	static const int bad[] = {2, -1, INT_MAX, INT_MIN};
	struct hpm_arena *arena = NULL;
	char sentence[64];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		opts.source = bad[i];
		assert_int_equal(hpm_arena_create(&arena, &opts), -EINVAL);
		snprintf(sentence, sizeof(sentence), "arena 't': unknown source %d", bad[i]);
		assert_string_equal(why.text, sentence);
	}
	assert_null(arena);
}

static void opts_of_another_release_are_told_apart(void **state)
{
	struct {
		struct hpm_arena_opts opts;
		uint64_t unknown;
	} newer = {opts, 1};
	struct hpm_arena *arena = NULL;

	newer.opts.size = sizeof(newer);
	assert_int_equal(hpm_arena_create(&arena, &newer.opts), -E2BIG);
	newer.unknown = 0; /* a newer caller who asks for nothing new is served */
	newer.opts.node = HPM_NODE_LOCAL;
	newer.opts.page_shifts[0] = 12;
	newer.opts.bytes = 8192;
	assert_int_equal(hpm_arena_create(&arena, &newer.opts), 0);
	hpm_arena_destroy(arena);
	arena = NULL;
	opts.size = 1;
	assert_int_equal(hpm_arena_create(&arena, &opts), -EINVAL);
	assert_int_equal(hpm_arena_create(&arena, NULL), -EINVAL);
	assert_null(arena);
}

static void bytes_beyond_the_address_space_are_eoverflow(void **state)
{
	opts.bytes = UINT64_MAX - 5;
	expect_failure(
		-EOVERFLOW, "arena 't': 18446744073709551610 bytes exceed the address space");
}

static void errors_of_the_kernel_become_the_documented_ones(void **state)
{
	static const struct {
		enum fake_step step;
		int error, rc;
	} rows[] = {{FAKE_OPEN, EACCES, -EACCES}, {FAKE_OPEN, ENOENT, -ENOENT},
		{FAKE_OPEN, ENOTSUP, -ENOTSUP}, {FAKE_OPEN, ENOMEM, -ENOMEM},
		{FAKE_MAP, ENOMEM, -ENOMEM}, {FAKE_BIND, EINVAL, -EPERM},
		{FAKE_BIND, EPERM, -EPERM}, {FAKE_BIND, ENOSYS, -ENOTSUP}, {FAKE_BIND, EIO, -EIO},
		{FAKE_POPULATE, EFAULT, -ENOMEM}, {FAKE_POPULATE, ENOMEM, -ENOMEM},
		{FAKE_POPULATE, EHWPOISON, -EIO}, {FAKE_PAGE_SHIFT, EACCES, -EIO},
		{FAKE_WHERE, EPERM, -EIO}};
	struct hpm_arena *arena = NULL;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		fresh(state);
		fake.fail_errno[rows[i].step] = rows[i].error;
		why.text[0] = '\0';
		assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), rows[i].rc);
		assert_true(why.text[0] != '\0');
		assert_null(arena);
		assert_true(fake_is_clean());
	}
}

static void a_short_pool_is_told_with_the_line_that_mends_it(void **state)
{
	fake_pages(21)->free[1] = 2;
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 2 free pages of 2 MiB, wanted 3; try: echo 9 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
	assert_true(fake_pages(21)->free[1] == 2);
}

static void a_reason_is_not_needed(void **state)
{
	struct hpm_arena *arena = NULL;

	opts.reason = NULL;
	fake_pages(21)->free[1] = 2;
	assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), -ENOMEM);
	opts.page_shifts[1] = 12;
	opts.bytes = 1 << 20;
	fake_pages(21)->free[1] = 0;
	assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), 0);
	assert_int_equal(info_of(arena).page_shift, 12);
	hpm_arena_destroy(arena);
}

static void the_first_size_that_can_be_had_whole_is_taken(void **state)
{
	struct hpm_arena *arena;

	opts.page_shifts[0] = 30;
	opts.page_shifts[1] = 21;
	opts.page_shifts[2] = 12;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 30);
	assert_true(info_of(arena).bytes == UINT64_C(1) << 30);
	hpm_arena_destroy(arena);
	fake_pages(30)->free[1] = 0;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 21);
	assert_int_equal(info_of(arena).asked_page_shift, 30);
	assert_true(info_of(arena).bytes == 3 * PAGE_2M);
	hpm_arena_destroy(arena);
	fake_pages(21)->free[1] = 2;
	opts.bytes = 2 * PAGE_2M + 1;
	fake_pages(12)->free[1] = fake_pages(12)->total[1] = 5000;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 12);
	assert_true(info_of(arena).pages == 1025);
	hpm_arena_destroy(arena);
	assert_true(fake_is_clean());
}

static void the_callers_order_is_kept_even_smallest_first(void **state)
{
	struct hpm_arena *arena;

	opts.page_shifts[0] = 21;
	opts.page_shifts[1] = 30;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 21);
	hpm_arena_destroy(arena);
}

static void a_size_the_machine_lacks_falls_back_too(void **state)
{
	struct hpm_arena *arena;

	opts.page_shifts[0] = 25;
	opts.page_shifts[1] = 21;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 21);
	assert_int_equal(info_of(arena).asked_page_shift, 25);
	hpm_arena_destroy(arena);
}

static void nothing_beyond_the_list_is_tried(void **state)
{
	opts.page_shifts[0] = 30;
	opts.page_shifts[1] = 21;
	opts.page_shifts[2] = 0;
	opts.page_shifts[3] = 12; /* behind the end of the list */
	fake_pages(30)->free[1] = 0;
	fake_pages(21)->free[1] = 0;
	/* what is told is why the first was not to be had */
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 0 free pages of 1 GiB, wanted 1; try: echo 3 "
		">/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages");
	assert_true(fake_pages(12)->free[1] == 1000);
}

static void the_first_of_several_failures_is_told(void **state)
{
	opts.page_shifts[1] = 25; /* -EINVAL by itself */
	fake_pages(21)->free[1] = 0;
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 0 free pages of 2 MiB, wanted 3; try: echo 11 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
}

static void a_full_list_has_four_sizes(void **state)
{
	struct hpm_arena *arena;

	fake.sizes[3] = (struct fake_pages){16, {0, 100}, {0, 100}};
	opts.page_shifts[0] = 30;
	opts.page_shifts[1] = 25;
	opts.page_shifts[2] = 21;
	opts.page_shifts[3] = 16;
	fake_pages(30)->free[1] = 0;
	fake_pages(21)->free[1] = 0;
	arena = create();
	assert_int_equal(info_of(arena).page_shift, 16);
	hpm_arena_destroy(arena);
}

static int messages;
static char last_message[600];

static void on_log(void *arg, int level, const char *where, const char *msg)
{
	messages++;
	snprintf(last_message, sizeof(last_message), "%d %s %s", level, where, msg);
}

static void a_fallback_is_logged_with_its_reason(void **state)
{
	struct hpm_arena *arena = NULL;

	opts.page_shifts[1] = 12;
	opts.bytes = 1 << 20;
	fake_pages(21)->free[1] = 0;
	hpm_log_set(on_log, NULL, HPM_LOG_WARNING);
	opts.reason = NULL; /* the log has it all the same */
	assert_int_equal(arena_create_on(&arena, &opts, &fake_backend), 0);
	hpm_arena_destroy(arena);
	hpm_log_set(NULL, NULL, 0);
	assert_int_equal(messages, 1);
	assert_string_equal(last_message,
		"4 arena 't' fell back to page size 2^12: arena 't': node 1 has 0 free pages of 2 "
		"MiB, wanted 1; try: echo 9 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
}

static void pages_that_move_later_are_noticed(void **state)
{
	struct hpm_arena *arena = create();

	assert_true(hpm_arena_misplaced(arena, &why) == 0);
	assert_string_equal(why.text, "");
	fake.lying_node = 0;
	fake.lie_from = 2;
	assert_true(hpm_arena_misplaced(arena, &why) == 1);
	assert_string_equal(why.text, "arena 't': 1 pages are on node 0 instead of 1");
	assert_true(hpm_arena_misplaced(arena, NULL) == 1);
	fake.fail_errno[FAKE_WHERE] = EPERM;
	assert_true(hpm_arena_misplaced(arena, &why) == -EIO);
	assert_string_equal(why.text, "arena 't': the kernel does not say where its pages are");
	hpm_arena_destroy(arena);
}

static void nothing_is_held_whichever_step_of_a_fallback_fails(void **state)
{
	for (int n = 1; n == 1 || fake.steps >= n - 1; n++) {
		struct hpm_arena *arena = NULL;
		int rc;

		fresh(state);
		opts.page_shifts[0] = 30;
		opts.page_shifts[1] = 21;
		fake_pages(30)->free[1] = 0;
		fake.fail_at = n;
		fake.fail_at_errno = EFAULT;
		rc = arena_create_on(&arena, &opts, &fake_backend);
		assert_true(rc < 0 ? arena == NULL : arena != NULL);
		hpm_arena_destroy(arena);
		assert_true(fake_is_clean());
		assert_true(fake_pages(21)->free[1] == 8);
	}
	assert_true(fake.steps > 14); /* two whole attempts were gone through */
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup(test, fresh)
	static const struct CMUnitTest tests[] = {
		ROW(an_arena_tells_what_it_has_become),
		ROW(memory_can_be_written_to_the_last_byte),
		ROW(names_have_1_to_31_bytes),
		ROW(nothing_and_no_page_size_are_einval),
		ROW(machines_without_the_page_or_node_are_einval),
		ROW(unknown_sources_are_einval),
		ROW(opts_of_another_release_are_told_apart),
		ROW(bytes_beyond_the_address_space_are_eoverflow),
		ROW(errors_of_the_kernel_become_the_documented_ones),
		ROW(a_short_pool_is_told_with_the_line_that_mends_it),
		ROW(a_reason_is_not_needed),
		ROW(the_first_size_that_can_be_had_whole_is_taken),
		ROW(the_callers_order_is_kept_even_smallest_first),
		ROW(a_size_the_machine_lacks_falls_back_too),
		ROW(nothing_beyond_the_list_is_tried),
		ROW(the_first_of_several_failures_is_told),
		ROW(a_full_list_has_four_sizes),
		ROW(a_fallback_is_logged_with_its_reason),
		ROW(pages_that_move_later_are_noticed),
		ROW(nothing_is_held_whichever_step_of_a_fallback_fails),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
