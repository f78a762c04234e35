/* SPDX-License-Identifier: BSD-3-Clause */
/* Compaction: dense afterwards, nothing lost, nothing freed that somebody may read. On an arena of
 * fake pages. */
#include "fake_backend.h"

#include <hpm/compact.h>
#include <hpm/lane.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT  1000
#define STRIDE 72

struct object {
	uint64_t id;      /* index of its reference; never changes */
	uint64_t written; /* by the one writer */
	char rest[STRIDE - 16];
};

static struct hpm_arena *arena; /* 64 pages of 16 KiB */
static struct hpm_pool *pool;
static struct hpm_compact *compact;
static struct hpm_compact_opts opts;
static struct hpm_reason why;
static struct object *refs[COUNT]; /* NULL: not live */
static uint64_t pinned_below;      /* objects with a smaller id do not move */
static int readers_hold;           /* what passed() answers, negated */
static int publish(void *arg, void *from, void *to);

static int begin(void **state)
{
	struct hpm_pool_opts p = HPM_POOL_OPTS_INIT;

	arena = fake_arena(64, 14);
	p.arena = arena;
	p.tag = "session";
	p.count = COUNT;
	p.object_bytes = STRIDE;
	p.lanes = 2;
	if (hpm_pool_create(&pool, &p) != 0)
		return -1;
	opts = (struct hpm_compact_opts)HPM_COMPACT_OPTS_INIT;
	opts.pool = pool;
	opts.move = publish;
	opts.reason = &why;
	compact = NULL;
	pinned_below = 0;
	readers_hold = 0;
	for (uint64_t i = 0; i < COUNT; i++) {
		refs[i] = hpm_pool_get(pool);
		refs[i]->id = i;
		refs[i]->written = 0;
		memset(refs[i]->rest, (int)(i % 251), sizeof(refs[i]->rest));
	}
	return 0;
}

static int finish(void **state)
{
	if (hpm_compact_destroy(compact) != 0)
		return -1;
	hpm_pool_destroy(pool);
	return fake_arena_end(arena);
}

static int publish(void *arg, void *from, void *to)
{
	struct object *object = from;

	if (object->id < pinned_below ||
		__atomic_load_n(&refs[object->id], __ATOMIC_RELAXED) != object)
		return -1;
	__atomic_store_n(&refs[object->id], to, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t start(void *arg)
{
	return 7;
}

static int passed(void *arg, uint64_t token)
{
	assert_true(token == 7);
	return !readers_hold;
}

/* Leaves one object in `step`: the last of each. */
static void churn(uint64_t step)
{
	for (uint64_t i = 0; i < COUNT; i++)
		if (i % step != step - 1 && refs[i] != NULL) {
			assert_int_equal(hpm_pool_put(pool, refs[i]), 0);
			refs[i] = NULL;
		}
}

static void create(void)
{
	assert_int_equal(hpm_compact_create(&compact, &opts), 0);
}

static struct hpm_compact_info info(void)
{
	struct hpm_compact_info now = {.size = sizeof(now)};

	assert_int_equal(hpm_compact_info_read(compact, &now), 0);
	return now;
}

static uint32_t live(void)
{
	struct hpm_pool_info now = {.size = sizeof(now)};

	assert_int_equal(hpm_pool_info_read(pool, &now), 0);
	return now.live;
}

/* Each live object is where its reference says, whole, and alone there. */
static void check_objects(uint32_t expected)
{
	bool seen[COUNT] = {false};
	uint32_t n = 0;

	for (uint64_t i = 0; i < COUNT; i++) {
		if (refs[i] == NULL)
			continue;
		assert_true(refs[i]->id == i);
		for (size_t k = 0; k < sizeof(refs[i]->rest); k++)
			assert_int_equal((unsigned char)refs[i]->rest[k], i % 251);
		assert_true(hpm_pool_index(pool, refs[i]) < COUNT);
		assert_false(seen[hpm_pool_index(pool, refs[i])]);
		seen[hpm_pool_index(pool, refs[i])] = true;
		n++;
	}
	assert_int_equal(n, expected);
	assert_int_equal(live(), expected);
}

static void step_to_the_end(uint32_t slice)
{
	for (int rc = 1; rc != 0;) {
		uint64_t before = info().moved;

		rc = hpm_compact_step(compact, slice);
		assert_true(rc >= 0);
		assert_true(info().moved - before <= slice);
	}
}

static void live_objects_end_up_on_the_lowest_addresses(void **state)
{
	static const uint32_t slices[] = {1, 7, HPM_COMPACT_SLICE_MAX};

	create();
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t left = COUNT / (2u << i);

		churn(2u << i);
		step_to_the_end(slices[i]);
		check_objects(left);
		assert_true(info().end_bytes == left * STRIDE);
	}
}

static void a_dense_pool_has_nothing_to_move(void **state)
{
	create();
	assert_int_equal(hpm_compact_step(compact, 100), 0);
	assert_true(info().moved == 0 && info().end_bytes == COUNT * STRIDE);
}

static void an_empty_pool_ends_at_0(void **state)
{
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(hpm_pool_put(pool, refs[i]), 0);
	create();
	assert_int_equal(hpm_compact_step(compact, 100), 0);
	assert_true(info().end_bytes == 0);
}

static void what_may_not_move_stays(void **state)
{
	churn(10);
	pinned_below = 500;
	create();
	step_to_the_end(16);
	check_objects(100);
	for (uint64_t i = 9; i < pinned_below; i += 10)
		assert_int_equal(hpm_pool_index(pool, refs[i]), i);
	assert_true(info().moved == 50 && info().refused > 0);
	assert_true(info().end_bytes == 500 * STRIDE); /* object 499 is the highest left */
}

static void old_places_are_free_only_when_readers_let_go(void **state)
{
	struct object *old = refs[999];
	void *object;

	churn(10);
	opts.start = start;
	opts.passed = passed;
	create();
	readers_hold = 1;
	assert_int_equal(hpm_compact_step(compact, 1), 1);
	assert_ptr_not_equal(refs[999], old);
	for (int i = 0; i < 5; i++)
		assert_int_equal(hpm_compact_step(compact, 1), 1);
	assert_true(info().moved == 1 && info().waiting == 1);
	assert_int_equal(hpm_compact_destroy(compact), -EBUSY);
	for (object = hpm_pool_get(pool); object != NULL; object = hpm_pool_get(pool))
		assert_ptr_not_equal(object, old);
	assert_true(old->id == 999); /* a reader still sees it whole */
	readers_hold = 0;
	assert_int_equal(hpm_compact_step(compact, 1), 0);
	assert_ptr_equal(hpm_pool_get(pool), old);
}

static void an_old_place_that_was_put_is_counted_and_free_once(void **state)
{
	struct hpm_pool_info now = {.size = sizeof(now)};
	struct object *old = refs[999];

	churn(10);
	opts.start = start;
	opts.passed = passed;
	create();
	assert_int_equal(hpm_compact_step(compact, 1), 1);
	assert_int_equal(hpm_pool_put(pool, old), 0);
	step_to_the_end(16);
	check_objects(100);
	assert_int_equal(hpm_pool_info_read(pool, &now), 0);
	assert_true(now.double_puts == 1);
}

static void objects_parked_in_lanes_are_not_moved(void **state)
{
	struct hpm_lane *lane = NULL;

	assert_int_equal(hpm_lane_open(&lane, pool, NULL), 0);
	for (uint64_t i = 900; i < COUNT; i++) {
		assert_int_equal(hpm_lane_put(lane, refs[i]), 0);
		refs[i] = NULL;
	}
	assert_int_equal(hpm_pool_put(pool, refs[3]), 0);
	refs[3] = NULL;
	create();
	step_to_the_end(16);
	check_objects(899);
	assert_int_equal(hpm_lane_flush(lane), 0);
	step_to_the_end(16);
	check_objects(899);
	assert_true(info().end_bytes == 899 * STRIDE);
}

static void what_makes_no_compaction_is_refused(void **state)
{
	struct hpm_compact_opts bad = opts;

	assert_int_equal(hpm_compact_create(&compact, NULL), -EINVAL);
	bad.pool = NULL;
	assert_int_equal(hpm_compact_create(&compact, &bad), -EINVAL);
	assert_string_equal(why.text, "a compaction takes a pool and a move function");
	bad = opts;
	bad.move = NULL;
	assert_int_equal(hpm_compact_create(&compact, &bad), -EINVAL);
	bad = opts;
	bad.start = start;
	assert_int_equal(hpm_compact_create(&compact, &bad), -EINVAL);
	assert_string_equal(
		why.text, "start and passed of a compaction go together: give both or none");
	assert_null(compact);
	create();
	assert_int_equal(hpm_compact_step(compact, 0), -EINVAL);
	assert_int_equal(hpm_compact_step(compact, HPM_COMPACT_SLICE_MAX + 1), -EINVAL);
	assert_int_equal(hpm_compact_destroy(NULL), 0);
}

/* A reader that follows references all the time, and says between two rounds that it holds none. */
static uint64_t epoch, reader_epoch, rounds;
static int stop;

static void *read_all(void *arg)
{
	void *wrong = NULL;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(
			&reader_epoch, __atomic_load_n(&epoch, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
		for (uint64_t i = 0; i < COUNT; i++) {
			struct object *object = __atomic_load_n(&refs[i], __ATOMIC_ACQUIRE);

			if (object != NULL && object->id != i)
				wrong = "an object lost its identity";
		}
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&reader_epoch, UINT64_MAX, __ATOMIC_RELEASE);
	return wrong;
}

static uint64_t next_epoch(void *arg)
{
	return __atomic_add_fetch(&epoch, 1, __ATOMIC_ACQ_REL);
}

static int reader_saw(void *arg, uint64_t token)
{
	return __atomic_load_n(&reader_epoch, __ATOMIC_ACQUIRE) >= token;
}

static void no_write_and_no_object_is_lost_while_readers_run(void **state)
{
	pthread_t reader;
	uint64_t writes = 0;
	void *wrong = NULL;
	int rc = 1;

	churn(10);
	opts.start = next_epoch;
	opts.passed = reader_saw;
	create();
	epoch = reader_epoch = 0;
	stop = 0;
	assert_int_equal(pthread_create(&reader, NULL, read_all, NULL), 0);
	for (; rc != 0; writes++) {
		for (uint64_t i = 9; i < COUNT; i += 10)
			__atomic_store_n(&refs[i]->written, refs[i]->written + 1, __ATOMIC_RELAXED);
		rc = hpm_compact_step(compact, 4);
		assert_true(rc >= 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(reader, &wrong), 0);
	assert_null(wrong);
	check_objects(100);
	for (uint64_t i = 9; i < COUNT; i += 10)
		assert_true(refs[i]->written == writes);
	assert_true(info().end_bytes == 100 * STRIDE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			live_objects_end_up_on_the_lowest_addresses, begin, finish),
		cmocka_unit_test_setup_teardown(a_dense_pool_has_nothing_to_move, begin, finish),
		cmocka_unit_test_setup_teardown(an_empty_pool_ends_at_0, begin, finish),
		cmocka_unit_test_setup_teardown(what_may_not_move_stays, begin, finish),
		cmocka_unit_test_setup_teardown(
			old_places_are_free_only_when_readers_let_go, begin, finish),
		cmocka_unit_test_setup_teardown(
			an_old_place_that_was_put_is_counted_and_free_once, begin, finish),
		cmocka_unit_test_setup_teardown(
			objects_parked_in_lanes_are_not_moved, begin, finish),
		cmocka_unit_test_setup_teardown(what_makes_no_compaction_is_refused, begin, finish),
		cmocka_unit_test_setup_teardown(
			no_write_and_no_object_is_lost_while_readers_run, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
