/* SPDX-License-Identifier: BSD-3-Clause */
/* A process in which EAL is not up: never started, and started in vain. */
#include "eal.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_lcore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct hpm_arena *arena;

static void assert_refused(void)
{
	struct hpm_dpdk_heap_opts opts = HPM_DPDK_HEAP_OPTS_INIT;
	struct hpm_dpdk_heap *heap = NULL;
	struct hpm_reason reason;

	opts.arena = arena;
	opts.tag = "acl";
	opts.bytes = 4096;
	opts.reason = &reason;
	assert_int_equal(hpm_dpdk_heap_create(&heap, &opts), -EINVAL);
	assert_null(heap);
	assert_non_null(strstr(reason.text, "rte_eal_init()"));
	assert_int_equal(info_of(arena).used_bytes, 0);
}

static int no_block(void *arg, const struct hpm_dpdk_element *element)
{
	return -1;
}

static void before_eal_is_started_a_heap_is_refused(void **state)
{
	assert_refused();
}

static void before_eal_is_started_there_are_no_blocks(void **state)
{
	assert_int_equal(hpm_dpdk_elements_walk(no_block, NULL), 0);
}

/* DPDK has counted its cores by then. */
static void after_eal_failed_a_heap_is_refused(void **state)
{
	char program[] = "test", option[] = "--no-such-option";
	char *args[] = {program, option, NULL};

	assert_true(rte_eal_init(2, args) < 0);
	assert_in_range(rte_lcore_count(), 1, RTE_MAX_LCORE);
	assert_refused();
	assert_int_equal(hpm_dpdk_elements_walk(no_block, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_eal_is_started_a_heap_is_refused),
		cmocka_unit_test(before_eal_is_started_there_are_no_blocks),
		cmocka_unit_test(after_eal_failed_a_heap_is_refused),
	};
	int failed;

	arena = arena_of(12, 1 << 20);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hpm_arena_destroy(arena);
	return failed;
}
