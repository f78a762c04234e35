/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Compaction: moves a pool's live objects to its lowest addresses, in slices, while readers run.
 *
 * After a fall in load the live objects of a pool are scattered over all its pages. A slice takes
 * the highest object, copies it to the lowest free place, lets the application publish the new
 * address, and frees the old place once no reader can hold it any more:
 *
 *     copy -> publish (move) -> wait for quiescence (start, passed) -> free
 *
 * When step() returns 0, n live objects lie on the first ceil(n * stride / page) pages, plus what
 * the application would not move and what lanes had parked (hpm/lane.h): flush them before.
 *
 * Who moves: step() copies plainly. Call it on the thread that writes the objects, between two
 * packets, or for a pool whose objects only that thread changes; readers elsewhere never wait.
 */
#ifndef HPM_COMPACT_H
#define HPM_COMPACT_H

#include <hpm/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_compact;

#define HPM_COMPACT_SLICE_MAX 4096 /**< Most objects that one step moves. */

/** What a compaction is to do. Start from HPM_COMPACT_OPTS_INIT. */
struct hpm_compact_opts {
	size_t size;           /**< sizeof this struct, as the caller knows it. */
	struct hpm_pool *pool; /**< Borrowed; outlives the compaction. */
	/**
	 * Publishes an object's new address: every reference to @p from is to name @p to, with
	 * release order, before it returns 0. From then on the old place is the compaction's.
	 * Anything else: the object stays, and @p to is free again.
	 *
	 * It must check that its own reference still names @p from. An object that was put, but is
	 * parked in a lane, is offered too: nobody refers to it, so it must not be moved.
	 */
	int (*move)(void *arg, void *from, void *to);
	/**
	 * Begins to wait for readers that may hold an old address: a token for passed(). NULL, with
	 * passed: there are no other readers.
	 */
	uint64_t (*start)(void *arg);
	int (*passed)(void *arg, uint64_t token); /**< Not 0 when all of them have let go. */
	void *arg;                                /**< For all three; kept. */
	struct hpm_reason *reason;                /**< Filled on failure; may be NULL. */
};

#define HPM_COMPACT_OPTS_INIT                                                                      \
	{                                                                                          \
		sizeof(struct hpm_compact_opts), 0, 0, 0, 0, 0, 0                                  \
	}

/** What a compaction has done since it was created. */
struct hpm_compact_info {
	size_t size;        /**< Set by the caller to sizeof this struct. */
	uint64_t moved;     /**< Objects that have a new address. */
	uint64_t refused;   /**< Offers that move() declined. */
	uint64_t waiting;   /**< Old places that are not free yet. */
	uint64_t end_bytes; /**< From object 0 to the end of the highest object that is taken. */
};

/**
 * Creates a compaction; nothing is moved yet.
 *
 * @param[out] ret owned by the caller, release with hpm_compact_destroy().
 * @return 0, -EINVAL (no pool, no move, or only one of start and passed), -E2BIG, -ENOMEM.
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_compact_create(
	struct hpm_compact **ret, const struct hpm_compact_opts *opts);

/**
 * One slice: frees the old places of the last one if readers let go of them, then moves up to
 * @p objects.
 *
 * @param objects [1, HPM_COMPACT_SLICE_MAX].
 * @return 0 (nothing left to do: the pool is dense), 1 (more to do, or readers hold old places:
 *   call again), -EINVAL (objects).
 * Threads: owner thread; see above.  Cost: two cache misses an object and its copy; never waits.
 */
HPM_API HPM_MUST_USE int hpm_compact_step(struct hpm_compact *compact, uint32_t objects);

/** Fills @p info, at most info->size bytes. @return 0, -EINVAL (size). Threads: owner thread. */
HPM_API HPM_MUST_USE int hpm_compact_info_read(
	const struct hpm_compact *compact, struct hpm_compact_info *info);

/**
 * Ends it, once the last old places are free: step until 0 before.
 *
 * @param compact NULL is a no-op.
 * @return 0, -EBUSY (old places are waiting for readers; nothing was done).
 * Threads: owner thread.
 */
HPM_API HPM_MUST_USE int hpm_compact_destroy(struct hpm_compact *compact);

#ifdef __cplusplus
}
#endif
#endif
