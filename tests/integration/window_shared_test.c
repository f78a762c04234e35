/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second process attached to a 2 GiB arena at the same address: the kernel shares page tables of
 * such mappings between processes, and without a guard the other's touches are counted.
 */
#include "need.h"

#include "account/window.h"

#include <hpm/hpm.h>

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE  (UINT64_C(1) << 21)
#define BYTES (UINT64_C(2) << 30)

static struct hpm_arena *arena;
static struct hpm_arena_info info = {.size = sizeof(info)};
static pid_t other;
static int go[2], done[2];

/* The second process: attaches anew through the descriptor it inherited, then touches everything on
 * each command. */
static void serve(void)
{
	char *at, c;

	if (munmap(info.base, BYTES) != 0)
		_exit(1);
	at = mmap(info.base, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		info.fd, 0);
	if (at != info.base)
		_exit(2);
	while (read(go[0], &c, 1) == 1) {
		for (uint64_t i = 0; i < BYTES / PAGE; i++)
			((volatile char *)at)[i * PAGE + 64] = 1;
		if (write(done[1], &c, 1) != 1)
			_exit(3);
	}
	_exit(0);
}

static void let_the_other_touch_everything(void)
{
	char c = 0;

	assert_int_equal(write(go[1], &c, 1), 1);
	assert_int_equal(read(done[0], &c, 1), 1);
}

/* Pages counted in a window in which we touch five and the other process all. */
static uint64_t count_in_company(struct hpm_window *window)
{
	struct hpm_touched row = {0};

	let_the_other_touch_everything();
	assert_int_equal(hpm_window_open(window), 0);
	let_the_other_touch_everything();
	for (uint64_t i = 0; i < 5; i++)
		((volatile char *)info.base)[i * 199 * PAGE] = 1;
	let_the_other_touch_everything();
	assert_int_equal(hpm_window_close(window), 0);
	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), 1);
	return row.pages;
}

static void only_our_own_touches_count(void **state)
{
	struct hpm_window *window;
	struct hpm_reason why;

	assert_int_equal(hpm_window_create(&window, &why), 0);
	if (hpm_window_watch_arena(window, arena, &why) != 0)
		fail_msg("%s", why.text);
	for (int round = 0; round < 3; round++)
		assert_int_equal(count_in_company(window), 5);
	hpm_window_destroy(window);
}

static int no_guard(void)
{
	return -EPERM;
}

static int idle_guard_open(void)
{
	return dup(2);
}

static int idle_guard(int fd, uintptr_t start, uint64_t bytes)
{
	return 0;
}

static void without_userfaultfd_the_window_is_refused(void **state)
{
	struct window_kernel kernel = window_kernel_live;
	struct hpm_window *window;
	struct hpm_reason why;

	kernel.guard_open = no_guard;
	assert_int_equal(window_create_on(&window, &kernel, &why), 0);
	assert_int_equal(hpm_window_watch_arena(window, arena, &why), -EBUSY);
	assert_non_null(strstr(why.text, "page tables"));
	hpm_window_destroy(window);
}

/* Shows that the test above can fail: a guard that does nothing lets the other process in. */
static void an_idle_guard_would_miscount(void **state)
{
	struct window_kernel kernel = window_kernel_live;
	struct hpm_window *window;
	struct hpm_reason why;
	uint64_t counted;

	kernel.guard_open = idle_guard_open;
	kernel.guard = idle_guard;
	assert_int_equal(window_create_on(&window, &kernel, &why), 0);
	assert_int_equal(hpm_window_watch_arena(window, arena, &why), 0);
	counted = count_in_company(window);
	print_message("without a guard: 5 pages touched, %" PRIu64 " counted\n", counted);
	assert_true(counted >= 5);
	hpm_window_destroy(window);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_guard_would_miscount),
		cmocka_unit_test(without_userfaultfd_the_window_is_refused),
		cmocka_unit_test(only_our_own_touches_count),
	};
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_reason why;
	int failed;

	need_pages(21, BYTES / PAGE);
	opts.name = "shared-test";
	opts.bytes = BYTES;
	opts.page_shifts[0] = 21;
	opts.reason = &why;
	if (hpm_arena_create(&arena, &opts) != 0) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	if (hpm_arena_info_read(arena, &info) != 0 || pipe(go) != 0 || pipe(done) != 0)
		return 1;
	other = fork();
	if (other == 0)
		serve();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	hpm_arena_destroy(arena);
	return failed != 0;
}
