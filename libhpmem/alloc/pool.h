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

/* The index of an object, or something >= count; measure() keeps what hpm_stride_index_() wants. */
static inline uint64_t index_of(const struct hpm_pool *pool, const void *object)
{
	return hpm_stride_index_((uint64_t)(uintptr_t)object - (uint64_t)(uintptr_t)pool->base,
		pool->stride_inverse, pool->stride_shift);
}

/* Takes an object that is free. With the lock. */
static inline void take_index(struct hpm_pool *pool, uint32_t index)
{
	bitmap_take(&pool->free, index);
	pool->taken++;
}

/* Gives an object back; false when it is free already. With the lock. */
static inline bool give_index(struct hpm_pool *pool, uint32_t index)
{
	if (bitmap_is_free(&pool->free, index))
		return false;
	bitmap_give(&pool->free, index);
	pool->taken--;
	return true;
}

#endif
