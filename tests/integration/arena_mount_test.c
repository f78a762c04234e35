/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arenas on a hugetlbfs mount, found by libhugetlbfs: what a mount limits or forbids is told. Runs
 * in a mount namespace of its own, where the only hugetlbfs is the test's.
 */
#include "need.h"

#include <hpm/arena.h>

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY  65534
#define PAGE_2M (UINT64_C(1) << 21)

static char dir[] = "/tmp/hpm-mount-XXXXXX";
static struct hpm_reason why;

static int create(struct hpm_arena **ret, uint64_t pages)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;

	*ret = NULL;
	opts.name = "mount";
	opts.bytes = pages * PAGE_2M;
	opts.source = HPM_SOURCE_HUGETLBFS;
	opts.page_shifts[0] = 21;
	opts.reason = &why;
	return hpm_arena_create(ret, &opts);
}

static int mount_hugetlbfs(void **state)
{
	return mount("none", dir, "hugetlbfs", 0, "pagesize=2M,size=4M,mode=0700");
}

static int unmount(void **state)
{
	return umount(dir);
}

static void pages_come_from_the_mount_and_go_back(void **state)
{
	uint64_t free_before = free_pages(21);

	for (int i = 0; i < 2; i++) {
		struct hpm_arena_info info = {.size = sizeof(info)};
		struct hpm_arena *arena;
		char link[64], path[128] = "";

		if (create(&arena, 2) != 0)
			fail_msg("%s", why.text);
		assert_int_equal(hpm_arena_info_read(arena, &info), 0);
		assert_int_equal(info.page_shift, 21);
		memset(info.base, 1, 2 * PAGE_2M);
		snprintf(link, sizeof(link), "/proc/self/fd/%d", info.fd);
		assert_true(readlink(link, path, sizeof(path) - 1) > 0);
		assert_int_equal(strncmp(path, dir, strlen(dir)), 0);
		assert_non_null(strstr(path, "(deleted)"));
		hpm_arena_destroy(arena);
	}
	assert_true(free_pages(21) == free_before);
}

static void a_mount_that_is_too_small_is_named(void **state)
{
	struct hpm_arena *arena, *first;
	char sentence[256];

	assert_int_equal(create(&arena, 3), -ENOMEM);
	snprintf(sentence, sizeof(sentence),
		"hugetlbfs mount '%s' has room for 2 more pages by its size= option, 3 are wanted; "
		"remount it with a larger size=",
		dir);
	assert_string_equal(why.text, sentence);
	assert_int_equal(create(&first, 1), 0);
	assert_int_equal(create(&arena, 2), -ENOMEM);
	assert_null(arena);
	assert_non_null(strstr(why.text, "has room for 1 more pages"));
	hpm_arena_destroy(first);
}

/* In a child: 0 when the refusal is the documented one. */
static int refused_as_nobody(void)
{
	char sentence[256];
	struct hpm_arena *arena;

	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		return 2;
	snprintf(sentence, sizeof(sentence),
		"no permission on hugetlbfs mount '%s'; try: mount -o remount,uid=65534,mode=0770 "
		"%s",
		dir, dir);
	if (create(&arena, 1) == -EACCES && strcmp(why.text, sentence) == 0)
		return 0;
	fprintf(stderr, "got: %s\n", why.text);
	return 1;
}

static void a_mount_without_permission_is_eacces(void **state)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(refused_as_nobody());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void no_mount_is_enoent_with_the_line_that_makes_one(void **state)
{
	struct hpm_arena *arena;

	assert_int_equal(create(&arena, 1), -ENOENT);
	assert_null(arena);
	assert_string_equal(why.text, "no hugetlbfs mount of 2 MiB pages; try: mkdir -p /mnt/huge "
				      "&& mount -t hugetlbfs -o "
				      "pagesize=2048K none /mnt/huge");
}

static void base_pages_need_no_mount(void **state)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena *arena = NULL;

	opts.name = "base";
	opts.bytes = 1;
	opts.source = HPM_SOURCE_HUGETLBFS;
	opts.page_shifts[0] = 21;
	opts.page_shifts[1] = 12;
	assert_int_equal(hpm_arena_create(&arena, &opts), 0);
	hpm_arena_destroy(arena);
}

static void skip_without(const char *missing)
{
	fprintf(stderr, "skipped: needs %s\n", missing);
	exit(SKIP_STATUS);
}

/* Leaves the host's mounts alone: all that follows happens in a namespace of this process. */
static void hide_mounts(void)
{
	char line[1024], where[512], type[64];
	FILE *mounts;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		skip_without("the right to make a mount namespace");
	mounts = fopen("/proc/self/mounts", "re");
	if (mounts == NULL)
		skip_without("/proc/self/mounts");
	while (fgets(line, sizeof(line), mounts) != NULL)
		if (sscanf(line, "%*s %511s %63s", where, type) == 2 &&
			strcmp(type, "hugetlbfs") == 0)
			umount2(where, MNT_DETACH);
	fclose(mounts);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			pages_come_from_the_mount_and_go_back, mount_hugetlbfs, unmount),
		cmocka_unit_test_setup_teardown(
			a_mount_that_is_too_small_is_named, mount_hugetlbfs, unmount),
		cmocka_unit_test_setup_teardown(
			a_mount_without_permission_is_eacces, mount_hugetlbfs, unmount),
		cmocka_unit_test(no_mount_is_enoent_with_the_line_that_makes_one),
		cmocka_unit_test(base_pages_need_no_mount),
	};
	void *lib = dlopen("libhugetlbfs.so.0", RTLD_NOW | RTLD_LOCAL);
	int failed;

	if (lib == NULL)
		skip_without("libhugetlbfs0");
	dlclose(lib);
	if (geteuid() != 0)
		skip_without("root, to mount a hugetlbfs");
	need_pages(21, 3);
	hide_mounts();
	if (mkdtemp(dir) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed != 0;
}
