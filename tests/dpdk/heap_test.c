/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of heaps: what is refused and why, that a refusal changes nothing, and that all is given
 * back. Every test ends with an arena that has lent out nothing.
 *
 * heap_test MODE SHIFT
 */
#include "eal.h"

#include <errno.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static struct hpm_arena *arena;
static uint32_t shift;
static bool eal_grows; /* EAL takes pages on demand */

/* What a heap that must not come up is refused with; the reason is the caller's. */
static int refusal(const struct hpm_dpdk_heap_opts *opts)
{
	struct hpm_dpdk_heap *untouched = (void *)&arena, *heap = untouched;
	uint64_t used = info_of(arena).used_bytes;
	int rc = hpm_dpdk_heap_create(&heap, opts);

	assert_ptr_equal(heap, untouched);
	assert_int_equal(info_of(arena).used_bytes, used);
	return rc;
}

static int refusal_of(const char *tag, uint64_t bytes, struct hpm_reason *reason)
{
	struct hpm_dpdk_heap_opts opts = HPM_DPDK_HEAP_OPTS_INIT;

	opts.arena = arena;
	opts.tag = tag;
	opts.bytes = bytes;
	opts.reason = reason;
	return refusal(&opts);
}

static void assert_says(const struct hpm_reason *reason, const char *words)
{
	if (strstr(reason->text, words) == NULL)
		fail_msg("'%s' does not say '%s'", reason->text, words);
}

static void bad_options_are_refused(void **state)
{
	struct hpm_dpdk_heap_opts opts = HPM_DPDK_HEAP_OPTS_INIT;
	struct hpm_reason reason;

	assert_int_equal(refusal(NULL), -EINVAL);
	assert_int_equal(refusal_of("acl", 0, &reason), -EINVAL);
	assert_says(&reason, "0 bytes");
	assert_int_equal(refusal_of(NULL, MIB, &reason), -EINVAL);
	assert_says(&reason, "a tag");
	assert_int_equal(refusal_of("", MIB, &reason), -EINVAL);
	assert_int_equal(refusal_of("Upper Case", MIB, &reason), -EINVAL);
	assert_says(&reason, "Upper Case");
	assert_int_equal(refusal_of("longer-than-the-31-bytes-of-a-tag", MIB, &reason), -EINVAL);
	assert_int_equal(refusal_of("acl", 0, NULL), -EINVAL);
	opts.tag = "acl";
	opts.bytes = MIB;
	assert_int_equal(refusal(&opts), -EINVAL); /* no arena */
	opts.arena = arena;
	opts.size--;
	assert_int_equal(refusal(&opts), -EINVAL);
}

static void options_of_a_newer_caller_are_taken_when_zero_and_refused_when_not(void **state)
{
	struct {
		struct hpm_dpdk_heap_opts opts;
		uint64_t later;
	} newer = {.opts = HPM_DPDK_HEAP_OPTS_INIT, .later = 0};
	struct hpm_dpdk_heap *heap;

	newer.opts.size = sizeof(newer);
	newer.opts.arena = arena;
	newer.opts.tag = "acl";
	newer.opts.bytes = MIB;
	assert_int_equal(hpm_dpdk_heap_create(&heap, &newer.opts), 0);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
	newer.later = 1;
	assert_int_equal(refusal(&newer.opts), -E2BIG);
}

static void sizes_beyond_the_arena_and_beyond_addresses_are_refused(void **state)
{
	struct hpm_reason reason;

	assert_int_equal(refusal_of("acl", info_of(arena).bytes + 1, &reason), -ENOMEM);
	assert_says(&reason, "longest has");
	assert_int_equal(refusal_of("acl", UINT64_MAX, &reason), -EOVERFLOW);
	assert_int_equal(refusal_of("acl", UINT64_C(1) << 62, &reason), -EOVERFLOW);
	assert_int_equal(refusal_of("acl", UINT64_C(1) << 63, NULL), -EOVERFLOW);
}

static void destroying_no_heap_is_nothing(void **state)
{
	assert_int_equal(hpm_dpdk_heap_destroy(NULL), 0);
}

static void a_heap_takes_whole_units_and_gives_them_back(void **state)
{
	uint64_t unit = shift < 21 ? UINT64_C(1) << shift : 2 * MIB;
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", unit + 1);
	struct rte_malloc_socket_stats stats;
	int socket = hpm_dpdk_heap_socket(heap);

	assert_int_equal(info_of(arena).used_bytes, 2 * unit);
	assert_int_equal(rte_malloc_get_socket_stats(socket, &stats), 0);
	assert_int_equal(stats.heap_totalsz_bytes, 2 * unit);
	assert_int_equal(rte_malloc_heap_socket_is_external(socket), 1);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
	assert_int_equal(info_of(arena).used_bytes, 0);
	assert_int_equal(rte_malloc_get_socket_stats(socket, &stats), -1);
}

static void a_heap_in_use_stays_and_stays_usable(void **state)
{
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", 4 * MIB);
	int socket = hpm_dpdk_heap_socket(heap);
	uint64_t used = info_of(arena).used_bytes;
	char *object = rte_malloc_socket(NULL, 1000, 0, socket), *other;

	assert_non_null(object);
	memset(object, 7, 1000);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), -EBUSY);
	assert_int_equal(info_of(arena).used_bytes, used);
	assert_int_equal(hpm_dpdk_heap_socket(heap), socket);
	other = rte_malloc_socket(NULL, MIB, 0, socket);
	assert_non_null(other);
	assert_string_equal(hpm_run_tag(arena, other), "acl");
	assert_int_equal(object[999], 7);
	rte_free(other);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), -EBUSY);
	rte_free(object);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
}

static void a_full_heap_answers_null_and_harms_nobody(void **state)
{
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", 2 * MIB);
	struct hpm_dpdk_heap *next = heap_in(arena, "session", 2 * MIB);
	int socket = hpm_dpdk_heap_socket(heap);
	struct rte_hash_parameters too_large = {
		.name = "large", .entries = 1 << 20, .key_len = 16, .socket_id = socket};
	char *object = rte_malloc_socket(NULL, MIB, 0, socket);

	assert_non_null(object);
	memset(object, 7, MIB);
	assert_null(rte_malloc_socket(NULL, 2 * MIB, 0, socket));
	assert_null(rte_hash_create(&too_large));
	assert_null(rte_hash_find_existing("large"));
	assert_int_equal(object[MIB - 1], 7);
	rte_free(object);
	object = rte_malloc_socket(NULL, MIB, 0, hpm_dpdk_heap_socket(next));
	assert_non_null(object);
	rte_free(object);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
	assert_int_equal(hpm_dpdk_heap_destroy(next), 0);
}

static void one_tag_has_one_heap_on_a_node(void **state)
{
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", MIB);
	struct hpm_reason reason;

	assert_int_equal(refusal_of("acl", MIB, &reason), -EEXIST);
	assert_says(&reason, "'acl'");
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
	heap = heap_in(arena, "acl", MIB);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
}

/* DPDK looks for a heap of the same name only up to the first gap. */
static void one_tag_has_one_heap_also_behind_a_gap(void **state)
{
	struct hpm_dpdk_heap *gap = heap_in(arena, "gap", MIB);
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", MIB);

	assert_int_equal(hpm_dpdk_heap_destroy(gap), 0);
	assert_int_equal(refusal_of("acl", MIB, NULL), -EEXIST);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
}

static void long_tags_that_differ_at_the_end_have_heaps_of_their_own(void **state)
{
	struct hpm_dpdk_heap *a = heap_in(arena, "a-table-with-a-very-long-name.1", MIB);
	struct hpm_dpdk_heap *b = heap_in(arena, "a-table-with-a-very-long-name.2", MIB);

	assert_int_not_equal(hpm_dpdk_heap_socket(a), hpm_dpdk_heap_socket(b));
	assert_int_equal(refusal_of("a-table-with-a-very-long-name.1", MIB, NULL), -EEXIST);
	assert_int_equal(hpm_dpdk_heap_destroy(a), 0);
	assert_int_equal(hpm_dpdk_heap_destroy(b), 0);
}

static void a_heap_too_many_is_refused_by_the_limit_it_hit(void **state)
{
	struct hpm_dpdk_heap *heaps[RTE_MAX_HEAPS];
	unsigned n = RTE_MAX_HEAPS - rte_socket_count();
	struct hpm_reason reason;
	char tag[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(tag, sizeof(tag), "heap.%u", i);
		heaps[i] = heap_in(arena, tag, 4096);
	}
	assert_int_equal(refusal_of("one-too-many", 4096, &reason), -ENOSPC);
	assert_says(&reason, "32 heaps");
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(hpm_dpdk_heap_destroy(heaps[i]), 0);
}

static void without_a_memseg_list_left_nothing_stays_behind(void **state)
{
	char *pages = mmap(NULL, RTE_MAX_MEMSEG_LISTS * UINT64_C(4096), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct hpm_dpdk_heap *heap;
	struct hpm_reason reason;
	int taken = 0;

	assert_ptr_not_equal(pages, MAP_FAILED);
	while (rte_extmem_register(pages + taken * 4096, 4096, NULL, 0, 4096) == 0)
		taken++;
	assert_int_equal(rte_errno, ENOSPC);
	assert_in_range(taken, 1, RTE_MAX_MEMSEG_LISTS);
	assert_int_equal(refusal_of("acl", MIB, &reason), -ENOSPC);
	assert_says(&reason, "128 memseg lists");
	while (taken-- > 0)
		assert_int_equal(rte_extmem_unregister(pages + taken * 4096, 4096), 0);
	munmap(pages, RTE_MAX_MEMSEG_LISTS * UINT64_C(4096));
	heap = heap_in(arena, "acl", MIB);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
}

static void a_heap_that_was_given_more_memory_stays_whole(void **state)
{
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", MIB);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rte_iova_t iova = RTE_BAD_IOVA;
	void *object;

	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(rte_malloc_heap_memory_add("hpm-acl-0", page, 4096, &iova, 1, 4096), 0);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), -EBUSY);
	object = rte_malloc_socket(NULL, MIB / 2, 0, hpm_dpdk_heap_socket(heap));
	assert_non_null(object);
	assert_string_equal(hpm_run_tag(arena, object), "acl");
	rte_free(object);
	assert_int_equal(rte_malloc_heap_memory_remove("hpm-acl-0", page, 4096), 0);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
	munmap(page, 4096);
}

/* Our lists carry the node of EAL's own: EAL must not try to take memory from them. */
static void eal_still_grows_on_the_node_of_a_heap(void **state)
{
	struct hpm_dpdk_heap *heap = heap_in(arena, "acl", MIB);
	void *object;

	object = rte_malloc_socket(NULL, eal_grows ? 20 * MIB : MIB, 0, 0);
	assert_non_null(object);
	assert_null(hpm_run_tag(arena, object));
	rte_free(object);
	assert_int_equal(hpm_dpdk_heap_destroy(heap), 0);
}

static int nothing_is_lent(void **state)
{
	return info_of(arena).used_bytes == 0 ? 0 : -1;
}

#define checked(test) cmocka_unit_test_teardown(test, nothing_is_lent)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		checked(bad_options_are_refused),
		checked(options_of_a_newer_caller_are_taken_when_zero_and_refused_when_not),
		checked(sizes_beyond_the_arena_and_beyond_addresses_are_refused),
		checked(destroying_no_heap_is_nothing),
		checked(a_heap_takes_whole_units_and_gives_them_back),
		checked(a_heap_in_use_stays_and_stays_usable),
		checked(a_full_heap_answers_null_and_harms_nobody),
		checked(one_tag_has_one_heap_on_a_node),
		checked(one_tag_has_one_heap_also_behind_a_gap),
		checked(long_tags_that_differ_at_the_end_have_heaps_of_their_own),
		checked(a_heap_too_many_is_refused_by_the_limit_it_hit),
		checked(without_a_memseg_list_left_nothing_stays_behind),
		checked(a_heap_that_was_given_more_memory_stays_whole),
		checked(eal_still_grows_on_the_node_of_a_heap),
	};
	int failed;

	if (argc != 3)
		return EXIT_FAILURE;
	shift = (uint32_t)strtoul(argv[2], NULL, 10);
	eal_grows = strncmp(argv[1], "in-memory", 9) == 0;
	eal_start(argv[1]);
	arena = arena_of(shift, 64 * MIB);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hpm_arena_destroy(arena);
	rte_eal_cleanup();
	return failed;
}
