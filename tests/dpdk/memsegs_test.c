/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What DPDK and its drivers are told about a heap's memory: the real node and the real IOVA. The
 * physical address is read here from the kernel's page map, without DPDK.
 *
 * memsegs_test MODE SHIFT
 */
#include "eal.h"

#include "../integration/need.h"

#include <fcntl.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_memzone.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB      (UINT64_C(1) << 20)
#define BASE     UINT64_C(4096)
#define PRESENT  (UINT64_C(1) << 63)
#define PFN_MASK ((UINT64_C(1) << 55) - 1)

static struct hpm_arena *arena;
static uint64_t unit;
static struct hpm_dpdk_heap *heap;
static char *first; /* the first unit of the heap */
static unsigned units;

/* The physical address by Documentation/admin-guide/mm/pagemap.rst; 0 when the kernel hides it. */
static uint64_t physical(const void *addr)
{
	uint64_t at = (uintptr_t)addr, entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &entry, sizeof(entry), (off_t)(at / BASE * sizeof(entry))),
		sizeof(entry));
	close(fd);
	assert_true((entry & PRESENT) != 0);
	return (entry & PFN_MASK) == 0 ? 0 : (entry & PFN_MASK) * BASE + at % BASE;
}

static uint64_t expected_iova(const void *addr)
{
	return rte_eal_iova_mode() == RTE_IOVA_PA ? physical(addr) : (uintptr_t)addr;
}

static void every_memseg_carries_the_node_of_the_arena(void **state)
{
	struct rte_memseg_list *list = rte_mem_virt2memseg_list(first);
	int node = info_of(arena).node;

	assert_non_null(list);
	assert_int_equal(list->socket_id, node);
	assert_int_equal(list->external, 1);
	assert_int_equal(list->page_sz, unit);
	for (unsigned i = 0; i < units; i++) {
		const struct rte_memseg *segment = rte_mem_virt2memseg(first + i * unit, NULL);

		assert_non_null(segment);
		assert_ptr_equal(segment->addr, first + i * unit);
		assert_int_equal(segment->len, unit);
		assert_int_equal(segment->socket_id, node);
	}
}

static void every_unit_has_its_iova(void **state)
{
	for (unsigned i = 0; i < units; i++) {
		char *inside = first + i * unit + unit / 2 + 64;

		assert_int_equal(rte_mem_virt2memseg(first + i * unit, NULL)->iova,
			expected_iova(first + i * unit));
		assert_int_equal(rte_mem_virt2iova(inside), expected_iova(inside));
	}
}

static void an_object_has_the_iova_of_its_memory(void **state)
{
	char *object = rte_malloc_socket(NULL, 100, 0, hpm_dpdk_heap_socket(heap));

	assert_non_null(object);
	assert_int_equal(rte_malloc_virt2iova(object), expected_iova(object));
	rte_free(object);
}

/* Drivers index arrays of nodes with it. */
static void a_memzone_tells_the_node_and_not_the_heap(void **state)
{
	const struct rte_memzone *zone =
		rte_memzone_reserve("rings", 4096, hpm_dpdk_heap_socket(heap), 0);

	assert_non_null(zone);
	assert_string_equal(hpm_run_tag(arena, zone->addr), "acl");
	assert_int_equal(zone->socket_id, info_of(arena).node);
	assert_int_equal(zone->iova, expected_iova(zone->addr));
	assert_int_equal(rte_memzone_free(zone), 0);
}

static void iova_contiguous_blocks_are_contiguous(void **state)
{
	const struct rte_memzone *zone = rte_memzone_reserve(
		"ring", unit / 2, hpm_dpdk_heap_socket(heap), RTE_MEMZONE_IOVA_CONTIG);

	assert_non_null(zone);
	for (uint64_t at = 0; at < zone->len; at += 1024)
		assert_int_equal(zone->iova + at, expected_iova((char *)zone->addr + at));
	assert_int_equal(rte_memzone_free(zone), 0);
}

/* The one run there is begins at the heap's first unit. */
static void find_units(void)
{
	struct hpm_arena_info info = info_of(arena);

	unit = UINT64_C(1) << (info.page_shift < 21 ? info.page_shift : 21);
	first = info.base;
	while (hpm_run_tag(arena, first) == NULL)
		first += BASE;
	units = (unsigned)(info.used_bytes / unit);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_memseg_carries_the_node_of_the_arena),
		cmocka_unit_test(every_unit_has_its_iova),
		cmocka_unit_test(an_object_has_the_iova_of_its_memory),
		cmocka_unit_test(a_memzone_tells_the_node_and_not_the_heap),
		cmocka_unit_test(iova_contiguous_blocks_are_contiguous),
	};
	int failed;

	if (argc != 3)
		return EXIT_FAILURE;
	eal_start(argv[1]);
	arena = arena_of((uint32_t)strtoul(argv[2], NULL, 10), 16 * MIB);
	heap = heap_in(arena, "acl", 8 * MIB);
	find_units();
	if (rte_eal_iova_mode() == RTE_IOVA_PA && physical(first) == 0) {
		fprintf(stderr, "skipped: the kernel hides physical addresses\n");
		exit(SKIP_STATUS);
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (hpm_dpdk_heap_destroy(heap) != 0)
		failed++;
	hpm_arena_destroy(arena);
	rte_eal_cleanup();
	return failed;
}
