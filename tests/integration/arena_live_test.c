/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arenas on the live kernel: size and node of the pages are read here again, from numa_maps and by
 * move_pages(2), not through the library; and what is not there is an error, never a signal.
 * Usage: arena_live_test PAGE_SHIFT
 */
#include "need.h"

#include <hpm/arena.h>

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

static uint32_t shift;
static uint64_t pages; /* of an arena that fits */
static struct hpm_reason why;

static struct hpm_arena_opts fitting(void)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;

	opts.name = "live";
	opts.bytes = pages << shift;
	opts.page_shifts[0] = shift;
	opts.reason = &why;
	return opts;
}

static struct hpm_arena *create(void)
{
	struct hpm_arena_opts opts = fitting();
	struct hpm_arena *arena = NULL;

	if (hpm_arena_create(&arena, &opts) != 0)
		fail_msg("%s", why.text);
	return arena;
}

static struct hpm_arena_info info_of(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};

	assert_int_equal(hpm_arena_info_read(arena, &info), 0);
	return info;
}

/* Looks at 10,000 places of an arena, however large: a sanitizer's shadow is four times as wide. */
static uint64_t step(void)
{
	return (pages << shift) / 10000 + 1;
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* The line of numa_maps for the mapping that starts at an address, into line[size]. */
static void read_numa_maps(char *line, int size, const void *base)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, size, f) != NULL)
		found = strtoull(line, NULL, 16) == (uintptr_t)base;
	fclose(f);
	assert_true(found);
}

static void numa_maps_says_size_and_node(void **state)
{
	struct hpm_arena *arena = create();
	struct hpm_arena_info info = info_of(arena);
	char line[1024], policy[32], size[64], count[64];

	assert_int_equal(info.page_shift, shift);
	assert_true(info.pages == pages);
	assert_int_equal((uintptr_t)info.base % (UINT64_C(1) << shift), 0);
	read_numa_maps(line, sizeof(line), info.base);
	snprintf(policy, sizeof(policy), " bind:%d ", info.node);
	snprintf(size, sizeof(size), " kernelpagesize_kB=%" PRIu64 "\n",
		(UINT64_C(1) << shift) >> 10);
	snprintf(count, sizeof(count), " N%d=%" PRIu64 " ", info.node, pages);
	if (strstr(line, policy) == NULL || strstr(line, size) == NULL ||
		strstr(line, count) == NULL)
		fail_msg("wanted '%s', '%s' and '%s' in: %s", policy, size, count, line);
	hpm_arena_destroy(arena);
}

static void move_pages_says_the_node_of_each_page(void **state)
{
	struct hpm_arena *arena = create();
	struct hpm_arena_info info = info_of(arena);

	for (uint64_t i = 0; i < pages; i++) {
		void *page = (char *)info.base + (i << shift);
		int node = -1;

		assert_int_equal(syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0), 0);
		assert_int_equal(node, info.node);
	}
	assert_true(hpm_arena_misplaced(arena, &why) == 0);
	hpm_arena_destroy(arena);
}

static void memory_is_zero_and_shared_with_children(void **state)
{
	struct hpm_arena *arena = create();
	struct hpm_arena_info info = info_of(arena);
	char *base = info.base;
	int status;
	pid_t child;

	for (uint64_t at = 0; at < info.bytes; at += step())
		assert_int_equal(base[at], 0);
	base[0] = 1;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		base[info.bytes - 1] = (char)(base[0] + 1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(base[info.bytes - 1], 2);
	hpm_arena_destroy(arena);
}

/* What can be asked of this machine that it does not have; base pages: twice its memory, which
 * is few enough addresses for ThreadSanitizer. */
static uint64_t too_many(void)
{
	char path[96];
	uint64_t total = 0;
	FILE *f;

	if (shift == 12)
		return 2 * (uint64_t)sysconf(_SC_PHYS_PAGES);
	snprintf(path, sizeof(path),
		"/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/nr_hugepages",
		(UINT64_C(1) << shift) >> 10);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%" SCNu64, &total), 1);
	fclose(f);
	return total + 1; /* not free + 1: others may give pages back meanwhile */
}

static void more_than_there_is_is_enomem_with_a_reason(void **state)
{
	struct hpm_arena_opts opts = fitting();
	struct hpm_arena *arena = NULL;
	char wanted[64];
	int files = open_files();

	opts.bytes = too_many() << shift;
	assert_int_equal(hpm_arena_create(&arena, &opts), -ENOMEM);
	assert_null(arena);
	snprintf(wanted, sizeof(wanted), "wanted %" PRIu64, too_many());
	if (strstr(why.text, wanted) == NULL || strstr(why.text, "arena 'live': node ") == NULL)
		fail_msg("%s", why.text);
	if (shift > 12 && strstr(why.text, "/nr_hugepages") == NULL)
		fail_msg("%s", why.text);
	assert_int_equal(open_files(), files);
}

static void what_the_machine_lacks_is_einval(void **state)
{
	struct hpm_arena_opts opts = fitting();
	struct hpm_arena *arena = NULL;

	opts.node = 1000;
	assert_int_equal(hpm_arena_create(&arena, &opts), -EINVAL);
	assert_string_equal(
		why.text, "arena 'live': there is no node 1000; see /sys/devices/system/node");
	opts.node = HPM_NODE_LOCAL;
	opts.page_shifts[0] = 13; /* no machine has 8 KiB */
	assert_int_equal(hpm_arena_create(&arena, &opts), -EINVAL);
	assert_string_equal(why.text,
		"arena 'live': this machine has no pages of 8 KiB; see /sys/kernel/mm/hugepages");
	assert_null(arena);
}

static void nothing_stays_open_or_taken(void **state)
{
	int files = open_files();
	uint64_t free_before = free_pages(shift);

	for (int i = 0; i < 3; i++)
		hpm_arena_destroy(create());
	assert_int_equal(open_files(), files);
	assert_true(shift == 12 || free_pages(shift) == free_before);
}

/* In a child: 0 when an ordinary user gets the same arena. */
static int as_nobody(void)
{
	struct hpm_arena_opts opts = fitting();
	struct hpm_arena *arena = NULL;
	char *base;

	if (getuid() == 0 &&
		(setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0))
		return 2;
	if (hpm_arena_create(&arena, &opts) != 0) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	base = info_of(arena).base;
	for (uint64_t at = 0; at < pages << shift; at += step())
		base[at] = 1;
	hpm_arena_destroy(arena);
	return 0;
}

static void ordinary_users_get_pages_too(void **state)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(as_nobody());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numa_maps_says_size_and_node),
		cmocka_unit_test(move_pages_says_the_node_of_each_page),
		cmocka_unit_test(memory_is_zero_and_shared_with_children),
		cmocka_unit_test(more_than_there_is_is_enomem_with_a_reason),
		cmocka_unit_test(what_the_machine_lacks_is_einval),
		cmocka_unit_test(nothing_stays_open_or_taken),
		cmocka_unit_test(ordinary_users_get_pages_too),
	};

	shift = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
	pages = shift >= 30 ? 1 : shift >= 21 ? 5 : 600;
	if (shift > 12)
		need_pages(shift, pages);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
