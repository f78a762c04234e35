/* SPDX-License-Identifier: BSD-3-Clause */
/* How pages are got: in which order, what is said when they are not there, and that nothing is held
 * after any failure. On a fake machine; expected sentences are written by hand. */
#include "fake_backend.h"

#include "base/units.h"
#include "region/region.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PAGE_2M (UINT64_C(1) << 21)

static struct hpm_reason why;

/* Wants pages of 2 MiB on node 1 of a fresh machine, unless a test changes it. */
static struct region_request want;

static char *addresses; /* enough of them, reserved for good */

static int reserve(void **state)
{
	void *span;

	fake_reset();
	if (fake_backend.reserve(&span, UINT64_C(4) << 30, 30) < 0)
		return -1;
	addresses = span;
	return 0;
}

static int fresh(void **state)
{
	fake_reset();
	want = (struct region_request){.at = addresses,
		.name = "t",
		.bytes = 3 * PAGE_2M,
		.page_shift = 21,
		.node = 1,
		.backend = &fake_backend};
	strcpy(why.text, "not written");
	return 0;
}

/* Fails as expected and holds nothing. */
static void expect_failure(int rc, const char *sentence)
{
	struct region region = {.fd = 77};
	uint64_t free_before = fake_pages(21)->free[1];

	assert_int_equal(region_acquire(&region, &want, &why), rc);
	assert_string_equal(why.text, sentence);
	assert_int_equal(region.fd, 77); /* written on success only */
	assert_true(fake_is_clean());
	assert_true(fake_pages(21)->free[1] == free_before);
}

static void pages_are_bound_before_they_are_touched_and_then_verified(void **state)
{
	struct region region;

	assert_int_equal(region_acquire(&region, &want, &why), 0);
	assert_string_equal(fake.trace, "offers node open map bind populate page_shift where ");
	assert_int_equal(region.node, 1);
	assert_true(region.bytes == 3 * PAGE_2M);
	assert_true(fake_pages(21)->free[1] == 5);
	assert_true(fake_pages(21)->free[0] == 8);
	region_release(&region);
	assert_true(fake_is_clean());
	assert_true(fake_pages(21)->free[1] == 8);
	region_release(&region); /* twice is harmless */
	assert_true(fake_is_clean());
}

static void old_kernels_touch_page_by_page(void **state)
{
	struct region region;

	fake.no_populate = true;
	assert_int_equal(region_acquire(&region, &want, &why), 0);
	assert_string_equal(fake.trace,
		"offers node open map bind populate touch touch touch page_shift where ");
	region_release(&region);
}

static void bytes_are_rounded_up_to_whole_pages(void **state)
{
	struct region region;

	want.bytes = 2 * PAGE_2M + 1;
	assert_int_equal(region_acquire(&region, &want, &why), 0);
	assert_true(region.bytes == 3 * PAGE_2M);
	region_release(&region);
}

static void local_becomes_the_node_of_the_cpu(void **state)
{
	struct region region;

	fake.local_node = 1;
	want.node = HPM_NODE_LOCAL;
	assert_int_equal(region_acquire(&region, &want, &why), 0);
	assert_int_equal(region.node, 1);
	region_release(&region);
}

static void a_short_node_is_told_with_the_line_that_mends_it(void **state)
{
	fake_pages(21)->free[1] = 3;
	want.bytes = 5 * PAGE_2M;
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 3 free pages of 2 MiB, wanted 5; try: echo 10 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
	assert_string_equal(fake.trace, "offers node open map bind populate room ");
}

static void a_short_node_on_an_old_kernel_is_told_the_same(void **state)
{
	fake.no_populate = true;
	fake_pages(21)->free[1] = 1;
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 1 free pages of 2 MiB, wanted 3; try: echo 10 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
}

static void a_short_host_fails_at_map_and_says_so_of_the_node(void **state)
{
	*fake_pages(30) = (struct fake_pages){30, {0, 1}, {0, 1}};
	want.page_shift = 30;
	want.bytes = UINT64_C(2) << 30;
	expect_failure(-ENOMEM,
		"arena 't': node 1 has 1 free pages of 1 GiB, wanted 2; try: echo 2 "
		">/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages");
	assert_string_equal(fake.trace, "offers node open map room ");
}

static void promised_pages_are_no_reason_to_reserve_more(void **state)
{
	fake.promised = 6;
	expect_failure(-ENOMEM,
		"arena 't': node 1 shows 8 free pages of 2 MiB, wanted 3, but refuses: they are "
		"promised to others, or a cgroup limit (hugetlb.*.max, memory.max) is reached");
}

static void a_kernel_that_does_not_count_pages_still_gives_a_sentence(void **state)
{
	fake.no_room = true;
	fake_pages(21)->free[1] = 2;
	expect_failure(-ENOMEM, "arena 't': node 1 cannot give 3 pages of 2 MiB");
}

static void missing_base_pages_are_refused_before_the_first_touch(void **state)
{
	want.page_shift = 12;
	want.bytes = 1001 << 12;
	expect_failure(-ENOMEM, "arena 't': node 1 has 1000 free pages of 4 KiB, wanted 1001; free "
				"memory or ask for less");
	assert_null(strstr(fake.trace, "populate"));
}

static void a_forbidden_node_is_eperm(void **state)
{
	fake.forbidden_nodes = 1 << 1;
	expect_failure(-EPERM,
		"arena 't': node 1 has no memory this process may use (cpuset.mems); ask for "
		"another node or widen the cpuset");
}

static void a_kernel_without_mbind_is_enotsup(void **state)
{
	fake.no_mbind = true;
	expect_failure(-ENOTSUP, "arena 't': the kernel has no mbind (CONFIG_NUMA)");
}

static void pages_that_came_before_the_binding_are_eio(void **state)
{
	fake.fail_errno[FAKE_BIND] = EIO;
	expect_failure(-EIO, "arena 't': pages came before they could be bound to node 1; is "
			     "mlockall(MCL_FUTURE) in force?");
}

static void pages_of_another_size_are_given_back(void **state)
{
	fake.lying_shift = 12;
	expect_failure(-EIO, "arena 't': asked for pages of 2 MiB, the kernel gave 4 KiB");
}

static void pages_on_another_node_are_given_back(void **state)
{
	fake.lying_node = 0;
	fake.lie_from = 1;
	expect_failure(-EIO, "arena 't': 2 pages are on node 0 instead of 1");
}

static void the_last_of_many_pages_is_verified_too(void **state)
{
	struct region region;
	int node = -1;

	want.page_shift = 12;
	want.bytes = 1000 << 12; /* two batches of move_pages */
	assert_int_equal(region_acquire(&region, &want, &why), 0);
	assert_true(region_misplaced(&region, &node) == 0);
	fake.lying_node = 0;
	fake.lie_from = 999;
	assert_true(region_misplaced(&region, &node) == 1);
	assert_int_equal(node, 0);
	region_release(&region);
	expect_failure(-EIO, "arena 't': 1 pages are on node 0 instead of 1");
}

static void silence_of_the_kernel_is_eio(void **state)
{
	fake.fail_errno[FAKE_PAGE_SHIFT] = EACCES;
	expect_failure(-EIO, "arena 't': the kernel does not say which pages it gave");
	fake.fail_errno[FAKE_PAGE_SHIFT] = 0;
	fake.fail_errno[FAKE_WHERE] = ENOSYS;
	expect_failure(-EIO, "arena 't': the kernel does not say on which node pages are");
}

static void a_page_with_a_memory_error_is_eio(void **state)
{
	fake.fail_errno[FAKE_POPULATE] = EHWPOISON;
	expect_failure(-EIO, "arena 't': a page on node 1 has a memory error");
}

static void nodes_that_do_not_exist_are_einval(void **state)
{
	static const int bad[] = {2, 1000, -2, INT32_MAX, INT32_MIN};
	char sentence[128];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		want.node = bad[i];
		snprintf(sentence, sizeof(sentence),
			"arena 't': there is no node %d; see /sys/devices/system/node", bad[i]);
		expect_failure(-EINVAL, sentence);
	}
}

static void page_sizes_the_machine_lacks_are_einval(void **state)
{
	want.page_shift = 25;
	expect_failure(-EINVAL,
		"arena 't': this machine has no pages of 32 MiB; see /sys/kernel/mm/hugepages");
	want.page_shift = UINT32_MAX;
	expect_failure(-EINVAL,
		"arena 't': this machine has no pages of 2^63+ B; see /sys/kernel/mm/hugepages");
}

static void bytes_beyond_the_address_space_are_eoverflow(void **state)
{
	want.bytes = UINT64_MAX;
	expect_failure(
		-EOVERFLOW, "arena 't': 18446744073709551615 bytes exceed the address space");
	want.bytes = UINT64_C(1) << 47;
	expect_failure(-EOVERFLOW, "arena 't': 140737488355328 bytes exceed the address space");
}

static void a_file_that_cannot_be_opened_passes_its_errno_on(void **state)
{
	fake.fail_errno[FAKE_OPEN] = EACCES;
	expect_failure(-EACCES, "fake: cannot open 't'");
	fake.fail_errno[FAKE_OPEN] = ENOENT;
	expect_failure(-ENOENT, "fake: cannot open 't'");
}

static void a_region_grows_in_its_own_file_or_stays_as_it_was(void **state)
{
	struct region region;

	assert_int_equal(region_acquire(&region, &want, &why), 0);
	fake.trace[0] = '\0';
	assert_int_equal(region_extend(&region, 2 * PAGE_2M, "t", &why), 0);
	assert_string_equal(fake.trace, "resize map bind populate page_shift where ");
	assert_true(region.bytes == 5 * PAGE_2M);
	assert_ptr_equal(region.addr, addresses);
	assert_true(fake_pages(21)->free[1] == 3);
	assert_int_equal(region_extend(&region, 4 * PAGE_2M, "t", &why), -ENOMEM);
	assert_string_equal(why.text,
		"arena 't': node 1 has 3 free pages of 2 MiB, wanted 4; try: echo 9 "
		">/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
	assert_true(region.bytes == 5 * PAGE_2M);
	assert_true(fake_pages(21)->free[1] == 3);
	fake.fail_errno[FAKE_RESIZE] = EFBIG;
	assert_int_equal(region_extend(&region, PAGE_2M, "t", &why), -EFBIG);
	assert_int_equal(fake.open, 1);
	region_release(&region);
	assert_true(fake_is_clean());
	assert_true(fake_pages(21)->free[1] == 8);
}

/* Acquires with the n-th step failing; whether so many steps were taken at all. */
static bool fails_cleanly_at(int n, int error, bool old_kernel)
{
	struct region region;
	int rc;

	fake_reset();
	fake.no_populate = old_kernel;
	fake.fail_at = n;
	fake.fail_at_errno = error;
	why.text[0] = '\0';
	rc = region_acquire(&region, &want, &why);
	if (rc < 0)
		assert_true(why.text[0] != '\0');
	else
		region_release(&region);
	assert_true(fake_is_clean());
	assert_true(fake_pages(21)->free[1] == 8);
	if (fake.steps < n)
		assert_int_equal(rc, 0);
	return fake.steps >= n;
}

static void nothing_is_held_whichever_step_fails(void **state)
{
	static const int errors[] = {EINVAL, ENOMEM, EFAULT, EACCES, EPERM, EIO, ENOSYS, EINTR};

	for (int old_kernel = 0; old_kernel < 2; old_kernel++)
		for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
			int n = 1;

			while (fails_cleanly_at(n, errors[i], old_kernel))
				n++;
			assert_true(n > 8); /* all the steps of a successful acquisition */
		}
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup(test, fresh)
	static const struct CMUnitTest tests[] = {
		ROW(pages_are_bound_before_they_are_touched_and_then_verified),
		ROW(old_kernels_touch_page_by_page),
		ROW(bytes_are_rounded_up_to_whole_pages),
		ROW(local_becomes_the_node_of_the_cpu),
		ROW(a_short_node_is_told_with_the_line_that_mends_it),
		ROW(a_short_node_on_an_old_kernel_is_told_the_same),
		ROW(a_short_host_fails_at_map_and_says_so_of_the_node),
		ROW(promised_pages_are_no_reason_to_reserve_more),
		ROW(a_kernel_that_does_not_count_pages_still_gives_a_sentence),
		ROW(missing_base_pages_are_refused_before_the_first_touch),
		ROW(a_forbidden_node_is_eperm),
		ROW(a_kernel_without_mbind_is_enotsup),
		ROW(pages_that_came_before_the_binding_are_eio),
		ROW(pages_of_another_size_are_given_back),
		ROW(pages_on_another_node_are_given_back),
		ROW(the_last_of_many_pages_is_verified_too),
		ROW(silence_of_the_kernel_is_eio),
		ROW(a_page_with_a_memory_error_is_eio),
		ROW(nodes_that_do_not_exist_are_einval),
		ROW(page_sizes_the_machine_lacks_are_einval),
		ROW(bytes_beyond_the_address_space_are_eoverflow),
		ROW(a_file_that_cannot_be_opened_passes_its_errno_on),
		ROW(a_region_grows_in_its_own_file_or_stays_as_it_was),
		ROW(nothing_is_held_whichever_step_fails),
	};
#undef ROW

	return cmocka_run_group_tests(tests, reserve, NULL);
}
