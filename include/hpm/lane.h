/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Lanes: one thread's way into a pool that several threads share.
 *
 * A lane holds a bounded stack of free objects. Get and put touch nothing but that stack; once in
 * lane_cap / 2 objects it is filled from the pool, lowest address first, or its older half goes
 * back, under the pool's lock. An object may be put into any lane of its pool, whoever got it.
 *
 *     thread A   hpm_lane | n cap ... | slot 0 .. n-1 |  \  lane_cap / 2 at a time, locked
 *     thread B   hpm_lane | n cap ... | slot 0 .. n-1 |  /  -> the pool's bitmap
 *
 * A foreign pointer is refused at once. A double put is found when the object goes back to the
 * bitmap and is free there already: it is logged and counted in hpm_pool_info.double_puts. Until
 * then both may have been handed out, and if the first was got again meanwhile, it is not found; a
 * pool without lanes finds every one at once.
 *
 * Objects in lanes are parked: not live, and of no use to other threads until hpm_lane_flush() or
 * hpm_lane_close(). They are at most lanes x lane_cap; give a pool that many objects more.
 */
#ifndef HPM_LANE_H
#define HPM_LANE_H

#include <hpm/pool.h>

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPM_LANE_CAP_DEFAULT 256  /**< Objects a lane holds when the pool's options say 0. */
#define HPM_LANE_CAP_MAX     4096 /**< Most objects of a lane; the fewest are 2. */

/** Read and written by the inline functions below only; the layout may change. */
struct hpm_lane {
	uint32_t n;   /* slots [0, n) hold free objects */
	uint32_t cap; /* n <= cap */
	/* whether a pointer is the pool's: see hpm_stride_index_() */
	uint64_t base;
	uint64_t stride_inverse;
	uint32_t stride_shift;
	uint32_t count;
	void **slots; /* [cap], behind this struct */
	struct hpm_pool *pool;
	struct hpm_lane *next; /* of the pool's open lanes */
	uint64_t pad_;
};

/**
 * Opens a lane for the calling thread, an lcore or any other.
 *
 * @param[out] ret owned by the caller, release with hpm_lane_close(). Lies in the pool's arena
 * under HPM_POOL_META_TAG. hpm_pool_destroy() closes what is still open.
 * @param pool     created with opts.lanes > 0; outlives the lane.
 * @return 0, -EINVAL (a pool without lanes), -ENOSPC (opts.lanes are open), -ENOMEM (arena too
 *   full).
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_lane_open(
	struct hpm_lane **ret, struct hpm_pool *pool, struct hpm_reason *reason);

/** Flushes and gives the lane up. NULL is a no-op. Threads: owner thread. */
HPM_API void hpm_lane_close(struct hpm_lane *lane);

/**
 * Gives every parked object back to the pool.
 *
 * @return 0, -EALREADY (double puts were found; they are counted, and all else went back).
 * Threads: owner thread.
 */
HPM_API int hpm_lane_flush(struct hpm_lane *lane);

/** For the inline functions: parks until at least @p want are there. 0, -ENOENT, -EINVAL. */
HPM_API HPM_MUST_USE int hpm_lane_fill(struct hpm_lane *lane, uint32_t want);

/** For the inline functions: gives the older ones back until @p room slots are free. 0, -EINVAL. */
HPM_API HPM_MUST_USE int hpm_lane_spill(struct hpm_lane *lane, uint32_t room);

/** Sets n; relaxed, because hpm_pool_info_read() only wants a whole value. Internal. */
static inline void hpm_lane_set_n_(struct hpm_lane *lane, uint32_t n)
{
	__atomic_store_n(&lane->n, n, __ATOMIC_RELAXED);
}

/**
 * The index of an object, or something >= count: one multiplication instead of a division.
 * Internal.
 *
 * With stride = odd << s and odd * inverse = 1 modulo 2^64, the product below has its lowest s bits
 * 0 and is index << s exactly when offset = index * stride modulo 2^64; other low bits end up on
 * top and make the result larger than any count, because count * stride < 2^63. So a result below
 * count proves that the pointer is that object's first byte, whatever pointer it was.
 */
static inline uint64_t hpm_stride_index_(uint64_t offset, uint64_t inverse, uint32_t s)
{
	uint64_t product = offset * inverse;

	return product >> s | product << (-s & 63);
}

/** Whether a pointer is the first byte of one of the pool's objects. Internal. */
static inline int hpm_lane_owns_(const struct hpm_lane *lane, const void *object)
{
	return hpm_stride_index_((uint64_t)(uintptr_t)object - lane->base, lane->stride_inverse,
		       lane->stride_shift) < lane->count;
}

/**
 * Takes an object; its bytes are what the last owner left, zero at first.
 *
 * @return the object; NULL: the pool has none that is not parked in another lane.
 * Threads: fast path, but for one call in lane_cap / 2 at most that takes the pool's lock.
 */
static inline void *hpm_lane_get(struct hpm_lane *lane)
{
	uint32_t n = lane->n;

	if (__builtin_expect(n == 0, 0)) {
		if (hpm_lane_fill(lane, 1) != 0)
			return NULL;
		n = lane->n;
	}
	hpm_lane_set_n_(lane, n - 1);
	return lane->slots[n - 1];
}

/**
 * Gives an object back, also one that another thread got.
 *
 * @return 0, -EINVAL (not an object of this pool; nothing changed).
 * Threads: as hpm_lane_get().
 */
static inline HPM_MUST_USE int hpm_lane_put(struct hpm_lane *lane, void *object)
{
	uint32_t n = lane->n;

	if (__builtin_expect(!hpm_lane_owns_(lane, object), 0))
		return -EINVAL;
	if (__builtin_expect(n == lane->cap, 0)) {
		int rc = hpm_lane_spill(lane, 1);

		if (rc != 0)
			return rc;
		n = lane->n;
	}
	lane->slots[n] = object;
	hpm_lane_set_n_(lane, n + 1);
	return 0;
}

/**
 * Takes @p n objects: all or none.
 *
 * @param[out] objects objects[n], filled on success only.
 * @return 0, -ENOENT (fewer than n are to be had), -EINVAL (n above the lane's cap).
 * Threads: as hpm_lane_get().
 */
static inline HPM_MUST_USE int hpm_lane_get_bulk(struct hpm_lane *lane, void **objects, uint32_t n)
{
	uint32_t left;

	if (__builtin_expect(lane->n < n, 0)) {
		int rc = hpm_lane_fill(lane, n);

		if (rc != 0)
			return rc;
	}
	left = lane->n;
	for (uint32_t i = 0; i < n; i++)
		objects[i] = lane->slots[--left];
	hpm_lane_set_n_(lane, left);
	return 0;
}

/**
 * Gives @p n objects back: all or none.
 *
 * @return 0, -EINVAL (one of them is not of this pool, or n above the lane's cap).
 * Threads: as hpm_lane_get().
 */
static inline HPM_MUST_USE int hpm_lane_put_bulk(
	struct hpm_lane *lane, void *const *objects, uint32_t n)
{
	uint32_t at;

	for (uint32_t i = 0; i < n; i++)
		if (__builtin_expect(!hpm_lane_owns_(lane, objects[i]), 0))
			return -EINVAL;
	if (__builtin_expect(lane->cap - lane->n < n, 0)) {
		int rc = hpm_lane_spill(lane, n);

		if (rc != 0)
			return rc;
	}
	at = lane->n;
	for (uint32_t i = 0; i < n; i++)
		lane->slots[at++] = objects[i];
	hpm_lane_set_n_(lane, at);
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
