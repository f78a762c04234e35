/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pools: objects of one size, packed without headers.
 *
 * Which objects are free is kept in a bitmap outside the objects, so n objects of s bytes lie on
 * ceil(n * stride / page) pages and nothing else does. The lowest free address is handed out first:
 * live objects stay together on the first pages.
 *
 *     arena   | bitmap (tag "hpm-meta") | object 0 | object 1 | ... | object count-1 |
 *                                         <stride>
 *
 * One thread owns a pool, or many share it through lanes (hpm/lane.h); "owner thread" below reads
 * "any thread" for a pool with opts.lanes > 0.
 *
 * An object can be named by its pointer or by a 32-bit index, which is half as wide in a hash
 * table's entry.
 */
#ifndef HPM_POOL_H
#define HPM_POOL_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_pool;

#define HPM_POOL_NONE      UINT32_MAX   /**< The index that names no object. */
#define HPM_POOL_COUNT_MAX (UINT32_MAX) /**< Most objects of one pool: indexes 0 .. 2^32 - 2. */
#define HPM_POOL_META_TAG  "hpm-meta" /**< Tag of the bitmaps, which are touched by get and put. */

/** What a pool is to be. Start from HPM_POOL_OPTS_INIT. */
struct hpm_pool_opts {
	size_t size;               /**< sizeof this struct, as the caller knows it. */
	struct hpm_arena *arena;   /**< Borrowed; outlives the pool. */
	const char *tag;           /**< See hpm/run.h; copied. */
	uint64_t count;            /**< Objects, [1, HPM_POOL_COUNT_MAX]. */
	uint64_t object_bytes;     /**< Bytes of one, at least 1; the stride is this rounded up to
				      align. */
	uint32_t align;            /**< Of each object: a power of two in [8, 4096]. */
	struct hpm_reason *reason; /**< Filled on failure; may be NULL. Borrowed during the call. */
	/**
	 * Most lanes (hpm/lane.h) open at a time. 0: one thread owns the pool. Otherwise every call
	 * below is for any thread, under a lock, and hpm/lane.h is the fast path.
	 */
	uint32_t lanes;
	uint32_t lane_cap; /**< Objects a lane parks, [2, HPM_LANE_CAP_MAX]; 0: 256. */
};

#define HPM_POOL_OPTS_INIT                                                                         \
	{                                                                                          \
		sizeof(struct hpm_pool_opts), 0, 0, 0, 0, 8, 0, 0, 0                               \
	}

/** What a pool is now. */
struct hpm_pool_info {
	size_t size; /**< Set by the caller to sizeof this struct. */
	void *base;  /**< Object 0. */
	uint64_t object_bytes;
	uint64_t stride_bytes; /**< Distance of neighbours. */
	uint64_t meta_bytes;   /**< Bitmaps. */
	uint32_t count;        /**< Objects there are. */
	uint32_t live;         /**< Objects handed out, those parked in lanes not among them. */
	uint32_t parked;       /**< Free objects in lanes. While others work: about so many. */
	uint32_t lanes;        /**< Open. */
	uint64_t double_puts;  /**< Found when lanes or a compaction gave objects back. */
};

/**
 * Creates a pool; all its objects are there at once.
 *
 * @param[out] ret  owned by the caller, release with hpm_pool_destroy().
 * @param opts      borrowed during the call.
 * @return 0, -EINVAL (count 0 or above HPM_POOL_COUNT_MAX, object_bytes 0, bad align or tag),
 *   -E2BIG (opts from a newer library), -EOVERFLOW (count * stride >= 2^63), -ENOMEM (arena too
 * full: the reason says wanted and longest gap), -ENOSPC (too many tags). Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_pool_create(struct hpm_pool **ret, const struct hpm_pool_opts *opts);

/** Returns the memory to the arena, live objects included. NULL is a no-op. Threads: set-up only.
 */
HPM_API void hpm_pool_destroy(struct hpm_pool *pool);

/**
 * Takes the lowest free object; its bytes are what the last owner left, zero at first.
 *
 * @return the object, NULL when the pool is empty.
 * Threads: owner thread.
 */
HPM_API void *hpm_pool_get(struct hpm_pool *pool);

/**
 * Gives an object back.
 *
 * @return 0, -EINVAL (not an object of this pool: foreign, or inside one), -EALREADY (it is free
 *   already: a double put). The pool is unchanged on error.
 * Threads: owner thread.
 */
HPM_API HPM_MUST_USE int hpm_pool_put(struct hpm_pool *pool, void *object);

/**
 * Takes @p n objects, lowest first: all or none.
 *
 * @param[out] objects objects[n], filled on success only.
 * @return 0, -ENOENT (fewer than n are free).
 * Threads: owner thread.
 */
HPM_API HPM_MUST_USE int hpm_pool_get_bulk(struct hpm_pool *pool, void **objects, uint32_t n);

/**
 * Gives @p n objects back, all or none: every pointer is checked before the first is freed, twice
 * the same included.
 *
 * @return 0, -EINVAL or -EALREADY as hpm_pool_put(); the pool is unchanged on error.
 * Threads: owner thread.
 */
HPM_API HPM_MUST_USE int hpm_pool_put_bulk(struct hpm_pool *pool, void *const *objects, uint32_t n);

/**
 * The object with an index, whether live or free; NULL when the index is none of this pool.
 *
 * Threads: any thread.
 */
HPM_API void *hpm_pool_at(const struct hpm_pool *pool, uint32_t index);

/**
 * The index of an object; HPM_POOL_NONE when the pointer is none of this pool's objects.
 *
 * Threads: any thread.
 */
HPM_API uint32_t hpm_pool_index(const struct hpm_pool *pool, const void *object);

/**
 * Calls back for each live object, lowest first; the callback may put the object it is given.
 *
 * Objects parked in lanes are seen as live: flush them before.
 *
 * @param fn  returns 0 to go on; anything else ends the walk.
 * @return 0, or what @p fn returned.
 * Threads: owner thread.
 */
HPM_API int hpm_pool_walk(
	struct hpm_pool *pool, int (*fn)(void *arg, uint32_t index, void *object), void *arg);

/** Fills @p info, at most info->size bytes. @return 0, -EINVAL (size). Threads: owner thread. */
HPM_API HPM_MUST_USE int hpm_pool_info_read(
	const struct hpm_pool *pool, struct hpm_pool_info *info);

#ifdef __cplusplus
}
#endif
#endif
