/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's own tables in arena memory: each is created with a heap's socket id, every byte it
 * allocates is looked for by address, and it has to give right answers. What may lie outside are
 * entries in DPDK's lists of objects, and a mempool's record of each piece of contiguous IOVA.
 *
 * tables_test MODE SHIFT
 */
#include "eal.h"

#include <rte_acl.h>
#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_ip.h>
#include <rte_lpm.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_member.h>
#include <rte_mempool.h>
#include <rte_ring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB          (UINT64_C(1) << 20)
#define LIST_ENTRIES 2048 /* bytes: entries in DPDK's lists, and a lock */
#define PIECE_RECORD 192  /* bytes: struct rte_mempool_memhdr and what goes before it */
#define RULES        500
#define SESSIONS     10000

static struct hpm_arena *arena;
static uint32_t shift;

/* A heap, and what DPDK had allocated before it was used. */
struct place {
	const char *tag;
	struct hpm_dpdk_heap *heap;
	struct blocks before;
	int socket;
};

static struct place open_place(const char *tag, uint64_t bytes)
{
	struct place place = {.tag = tag, .heap = heap_in(arena, tag, bytes)};

	place.socket = hpm_dpdk_heap_socket(place.heap);
	place.before = blocks_now();
	return place;
}

static void assert_landed(const struct place *place, uint64_t at_least, uint64_t outside)
{
	struct landed landed = landed_since(&place->before, arena, place->tag);

	assert_in_range(landed.inside, at_least, UINT64_MAX);
	assert_in_range(landed.outside, 0, outside);
}

/* Base pages have scattered IOVAs where those are physical: at worst a piece for each object. */
static uint64_t records(unsigned objects)
{
	return (shift == 12 ? objects : 1) * PIECE_RECORD;
}

/* After everything was freed, nothing of it is left, and the heap goes. */
static void close_place(struct place *place)
{
	struct landed landed = landed_since(&place->before, arena, place->tag);

	assert_int_equal(landed.inside, 0);
	blocks_free(&place->before);
	assert_int_equal(hpm_dpdk_heap_destroy(place->heap), 0);
}

struct tuple {
	uint8_t proto;
	uint8_t pad[3];
	uint32_t src, dst;
	uint16_t sport, dport;
};

static struct rte_acl_field_def tuple_fields[] = {
	{RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, offsetof(struct tuple, proto)},
	{RTE_ACL_FIELD_TYPE_MASK, 4, 1, 1, offsetof(struct tuple, src)},
	{RTE_ACL_FIELD_TYPE_MASK, 4, 2, 2, offsetof(struct tuple, dst)},
	{RTE_ACL_FIELD_TYPE_RANGE, 2, 3, 3, offsetof(struct tuple, sport)},
	{RTE_ACL_FIELD_TYPE_RANGE, 2, 4, 3, offsetof(struct tuple, dport)},
};
RTE_ACL_RULE_DEF(tuple_rule, 5);

/* Rule i: UDP from 10.i/8.0/24 to port 1000 + i. */
static void add_rule(struct rte_acl_ctx *acl, uint32_t i)
{
	struct tuple_rule rule = {.data = {.category_mask = 1, .priority = 1, .userdata = i + 1}};

	rule.field[0].value.u8 = 17;
	rule.field[0].mask_range.u8 = 0xff;
	rule.field[1].value.u32 = RTE_IPV4(10, 0, 0, 0) + (i << 8);
	rule.field[1].mask_range.u32 = 24;
	rule.field[3].mask_range.u16 = UINT16_MAX;
	rule.field[4].value.u16 = (uint16_t)(1000 + i);
	rule.field[4].mask_range.u16 = (uint16_t)(1000 + i);
	assert_int_equal(rte_acl_add_rules(acl, (struct rte_acl_rule *)&rule, 1), 0);
}

static uint32_t classify(const struct rte_acl_ctx *acl, uint32_t src, uint16_t dport)
{
	struct tuple t = {.proto = 17,
		.src = rte_cpu_to_be_32(src),
		.dst = 7,
		.sport = 9,
		.dport = rte_cpu_to_be_16(dport)};
	const uint8_t *data = (const uint8_t *)&t;
	uint32_t result = UINT32_MAX;

	assert_int_equal(rte_acl_classify(acl, &data, &result, 1, 1), 0);
	return result;
}

static void rte_acl_classifies_in_the_arena(void **state)
{
	struct place place = open_place("acl", 32 * MIB);
	struct rte_acl_param param = {.name = "rules",
		.socket_id = place.socket,
		.rule_size = RTE_ACL_RULE_SZ(5),
		.max_rule_num = RULES};
	struct rte_acl_config config = {.num_categories = 1, .num_fields = 5};
	struct rte_acl_ctx *acl = rte_acl_create(&param);

	assert_non_null(acl);
	assert_string_equal(hpm_run_tag(arena, acl), "acl");
	memcpy(config.defs, tuple_fields, sizeof(tuple_fields));
	for (uint32_t i = 0; i < RULES; i++)
		add_rule(acl, i);
	assert_landed(&place, RULES * RTE_ACL_RULE_SZ(5), LIST_ENTRIES);
	assert_int_equal(rte_acl_build(acl, &config), 0);
	/* the trie: at least one transition of 8 bytes a rule */
	assert_landed(&place, RULES * (RTE_ACL_RULE_SZ(5) + 8), LIST_ENTRIES);
	for (uint32_t i = 0; i < RULES; i++) {
		uint32_t src = RTE_IPV4(10, 0, 0, 77) + (i << 8);

		assert_int_equal(classify(acl, src, (uint16_t)(1000 + i)), i + 1);
		assert_int_equal(classify(acl, src, (uint16_t)(1001 + i)), 0);
	}
	rte_acl_free(acl);
	close_place(&place);
}

static void rte_hash_finds_ten_thousand_sessions_in_the_arena(void **state)
{
	struct place place = open_place("session", 4 * MIB);
	struct rte_hash_parameters param = {.name = "sessions",
		.entries = SESSIONS + SESSIONS / 2,
		.key_len = 16,
		.hash_func = rte_hash_crc,
		.socket_id = place.socket};
	struct rte_hash *hash = rte_hash_create(&param);
	uint32_t key[4] = {1, 2, 3, 0};
	void *data;

	assert_non_null(hash);
	assert_string_equal(hpm_run_tag(arena, hash), "session");
	for (uintptr_t i = 1; i <= SESSIONS; i++) {
		key[3] = (uint32_t)i * 2654435761u;
		assert_int_equal(rte_hash_add_key_data(hash, key, (void *)i), 0);
	}
	/* the keys alone */
	assert_landed(&place, SESSIONS * sizeof(key), LIST_ENTRIES);
	for (uintptr_t i = 1; i <= SESSIONS; i++) {
		key[3] = (uint32_t)i * 2654435761u;
		assert_true(rte_hash_lookup_data(hash, key, &data) >= 0);
		assert_ptr_equal(data, (void *)i);
	}
	key[0] = 2;
	assert_int_equal(rte_hash_lookup(hash, key), -ENOENT);
	rte_hash_free(hash);
	close_place(&place);
}

static void rte_lpm_routes_in_the_arena(void **state)
{
	struct place place = open_place("route", 72 * MIB);
	struct rte_lpm_config config = {.max_rules = 1000, .number_tbl8s = 256};
	struct rte_lpm *lpm = rte_lpm_create("routes", place.socket, &config);
	uint32_t hop = 0;

	assert_non_null(lpm);
	assert_string_equal(hpm_run_tag(arena, lpm), "route");
	/* 2^24 entries of 4 bytes */
	assert_landed(&place, 64 * MIB, LIST_ENTRIES);
	assert_int_equal(rte_lpm_add(lpm, RTE_IPV4(10, 0, 0, 0), 8, 1), 0);
	assert_int_equal(rte_lpm_add(lpm, RTE_IPV4(10, 1, 0, 0), 16, 2), 0);
	assert_int_equal(rte_lpm_add(lpm, RTE_IPV4(10, 1, 2, 3), 32, 3), 0);
	assert_int_equal(rte_lpm_lookup(lpm, RTE_IPV4(10, 9, 9, 9), &hop), 0);
	assert_int_equal(hop, 1);
	assert_int_equal(rte_lpm_lookup(lpm, RTE_IPV4(10, 1, 2, 4), &hop), 0);
	assert_int_equal(hop, 2);
	assert_int_equal(rte_lpm_lookup(lpm, RTE_IPV4(10, 1, 2, 3), &hop), 0);
	assert_int_equal(hop, 3);
	assert_int_equal(rte_lpm_lookup(lpm, RTE_IPV4(11, 0, 0, 0), &hop), -ENOENT);
	rte_lpm_free(lpm);
	close_place(&place);
}

static void rte_fib_routes_in_the_arena(void **state)
{
	struct place place = open_place("fib", 48 * MIB);
	struct rte_fib_conf config = {.type = RTE_FIB_DIR24_8,
		.default_nh = 9,
		.max_routes = 1000,
		.dir24_8 = {.nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = 256}};
	struct rte_fib *fib = rte_fib_create("fib", place.socket, &config);
	uint32_t ips[] = {RTE_IPV4(10, 9, 9, 9), RTE_IPV4(10, 1, 2, 3), RTE_IPV4(11, 0, 0, 0)};
	uint64_t hops[3] = {0};

	assert_non_null(fib);
	/* 2^24 entries of 2 bytes; beside them a mempool of two nodes a route */
	assert_landed(&place, 32 * MIB, LIST_ENTRIES + records(2 * 1000));
	assert_int_equal(rte_fib_add(fib, RTE_IPV4(10, 0, 0, 0), 8, 1), 0);
	assert_int_equal(rte_fib_add(fib, RTE_IPV4(10, 1, 2, 3), 32, 3), 0);
	assert_int_equal(rte_fib_lookup_bulk(fib, ips, hops, 3), 0);
	assert_int_equal(hops[0], 1);
	assert_int_equal(hops[1], 3);
	assert_int_equal(hops[2], 9);
	rte_fib_free(fib);
	close_place(&place);
}

static void rte_ring_and_mempool_hand_out_arena_memory(void **state)
{
	struct place place = open_place("queue", 4 * MIB);
	struct rte_ring *ring = rte_ring_create("queue", 1024, place.socket, 0);
	struct rte_mempool *pool = rte_mempool_create(
		"objects", 1000, 256, 0, 0, NULL, NULL, NULL, NULL, place.socket, 0);
	void *object, *same = NULL;

	assert_non_null(ring);
	assert_non_null(pool);
	assert_string_equal(hpm_run_tag(arena, ring), "queue");
	assert_landed(&place, 1024 * sizeof(void *) + 1000 * 256, LIST_ENTRIES + records(1000));
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(rte_mempool_get(pool, &object), 0);
		assert_string_equal(hpm_run_tag(arena, object), "queue");
		assert_int_equal(rte_ring_enqueue(ring, object), 0);
	}
	assert_true(rte_mempool_get(pool, &object) < 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(rte_ring_dequeue(ring, &same), 0);
		rte_mempool_put(pool, same);
	}
	assert_int_equal(rte_mempool_avail_count(pool), 1000);
	rte_mempool_free(pool);
	rte_ring_free(ring);
	close_place(&place);
}

static void rte_pktmbuf_pool_has_its_packets_in_the_arena(void **state)
{
	struct place place = open_place("mbuf", 4 * MIB);
	struct rte_mempool *pool = rte_pktmbuf_pool_create("mbuf", 511, 0, 0, 2176, place.socket);
	struct rte_mbuf *mbuf;

	assert_non_null(pool);
	assert_landed(&place, 511 * 2176, LIST_ENTRIES + records(511));
	mbuf = rte_pktmbuf_alloc(pool);
	assert_non_null(mbuf);
	assert_string_equal(hpm_run_tag(arena, mbuf->buf_addr), "mbuf");
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	close_place(&place);
}

static void rte_member_remembers_in_the_arena(void **state)
{
	struct place place = open_place("member", 4 * MIB);
	struct rte_member_parameters param = {.name = "member",
		.type = RTE_MEMBER_TYPE_HT,
		.num_keys = 4096,
		.key_len = 4,
		.prim_hash_seed = 1,
		.sec_hash_seed = 2,
		.socket_id = place.socket};
	struct rte_member_setsum *sum = rte_member_create(&param);
	member_set_t set;

	assert_non_null(sum);
	/* a signature and a set of 2 bytes each */
	assert_landed(&place, 4096 * 4, LIST_ENTRIES);
	for (uint32_t key = 0; key < 1000; key++)
		assert_true(rte_member_add(sum, &key, (member_set_t)(1 + key % 7)) >= 0);
	for (uint32_t key = 0; key < 1000; key++) {
		assert_int_equal(rte_member_lookup(sum, &key, &set), 1);
		assert_in_range(set, 1, 7);
	}
	rte_member_free(sum);
	close_place(&place);
}

static void heaps_of_two_tags_share_one_page_where_pages_are_large(void **state)
{
	struct place a = open_place("acl", 4 * MIB), b = open_place("session", 4 * MIB);
	char *x = rte_malloc_socket(NULL, MIB, 0, a.socket);
	char *y = rte_malloc_socket(NULL, MIB, 0, b.socket);

	assert_non_null(x);
	assert_non_null(y);
	assert_string_equal(hpm_run_tag(arena, x), "acl");
	assert_string_equal(hpm_run_tag(arena, y), "session");
	assert_int_not_equal(a.socket, b.socket);
	if (shift == 30)
		assert_int_equal((uintptr_t)x >> 30, (uintptr_t)y >> 30);
	else
		assert_int_not_equal((uintptr_t)x >> shift, (uintptr_t)y >> shift);
	rte_free(x);
	rte_free(y);
	close_place(&b);
	close_place(&a);
}

static void an_object_spans_units_and_pages(void **state)
{
	struct place place = open_place("large", 16 * MIB);
	unsigned char *large = rte_zmalloc_socket(NULL, 16 * MIB - 4096, 0, place.socket);

	assert_non_null(large);
	assert_landed(&place, 16 * MIB - 4096, 0);
	for (uint64_t i = 0; i < 16 * MIB - 4096; i += 512)
		assert_int_equal(large[i], 0);
	memset(large, 0xa5, 16 * MIB - 4096);
	rte_free(large);
	close_place(&place);
}

/* Every test gave its heap back. */
static int nothing_is_lent(void **state)
{
	return info_of(arena).used_bytes == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(rte_acl_classifies_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(
			rte_hash_finds_ten_thousand_sessions_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(rte_lpm_routes_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(rte_fib_routes_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(
			rte_ring_and_mempool_hand_out_arena_memory, nothing_is_lent),
		cmocka_unit_test_teardown(
			rte_pktmbuf_pool_has_its_packets_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(rte_member_remembers_in_the_arena, nothing_is_lent),
		cmocka_unit_test_teardown(
			heaps_of_two_tags_share_one_page_where_pages_are_large, nothing_is_lent),
		cmocka_unit_test_teardown(an_object_spans_units_and_pages, nothing_is_lent),
	};
	int failed;

	if (argc != 3)
		return EXIT_FAILURE;
	shift = (uint32_t)strtoul(argv[2], NULL, 10);
	eal_start(argv[1]);
	arena = arena_of(shift, 80 * MIB);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hpm_arena_destroy(arena);
	rte_eal_cleanup();
	return failed;
}
