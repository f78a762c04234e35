/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk over DPDK's blocks against DPDK's own counts, which come from another place in it.
 *
 * elements_test MODE SHIFT
 */
#include "eal.h"

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static struct hpm_arena *arena;
static struct hpm_dpdk_heap *heap;
static int socket_id;

struct tally {
	uint64_t blocks, bytes;
};

/* Sums up one heap: of EAL's those of the first node, of external ones all. */
static struct tally tally_of(const struct blocks *blocks, int external)
{
	struct tally tally = {0, 0};

	for (size_t i = 0; i < blocks->n; i++) {
		const struct hpm_dpdk_element *block = &blocks->at[i];

		if (block->external != external || (!external && block->heap != 0))
			continue;
		tally.blocks++;
		tally.bytes += block->bytes;
	}
	return tally;
}

static void assert_counts_agree(void)
{
	struct rte_malloc_socket_stats eal, ours;
	struct blocks blocks = blocks_now();
	struct tally in_eal = tally_of(&blocks, 0), in_ours = tally_of(&blocks, 1);

	assert_int_equal(rte_malloc_get_socket_stats(rte_socket_id_by_idx(0), &eal), 0);
	assert_int_equal(rte_malloc_get_socket_stats(socket_id, &ours), 0);
	assert_int_equal(in_eal.blocks, eal.alloc_count);
	assert_int_equal(in_eal.bytes, eal.heap_allocsz_bytes);
	assert_int_equal(in_ours.blocks, ours.alloc_count);
	assert_int_equal(in_ours.bytes, ours.heap_allocsz_bytes);
	assert_in_range(in_eal.blocks, 1, UINT32_MAX);
	blocks_free(&blocks);
}

static void an_empty_heap_has_no_blocks(void **state)
{
	struct blocks blocks = blocks_now();

	assert_int_equal(tally_of(&blocks, 1).blocks, 0);
	blocks_free(&blocks);
	assert_counts_agree();
}

static void counts_and_bytes_are_those_of_dpdk(void **state)
{
	void *objects[64];

	for (size_t i = 0; i < 64; i++) {
		/* alignments that leave padding before the object, and gaps to be filled */
		objects[i] = rte_malloc_socket(NULL, 1 + 97 * i, 64u << (i % 7), socket_id);
		assert_non_null(objects[i]);
	}
	assert_counts_agree();
	for (size_t i = 0; i < 64; i += 2)
		rte_free(objects[i]);
	assert_counts_agree();
	for (size_t i = 0; i < 64; i += 2)
		objects[i] = rte_malloc_socket(NULL, 64, 4096, socket_id);
	assert_counts_agree();
	for (size_t i = 0; i < 64; i++)
		rte_free(objects[i]);
	assert_counts_agree();
}

/* Each block holds the object that was allocated. */
static void a_block_encloses_its_object(void **state)
{
	static const unsigned aligns[] = {0, 64, 128, 256, 512, 4096};

	for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++) {
		struct blocks before = blocks_now(), now;
		char *object = rte_malloc_socket(NULL, 777, aligns[i], socket_id);
		struct landed landed = landed_since(&before, arena, "acl");
		size_t holders = 0;

		assert_non_null(object);
		now = blocks_now();
		assert_int_equal(now.n, before.n + 1);
		assert_in_range(landed.inside, 777, UINT64_MAX);
		assert_int_equal(landed.outside, 0);
		for (size_t j = 0; j < now.n; j++) {
			const char *start = now.at[j].addr;

			if (object > start && object + 777 <= start + now.at[j].bytes)
				holders++;
		}
		assert_int_equal(holders, 1);
		rte_free(object);
		blocks_free(&before);
		blocks_free(&now);
	}
}

struct order {
	const char *last;
	unsigned heap;
	int external;
};

static int check_order(void *arg, const struct hpm_dpdk_element *element)
{
	struct order *order = arg;

	assert_true(element->heap >= order->heap);
	assert_true(element->external >= order->external);
	if (element->heap == order->heap)
		assert_true((const char *)element->addr >= order->last);
	order->heap = element->heap;
	order->external = element->external;
	order->last = (const char *)element->addr + element->bytes;
	return 0;
}

static void blocks_come_in_address_order_and_do_not_overlap(void **state)
{
	void *objects[16];
	struct order order = {0};

	for (size_t i = 0; i < 16; i++)
		objects[i] = rte_malloc_socket(NULL, 100, 0, socket_id);
	assert_int_equal(hpm_dpdk_elements_walk(check_order, &order), 0);
	assert_int_equal(order.external, 1);
	for (size_t i = 0; i < 16; i++)
		rte_free(objects[i]);
}

static int third_is_enough(void *arg, const struct hpm_dpdk_element *element)
{
	int *calls = arg;

	return ++*calls == 3 ? -77 : 0;
}

static void the_callback_ends_the_walk(void **state)
{
	void *object = rte_malloc_socket(NULL, 100, 0, socket_id);
	int calls = 0;

	assert_int_equal(hpm_dpdk_elements_walk(third_is_enough, &calls), -77);
	assert_int_equal(calls, 3);
	rte_free(object);
}

static void a_hundred_thousand_blocks_are_walked(void **state)
{
	struct tally tally = {0, 0};
	struct blocks blocks;
	void **objects = calloc(100000, sizeof(*objects));

	assert_non_null(objects);
	for (size_t i = 0; i < 100000; i++) {
		objects[i] = rte_malloc_socket(NULL, 64, 0, socket_id);
		assert_non_null(objects[i]);
	}
	blocks = blocks_now();
	tally = tally_of(&blocks, 1);
	assert_int_equal(tally.blocks, 100000);
	assert_counts_agree();
	blocks_free(&blocks);
	for (size_t i = 0; i < 100000; i++)
		rte_free(objects[i]);
	free(objects);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_heap_has_no_blocks),
		cmocka_unit_test(counts_and_bytes_are_those_of_dpdk),
		cmocka_unit_test(a_block_encloses_its_object),
		cmocka_unit_test(blocks_come_in_address_order_and_do_not_overlap),
		cmocka_unit_test(the_callback_ends_the_walk),
		cmocka_unit_test(a_hundred_thousand_blocks_are_walked),
	};
	int failed;

	if (argc != 3)
		return EXIT_FAILURE;
	eal_start(argv[1]);
	arena = arena_of((uint32_t)strtoul(argv[2], NULL, 10), 32 * MIB);
	heap = heap_in(arena, "acl", 32 * MIB);
	socket_id = hpm_dpdk_heap_socket(heap);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (hpm_dpdk_heap_destroy(heap) != 0)
		failed++;
	hpm_arena_destroy(arena);
	rte_eal_cleanup();
	return failed;
}
