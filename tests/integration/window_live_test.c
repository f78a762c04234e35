/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows on the live kernel: counts equal an independent oracle's, data survives, and another
 * process does not count. Usage: window_live_test PAGE_SHIFT
 */
#include "need.h"
#include "tracer.h"

#include <hpm/hpm.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t shift;
static uint64_t pages; /* of the arena the workloads run on */
static struct hpm_arena *arena;
static char *base;

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

/* Each workload touches some pages of [0, pages), always the same ones. */
static void touch(uint64_t page, uint64_t salt, int write)
{
	volatile char *at = base + (page << shift) + salt % (UINT64_C(1) << shift);

	if (write)
		*at = (char)(salt | 1);
	else
		(void)*at;
}

static void uniform(void)
{
	uint64_t r = 1;

	for (uint64_t i = 0; i < pages / 2; i++) {
		uint64_t page = next_random(&r) % pages;

		touch(page, next_random(&r), i % 3 == 0);
	}
}

static void skewed(void)
{
	uint64_t r = 2;

	for (uint64_t i = 0; i < 4 * pages; i++) {
		uint64_t a = next_random(&r) % pages, b = next_random(&r) % pages;

		touch(a * b / pages * (a % 2) / 2, i * 71, i % 2);
	}
}

static void strided(void)
{
	for (uint64_t page = 1; page < pages; page += 3)
		touch(page, page * 64, 0);
}

static void chase(void)
{
	uint64_t page = 5 % pages;

	for (uint64_t i = 0; i < pages / 3 + 1; i++) {
		touch(page, i * 4096, 0);
		page = (page * 5 + 3) % pages; /* walks a cycle of the page numbers */
	}
}

static void nothing(void)
{
}

static void everything(void)
{
	for (uint64_t page = 0; page < pages; page++)
		touch(page, 0, 1);
}

static void set_up_arena(void)
{
	struct hpm_reason why;
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena_info info = {.size = sizeof(info)};

	opts.name = "window-test";
	opts.bytes = pages << shift;
	opts.page_shifts[0] = shift;
	opts.reason = &why;
	if (hpm_arena_create(&arena, &opts) != 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	assert_int_equal(hpm_arena_info_read(arena, &info), 0);
	base = info.base;
}

static struct hpm_window *watch(void)
{
	struct hpm_window *window;
	struct hpm_reason why;
	int rc;

	assert_int_equal(hpm_window_create(&window, &why), 0);
	rc = hpm_window_watch_arena(window, arena, &why);
	if (rc != 0)
		fail_msg("%s", why.text);
	return window;
}

static uint64_t touched(struct hpm_window *window, const char *tag)
{
	struct hpm_touched row = {0};
	int n = hpm_window_touched(&row, 1, window, tag);

	assert_int_equal(n, 1);
	assert_int_equal(row.page_shift, shift);
	return row.pages;
}

static void counts_equal_those_of_the_mprotect_tracer(void **state)
{
	static void (*const workloads[])(void) = {
		uniform, skewed, strided, chase, nothing, everything};
	struct hpm_window *window = watch();

	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		uint64_t expected;

		tracer_start(base, pages << shift, shift);
		workloads[i]();
		tracer_stop();
		expected = tracer_count(0, pages);
		assert_int_equal(hpm_window_open(window), 0);
		workloads[i]();
		assert_int_equal(hpm_window_close(window), 0);
		assert_int_equal(touched(window, NULL), expected);
	}
	hpm_window_destroy(window);
}

static void each_tag_gets_its_own_pages(void **state)
{
	uint64_t page = UINT64_C(1) << shift;
	struct hpm_window *window;
	struct hpm_touched row;
	void *acl, *lpm;

	assert_int_equal(hpm_run_get(&acl, arena, "acl", 3 * page, 0, NULL), 0);
	assert_int_equal(hpm_run_get(&lpm, arena, "lpm", page, 0, NULL), 0);
	window = watch();
	assert_int_equal(hpm_window_open(window), 0);
	((volatile char *)acl)[0] = 1;
	((volatile char *)acl)[2 * page] = 1;
	((volatile char *)lpm)[page - 1] = 1;
	assert_int_equal(hpm_window_close(window), 0);
	assert_int_equal(touched(window, "acl"), 2);
	assert_int_equal(touched(window, "lpm"), 1);
	assert_int_equal(touched(window, NULL), 3);
	assert_int_equal(hpm_window_touched(&row, 1, window, "acl"), 1);
	assert_int_equal(row.held_pages, 3);
	assert_int_equal(row.shared_pages, 0);
	assert_int_equal(hpm_window_touched(&row, 1, window, "nobody"), 0);
	assert_int_equal(hpm_arena_misplaced(arena, NULL), 0); /* dropped entries hide no page */
	hpm_window_destroy(window);
	assert_int_equal(hpm_run_put(arena, lpm), 0);
	assert_int_equal(hpm_run_put(arena, acl), 0);
}

static void tags_on_one_page_are_reported_as_shared(void **state)
{
	struct hpm_window *window;
	struct hpm_touched row;
	void *acl, *lpm;

	assert_int_equal(hpm_run_get(&acl, arena, "acl", 8192, 0, NULL), 0);
	assert_int_equal(hpm_run_get(&lpm, arena, "lpm", 8192, 0, NULL), 0);
	window = watch();
	assert_int_equal(hpm_window_open(window), 0);
	((volatile char *)lpm)[0] = 1;
	assert_int_equal(hpm_window_close(window), 0);
	/* A page is touched or not; which tag's bytes it was the kernel cannot tell. */
	assert_int_equal(touched(window, "acl"), 1);
	assert_int_equal(hpm_window_touched(&row, 1, window, "lpm"), 1);
	assert_int_equal(row.pages, 1);
	assert_int_equal(row.shared_pages, 1);
	assert_int_equal(touched(window, NULL), 1);
	hpm_window_destroy(window);
	assert_int_equal(hpm_run_put(arena, lpm), 0);
	assert_int_equal(hpm_run_put(arena, acl), 0);
}

static void data_survive_every_zap(void **state)
{
	struct hpm_window *window = watch();
	uint64_t words = (pages << shift) / sizeof(uint64_t), step = words / 4093 + 1;
	uint64_t *w = (uint64_t *)base;

	for (uint64_t i = 0; i < words; i += step)
		w[i] = i * 0x9E3779B97F4A7C15u;
	for (int round = 0; round < 50; round++) {
		assert_int_equal(hpm_window_open(window), 0);
		w[round * step] += 1;
		assert_int_equal(hpm_window_close(window), 0);
	}
	for (uint64_t i = 0; i < words; i += step)
		assert_true(w[i] == i * 0x9E3779B97F4A7C15u + (i / step < 50));
	hpm_window_destroy(window);
}

static void a_forked_child_does_not_count(void **state)
{
	struct hpm_window *window = watch();
	int go[2], done[2];
	pid_t child;
	char c = 0;

	assert_int_equal(pipe(go) | pipe(done), 0);
	child = fork();
	if (child == 0) {
		(void)!read(go[0], &c, 1);
		everything();
		(void)!write(done[1], &c, 1);
		pause();
	}
	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_int_equal(read(done[0], &c, 1), 1);
	touch(1 % pages, 0, 0);
	assert_int_equal(hpm_window_close(window), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(touched(window, NULL), 1);
	hpm_window_destroy(window);
}

static void misuse_is_an_error(void **state)
{
	struct hpm_window *window = watch(), *second;
	struct hpm_window_cost cost;
	struct hpm_touched row;
	struct hpm_reason why;
	void *private =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), -EINVAL);
	assert_int_equal(hpm_window_cost_read(window, &cost), -EINVAL);
	assert_int_equal(hpm_window_close(window), -EINVAL);
	assert_int_equal(hpm_window_open(window), 0);
	assert_int_equal(hpm_window_open(window), -EBUSY);
	assert_int_equal(hpm_window_touched(&row, 1, window, NULL), -EINVAL);
	assert_int_equal(hpm_window_close(window), 0);
	assert_int_equal(hpm_window_cost_read(window, &cost), 0);
	assert_int_equal(cost.faults, 0);
	assert_int_equal(hpm_window_watch(window, base, 1, &why), -EINVAL);
	assert_non_null(strstr(why.text, "watched already"));
	assert_int_equal(hpm_window_watch(window, base, 0, &why), -EINVAL);
	assert_int_equal(hpm_window_watch(window, private, 1, &why), -EPERM);
	assert_non_null(strstr(why.text, "private"));
	assert_int_equal(hpm_window_watch(window, base, UINT64_MAX, &why), -EOVERFLOW);
	assert_int_equal(munmap(private, 8192), 0);
	assert_int_equal(hpm_window_watch(window, private, 1, &why), -EINVAL);
	assert_int_equal(hpm_window_mark(window, "acl", base - 1, 1), -EINVAL);
	assert_int_equal(hpm_window_mark(window, "acl", base + (pages << shift) - 1, 2), -EINVAL);
	assert_int_equal(hpm_window_mark(window, "Bad Tag", base, 1), -EINVAL);
	assert_int_equal(hpm_window_create(&second, &why), 0);
	assert_int_equal(hpm_window_watch_arena(second, arena, &why), -EBUSY);
	assert_non_null(strstr(why.text, "another window"));
	hpm_window_destroy(second);
	hpm_window_destroy(window);
}

/* Two shared pages and a private one: the watch fails at the third and must let go of the first. */
static void a_failed_watch_leaves_memory_to_others(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("half-private", MFD_CLOEXEC);
	struct hpm_window *first, *second;
	char *at, *private;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
	at = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(at != MAP_FAILED);
	private = mmap(at + 2 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0);
	assert_true(private == at + 2 * page);
	memset(at, 42, 3 * page);
	assert_int_equal(hpm_window_create(&first, NULL), 0);
	assert_int_equal(hpm_window_create(&second, NULL), 0);
	assert_int_equal(hpm_window_watch(first, at, 3 * page, NULL), -EPERM);
	assert_int_equal(hpm_window_watch(second, at, 2 * page, NULL), 0);
	assert_int_equal(hpm_window_open(second), 0);
	for (size_t i = 0; i < 3 * page; i++)
		assert_int_equal(at[i], 42);
	assert_int_equal(hpm_window_close(second), 0);
	hpm_window_destroy(first);
	hpm_window_destroy(second);
	assert_int_equal(munmap(at, 3 * page), 0);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest any_size[] = {
		cmocka_unit_test(counts_equal_those_of_the_mprotect_tracer),
		cmocka_unit_test(data_survive_every_zap),
		cmocka_unit_test(a_forked_child_does_not_count),
		cmocka_unit_test(misuse_is_an_error),
		cmocka_unit_test(a_failed_watch_leaves_memory_to_others),
	};
	static const struct CMUnitTest many_pages[] = {
		cmocka_unit_test(each_tag_gets_its_own_pages)};
	static const struct CMUnitTest huge_pages[] = {
		cmocka_unit_test(tags_on_one_page_are_reported_as_shared)};
	uint64_t free_before;
	int failed;

	shift = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
	pages = shift >= 30 ? 1 : shift >= 21 ? 16 : 512;
	if (shift > 12)
		need_pages(shift, pages);
	free_before = free_pages(shift);
	set_up_arena();
	failed = cmocka_run_group_tests(any_size, NULL, NULL);
	if (pages > 4)
		failed += cmocka_run_group_tests(many_pages, NULL, NULL);
	if (shift > 12)
		failed += cmocka_run_group_tests(huge_pages, NULL, NULL);
	hpm_arena_destroy(arena);
	if (free_pages(shift) != free_before) {
		fprintf(stderr, "the pool is not as full as before\n");
		failed++;
	}
	return failed != 0;
}
