/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of an ordinary user: a child becomes nobody, creates an arena and counts what it touches.
 * The child is a process of its own, outside cmocka, so that whatever happens to it is seen here.
 * Usage: window_user_test PAGE_SHIFT
 */
#include "need.h"

#include <hpm/hpm.h>

#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534
#define PAGES  8

static uint32_t shift;

static int become_nobody(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
				      setresuid(NOBODY, NOBODY, NOBODY) != 0))
		return -1;
	return geteuid() != 0 ? 0 : -1;
}

/* Touches three of eight pages in a window: 0, or the number of the step that failed. */
static int count_three(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};
	struct hpm_window *window;
	struct hpm_touched row = {0};
	struct hpm_reason why;

	if (hpm_arena_info_read(arena, &info) != 0)
		return 1;
	if (hpm_window_create(&window, &why) != 0 ||
		hpm_window_watch_arena(window, arena, &why) != 0) {
		fprintf(stderr, "%s\n", why.text);
		return 2;
	}
	memset(info.base, 1, (size_t)info.bytes);
	if (hpm_window_open(window) != 0)
		return 3;
	for (unsigned i = 0; i < 3; i++)
		((volatile char *)info.base)[((uint64_t)i * 3 << info.page_shift) + 64 * i] += 1;
	if (hpm_window_close(window) != 0)
		return 4;
	if (hpm_window_touched(&row, 1, window, NULL) != 1 || row.pages != 3 ||
		row.held_pages != PAGES)
		return 5;
	hpm_window_destroy(window);
	return 0;
}

static int as_nobody(void)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena *arena;
	struct hpm_reason why;
	int failed;

	if (become_nobody() != 0)
		return 10;
	prctl(PR_SET_DUMPABLE, 1); /* as after exec; setresuid(2) took /proc/self away */
	opts.name = "nobody";
	opts.bytes = (uint64_t)PAGES << shift;
	opts.page_shifts[0] = shift;
	opts.reason = &why;
	if (hpm_arena_create(&arena, &opts) != 0) {
		fprintf(stderr, "%s\n", why.text);
		return 11;
	}
	failed = count_three(arena);
	hpm_arena_destroy(arena);
	return failed;
}

/* What a process gets that changed its user and did not say it may be looked at. */
static int as_undumpable(void)
{
	struct hpm_window *window;
	struct hpm_reason why = {.text = ""};

	if (become_nobody() != 0)
		return 10;
	prctl(PR_SET_DUMPABLE, 0);
	if (hpm_window_create(&window, &why) != -EACCES)
		return 1;
	return strstr(why.text, "PR_SET_DUMPABLE") != NULL ? 0 : 2;
}

/* The arena is the parent's, the window the child's own. */
static struct hpm_arena *inherited;

static int with_inherited_arena(void)
{
	return count_three(inherited);
}

static void assert_child_succeeds(int (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(body());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void an_ordinary_user_counts_pages(void **state)
{
	uint64_t before = free_pages(shift);

	assert_child_succeeds(as_nobody);
	assert_int_equal(free_pages(shift), before);
}

static void a_process_that_changed_its_user_is_told_what_it_lacks(void **state)
{
	assert_child_succeeds(as_undumpable);
}

static void a_child_counts_an_inherited_arena_in_a_window_of_its_own(void **state)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_window *window;
	struct hpm_touched row = {0};

	opts.name = "inherited";
	opts.bytes = (uint64_t)PAGES << shift;
	opts.page_shifts[0] = shift;
	assert_int_equal(hpm_arena_create(&inherited, &opts), 0);
	assert_int_equal(hpm_window_create(&window, NULL), 0);
	assert_int_equal(hpm_window_watch_arena(window, inherited, NULL), 0);
	assert_int_equal(hpm_window_open(window), 0);
	assert_child_succeeds(with_inherited_arena);
	assert_int_equal(hpm_window_close(window), 0);
	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), 1);
	assert_int_equal(row.pages, 0); /* the child touched all of it, we nothing */
	hpm_window_destroy(window);
	hpm_arena_destroy(inherited);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_user_counts_pages),
		cmocka_unit_test(a_process_that_changed_its_user_is_told_what_it_lacks),
		cmocka_unit_test(a_child_counts_an_inherited_arena_in_a_window_of_its_own),
	};

	shift = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
	if (shift > 12)
		need_pages(shift, PAGES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
