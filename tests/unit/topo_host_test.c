/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes, pools, mounts and the kernel, of hosts made by hand: odd ones, broken ones, hostile ones.
 */
#include "fake_host.h"

#include <hpm/topo.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NODE  "/sys/devices/system/node/node%d"
#define POOLS "/sys/kernel/mm/hugepages/hugepages-"

static struct hpm_topo *look(const struct fake_host *host)
{
	struct hpm_topo *topo = NULL;
	struct hpm_reason reason;

	assert_int_equal(hpm_topo_create(&topo, host->root, &reason), 0);
	assert_string_equal(reason.text, "");
	return topo;
}

static struct hpm_topo_host facts(const struct hpm_topo *topo)
{
	struct hpm_topo_host host = {.size = sizeof(host)};

	assert_int_equal(hpm_topo_host_read(topo, &host), 0);
	return host;
}

static void assert_known(struct hpm_datum d, uint64_t value)
{
	assert_true(d.known);
	assert_int_equal(d.value, value);
	assert_non_null(d.source);
}

/* Unknown, and a reason that says something. */
static void assert_unknown(struct hpm_datum d)
{
	assert_false(d.known);
	assert_non_null(d.source);
	assert_true(strlen(d.source) > 5);
}

static void make_node(
	const struct fake_host *host, int node, const char *cpus, const char *distance)
{
	char meminfo[128];

	snprintf(meminfo, sizeof(meminfo),
		"Node %d MemTotal:    %d kB\nNode %d MemFree:     100 kB\n", node, 1000 + node,
		node);
	fake_host_numbered(host, NODE "/cpulist", node, cpus);
	fake_host_numbered(host, NODE "/distance", node, distance);
	fake_host_numbered(host, NODE "/meminfo", node, meminfo);
}

static void nodes_ascend_and_keep_their_numbers_across_a_gap(void **state)
{
	const struct hpm_topo_node *nodes;
	struct hpm_topo *topo;
	unsigned n;

	make_node(*state, 10, "64-127,192-255\n", "32 21 10\n");
	make_node(*state, 2, "8\n", "21 10 21\n");
	make_node(*state, 0, "0-3,5\n", "10 21 32\n");
	topo = look(*state);
	nodes = hpm_topo_nodes(topo, &n);
	assert_int_equal(n, 3);
	assert_int_equal(nodes[0].node, 0);
	assert_int_equal(nodes[1].node, 2);
	assert_int_equal(nodes[2].node, 10);
	assert_int_equal(nodes[0].cpus, 5);
	assert_int_equal(nodes[1].cpus, 1);
	assert_int_equal(nodes[2].cpus, 128);
	assert_string_equal(nodes[2].cpulist, "64-127,192-255");
	assert_known(nodes[2].total_bytes, 1010 * 1024);
	assert_known(nodes[2].free_bytes, 100 * 1024);
	assert_known(hpm_topo_distance(topo, 0, 10), 32);
	assert_known(hpm_topo_distance(topo, 2, 2), 10);
	assert_unknown(hpm_topo_distance(topo, 0, 1));
	assert_unknown(hpm_topo_distance(topo, -1, 0));
	hpm_topo_destroy(topo);
}

static void node_without_cpus_differs_from_one_whose_list_cannot_be_read(void **state)
{
	static const char *const bad[] = {"0-3,\n", "3-1\n", "0-4294967295\n", "0-65536\n",
		"0,,1\n", "-1\n", "0-\n", "a\n", "1 2\n", "0-40000,0-40000\n",
		"99999999999999999999\n"};
	const struct hpm_topo_node *nodes;
	struct hpm_topo *topo;
	unsigned n;

	make_node(*state, 0, "\n", "10\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		make_node(*state, 1 + (int)i, bad[i], "");
	fake_host_file(*state, "/sys/devices/system/node/node99/vmstat", "");
	topo = look(*state);
	nodes = hpm_topo_nodes(topo, &n);
	assert_int_equal(n, 2 + sizeof(bad) / sizeof(bad[0]));
	assert_string_equal(nodes[0].cpulist, "");
	assert_int_equal(nodes[0].cpus, 0);
	for (unsigned i = 1; i < n; i++) {
		assert_null(nodes[i].cpulist);
		assert_int_equal(nodes[i].cpus, 0);
	}
	assert_unknown(nodes[n - 1].total_bytes);
	hpm_topo_destroy(topo);
}

static void distances_that_stop_or_turn_to_garbage_are_unknown_from_there_on(void **state)
{
	struct hpm_topo *topo;

	make_node(*state, 0, "0\n", "10 20\n");
	make_node(*state, 1, "1\n", "20 x 20\n");
	make_node(*state, 2, "2\n", "30 256 10\n");
	topo = look(*state);
	assert_known(hpm_topo_distance(topo, 0, 1), 20);
	assert_unknown(hpm_topo_distance(topo, 0, 2));
	assert_known(hpm_topo_distance(topo, 1, 0), 20);
	assert_unknown(hpm_topo_distance(topo, 1, 2));
	assert_known(hpm_topo_distance(topo, 2, 0), 30);
	assert_unknown(hpm_topo_distance(topo, 2, 2));
	hpm_topo_destroy(topo);
}

static void names_that_no_kernel_gives_are_no_nodes(void **state)
{
	static const char *const names[] = {"node", "node00", "node1x", "node-1", "node1024",
		"node4294967296", "node99999999999999999999", "possible", "xnode1"};
	struct hpm_topo *topo;
	unsigned n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[FAKE_HOST_PATH];

		snprintf(path, sizeof(path), "/sys/devices/system/node/%s/cpulist", names[i]);
		fake_host_file(*state, path, "0\n");
	}
	topo = look(*state);
	(void)hpm_topo_nodes(topo, &n);
	assert_int_equal(n, 0);
	hpm_topo_destroy(topo);
}

static void sixty_four_nodes_with_a_thousand_cpus_are_read_whole(void **state)
{
	const struct hpm_topo_node *nodes;
	char distance[64 * 4] = "", cpus[32];
	struct hpm_topo *topo;
	unsigned n;

	for (int i = 0; i < 64; i++)
		strcat(distance, "10 ");
	for (int i = 0; i < 64; i++) {
		snprintf(cpus, sizeof(cpus), "%d-%d\n", 16 * i, 16 * i + 15);
		make_node(*state, i, cpus, distance);
	}
	topo = look(*state);
	nodes = hpm_topo_nodes(topo, &n);
	assert_int_equal(n, 64);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(nodes[i].cpus, 16);
	assert_known(hpm_topo_distance(topo, 63, 0), 10);
	hpm_topo_destroy(topo);
}

static void pools_come_host_first_and_largest_page_first(void **state)
{
	static const struct {
		int node;
		uint32_t shift;
	} want[] = {{-1, 34}, {-1, 25}, {-1, 16}, {3, 25}};
	const struct hpm_topo_pool *pools;
	struct hpm_topo *topo;
	unsigned n;

	fake_host_file(*state, POOLS "64kB/nr_hugepages", "7\n");
	fake_host_file(*state, POOLS "64kB/free_hugepages", "5\n");
	fake_host_file(*state, POOLS "64kB/resv_hugepages", "2\n");
	fake_host_file(*state, POOLS "64kB/surplus_hugepages", "1\n");
	fake_host_file(*state, POOLS "32768kB/nr_hugepages", "0\n");
	fake_host_file(*state, POOLS "16777216kB/nr_hugepages", "1\n");
	make_node(*state, 3, "0\n", "10\n");
	fake_host_numbered(*state, NODE "/hugepages/hugepages-32768kB/nr_hugepages", 3, "4\n");
	topo = look(*state);
	pools = hpm_topo_pools(topo, &n);
	assert_int_equal(n, 4);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(pools[i].node, want[i].node);
		assert_int_equal(pools[i].page_shift, want[i].shift);
	}
	assert_known(pools[2].total_pages, 7);
	assert_known(pools[2].free_pages, 5);
	assert_known(pools[2].promised_pages, 2);
	assert_known(pools[2].surplus_pages, 1);
	assert_known(pools[1].total_pages, 0);
	assert_unknown(pools[1].free_pages);
	assert_known(pools[3].total_pages, 4);
	assert_unknown(pools[3].promised_pages);
	hpm_topo_destroy(topo);
}

static void pool_numbers_that_are_none_are_unknown(void **state)
{
	static const char *const bad[] = {"", "\n", "-1\n", "0x10\n", "12 13\n", "1e3\n", " 7\n",
		"18446744073709551616\n", "123456789012345678901234567890123456789\n"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct hpm_topo_pool *pools;
		struct hpm_topo *topo;
		unsigned n;

		fake_host_file(*state, POOLS "2048kB/nr_hugepages", bad[i]);
		topo = look(*state);
		pools = hpm_topo_pools(topo, &n);
		assert_int_equal(n, 1);
		assert_unknown(pools[0].total_pages);
		hpm_topo_destroy(topo);
	}
}

static void sizes_that_no_page_has_are_no_pools(void **state)
{
	struct hpm_topo *topo;
	unsigned n;

	fake_host_file(*state, POOLS "0kB/nr_hugepages", "1\n");
	fake_host_file(*state, POOLS "3kB/nr_hugepages", "1\n");
	fake_host_file(*state, POOLS "02048kB/nr_hugepages", "1\n");
	fake_host_file(*state, POOLS "2048MB/nr_hugepages", "1\n");
	fake_host_file(*state, POOLS "kB/nr_hugepages", "1\n");
	fake_host_file(*state, POOLS "4294967296kB/nr_hugepages", "1\n");
	topo = look(*state);
	(void)hpm_topo_pools(topo, &n);
	assert_int_equal(n, 0);
	hpm_topo_destroy(topo);
}

static void mounts_keep_odd_paths_and_say_their_sizes(void **state)
{
	const struct hpm_topo_mount *mounts;
	struct hpm_topo *topo;
	unsigned n;

	fake_host_file(*state, "/proc/meminfo", "Hugepagesize:       2048 kB\n");
	fake_host_file(*state, "/proc/mounts",
		"proc /proc proc rw 0 0\n"
		"none /mnt/huge\\040page\\134s hugetlbfs rw,relatime,pagesize=1024M 0 0\n"
		"none /default hugetlbfs rw,relatime 0 0\n"
		"none /limited hugetlbfs rw,size=8192K,pagesize=2M 0 0\n"
		"none /odd hugetlbfs rw,pagesize=lots,size=-1 0 0\n"
		"none /short hugetlbfs\n"
		"hugetlbfs /not/ext4 ext4 rw 0 0\n"
		"\n   \n"
		"none /tail\\04 hugetlbfs rw,pagesize=99999999999999999999999999999999999G");
	topo = look(*state);
	mounts = hpm_topo_mounts(topo, &n);
	assert_int_equal(n, 5);
	assert_string_equal(mounts[0].path, "/mnt/huge page\\s");
	assert_known(mounts[0].page_bytes, UINT64_C(1) << 30);
	assert_unknown(mounts[0].size_bytes);
	assert_known(mounts[1].page_bytes, 2 << 20);
	assert_known(mounts[2].page_bytes, 2 << 20);
	assert_known(mounts[2].size_bytes, 8 << 20);
	assert_unknown(mounts[3].page_bytes);
	assert_unknown(mounts[3].size_bytes);
	assert_string_equal(mounts[4].path, "/tail\\04");
	assert_unknown(mounts[4].page_bytes);
	hpm_topo_destroy(topo);
}

static void no_mount_differs_from_mounts_that_cannot_be_read(void **state)
{
	struct hpm_topo *topo = look(*state);
	unsigned n = 7;

	assert_null(hpm_topo_mounts(topo, &n));
	assert_int_equal(n, 0);
	hpm_topo_destroy(topo);
	fake_host_file(*state, "/proc/mounts", "proc /proc proc rw 0 0\n");
	topo = look(*state);
	assert_non_null(hpm_topo_mounts(topo, &n));
	assert_int_equal(n, 0);
	hpm_topo_destroy(topo);
}

static void default_page_size_unknown_leaves_the_mounts_size_unknown(void **state)
{
	const struct hpm_topo_mount *mounts;
	struct hpm_topo *topo;
	unsigned n;

	fake_host_file(*state, "/proc/mounts", "none /h hugetlbfs rw 0 0\n");
	topo = look(*state);
	mounts = hpm_topo_mounts(topo, &n);
	assert_int_equal(n, 1);
	assert_unknown(mounts[0].page_bytes);
	hpm_topo_destroy(topo);
}

static void kernel_is_able_from_the_release_on_that_brought_it(void **state)
{
	static const struct {
		const char *release;
		int able[HPM_ABILITIES]; /* 5.14, 5.18, 5.19, 6.7; -1 unknown */
	} cases[] = {{"5.13.19\n", {0, 0, 0, 0}}, {"5.14.0-70.el9\n", {1, 0, 0, 0}},
		{"5.18\n", {1, 1, 0, 0}}, {"5.19.1\n", {1, 1, 1, 0}},
		{"6.1.0-18-amd64\n", {1, 1, 1, 0}}, {"6.7.0-rc1\n", {1, 1, 1, 1}},
		{"10.0\n", {1, 1, 1, 1}}, {"4.19\n", {0, 0, 0, 0}}, {"six\n", {-1, -1, -1, -1}},
		{"-6.7\n", {-1, -1, -1, -1}}, {"6\n", {-1, -1, -1, -1}}, {"\n", {-1, -1, -1, -1}},
		{"99999.1\n", {-1, -1, -1, -1}}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hpm_topo *topo;

		fake_host_file(*state, "/proc/sys/kernel/osrelease", cases[i].release);
		topo = look(*state);
		for (int a = 0; a < HPM_ABILITIES; a++)
			if (cases[i].able[a] < 0)
				assert_unknown(hpm_topo_ability(topo, (enum hpm_ability)a));
			else
				assert_known(hpm_topo_ability(topo, (enum hpm_ability)a),
					(uint64_t)cases[i].able[a]);
		assert_unknown(hpm_topo_ability(topo, HPM_ABILITIES));
		hpm_topo_destroy(topo);
	}
}

static void thp_is_the_word_in_brackets(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {{"always [madvise] never\n", "madvise"},
		{"[always] madvise never\n", "always"}, {"always madvise never\n", ""},
		{"[never\n", ""}, {"]never[\n", ""}, {"", ""},
		{"[a-word-that-is-longer-than-any-mode]\n", ""}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hpm_topo *topo;

		fake_host_file(
			*state, "/sys/kernel/mm/transparent_hugepage/enabled", cases[i].text);
		topo = look(*state);
		assert_string_equal(facts(topo).thp, cases[i].want);
		assert_string_equal(facts(topo).thp_shmem, "");
		hpm_topo_destroy(topo);
	}
}

static void memory_counts_that_are_none_are_unknown(void **state)
{
	static const char *const bad[] = {"", "Hugepagesize:\n2048 kB\n", "Hugepagesize: -2 kB\n",
		"Hugepagesize: 18014398509481984 kB\n", "Hugepagesize: 99999999999999999999 kB\n",
		"hugepagesize: 2048 kB\n"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hpm_topo *topo;

		fake_host_file(*state, "/proc/meminfo", bad[i]);
		topo = look(*state);
		assert_unknown(facts(topo).default_huge_bytes);
		hpm_topo_destroy(topo);
	}
}

static void captured_base_page_counts_when_it_can_be_one(void **state)
{
	uint32_t here = 0;
	struct hpm_topo *topo = look(*state);

	for (long page = sysconf(_SC_PAGESIZE); page > 1; page >>= 1)
		here++;
	assert_int_equal(facts(topo).base_page_shift, here);
	hpm_topo_destroy(topo);
	fake_host_file(*state, "/hpm/page_size", "65536\n");
	topo = look(*state);
	assert_int_equal(facts(topo).base_page_shift, 16);
	hpm_topo_destroy(topo);
	fake_host_file(*state, "/hpm/page_size", "9223372036854775808\n");
	topo = look(*state);
	assert_int_equal(facts(topo).base_page_shift, here);
	hpm_topo_destroy(topo);
}

static void host_with_nothing_but_a_proc_directory_is_all_unknown(void **state)
{
	struct hpm_topo *topo = look(*state);
	struct hpm_topo_host host = facts(topo);
	unsigned n;

	(void)hpm_topo_nodes(topo, &n);
	assert_int_equal(n, 0);
	(void)hpm_topo_pools(topo, &n);
	assert_int_equal(n, 0);
	assert_null(hpm_topo_mounts(topo, &n));
	assert_int_equal(n, 0);
	(void)hpm_topo_cpuids(topo, &n);
	assert_int_equal(n, 0);
	assert_string_equal(host.kernel, "");
	assert_string_equal(host.cpu_vendor, "");
	assert_unknown(host.cpu_family);
	assert_unknown(host.guest);
	hpm_topo_destroy(topo);
}

static void directory_that_is_no_host_is_refused_with_its_name(void **state)
{
	const struct fake_host *host = *state;
	char path[FAKE_HOST_PATH];
	struct hpm_topo *topo = (void *)1;
	struct hpm_reason reason;

	snprintf(path, sizeof(path), "%s/sys", host->root);
	assert_int_equal(hpm_topo_create(&topo, path, &reason), -ENOENT);
	assert_non_null(strstr(reason.text, path));
	snprintf(path, sizeof(path), "%s/absent", host->root);
	assert_int_equal(hpm_topo_create(&topo, path, &reason), -ENOENT);
	assert_non_null(strstr(reason.text, path));
	assert_int_equal(hpm_topo_create(&topo, "", NULL), -ENOENT);
	assert_ptr_equal(topo, (void *)1);
	hpm_topo_destroy(NULL);
}

/* Files of 2 MiB, where a kernel writes a few bytes. */
static void enormous_files_are_not_read_to_their_end(void **state)
{
	static const char *const paths[] = {"/proc/meminfo", "/proc/mounts",
		"/proc/sys/kernel/osrelease", "/sys/kernel/mm/transparent_hugepage/enabled",
		POOLS "2048kB/nr_hugepages", "/sys/devices/system/node/node0/cpulist",
		"/sys/devices/system/node/node0/distance", "/sys/devices/system/node/node0/meminfo",
		"/hpm/cpuid.txt", "/hpm/page_size"};
	size_t size = 2 << 20;
	char *ones = malloc(size);
	struct hpm_topo *topo;
	unsigned n;

	assert_non_null(ones);
	memset(ones, '1', size);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		fake_host_bytes(*state, paths[i], ones, size);
	free(ones);
	topo = look(*state);
	assert_null(hpm_topo_nodes(topo, &n)[0].cpulist);
	assert_int_equal(n, 1);
	assert_unknown(hpm_topo_distance(topo, 0, 0));
	assert_unknown(hpm_topo_pools(topo, &n)[0].total_pages);
	assert_string_equal(facts(topo).kernel, "");
	hpm_topo_destroy(topo);
}

/* Binary files, a FIFO without a writer and a directory in a file's place. */
static void what_is_no_text_or_no_file_is_unknown(void **state)
{
	unsigned char bytes[512];
	struct hpm_topo *topo;
	unsigned n;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	fake_host_bytes(*state, "/proc/meminfo", bytes, sizeof(bytes));
	fake_host_bytes(*state, "/proc/mounts", bytes, sizeof(bytes));
	fake_host_bytes(*state, "/hpm/cpuid.txt", bytes, sizeof(bytes));
	fake_host_bytes(*state, "/sys/devices/system/node/node0/cpulist", bytes, sizeof(bytes));
	fake_host_fifo(*state, "/sys/devices/system/node/node0/distance");
	fake_host_fifo(*state, "/proc/sys/kernel/osrelease");
	fake_host_file(*state, POOLS "2048kB/nr_hugepages/x", "1\n");
	topo = look(*state);
	assert_unknown(hpm_topo_pools(topo, &n)[0].total_pages);
	assert_unknown(hpm_topo_distance(topo, 0, 0));
	assert_unknown(hpm_topo_ability(topo, HPM_ABILITY_HUGETLB_ZAP));
	hpm_topo_destroy(topo);
}

static void caller_of_another_size_is_refused(void **state)
{
	struct hpm_topo *topo = look(*state);
	struct hpm_topo_host host = {.size = sizeof(host) - 1};

	assert_int_equal(hpm_topo_host_read(topo, &host), -EINVAL);
	host.size = 0;
	assert_int_equal(hpm_topo_host_read(topo, &host), -EINVAL);
	hpm_topo_destroy(topo);
}

#define ON_A_HOST(f) cmocka_unit_test_setup_teardown(f, fake_host_make, fake_host_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_HOST(nodes_ascend_and_keep_their_numbers_across_a_gap),
		ON_A_HOST(node_without_cpus_differs_from_one_whose_list_cannot_be_read),
		ON_A_HOST(distances_that_stop_or_turn_to_garbage_are_unknown_from_there_on),
		ON_A_HOST(names_that_no_kernel_gives_are_no_nodes),
		ON_A_HOST(sixty_four_nodes_with_a_thousand_cpus_are_read_whole),
		ON_A_HOST(pools_come_host_first_and_largest_page_first),
		ON_A_HOST(pool_numbers_that_are_none_are_unknown),
		ON_A_HOST(sizes_that_no_page_has_are_no_pools),
		ON_A_HOST(mounts_keep_odd_paths_and_say_their_sizes),
		ON_A_HOST(no_mount_differs_from_mounts_that_cannot_be_read),
		ON_A_HOST(default_page_size_unknown_leaves_the_mounts_size_unknown),
		ON_A_HOST(kernel_is_able_from_the_release_on_that_brought_it),
		ON_A_HOST(thp_is_the_word_in_brackets),
		ON_A_HOST(memory_counts_that_are_none_are_unknown),
		ON_A_HOST(captured_base_page_counts_when_it_can_be_one),
		ON_A_HOST(host_with_nothing_but_a_proc_directory_is_all_unknown),
		ON_A_HOST(directory_that_is_no_host_is_refused_with_its_name),
		ON_A_HOST(enormous_files_are_not_read_to_their_end),
		ON_A_HOST(what_is_no_text_or_no_file_is_unknown),
		ON_A_HOST(caller_of_another_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
