/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which object of a pool is handed out: the lowest free one. Two runs of the arena hold a
 * pool, the bitmap and the objects; only the control block below comes from malloc.
 * Invariant: taken = objects whose bit is 0, and nothing is ever written into an object.
 */
#include <hpm/pool.h>
#include <hpm/run.h>

#include "alloc/give_run.h"
#include "alloc/pool.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#define ALIGN_MIN 8
#define ALIGN_MAX 4096

#define LANE_CAP_MIN 2

#define OPTS_FIRST_SIZE 56 /* as first published */
#define INFO_FIRST_SIZE 48

_Static_assert(offsetof(struct hpm_pool_opts, lanes) == OPTS_FIRST_SIZE &&
		       offsetof(struct hpm_pool_info, parked) == INFO_FIRST_SIZE,
	"what was published first never changes");

static int check_opts(struct hpm_pool_opts *opts, const struct hpm_pool_opts *from)
{
	int rc = opts_copy(opts, sizeof(*opts), from, OPTS_FIRST_SIZE);

	if (rc < 0)
		return rc;
	reason_clear(opts->reason);
	if (opts->arena == NULL)
		return fail(-EINVAL, opts->reason, "a pool needs an arena");
	if (opts->count == 0 || opts->count > HPM_POOL_COUNT_MAX)
		return fail(-EINVAL, opts->reason,
			"a pool has 1 to %" PRIu32 " objects, not %" PRIu64, HPM_POOL_COUNT_MAX,
			opts->count);
	if (opts->object_bytes == 0)
		return fail(-EINVAL, opts->reason, "an object has at least 1 byte");
	if (!is_pow2(opts->align) || opts->align < ALIGN_MIN || opts->align > ALIGN_MAX)
		return fail(-EINVAL, opts->reason,
			"objects align to a power of two in [%d, %d], not to %" PRIu32, ALIGN_MIN,
			ALIGN_MAX, opts->align);
	if (opts->lane_cap == 0)
		opts->lane_cap = HPM_LANE_CAP_DEFAULT;
	if (opts->lane_cap < LANE_CAP_MIN || opts->lane_cap > HPM_LANE_CAP_MAX)
		return fail(-EINVAL, opts->reason, "a lane parks %d to %d objects, not %" PRIu32,
			LANE_CAP_MIN, HPM_LANE_CAP_MAX, opts->lane_cap);
	return 0;
}

/* Inverse of an odd number modulo 2^64: each step of Newton's doubles the bits that are right. */
static uint64_t inverse_of(uint64_t odd)
{
	uint64_t x = odd; /* right in 3 bits */

	for (int bits = 3; bits < 64; bits *= 2)
		x *= 2 - odd * x;
	return x;
}

/* The strides; the bytes of all objects go to *ret. */
static int measure(struct hpm_pool *pool, uint64_t *ret, const struct hpm_pool_opts *opts)
{
	if (!round_up(&pool->stride, opts->object_bytes, opts->align) ||
		__builtin_mul_overflow(opts->count, pool->stride, ret) || *ret > INT64_MAX)
		return fail(-EOVERFLOW, opts->reason,
			"%" PRIu64 " objects of %" PRIu64 " bytes exceed the address space",
			opts->count, opts->object_bytes);
	pool->count = (uint32_t)opts->count;
	pool->object_bytes = opts->object_bytes;
	pool->meta_bytes = bitmap_bytes(pool->count);
	pool->stride_shift = shift_of(pool->stride & -pool->stride);
	pool->stride_inverse = inverse_of(pool->stride >> pool->stride_shift);
	return 0;
}

static int take_runs(struct hpm_pool *pool, const struct hpm_pool_opts *opts, uint64_t bytes)
{
	void *base;
	int rc = hpm_run_get(
		&pool->meta, opts->arena, HPM_POOL_META_TAG, pool->meta_bytes, 0, opts->reason);

	if (rc < 0)
		return rc;
	rc = hpm_run_get(&base, opts->arena, opts->tag, bytes, opts->align, opts->reason);
	if (rc < 0) {
		give_run(opts->arena, pool->meta, "a pool");
		return rc;
	}
	pool->arena = opts->arena;
	pool->base = base;
	return 0;
}

int hpm_pool_create(struct hpm_pool **ret, const struct hpm_pool_opts *from)
{
	struct hpm_pool_opts opts;
	struct hpm_pool *pool;
	uint64_t bytes = 0;
	int rc = check_opts(&opts, from);

	if (rc < 0)
		return rc;
	pool = calloc(1, sizeof(*pool));
	if (pool == NULL)
		return fail(-ENOMEM, opts.reason, "out of memory for a pool's control block");
	rc = measure(pool, &bytes, &opts);
	if (rc == 0)
		rc = take_runs(pool, &opts, bytes);
	if (rc < 0) {
		free(pool);
		return rc;
	}
	bitmap_init(&pool->free, pool->meta, pool->count);
	pool->lanes_max = opts.lanes;
	pool->lane_cap = opts.lane_cap;
	if (pool->lanes_max > 0)
		pthread_mutex_init(&pool->lock, NULL);
	*ret = pool;
	return 0;
}

void hpm_pool_destroy(struct hpm_pool *pool)
{
	if (pool == NULL)
		return;
	while (pool->open != NULL)
		hpm_lane_close(pool->open);
	if (pool->lanes_max > 0)
		pthread_mutex_destroy(&pool->lock);
	give_run(pool->arena, pool->base, "a pool");
	give_run(pool->arena, pool->meta, "a pool");
	free(pool);
}

static void *get_locked(struct hpm_pool *pool)
{
	uint32_t index = bitmap_lowest(&pool->free);

	if (index == BITMAP_NONE)
		return NULL;
	take_index(pool, index);
	return object_at(pool, index);
}

static int put_locked(struct hpm_pool *pool, void *object)
{
	uint64_t index = index_of(pool, object);

	if (index >= pool->count)
		return -EINVAL;
	return give_index(pool, (uint32_t)index) ? 0 : -EALREADY;
}

void *hpm_pool_get(struct hpm_pool *pool)
{
	void *object;

	pool_lock(pool);
	object = get_locked(pool);
	pool_unlock(pool);
	return object;
}

int hpm_pool_put(struct hpm_pool *pool, void *object)
{
	int rc;

	pool_lock(pool);
	rc = put_locked(pool, object);
	pool_unlock(pool);
	return rc;
}

int hpm_pool_get_bulk(struct hpm_pool *pool, void **objects, uint32_t n)
{
	int rc = -ENOENT;

	pool_lock(pool);
	if (n <= pool->count - pool->taken) {
		for (uint32_t i = 0; i < n; i++)
			objects[i] = get_locked(pool);
		rc = 0;
	}
	pool_unlock(pool);
	return rc;
}

/*
 * Marks on the way and takes the marks back at the first wrong pointer, so that one listed twice
 * is found without a second list. Nobody sees the state between: the pool has one owner or is
 * locked.
 */
int hpm_pool_put_bulk(struct hpm_pool *pool, void *const *objects, uint32_t n)
{
	int rc = 0;

	pool_lock(pool);
	for (uint32_t i = 0; i < n; i++) {
		rc = put_locked(pool, objects[i]);
		if (rc == 0)
			continue;
		while (i-- > 0)
			take_index(pool, (uint32_t)index_of(pool, objects[i]));
		break;
	}
	pool_unlock(pool);
	return rc;
}

void *hpm_pool_at(const struct hpm_pool *pool, uint32_t index)
{
	return index < pool->count ? object_at(pool, index) : NULL;
}

uint32_t hpm_pool_index(const struct hpm_pool *pool, const void *object)
{
	uint64_t index = index_of(pool, object);

	return index < pool->count ? (uint32_t)index : HPM_POOL_NONE;
}

static uint32_t next_taken(struct hpm_pool *pool, uint32_t from)
{
	uint32_t index;

	pool_lock(pool);
	index = bitmap_next_taken(&pool->free, from);
	pool_unlock(pool);
	return index;
}

int hpm_pool_walk(
	struct hpm_pool *pool, int (*fn)(void *arg, uint32_t index, void *object), void *arg)
{
	uint32_t index = next_taken(pool, 0);
	int rc = 0;

	while (index != BITMAP_NONE && rc == 0) {
		rc = fn(arg, index, object_at(pool, index));
		index = next_taken(pool, index + 1);
	}
	return rc;
}

/*
 * Lanes that work meanwhile make the count of parked objects stale, and it may exceed `taken` when
 * a lane parks between the two readings: never tell less than no live object.
 */
int hpm_pool_info_read(const struct hpm_pool *from, struct hpm_pool_info *info)
{
	struct hpm_pool *pool = (struct hpm_pool *)from; /* only its lock is written */
	struct hpm_pool_info full = {.base = pool->base,
		.object_bytes = pool->object_bytes,
		.stride_bytes = pool->stride,
		.meta_bytes = pool->meta_bytes,
		.count = pool->count};

	pool_lock(pool);
	full.lanes = pool->lanes;
	full.double_puts = pool->double_puts;
	for (const struct hpm_lane *lane = pool->open; lane != NULL; lane = lane->next)
		full.parked += __atomic_load_n(&lane->n, __ATOMIC_RELAXED);
	full.live = pool->taken > full.parked ? pool->taken - full.parked : 0;
	pool_unlock(pool);
	return opts_fill(info, &full, sizeof(full), INFO_FIRST_SIZE);
}
