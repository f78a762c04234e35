/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which object of a pool is handed out: the lowest free one. Two runs of the arena hold a
 * pool, the bitmap and the objects; only the control block below comes from malloc.
 * Invariant: live = objects whose bit is 0, and nothing is ever written into an object.
 */
#include <hpm/pool.h>
#include <hpm/run.h>

#include "alloc/bitmap.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ALIGN_MIN 8
#define ALIGN_MAX 4096

struct hpm_pool {
	/* every get and put */
	struct bitmap free;
	uint32_t live; /* <= count */
	uint32_t count;
	uint32_t stride_shift;   /* stride = odd << stride_shift */
	uint64_t stride_inverse; /* odd * stride_inverse = 1 modulo 2^64 */
	uint64_t stride;
	char *base;

	/* set up only */
	struct hpm_arena *arena;
	void *meta;
	uint64_t meta_bytes;
	uint64_t object_bytes;
};

static int check_opts(struct hpm_pool_opts *opts, const struct hpm_pool_opts *from)
{
	int rc = opts_copy(opts, sizeof(*opts), from, sizeof(*opts));

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

static void give_run(struct hpm_arena *arena, void *block)
{
	if (hpm_run_put(arena, block) < 0)
		log_msg(HPM_LOG_ERR, "alloc", "the arena of a pool no longer knows its run %p",
			block);
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
		give_run(opts->arena, pool->meta);
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
	*ret = pool;
	return 0;
}

void hpm_pool_destroy(struct hpm_pool *pool)
{
	if (pool == NULL)
		return;
	give_run(pool->arena, pool->base);
	give_run(pool->arena, pool->meta);
	free(pool);
}

static void *object_at(const struct hpm_pool *pool, uint32_t index)
{
	return pool->base + index * pool->stride;
}

/*
 * The index of an object, or something >= count: one multiplication instead of a division.
 *
 * With stride = odd << s, the product below has its lowest s bits 0 and is index << s exactly when
 * offset = index * stride modulo 2^64; other low bits end up on top and make the result larger
 * than any count, because measure() saw to it that count * stride < 2^63. So a result below count
 * proves that the pointer is that object's first byte, whatever pointer it was.
 */
static uint64_t index_of(const struct hpm_pool *pool, const void *object)
{
	uint64_t offset = (uint64_t)(uintptr_t)object - (uint64_t)(uintptr_t)pool->base;
	uint64_t product = offset * pool->stride_inverse;

	return product >> pool->stride_shift | product << (-pool->stride_shift & 63);
}

void *hpm_pool_get(struct hpm_pool *pool)
{
	uint32_t index = bitmap_lowest(&pool->free);

	if (index == BITMAP_NONE)
		return NULL;
	bitmap_take(&pool->free, index);
	pool->live++;
	return object_at(pool, index);
}

int hpm_pool_put(struct hpm_pool *pool, void *object)
{
	uint64_t index = index_of(pool, object);

	if (index >= pool->count)
		return -EINVAL;
	if (bitmap_is_free(&pool->free, (uint32_t)index))
		return -EALREADY;
	bitmap_give(&pool->free, (uint32_t)index);
	pool->live--;
	return 0;
}

int hpm_pool_get_bulk(struct hpm_pool *pool, void **objects, uint32_t n)
{
	if (n > pool->count - pool->live)
		return -ENOENT;
	for (uint32_t i = 0; i < n; i++)
		objects[i] = hpm_pool_get(pool);
	return 0;
}

/*
 * Marks on the way and takes the marks back at the first wrong pointer, so that one listed twice
 * is found without a second list. Nobody sees the state between: the pool has one owner.
 */
int hpm_pool_put_bulk(struct hpm_pool *pool, void *const *objects, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int rc = hpm_pool_put(pool, objects[i]);

		if (rc == 0)
			continue;
		while (i-- > 0) {
			bitmap_take(&pool->free, (uint32_t)index_of(pool, objects[i]));
			pool->live++;
		}
		return rc;
	}
	return 0;
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

int hpm_pool_walk(
	struct hpm_pool *pool, int (*fn)(void *arg, uint32_t index, void *object), void *arg)
{
	uint32_t index = bitmap_next_taken(&pool->free, 0);
	int rc = 0;

	while (index != BITMAP_NONE && rc == 0) {
		rc = fn(arg, index, object_at(pool, index));
		index = bitmap_next_taken(&pool->free, index + 1);
	}
	return rc;
}

int hpm_pool_info_read(const struct hpm_pool *pool, struct hpm_pool_info *info)
{
	struct hpm_pool_info full = {.base = pool->base,
		.object_bytes = pool->object_bytes,
		.stride_bytes = pool->stride,
		.meta_bytes = pool->meta_bytes,
		.count = pool->count,
		.live = pool->live};

	return opts_fill(info, &full, sizeof(full), sizeof(full));
}
