/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live host as we read it, against libraries that read it on their own: libnuma and
 * libhugetlbfs. The first argument says which; one that is absent is a skip.
 */
#include "need.h"

#include <hpm/topo.h>

#include <dlfcn.h>
#include <numa.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZES_MAX 16

static int look(void **state)
{
	struct hpm_topo *topo;

	if (hpm_topo_create(&topo, NULL, NULL) < 0)
		return -1;
	*state = topo;
	return 0;
}

static int forget(void **state)
{
	hpm_topo_destroy(*state);
	return 0;
}

static int lacks(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	return SKIP_STATUS;
}

/* --- libnuma --- */

static void nodes_are_those_of_libnuma(void **state)
{
	unsigned n, found = 0;
	const struct hpm_topo_node *nodes = hpm_topo_nodes(*state, &n);

	for (int node = 0; node <= numa_max_node(); node++) {
		long long free_bytes = 0, total = numa_node_size64(node, &free_bytes);

		if (total < 0)
			continue; /* a gap */
		assert_in_range(found, 0, n - 1);
		assert_int_equal(nodes[found].node, node);
		assert_true(nodes[found].total_bytes.known && nodes[found].free_bytes.known);
		assert_int_equal(nodes[found].total_bytes.value, total);
		/* memory comes and goes between two readings, but not without limit */
		assert_in_range(nodes[found].free_bytes.value, 0, (uint64_t)total);
		found++;
	}
	assert_int_equal(found, n);
}

static bool in_list(const char *list, unsigned cpu)
{
	while (*list != '\0') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

static void cpus_of_a_node_are_those_of_libnuma(void **state)
{
	unsigned n;
	const struct hpm_topo_node *nodes = hpm_topo_nodes(*state, &n);
	struct bitmask *mask = numa_allocate_cpumask();

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(numa_node_to_cpus(nodes[i].node, mask), 0);
		assert_non_null(nodes[i].cpulist);
		assert_int_equal(nodes[i].cpus, numa_bitmask_weight(mask));
		for (unsigned cpu = 0; cpu < mask->size; cpu++)
			assert_int_equal(
				in_list(nodes[i].cpulist, cpu), numa_bitmask_isbitset(mask, cpu));
	}
	numa_free_cpumask(mask);
}

static void distances_are_those_of_libnuma(void **state)
{
	unsigned n;
	const struct hpm_topo_node *nodes = hpm_topo_nodes(*state, &n);

	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++) {
			struct hpm_datum d =
				hpm_topo_distance(*state, nodes[from].node, nodes[to].node);

			assert_true(d.known);
			assert_int_equal(d.value, numa_distance(nodes[from].node, nodes[to].node));
		}
}

static void base_page_is_that_of_libnuma(void **state)
{
	struct hpm_topo_host host = {.size = sizeof(host)};

	assert_int_equal(hpm_topo_host_read(*state, &host), 0);
	assert_int_equal(1 << host.base_page_shift, numa_pagesize());
}

static int with_libnuma(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_those_of_libnuma),
		cmocka_unit_test(cpus_of_a_node_are_those_of_libnuma),
		cmocka_unit_test(distances_are_those_of_libnuma),
		cmocka_unit_test(base_page_is_that_of_libnuma),
	};

	if (numa_available() < 0)
		return lacks("libnuma says that this kernel has no NUMA");
	return cmocka_run_group_tests(tests, look, forget);
}

/* --- libhugetlbfs --- */

static struct {
	int (*sizes)(long sizes[], int n);
	long (*default_size)(void);
	const char *(*path_for)(long size);
} oracle;

static unsigned mounted; /* by us: one a page size, or 0 */

static void page_sizes_are_those_of_libhugetlbfs(void **state)
{
	unsigned n, ours = 0;
	const struct hpm_topo_pool *pools = hpm_topo_pools(*state, &n);
	long sizes[SIZES_MAX];
	int there = oracle.sizes(sizes, SIZES_MAX);

	assert_in_range(there, 1, SIZES_MAX);
	for (unsigned i = 0; i < n && pools[i].node < 0; i++) {
		bool found = false;

		for (int k = 0; k < there; k++)
			found |= sizes[k] == 1L << pools[i].page_shift;
		assert_true(found);
		ours++;
	}
	assert_int_equal(ours, there);
}

static void default_size_is_that_of_libhugetlbfs(void **state)
{
	struct hpm_topo_host host = {.size = sizeof(host)};

	assert_int_equal(hpm_topo_host_read(*state, &host), 0);
	assert_true(host.default_huge_bytes.known);
	assert_int_equal(host.default_huge_bytes.value, oracle.default_size());
}

/* It names one writable mount of a size, or none where there is none. */
static void mounts_are_those_of_libhugetlbfs(void **state)
{
	unsigned n, mounts_n;
	const struct hpm_topo_pool *pools = hpm_topo_pools(*state, &n);
	const struct hpm_topo_mount *mounts = hpm_topo_mounts(*state, &mounts_n);

	assert_true(mounts_n >= mounted);
	for (unsigned i = 0; i < n && pools[i].node < 0; i++) {
		const char *path = oracle.path_for(1L << pools[i].page_shift);
		bool any = false, same = false;

		for (unsigned m = 0; m < mounts_n; m++) {
			if (!mounts[m].page_bytes.known ||
				mounts[m].page_bytes.value != UINT64_C(1) << pools[i].page_shift)
				continue;
			any |= access(mounts[m].path, W_OK) == 0;
			same |= path != NULL && strcmp(path, mounts[m].path) == 0;
		}
		assert_true(any || mounted == 0);
		assert_int_equal(path != NULL, any);
		assert_int_equal(path != NULL, same);
	}
}

/* One mount for each page size, in a mount namespace of our own: there is something to find then.
 * Without the right to mount, what is mounted already has to do. */
static void mount_each_size(char dir[], const struct hpm_topo *topo)
{
	unsigned n;
	const struct hpm_topo_pool *pools = hpm_topo_pools(topo, &n);

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mkdtemp(dir) == NULL)
		return;
	if (mount("none", dir, "tmpfs", 0, NULL) == 0)
		for (unsigned i = 0; i < n && pools[i].node < 0; i++) {
			char path[64], options[64];

			snprintf(path, sizeof(path), "%s/%u", dir, pools[i].page_shift);
			snprintf(options, sizeof(options), "pagesize=%" PRIu64,
				UINT64_C(1) << pools[i].page_shift);
			if (mkdir(path, 0700) != 0 ||
				mount("none", path, "hugetlbfs", 0, options) != 0) {
				perror(path);
				exit(1);
			}
			mounted++;
		}
}

static int with_libhugetlbfs(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_sizes_are_those_of_libhugetlbfs),
		cmocka_unit_test(default_size_is_that_of_libhugetlbfs),
		cmocka_unit_test(mounts_are_those_of_libhugetlbfs),
	};
	char dir[] = "/tmp/hpm-oracle-XXXXXX";
	void *before, *lib;
	int rc;

	if (look(&before) != 0)
		return 1;
	mount_each_size(dir, before);
	forget(&before);
	lib = dlopen("libhugetlbfs.so.0", RTLD_NOW | RTLD_LOCAL); /* reads the mounts now */
	if (lib == NULL) {
		rc = lacks("libhugetlbfs.so.0 is not installed (apt-get install libhugetlbfs0)");
	} else {
		*(void **)&oracle.sizes = dlsym(lib, "gethugepagesizes");
		*(void **)&oracle.default_size = dlsym(lib, "gethugepagesize");
		*(void **)&oracle.path_for = dlsym(lib, "hugetlbfs_find_path_for_size");
		rc = oracle.sizes == NULL || oracle.default_size == NULL || oracle.path_for == NULL
			     ? lacks("libhugetlbfs.so.0 misses calls of version 2.1")
			     : cmocka_run_group_tests(tests, look, forget);
		dlclose(lib);
	}
	(void)umount2(dir, MNT_DETACH); /* ours alone, or nothing */
	(void)rmdir(dir);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "libnuma") == 0)
		return with_libnuma();
	if (argc == 2 && strcmp(argv[1], "libhugetlbfs") == 0)
		return with_libhugetlbfs();
	fputs("usage: topo_oracle_test libnuma|libhugetlbfs\n", stderr);
	return 2;
}
