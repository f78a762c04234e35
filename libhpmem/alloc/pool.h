/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a pool, for its lanes. A pool with lanes has a lock, which everything below `free`
 * and the lists of lanes are behind; one without belongs to one thread.
 */
#ifndef ALLOC_POOL_H
#define ALLOC_POOL_H

#include "alloc/bitmap.h"

#include <hpm/lane.h>
#include <hpm/pool.h>

#include <pthread.h>

struct hpm_pool {
	/* every get and put */
	struct bitmap free; /* locked */
	uint32_t taken;     /* bits that are 0, parked ones included; locked */
	uint32_t count;
	uint32_t stride_shift;   /* stride = odd << stride_shift */
	uint64_t stride_inverse; /* odd * stride_inverse = 1 modulo 2^64 */
	uint64_t stride;
	char *base;

	/* lanes */
	pthread_mutex_t lock; /* initialised when lanes_max > 0 */
	uint32_t lanes_max;
	uint32_t lane_cap;
	uint32_t lanes;        /* locked */
	struct hpm_lane *open; /* locked */
	uint64_t double_puts;  /* locked */

	/* set up only */
	struct hpm_arena *arena;
	void *meta;
	uint64_t meta_bytes;
	uint64_t object_bytes;
};

static inline void pool_lock(struct hpm_pool *pool)
{
	if (pool->lanes_max > 0)
		pthread_mutex_lock(&pool->lock);
}

static inline void pool_unlock(struct hpm_pool *pool)
{
	if (pool->lanes_max > 0)
		pthread_mutex_unlock(&pool->lock);
}

static inline void *object_at(const struct hpm_pool *pool, uint32_t index)
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
static inline uint64_t index_of(const struct hpm_pool *pool, const void *object)
{
	uint64_t offset = (uint64_t)(uintptr_t)object - (uint64_t)(uintptr_t)pool->base;
	uint64_t product = offset * pool->stride_inverse;

	return product >> pool->stride_shift | product << (-pool->stride_shift & 63);
}

#endif
