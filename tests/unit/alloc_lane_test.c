/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes: nothing is lost or given twice, whoever gets and puts. On an arena of fake pages. */
#include "fake_backend.h"

#include <hpm/lane.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT 1000
#define CAP   16

static struct hpm_arena *arena; /* 64 pages of 16 KiB */
static struct hpm_pool *pool;
static struct hpm_reason why;
static struct hpm_pool_opts opts;

static int begin(void **state)
{
	arena = fake_arena(64, 14);
	opts = (struct hpm_pool_opts)HPM_POOL_OPTS_INIT;
	opts.arena = arena;
	opts.tag = "session";
	opts.count = COUNT;
	opts.object_bytes = 72;
	opts.lanes = 2;
	opts.lane_cap = CAP;
	opts.reason = &why;
	return hpm_pool_create(&pool, &opts);
}

static int finish(void **state)
{
	hpm_pool_destroy(pool);
	return fake_arena_end(arena);
}

static struct hpm_lane *open_lane(void)
{
	struct hpm_lane *lane = NULL;

	assert_int_equal(hpm_lane_open(&lane, pool, &why), 0);
	assert_string_equal(why.text, "");
	return lane;
}

static struct hpm_pool_info info(void)
{
	struct hpm_pool_info now = {.size = sizeof(now)};

	assert_int_equal(hpm_pool_info_read(pool, &now), 0);
	return now;
}

static void objects_come_lowest_first(void **state)
{
	struct hpm_lane *lane = open_lane();
	char *base = info().base;

	for (int i = 0; i < COUNT; i++)
		assert_ptr_equal(hpm_lane_get(lane), base + i * 72);
	assert_null(hpm_lane_get(lane));
}

static void parked_objects_are_counted_apart_and_bounded(void **state)
{
	struct hpm_lane *lane = open_lane();
	void *objects[COUNT];

	for (int i = 0; i < COUNT; i++)
		objects[i] = hpm_lane_get(lane);
	assert_int_equal(info().live, COUNT);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(hpm_lane_put(lane, objects[i]), 0);
		assert_true(info().parked <= CAP);
		assert_int_equal(info().live, COUNT - 1 - i);
	}
	assert_true(info().parked > 0);
	assert_int_equal(hpm_lane_flush(lane), 0);
	assert_int_equal(info().parked, 0);
	assert_int_equal(info().live, 0);
	assert_int_equal(info().double_puts, 0);
}

static void what_was_put_last_comes_first(void **state)
{
	struct hpm_lane *lane = open_lane();
	void *a = hpm_lane_get(lane), *b = hpm_lane_get(lane);

	assert_int_equal(hpm_lane_put(lane, a), 0);
	assert_int_equal(hpm_lane_put(lane, b), 0);
	assert_ptr_equal(hpm_lane_get(lane), b);
	assert_ptr_equal(hpm_lane_get(lane), a);
}

static void a_foreign_pointer_is_refused_at_once(void **state)
{
	struct hpm_lane *lane = open_lane();
	char *object = hpm_lane_get(lane);
	void *objects[2] = {object, object + 1};
	int local;

	assert_int_equal(hpm_lane_put(lane, &local), -EINVAL);
	assert_int_equal(hpm_lane_put(lane, NULL), -EINVAL);
	assert_int_equal(hpm_lane_put(lane, object + 8), -EINVAL);
	assert_int_equal(hpm_lane_put(lane, (char *)info().base - 72), -EINVAL);
	assert_int_equal(hpm_lane_put(lane, (char *)info().base + COUNT * 72), -EINVAL);
	assert_int_equal(hpm_lane_put_bulk(lane, objects, 2), -EINVAL);
	assert_int_equal(info().live, 1);
}

static void a_double_put_is_found_when_it_goes_back(void **state)
{
	struct hpm_lane *lane = open_lane();
	void *object = hpm_lane_get(lane);

	assert_int_equal(hpm_lane_put(lane, object), 0);
	assert_int_equal(hpm_lane_put(lane, object), 0);
	assert_int_equal(hpm_lane_flush(lane), -EALREADY);
	assert_int_equal(info().double_puts, 1);
	assert_int_equal(info().live, 0);
	for (int i = 0; i < COUNT; i++)
		assert_non_null(hpm_lane_get(lane));
	assert_null(hpm_lane_get(lane));
}

static void bulks_are_all_or_none(void **state)
{
	struct hpm_lane *lane = open_lane();
	void *objects[CAP + 1] = {&opts};

	assert_int_equal(hpm_lane_get_bulk(lane, objects, CAP + 1), -EINVAL);
	assert_ptr_equal(objects[0], &opts);
	assert_int_equal(hpm_lane_get_bulk(lane, objects, 0), 0);
	for (int i = 0; i < COUNT / CAP; i++)
		assert_int_equal(hpm_lane_get_bulk(lane, objects, CAP), 0);
	/* 1000 = 62 * 16 + 8 */
	assert_int_equal(hpm_lane_get_bulk(lane, objects, 9), -ENOENT);
	assert_int_equal(info().live, COUNT - 8);
	assert_int_equal(hpm_lane_put_bulk(lane, objects, CAP), 0);
	assert_int_equal(hpm_lane_put_bulk(lane, objects, CAP + 1), -EINVAL);
	assert_int_equal(info().live, COUNT - 8 - CAP);
}

static void an_object_may_go_back_through_another_lane(void **state)
{
	struct hpm_lane *a = open_lane(), *b = open_lane();

	for (int i = 0; i < 3 * COUNT; i++) {
		void *object = hpm_lane_get(a);

		assert_non_null(object);
		assert_int_equal(hpm_lane_put(b, object), 0);
	}
	assert_int_equal(info().live, 0);
	assert_true(info().parked <= 2 * CAP);
}

static void lanes_are_limited_and_their_memory_returns(void **state)
{
	struct hpm_lane *a = open_lane(), *b = open_lane(), *c = NULL;
	uint64_t used = fake_arena_used(arena);

	assert_int_equal(hpm_lane_open(&c, pool, &why), -ENOSPC);
	assert_string_equal(why.text,
		"all 2 lanes of the pool are open; close one or create the pool with more");
	assert_null(c);
	assert_true(fake_arena_used(arena) == used);
	assert_non_null(hpm_lane_get(a));
	hpm_lane_close(a);
	assert_int_equal(info().live, 1);
	assert_int_equal(info().parked, 0);
	assert_int_equal(info().lanes, 1);
	assert_int_equal(hpm_lane_open(&c, pool, NULL), 0);
	hpm_lane_close(b);
	hpm_lane_close(c);
	hpm_lane_close(NULL);
	assert_true(fake_arena_used(arena) < used);
}

static void a_pool_of_one_thread_has_no_lanes(void **state)
{
	struct hpm_pool *other = NULL;
	struct hpm_lane *lane = NULL;

	opts.lanes = 0;
	assert_int_equal(hpm_pool_create(&other, &opts), 0);
	assert_int_equal(hpm_lane_open(&lane, other, &why), -EINVAL);
	assert_string_equal(
		why.text, "the pool was created for one thread; set lanes in its options");
	hpm_pool_destroy(other);
}

static void caps_out_of_range_are_einval(void **state)
{
	static const uint32_t bad[] = {1, HPM_LANE_CAP_MAX + 1, UINT32_MAX};
	struct hpm_pool *other = NULL;

	for (int i = 0; i < 3; i++) {
		opts.lane_cap = bad[i];
		assert_int_equal(hpm_pool_create(&other, &opts), -EINVAL);
		assert_null(other);
	}
}

/* Every thread marks what it got and finds its own mark before it puts: no object has two owners.
 */
#define STEPS 200000
#define HELD  150

static void *work(void *arg)
{
	uint64_t id = (uint64_t)(uintptr_t)arg, random = id;
	uint64_t *held[HELD] = {0};
	struct hpm_lane *lane;

	if (hpm_lane_open(&lane, pool, NULL) != 0)
		return "no lane";
	for (int i = 0; i < STEPS; i++) {
		uint64_t **slot;

		random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
		slot = &held[(random >> 33) % HELD];
		if (*slot == NULL) {
			*slot = hpm_lane_get(lane);
			if (*slot != NULL)
				**slot = id << 32 | (uint64_t)(slot - held);
			continue;
		}
		if (**slot != (id << 32 | (uint64_t)(slot - held)))
			return "an object has two owners";
		if (hpm_lane_put(lane, *slot) != 0)
			return "put";
		*slot = NULL;
	}
	for (int i = 0; i < HELD; i++)
		if (held[i] != NULL && hpm_lane_put(lane, held[i]) != 0)
			return "put at the end";
	hpm_lane_close(lane);
	return NULL;
}

static void threads_never_share_an_object(void **state)
{
	pthread_t threads[2];

	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(info().live <= 2 * HELD);
	for (int i = 0; i < 2; i++) {
		void *wrong = NULL;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	assert_int_equal(info().live, 0);
	assert_int_equal(info().parked, 0);
	assert_int_equal(info().double_puts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_come_lowest_first, begin, finish),
		cmocka_unit_test_setup_teardown(
			parked_objects_are_counted_apart_and_bounded, begin, finish),
		cmocka_unit_test_setup_teardown(what_was_put_last_comes_first, begin, finish),
		cmocka_unit_test_setup_teardown(
			a_foreign_pointer_is_refused_at_once, begin, finish),
		cmocka_unit_test_setup_teardown(
			a_double_put_is_found_when_it_goes_back, begin, finish),
		cmocka_unit_test_setup_teardown(bulks_are_all_or_none, begin, finish),
		cmocka_unit_test_setup_teardown(
			an_object_may_go_back_through_another_lane, begin, finish),
		cmocka_unit_test_setup_teardown(
			lanes_are_limited_and_their_memory_returns, begin, finish),
		cmocka_unit_test_setup_teardown(a_pool_of_one_thread_has_no_lanes, begin, finish),
		cmocka_unit_test_setup_teardown(caps_out_of_range_are_einval, begin, finish),
		cmocka_unit_test_setup_teardown(threads_never_share_an_object, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
