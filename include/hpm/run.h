/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Runs: consecutive units of an arena, lent to one table. The allocator for large blocks, and what
 * the others are built on.
 *
 * A run smaller than a page never straddles two; a larger one starts on a page. So r bytes lie on
 * exactly ceil(r / page) pages, and small tables that live together share one TLB entry. The lowest
 * address that fits is taken.
 *
 * A tag names the table for accounting: [1, 31] bytes of [a-z0-9_.-], e.g. "acl", "session". Tags
 * are per process; at most 255 differ.
 */
#ifndef HPM_RUN_H
#define HPM_RUN_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Lends a block.
 *
 * @param[out] ret  the block, zeroed, aligned to @p align and to the arena's unit at least; return
 *                  it with hpm_run_put().
 * @param arena     borrowed; outlives the run.
 * @param tag       copied.
 * @param bytes     [1, 2^63); rounded up to units, the caller's number is kept for accounting.
 * @param align     power of two, or 0 for the arena's unit.
 * @param reason    filled on failure; may be NULL.
 * @return 0, -EINVAL (bytes 0, bad tag or align), -EOVERFLOW, -ENOMEM (no gap that long; the reason
 *   names arena, wanted, longest gap), -ENOSPC (256th tag).
 * A tag counts among the 255 from the first call that names it, also when that call fails.
 *
 * Threads: any thread.  Cost: a walk over the arena's runs; a block that was lent before is zeroed,
 * about 85 ms per GiB, and other calls on the arena wait for it.
 */
HPM_API HPM_MUST_USE int hpm_run_get(void **ret, struct hpm_arena *arena, const char *tag,
	uint64_t bytes, uint64_t align, struct hpm_reason *reason);

/**
 * Takes a block back. Its bytes are zeroed when they are lent again.
 *
 * @return 0, -EINVAL when @p block is not the start of a run of this arena (foreign or double).
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_run_put(struct hpm_arena *arena, void *block);

/**
 * The tag of the run that holds an address.
 *
 * @return the tag, owned by the library for the life of the process; NULL when the address is in no
 *   run of this arena.
 * Threads: any thread.
 */
HPM_API const char *hpm_run_tag(struct hpm_arena *arena, const void *addr);

#ifdef __cplusplus
}
#endif
#endif
