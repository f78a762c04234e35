/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counters: an array of 64-bit statistics, one copy per lcore, summed on read.
 *
 * Each lcore adds to its own block, a dense array that starts on a cache line of its own, so no two
 * lcores share a line and adding needs no atomic read-modify-write. Readers sum the blocks; a sum
 * taken while lcores add is some value between before and after.
 *
 *     arena   | lcore 0: cell 0, cell 1, ... pad | lcore 1: cell 0, cell 1, ... pad | ...
 *
 * Owned counters are one block: each index has one writer at a time, as sessions have. An index may
 * have several fields side by side; field f of index i is cell i * fields + f.
 */
#ifndef HPM_COUNTERS_H
#define HPM_COUNTERS_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_counters;

/** Who writes. */
enum hpm_counters_kind {
	HPM_COUNTERS_REPLICATED = 0, /**< Each lcore its own block. */
	HPM_COUNTERS_OWNED = 1,      /**< One block, one writer per index. */
};

/** What a set of counters is to be. Start from HPM_COUNTERS_OPTS_INIT. */
struct hpm_counters_opts {
	size_t size;               /**< sizeof this struct, as the caller knows it. */
	struct hpm_arena *arena;   /**< Borrowed; outlives the counters. */
	const char *tag;           /**< See hpm/run.h; copied. */
	uint64_t count;            /**< Indices per block, [1, 2^32). */
	uint32_t lcores;           /**< Blocks, [1, 4096]; 1 when owned. */
	struct hpm_reason *reason; /**< Filled on failure; may be NULL. Borrowed during the call. */
	uint32_t kind;             /**< enum hpm_counters_kind. */
	uint32_t fields;           /**< Cells per index, [1, 8]; 0 is 1. */
};

#define HPM_COUNTERS_OPTS_INIT                                                                     \
	{                                                                                          \
		sizeof(struct hpm_counters_opts), 0, 0, 0, 1, 0, 0, 0                              \
	}

/**
 * Creates counters, all zero.
 *
 * @param[out] ret  owned by the caller, release with hpm_counters_destroy().
 * @return 0, -EINVAL, -E2BIG, -EOVERFLOW, -ENOMEM, -ENOSPC: as hpm_pool_create().
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_counters_create(
	struct hpm_counters **ret, const struct hpm_counters_opts *opts);

/**
 * Bytes that hpm_counters_create() would ask of the arena, which rounds them up to its units (see
 * hpm/run.h). Touches nothing; opts->arena may be NULL.
 *
 * @return 0, -EINVAL, -E2BIG.
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_counters_plan(uint64_t *ret, const struct hpm_counters_opts *opts);

/** Returns the memory to the arena. NULL is a no-op. Threads: set-up only. */
HPM_API void hpm_counters_destroy(struct hpm_counters *counters);

/**
 * The block of one lcore, to pass to hpm_counter_add(); NULL when there is no such lcore.
 *
 * @return cells[count * fields], owned by the counters.
 * Threads: any thread; fetch it once, outside the loop.
 */
HPM_API uint64_t *hpm_counters_block(struct hpm_counters *counters, uint32_t lcore);

/**
 * Sum of one cell over all lcores, modulo 2^64; 0 for a cell that does not exist.
 *
 * Threads: any thread.  Cost: one cache miss per lcore.
 */
HPM_API uint64_t hpm_counters_read(const struct hpm_counters *counters, uint64_t cell);

/**
 * Sums of n cells from `first` on, each as hpm_counters_read(); not one instant for all of them.
 *
 * @param[out] out  n values, written on success only.
 * @return 0; -EINVAL: not all of the cells exist.
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_counters_snapshot(
	const struct hpm_counters *counters, uint64_t first, uint64_t n, uint64_t *out);

/**
 * Adds to a cell of the caller's own block. A plain load and store: only the
 * block's lcore writes, or when owned the index's one writer.
 *
 * Threads: fast path.
 */
static inline void hpm_counter_add(uint64_t *cell, uint64_t n)
{
	/* relaxed: readers want no ordering, only whole values */
	__atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif
#endif
