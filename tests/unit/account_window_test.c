/* SPDX-License-Identifier: BSD-3-Clause */
/* A window's life: what opening, closing, marking and asking answer, on a kernel that is played. */
#include "account/window.h"
#include "fake_window_kernel.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BASE UINT64_C(0x550000000000)
#define PAGE 4096

static struct hpm_window *window;

/* Eight base pages, then, after a gap of a page, four more. */
static int set_up(void **state)
{
	fake_reset();
	fake.mappings[0] = (struct fake_mapping){
		.start = BASE, .end = BASE + 8 * PAGE, .perms = "rw-s", .shift = 12, .flags = "sh"};
	fake.mappings[1] = (struct fake_mapping){.start = BASE + 9 * PAGE,
		.end = BASE + 13 * PAGE,
		.perms = "rw-s",
		.shift = 12,
		.flags = "sh"};
	if (window_create_on(&window, &fake_window_kernel, NULL) != 0 ||
		hpm_window_watch(window, (void *)(BASE + 9 * PAGE), 4 * PAGE, NULL) != 0)
		return -1;
	return hpm_window_watch(window, (void *)BASE, 8 * PAGE, NULL);
}

static int tear_down(void **state)
{
	hpm_window_destroy(window);
	return 0;
}

static int mark(const char *tag, uint64_t first, uint64_t bytes)
{
	return hpm_window_mark(window, tag, (void *)(BASE + first), bytes);
}

static void run_window(void)
{
	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(hpm_window_close(window), 0);
}

static struct hpm_touched answer(const char *tag)
{
	struct hpm_touched row = {0};

	assert_int_equal(hpm_window_touched(&row, 1, window, tag), 1);
	return row;
}

static void a_tag_counts_the_pages_its_bytes_lie_on(void **state)
{
	struct hpm_touched row;

	assert_int_equal(mark("acl", PAGE - 1, 2), 0);        /* pages 0 and 1 */
	assert_int_equal(mark("acl", 3 * PAGE, 2 * PAGE), 0); /* 3 and 4 */
	assert_int_equal(mark("lpm", 4 * PAGE + 64, 1), 0);   /* 4 */
	assert_int_equal(mark("lpm", 9 * PAGE, 4 * PAGE), 0); /* 9 to 12 */
	fake.touched[0] = BASE + PAGE;
	fake.touched[1] = BASE + 4 * PAGE + 1;
	fake.touched[2] = BASE + 12 * PAGE + 4095;
	fake.touched[3] = BASE + 6 * PAGE;
	run_window();
	row = answer("acl");
	assert_int_equal(row.held_pages, 4);
	assert_int_equal(row.pages, 2);
	assert_int_equal(row.shared_pages, 1);
	row = answer("lpm");
	assert_int_equal(row.held_pages, 5);
	assert_int_equal(row.pages, 2);
	assert_int_equal(row.shared_pages, 1);
	row = answer(NULL);
	assert_int_equal(row.held_pages, 12);
	assert_int_equal(row.pages, 4);
	assert_int_equal(row.shared_pages, 1);
	assert_int_equal(row.page_shift, 12);
	assert_int_equal(hpm_window_touched(NULL, 0, window, "acl"), 1);
	assert_int_equal(hpm_window_touched(NULL, 0, window, "nobody"), 0);
}

static void a_mark_that_fails_marks_nothing(void **state)
{
	static const struct {
		const char *tag;
		uint64_t at, bytes;
	} bad[] = {{"m", 0, 0}, {"m", 7 * PAGE, PAGE + 1}, {"m", 0, 13 * PAGE}, {"m", 8 * PAGE, 1},
		{"m", 9 * PAGE - 1, 2}, {"m", 12 * PAGE, PAGE + 1}, {"m", 0, UINT64_MAX},
		{"M", 0, 1}, {"", 0, 1}, {NULL, 0, 1}, {"12345678901234567890123456789012", 0, 1}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mark(bad[i].tag, bad[i].at, bad[i].bytes), -EINVAL);
	run_window();
	assert_int_equal(hpm_window_touched(NULL, 0, window, "m"), 0);
}

static void a_mark_after_the_close_counts_in_the_answer(void **state)
{
	fake.touched[0] = BASE;
	run_window();
	assert_int_equal(mark("late", 0, PAGE), 0);
	assert_int_equal(answer("late").pages, 1);
}

static void a_zap_that_fails_leaves_the_window_closed(void **state)
{
	fake.zap_rc = -EINVAL;
	fake.zap_rc_at = BASE + 9 * PAGE;
	assert_int_equal(hpm_window_open(window), -EINVAL);
	assert_int_equal(hpm_window_close(window), -EINVAL);
	assert_int_equal(fake.looks, 0);
	fake.zap_rc = 0;
	run_window();
	assert_int_equal(answer(NULL).pages, 0);
}

static void a_look_that_fails_gives_no_answer(void **state)
{
	struct hpm_window_cost cost;
	struct hpm_touched row;

	run_window();
	assert_int_equal(hpm_window_open(window), 0);
	fake.look_rc = -EIO;
	assert_int_equal(hpm_window_close(window), -EIO);
	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), -EINVAL);
	assert_int_equal(hpm_window_cost_read(window, &cost), -EINVAL);
	assert_int_equal(hpm_window_close(window), -EINVAL);
	fake.look_rc = 0;
	fake.touched[0] = BASE;
	run_window();
	assert_int_equal(answer(NULL).pages, 1);
}

/* What was touched in one window is not in the next one's answer. */
static void each_window_starts_from_nothing(void **state)
{
	fake.touched[0] = BASE;
	fake.touched[1] = BASE + PAGE;
	run_window();
	assert_int_equal(answer(NULL).pages, 2);
	fake.touched[1] = 0;
	run_window();
	assert_int_equal(answer(NULL).pages, 1);
}

static void every_map_is_zapped_once_and_looked_at_once(void **state)
{
	unsigned zaps = fake.zaps;
	struct hpm_window_cost cost;

	fake.touched[0] = BASE + 2 * PAGE;
	fake.touched[1] = BASE + 10 * PAGE;
	run_window();
	assert_int_equal(fake.zaps - zaps, 2);
	assert_int_equal(fake.looks, 2);
	assert_int_equal(hpm_window_cost_read(window, &cost), 0);
	assert_int_equal(cost.faults, 2);
}

static void an_open_window_takes_no_more_memory(void **state)
{
	struct hpm_reason why;

	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(hpm_window_watch(window, (void *)BASE, PAGE, &why), -EINVAL);
	assert_non_null(strstr(why.text, "open"));
	assert_int_equal(hpm_window_open(window), -EBUSY);
}

static void watching_more_makes_the_old_answer_invalid(void **state)
{
	struct hpm_touched row;

	fake.mappings[2] = (struct fake_mapping){.start = BASE + 20 * PAGE,
		.end = BASE + 21 * PAGE,
		.perms = "rw-s",
		.shift = 12,
		.flags = "sh"};
	run_window();
	assert_int_equal(hpm_window_watch(window, (void *)(BASE + 20 * PAGE), 1, NULL), 0);
	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), -EINVAL);
	run_window();
	assert_int_equal(answer(NULL).held_pages, 13);
}

/* What a child of fork gets: -ECHILD for all that would act on its parent's memory. */
static int try_in_child(void)
{
	struct hpm_reason why = {.text = ""};
	struct hpm_touched row;

	if (hpm_window_open(window) != -ECHILD || hpm_window_close(window) != -ECHILD)
		return 1;
	if (hpm_window_watch(window, (void *)(BASE + 20 * PAGE), 1, &why) != -ECHILD ||
		strstr(why.text, "fork") == NULL)
		return 2;
	if (hpm_window_touched(&row, 1, window, NULL) != 1 || row.pages != 1)
		return 3; /* an answer is only numbers */
	hpm_window_destroy(window);
	return 0;
}

static void a_child_cannot_use_its_parents_window(void **state)
{
	int status = -1;
	pid_t child;

	fake.touched[0] = BASE;
	run_window();
	child = fork();
	if (child == 0)
		_exit(try_in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	run_window();
	assert_int_equal(answer(NULL).pages, 1);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(a_tag_counts_the_pages_its_bytes_lie_on),
		fresh(a_mark_that_fails_marks_nothing),
		fresh(a_mark_after_the_close_counts_in_the_answer),
		fresh(a_zap_that_fails_leaves_the_window_closed),
		fresh(a_look_that_fails_gives_no_answer),
		fresh(each_window_starts_from_nothing),
		fresh(every_map_is_zapped_once_and_looked_at_once),
		fresh(an_open_window_takes_no_more_memory),
		fresh(watching_more_makes_the_old_answer_invalid),
		fresh(a_child_cannot_use_its_parents_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
