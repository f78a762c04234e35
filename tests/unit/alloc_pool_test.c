/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools: what they refuse, the order they give in, and that nothing wrong goes back in. On an arena
 * of fake pages. */
#include "fake_backend.h"

#include "base/units.h"

#include <hpm/pool.h>
#include <hpm/run.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hpm_arena *arena; /* 64 pages of 16 KiB */
static struct hpm_reason why;
static struct hpm_pool_opts opts;

static int begin(void **state)
{
	arena = fake_arena(64, 14);
	opts = (struct hpm_pool_opts)HPM_POOL_OPTS_INIT;
	opts.arena = arena;
	opts.tag = "session";
	opts.count = 1000;
	opts.object_bytes = 128;
	opts.reason = &why;
	return 0;
}

static uint64_t used(void)
{
	return fake_arena_used(arena);
}

static int finish(void **state)
{
	return fake_arena_end(arena);
}

static struct hpm_pool *create(void)
{
	struct hpm_pool *pool = NULL;

	assert_int_equal(hpm_pool_create(&pool, &opts), 0);
	assert_non_null(pool);
	assert_string_equal(why.text, "");
	return pool;
}

static struct hpm_pool_info info_of(const struct hpm_pool *pool)
{
	struct hpm_pool_info info = {.size = sizeof(info)};

	assert_int_equal(hpm_pool_info_read(pool, &info), 0);
	return info;
}

static void expect_refusal(int rc)
{
	struct hpm_pool *pool = NULL;

	strcpy(why.text, "");
	assert_int_equal(hpm_pool_create(&pool, &opts), rc);
	assert_null(pool);
	assert_true(why.text[0] != '\0');
	assert_true(used() == 0);
}

static void counts_out_of_range_are_einval(void **state)
{
	opts.count = 0;
	expect_refusal(-EINVAL);
	assert_string_equal(why.text, "a pool has 1 to 4294967295 objects, not 0");
	opts.count = UINT64_C(1) << 32;
	expect_refusal(-EINVAL);
	assert_string_equal(why.text, "a pool has 1 to 4294967295 objects, not 4294967296");
	opts.count = UINT64_MAX;
	expect_refusal(-EINVAL);
}

static void the_largest_count_is_only_too_large_for_this_arena(void **state)
{
	opts.count = UINT32_MAX;
	expect_refusal(-ENOMEM);
	assert_string_equal(why.text,
		"arena 'fake': no gap of 545392680 bytes for 'hpm-meta', the longest has 1048576; "
		"create it larger");
}

static void object_sizes_are_checked_before_memory_is_taken(void **state)
{
	opts.object_bytes = 0;
	expect_refusal(-EINVAL);
	opts.count = 1;
	opts.object_bytes = UINT64_C(1) << 63;
	expect_refusal(-EOVERFLOW);
	opts.object_bytes = UINT64_MAX;
	expect_refusal(-EOVERFLOW);
	opts.count = UINT32_MAX;
	opts.object_bytes = UINT64_C(1) << 32; /* the product is just below 2^64 */
	expect_refusal(-EOVERFLOW);
	opts.object_bytes = (UINT64_C(1) << 32) + 8; /* and here beyond it */
	expect_refusal(-EOVERFLOW);
}

static void alignments_are_powers_of_two_from_8_to_4096(void **state)
{
	static const uint32_t bad[] = {0, 1, 4, 12, 24, 4095, 8192, UINT32_MAX, 1U << 31};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		opts.align = bad[i];
		expect_refusal(-EINVAL);
	}
}

static void tags_and_arena_are_checked(void **state)
{
	static const char *const bad[] = {
		NULL, "", "Session", "a b", "exactly-thirty-two-bytes-long-xx"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		opts.tag = bad[i];
		expect_refusal(-EINVAL);
	}
	opts.tag = "session";
	opts.arena = NULL;
	expect_refusal(-EINVAL);
}

static void opts_of_another_release_are_told_apart(void **state)
{
	struct {
		struct hpm_pool_opts opts;
		uint64_t unknown;
	} newer = {opts, 0};
	struct hpm_pool *pool = NULL;

	assert_int_equal(hpm_pool_create(&pool, NULL), -EINVAL);
	newer.opts.size = sizeof(newer);
	newer.unknown = 1;
	assert_int_equal(hpm_pool_create(&pool, &newer.opts), -E2BIG);
	newer.unknown = 0;
	assert_int_equal(hpm_pool_create(&pool, &newer.opts), 0);
	hpm_pool_destroy(pool);
	opts.size = 56; /* as first published, before lanes */
	assert_int_equal(hpm_pool_create(&pool, &opts), 0);
	hpm_pool_destroy(pool);
	opts.size -= 8;
	assert_int_equal(hpm_pool_create(&pool, &opts), -EINVAL);
}

static void objects_that_do_not_fit_give_the_bitmap_back(void **state)
{
	opts.count = 9000; /* 1.1 MiB of 1 MiB; the bitmap alone fits */
	expect_refusal(-ENOMEM);
	/* the bitmap has a unit of the first page, and objects start on the second */
	assert_string_equal(why.text,
		"arena 'fake': no gap of 1152000 bytes for 'session', the longest has 1044480; "
		"create it larger");
}

static void a_reason_is_not_needed(void **state)
{
	struct hpm_pool *pool = NULL;

	opts.reason = NULL;
	opts.count = 0;
	assert_int_equal(hpm_pool_create(&pool, &opts), -EINVAL);
	opts.count = 9000;
	assert_int_equal(hpm_pool_create(&pool, &opts), -ENOMEM);
	hpm_pool_destroy(NULL);
}

static void strides_are_sizes_rounded_up_to_the_alignment(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t align;
		uint64_t stride;
	} rows[] = {{1, 8, 8}, {8, 8, 8}, {9, 8, 16}, {72, 8, 72}, {100, 64, 128}, {200, 8, 200},
		{128, 4096, 4096}, {4097, 4096, 8192}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hpm_pool_info info;
		struct hpm_pool *pool;
		char *first, *second;

		opts.count = 3;
		opts.object_bytes = rows[i].bytes;
		opts.align = rows[i].align;
		pool = create();
		info = info_of(pool);
		assert_true(info.stride_bytes == rows[i].stride);
		assert_true(info.object_bytes == rows[i].bytes);
		first = hpm_pool_get(pool);
		second = hpm_pool_get(pool);
		assert_ptr_equal(first, info.base);
		assert_true(second - first == (ptrdiff_t)rows[i].stride);
		assert_int_equal((uintptr_t)first % rows[i].align, 0);
		hpm_pool_destroy(pool);
	}
}

static void a_pool_of_one_gives_one(void **state)
{
	struct hpm_pool *pool;
	void *object;

	opts.count = 1;
	opts.object_bytes = 1;
	pool = create();
	object = hpm_pool_get(pool);
	assert_non_null(object);
	assert_null(hpm_pool_get(pool));
	assert_int_equal(hpm_pool_put(pool, object), 0);
	assert_ptr_equal(hpm_pool_get(pool), object);
	hpm_pool_destroy(pool);
}

static void the_lowest_free_object_comes_first_and_all_are_zero(void **state)
{
	static const char zero[128];
	struct hpm_pool *pool = create();
	char *base = info_of(pool).base;

	for (uint32_t i = 0; i < 1000; i++) {
		char *object = hpm_pool_get(pool);

		assert_ptr_equal(object, base + i * 128);
		assert_memory_equal(object, zero, 128);
		memset(object, 0xff, 128);
	}
	assert_null(hpm_pool_get(pool));
	assert_int_equal(hpm_pool_put(pool, base + 128 * 700), 0);
	assert_int_equal(hpm_pool_put(pool, base + 128 * 3), 0);
	assert_int_equal(hpm_pool_put(pool, base + 128 * 90), 0);
	assert_int_equal(info_of(pool).live, 997);
	assert_ptr_equal(hpm_pool_get(pool), base + 128 * 3);
	assert_ptr_equal(hpm_pool_get(pool), base + 128 * 90);
	assert_ptr_equal(hpm_pool_get(pool), base + 128 * 700);
	hpm_pool_destroy(pool);
}

static void what_is_no_object_cannot_be_put(void **state)
{
	static const uint64_t sizes[] = {8, 72, 128, 200, 4096};
	int local;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct hpm_pool *pool;
		char *base;

		opts.count = 100;
		opts.object_bytes = sizes[i];
		pool = create();
		base = info_of(pool).base;
		for (int n = 0; n < 100; n++)
			assert_non_null(hpm_pool_get(pool));
		assert_int_equal(hpm_pool_put(pool, NULL), -EINVAL);
		assert_int_equal(hpm_pool_put(pool, &local), -EINVAL);
		assert_int_equal(hpm_pool_put(pool, base - sizes[i]), -EINVAL);
		assert_int_equal(hpm_pool_put(pool, base + 100 * sizes[i]), -EINVAL);
		assert_int_equal(hpm_pool_put(pool, (void *)UINTPTR_MAX), -EINVAL);
		for (uint64_t inside = 0; inside < 100 * sizes[i]; inside++)
			assert_int_equal(hpm_pool_index(pool, base + inside),
				inside % sizes[i] == 0 ? inside / sizes[i] : HPM_POOL_NONE);
		assert_int_equal(hpm_pool_put(pool, base + 1), -EINVAL);
		assert_int_equal(info_of(pool).live, 100);
		hpm_pool_destroy(pool);
	}
}

static void a_double_put_is_ealready(void **state)
{
	struct hpm_pool *pool = create();
	void *object = hpm_pool_get(pool), *never = hpm_pool_at(pool, 500);

	assert_int_equal(hpm_pool_put(pool, object), 0);
	assert_int_equal(hpm_pool_put(pool, object), -EALREADY);
	assert_int_equal(hpm_pool_put(pool, never), -EALREADY);
	assert_int_equal(info_of(pool).live, 0);
	hpm_pool_destroy(pool);
}

static void bulk_gets_are_all_or_none(void **state)
{
	struct hpm_pool *pool = create();
	static void *objects[1001];

	objects[0] = &opts;
	assert_int_equal(hpm_pool_get_bulk(pool, objects, 1001), -ENOENT);
	assert_int_equal(hpm_pool_get_bulk(pool, objects, UINT32_MAX), -ENOENT);
	assert_ptr_equal(objects[0], &opts);
	assert_int_equal(info_of(pool).live, 0);
	assert_int_equal(hpm_pool_get_bulk(pool, objects, 0), 0);
	assert_int_equal(hpm_pool_get_bulk(pool, objects, 999), 0);
	for (uint32_t i = 0; i < 999; i++)
		assert_int_equal(hpm_pool_index(pool, objects[i]), i);
	assert_int_equal(hpm_pool_get_bulk(pool, objects, 2), -ENOENT);
	assert_int_equal(hpm_pool_get_bulk(pool, objects + 999, 1), 0);
	assert_int_equal(hpm_pool_index(pool, objects[999]), 999);
	assert_int_equal(hpm_pool_put_bulk(pool, objects, 1000), 0);
	assert_int_equal(info_of(pool).live, 0);
	hpm_pool_destroy(pool);
}

static void bulk_puts_with_one_wrong_pointer_change_nothing(void **state)
{
	struct hpm_pool *pool = create();
	void *objects[200];
	struct {
		void *wrong;
		int rc;
	} rows[] = {{NULL, -EINVAL}, {hpm_pool_at(pool, 300), -EALREADY}, {NULL, -EALREADY}};

	assert_int_equal(hpm_pool_get_bulk(pool, objects, 200), 0);
	rows[2].wrong = objects[150]; /* listed twice */
	for (size_t row = 0; row < 3; row++)
		for (uint32_t at = 0; at < 200; at += 10) {
			void *right = objects[at];

			objects[at] = rows[row].wrong;
			if (right == rows[row].wrong)
				continue;
			assert_int_equal(hpm_pool_put_bulk(pool, objects, 200), rows[row].rc);
			objects[at] = right;
			assert_int_equal(info_of(pool).live, 200);
			assert_ptr_equal(hpm_pool_get(pool), hpm_pool_at(pool, 200));
			assert_int_equal(hpm_pool_put(pool, hpm_pool_at(pool, 200)), 0);
		}
	assert_int_equal(hpm_pool_put_bulk(pool, objects, 200), 0);
	assert_int_equal(hpm_pool_put_bulk(pool, objects, 0), 0);
	assert_ptr_equal(hpm_pool_get(pool), hpm_pool_at(pool, 0));
	hpm_pool_destroy(pool);
}

static void indexes_and_pointers_name_the_same_object(void **state)
{
	struct hpm_pool *pool;

	opts.object_bytes = 88;
	pool = create();
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(hpm_pool_index(pool, hpm_pool_at(pool, i)), i);
	assert_null(hpm_pool_at(pool, 1000));
	assert_null(hpm_pool_at(pool, HPM_POOL_NONE));
	assert_int_equal(hpm_pool_index(pool, NULL), HPM_POOL_NONE);
	hpm_pool_destroy(pool);
}

struct visit {
	struct hpm_pool *pool;
	uint32_t seen[1000];
	uint32_t n;
	uint32_t stop_at; /* the visit that ends the walk; 0: none */
	bool put;
};

static int visit(void *arg, uint32_t index, void *object)
{
	struct visit *v = arg;

	assert_ptr_equal(object, hpm_pool_at(v->pool, index));
	v->seen[v->n++] = index;
	if (v->put)
		assert_int_equal(hpm_pool_put(v->pool, object), 0);
	return v->n == v->stop_at ? 42 : 0;
}

static void walks_see_live_objects_only_and_may_put_them(void **state)
{
	struct visit v = {.pool = create()};

	assert_int_equal(hpm_pool_walk(v.pool, visit, &v), 0);
	assert_int_equal(v.n, 0);
	for (int i = 0; i < 1000; i++)
		assert_non_null(hpm_pool_get(v.pool));
	for (uint32_t i = 0; i < 1000; i++)
		if (i % 7 != 0)
			assert_int_equal(hpm_pool_put(v.pool, hpm_pool_at(v.pool, i)), 0);
	v.stop_at = 5;
	assert_int_equal(hpm_pool_walk(v.pool, visit, &v), 42);
	assert_int_equal(v.n, 5);
	v.n = v.stop_at = 0;
	v.put = true;
	assert_int_equal(hpm_pool_walk(v.pool, visit, &v), 0);
	assert_int_equal(v.n, 143); /* 0, 7, ..., 994 */
	for (uint32_t i = 0; i < 143; i++)
		assert_int_equal(v.seen[i], 7 * i);
	assert_int_equal(info_of(v.pool).live, 0);
	hpm_pool_destroy(v.pool);
}

static void two_pools_share_an_arena_and_return_all_of_it(void **state)
{
	struct hpm_pool *a = create(), *b;
	void *of_a = hpm_pool_get(a), *of_b;
	uint64_t with_a = used();

	opts.tag = "flow";
	b = create();
	of_b = hpm_pool_get(b);
	assert_int_equal(hpm_pool_put(a, of_b), -EINVAL);
	assert_int_equal(hpm_pool_put(b, of_a), -EINVAL);
	assert_string_equal(hpm_run_tag(arena, of_a), "session");
	assert_string_equal(hpm_run_tag(arena, of_b), "flow");
	hpm_pool_destroy(b);
	assert_true(used() == with_a);
	hpm_pool_destroy(a);
	assert_true(used() == 0);
}

static void info_is_cut_to_what_the_caller_knows(void **state)
{
	struct hpm_pool *pool = create();
	struct hpm_pool_info info = {.size = 8};

	assert_int_equal(hpm_pool_info_read(pool, &info), -EINVAL);
	info = info_of(pool);
	assert_int_equal(info.count, 1000);
	assert_int_equal(info.meta_bytes, 8 * (16 + 1));
	hpm_pool_destroy(pool);
}

/* Whether each of 1000 objects is live, kept beside the pool. */
static bool live[1000];
static uint32_t n_live;

static void model_get(struct hpm_pool *pool)
{
	void *object = hpm_pool_get(pool);
	uint32_t lowest = 0;

	while (lowest < 1000 && live[lowest])
		lowest++;
	if (lowest == 1000) {
		assert_null(object);
		return;
	}
	assert_ptr_equal(object, hpm_pool_at(pool, lowest));
	live[lowest] = true;
	n_live++;
}

static void model_put(struct hpm_pool *pool, uint32_t index)
{
	int rc = hpm_pool_put(pool, hpm_pool_at(pool, index));

	assert_int_equal(rc, live[index] ? 0 : -EALREADY);
	n_live -= live[index];
	live[index] = false;
}

static void a_million_random_steps_do_what_an_array_of_bools_does(void **state)
{
	struct hpm_pool *pool = create();
	uint64_t random = 7;

	for (int n = 0; n < 1000000; n++) {
		uint32_t r;

		random = random * 6364136223846793005u + 1442695040888963407u;
		r = (uint32_t)(random >> 33);
		if (r % 16 < (uint32_t)n / 50000 % 16) /* fuller and fuller, then empty */
			model_get(pool);
		else
			model_put(pool, r / 16 % 1000);
		assert_int_equal(info_of(pool).live, n_live);
	}
	hpm_pool_destroy(pool);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	static const struct CMUnitTest tests[] = {
		ROW(counts_out_of_range_are_einval),
		ROW(the_largest_count_is_only_too_large_for_this_arena),
		ROW(object_sizes_are_checked_before_memory_is_taken),
		ROW(alignments_are_powers_of_two_from_8_to_4096),
		ROW(tags_and_arena_are_checked),
		ROW(opts_of_another_release_are_told_apart),
		ROW(objects_that_do_not_fit_give_the_bitmap_back),
		ROW(a_reason_is_not_needed),
		ROW(strides_are_sizes_rounded_up_to_the_alignment),
		ROW(a_pool_of_one_gives_one),
		ROW(the_lowest_free_object_comes_first_and_all_are_zero),
		ROW(what_is_no_object_cannot_be_put),
		ROW(a_double_put_is_ealready),
		ROW(bulk_gets_are_all_or_none),
		ROW(bulk_puts_with_one_wrong_pointer_change_nothing),
		ROW(indexes_and_pointers_name_the_same_object),
		ROW(walks_see_live_objects_only_and_may_put_them),
		ROW(two_pools_share_an_arena_and_return_all_of_it),
		ROW(info_is_cut_to_what_the_caller_knows),
		ROW(a_million_random_steps_do_what_an_array_of_bools_does),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
