/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what moves between a lane and its pool: half a lane at a time, so that a thread that gets
 * and puts around an edge does not come here again at once. The lowest free addresses come in, and
 * what has been parked longest goes out.
 * Invariant: every parked object's bit is 0 in the pool's bitmap, so nobody else can get it.
 */
#include <hpm/lane.h>
#include <hpm/run.h>

#include "alloc/give_run.h"
#include "alloc/pool.h"
#include "base/log.h"

#include <string.h>

_Static_assert(sizeof(struct hpm_lane) == HPM_CACHE_LINE, "slots start on a line of their own");

static uint32_t half(const struct hpm_lane *lane)
{
	return lane->cap / 2;
}

/* Takes n objects that are there, and stacks them so that the lowest address is on top. */
static void take_lowest(struct hpm_pool *pool, void **slots, uint32_t n)
{
	pool->taken += n;
	while (n > 0) {
		uint32_t first = 0;
		uint64_t mask = bitmap_take_some(&pool->free, &first, n);

		for (; mask != 0; mask &= mask - 1)
			slots[--n] = object_at(pool, first + (uint32_t)__builtin_ctzll(mask));
	}
}

int hpm_lane_fill(struct hpm_lane *lane, uint32_t want)
{
	struct hpm_pool *pool = lane->pool;
	uint32_t goal = want > half(lane) ? want : half(lane), free, more;

	if (want > lane->cap)
		return -EINVAL;
	if (lane->n >= want)
		return 0;
	pthread_mutex_lock(&pool->lock);
	free = pool->count - pool->taken;
	if (free < want - lane->n) {
		pthread_mutex_unlock(&pool->lock);
		return -ENOENT;
	}
	more = free < goal - lane->n ? free : goal - lane->n;
	take_lowest(pool, lane->slots + lane->n, more);
	pthread_mutex_unlock(&pool->lock);
	hpm_lane_set_n_(lane, lane->n + more);
	return 0;
}

/* Gives the n oldest back; the number of those that were free already. */
static uint32_t give(struct hpm_lane *lane, uint32_t n)
{
	struct hpm_pool *pool = lane->pool;
	uint32_t twice = 0;

	pthread_mutex_lock(&pool->lock);
	for (uint32_t i = 0; i < n; i++)
		twice += !give_index(pool, (uint32_t)index_of(pool, lane->slots[i]));
	pool->double_puts += twice;
	pthread_mutex_unlock(&pool->lock);
	memmove(lane->slots, lane->slots + n, (lane->n - n) * sizeof(*lane->slots));
	hpm_lane_set_n_(lane, lane->n - n);
	if (twice > 0)
		log_msg(HPM_LOG_ERR, "alloc",
			"%u objects of the pool at %p were put twice; hpm_pool_put() without lanes "
			"finds them at once",
			twice, (void *)pool->base);
	return twice;
}

int hpm_lane_spill(struct hpm_lane *lane, uint32_t room)
{
	uint32_t keep;

	if (room > lane->cap)
		return -EINVAL;
	keep = lane->cap - room < half(lane) ? lane->cap - room : half(lane);
	if (lane->n > keep)
		give(lane, lane->n - keep);
	return 0;
}

int hpm_lane_flush(struct hpm_lane *lane)
{
	return give(lane, lane->n) > 0 ? -EALREADY : 0;
}

/* Enters a lane that has its memory into the pool's books. */
static int enter(struct hpm_pool *pool, struct hpm_lane *lane)
{
	int rc = -ENOSPC;

	pthread_mutex_lock(&pool->lock);
	if (pool->lanes < pool->lanes_max) {
		lane->next = pool->open;
		pool->open = lane;
		pool->lanes++;
		rc = 0;
	}
	pthread_mutex_unlock(&pool->lock);
	return rc;
}

int hpm_lane_open(struct hpm_lane **ret, struct hpm_pool *pool, struct hpm_reason *reason)
{
	struct hpm_lane *lane;
	void *memory;
	int rc;

	reason_clear(reason);
	if (pool->lanes_max == 0)
		return fail(-EINVAL, reason,
			"the pool was created for one thread; set lanes in its options");
	rc = hpm_run_get(&memory, pool->arena, HPM_POOL_META_TAG,
		sizeof(*lane) + pool->lane_cap * sizeof(void *), HPM_CACHE_LINE, reason);
	if (rc < 0)
		return rc;
	lane = memory;
	*lane = (struct hpm_lane){.cap = pool->lane_cap,
		.base = (uint64_t)(uintptr_t)pool->base,
		.stride_inverse = pool->stride_inverse,
		.stride_shift = pool->stride_shift,
		.count = pool->count,
		.slots = (void **)(lane + 1),
		.pool = pool};
	rc = enter(pool, lane);
	if (rc < 0) {
		give_run(pool->arena, lane, "a lane");
		return fail(rc, reason,
			"all %u lanes of the pool are open; close one or create the pool with more",
			pool->lanes_max);
	}
	*ret = lane;
	return 0;
}

void hpm_lane_close(struct hpm_lane *lane)
{
	struct hpm_pool *pool;
	struct hpm_lane **link;

	if (lane == NULL)
		return;
	pool = lane->pool;
	give(lane, lane->n);
	pthread_mutex_lock(&pool->lock);
	for (link = &pool->open; *link != lane;)
		link = &(*link)->next;
	*link = lane->next;
	pool->lanes--;
	pthread_mutex_unlock(&pool->lock);
	give_run(pool->arena, lane, "a lane");
}
