/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million objects of 128 bytes fall to a tenth, scattered over all 62 pages of 2 MiB. Compaction
 * brings them to the 7 pages that 12.8 MB need at least, while a reader verifies every object and
 * the writer increments every one between two slices.
 */
#include "live_pool.h"

#include <hpm/compact.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define OBJECTS 1000000
#define LIVE    100000
#define PAGES   64
#define SLICE   4096

struct object { /* 128 bytes */
	uint64_t id;
	uint64_t written;
	uint64_t check[14];
};

static struct object *refs[LIVE];
static uint64_t epoch, seen, rounds; /* of the reader */
static bool stop;

static void fill(struct object *object, uint64_t id)
{
	object->id = id;
	object->written = 0;
	for (int i = 0; i < 14; i++)
		object->check[i] = id * 31 + (uint64_t)i;
}

/* Keeps one of ten at a random place within each ten. */
static void fall_to_a_tenth(void)
{
	uint64_t random = 1;

	for (uint64_t ten = 0; ten < LIVE; ten++) {
		struct object *objects[10];
		uint64_t keep;

		for (int i = 0; i < 10; i++) {
			objects[i] = hpm_pool_at(pool, (uint32_t)(ten * 10) + (uint32_t)i);
			assert_non_null(objects[i]);
		}
		random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth, MMIX */
		keep = (random >> 33) % 10;
		for (uint64_t i = 0; i < 10; i++)
			if (i != keep)
				assert_int_equal(hpm_pool_put(pool, objects[i]), 0);
		refs[ten] = objects[keep];
		fill(refs[ten], ten);
	}
}

static unsigned pages_spanned(void)
{
	bool spanned[PAGES] = {false};
	unsigned n = 0;

	for (uint64_t i = 0; i < LIVE; i++) {
		uint64_t at = (uint64_t)((char *)refs[i] - (char *)info.base);

		spanned[at >> HUGE_SHIFT] = true;
		spanned[(at + sizeof(struct object) - 1) >> HUGE_SHIFT] = true;
	}
	for (int i = 0; i < PAGES; i++)
		n += spanned[i];
	return n;
}

static int publish(void *arg, void *from, void *to)
{
	struct object *object = from;

	if (object->id >= LIVE || refs[object->id] != object)
		return -1;
	__atomic_store_n(&refs[object->id], to, __ATOMIC_RELEASE);
	return 0;
}

static uint64_t next_epoch(void *arg)
{
	return __atomic_add_fetch(&epoch, 1, __ATOMIC_ACQ_REL);
}

static int reader_let_go(void *arg, uint64_t token)
{
	return __atomic_load_n(&seen, __ATOMIC_ACQUIRE) >= token;
}

static bool is_whole(const struct object *object, uint64_t id)
{
	if (object->id != id)
		return false;
	for (int i = 0; i < 14; i++)
		if (object->check[i] != id * 31 + (uint64_t)i)
			return false;
	return true;
}

static void *verify_all(void *arg)
{
	void *wrong = NULL;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (uint64_t i = 0; i < LIVE; i++) {
			if (i % 1024 == 0) /* holds nothing here */
				__atomic_store_n(&seen, __atomic_load_n(&epoch, __ATOMIC_ACQUIRE),
					__ATOMIC_RELEASE);
			if (!is_whole(__atomic_load_n(&refs[i], __ATOMIC_ACQUIRE), i))
				wrong = "an object is not whole";
		}
		rounds++;
	}
	__atomic_store_n(&seen, UINT64_MAX, __ATOMIC_RELEASE);
	return wrong;
}

static void a_tenth_of_a_million_objects_shrinks_to_7_pages(void **state)
{
	struct hpm_compact_opts opts = HPM_COMPACT_OPTS_INIT;
	struct hpm_compact *compact;
	unsigned before, after;
	uint64_t writes = 0;
	pthread_t reader;
	void *wrong;

	for (int i = 0; i < OBJECTS; i++)
		assert_non_null(hpm_pool_get(pool));
	fall_to_a_tenth();
	before = pages_spanned();
	opts.pool = pool;
	opts.move = publish;
	opts.start = next_epoch;
	opts.passed = reader_let_go;
	assert_int_equal(hpm_compact_create(&compact, &opts), 0);
	assert_int_equal(pthread_create(&reader, NULL, verify_all, NULL), 0);
	for (int rc = 1; rc != 0; writes++) {
		rc = hpm_compact_step(compact, SLICE);
		assert_in_range(rc, 0, 1);
		for (uint64_t i = 0; i < LIVE; i++)
			refs[i]->written++;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(reader, &wrong), 0);
	assert_null(wrong);
	for (uint64_t i = 0; i < LIVE; i++)
		assert_true(is_whole(refs[i], i) && refs[i]->written == writes);
	after = pages_spanned();
	print_message("%u pages of 2 MiB before, %u after, ideal 7; %" PRIu64
		      " rounds of the reader, %" PRIu64 " writes of each object\n",
		before, after, rounds, writes);
	assert_int_equal(before, 62);
	assert_in_range(after, 7, 8);
	assert_int_equal(hpm_compact_destroy(compact), 0);
}

static int set_up(void **state)
{
	return live_pool_begin("shrink", PAGES, OBJECTS, sizeof(struct object));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenth_of_a_million_objects_shrinks_to_7_pages),
	};

	need_pages(HUGE_SHIFT, PAGES);
	return cmocka_run_group_tests(tests, set_up, live_pool_end);
}
