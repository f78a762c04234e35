/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Arenas: one dense span of memory on one NUMA node, made of pages of one size.
 *
 * An arena is where tables live. It takes whole pages from the kernel when it is created, checks by
 * the kernel's own word that they have the size and the node that was asked for, and lends them out
 * as runs (hpm/run.h) to pools (hpm/pool.h), counters (hpm/counters.h), DPDK heaps (hpm/dpdk.h) or
 * the application. Everything lent carries a tag; accounting (hpm/footprint.h, hpm/window.h) is by
 * tag.
 *
 * Strict by default: what was asked for, or an error that names node, page size, wanted, free, and
 * the line that mends it. A fallback happens only along the list of page sizes the caller wrote
 * down, and hpm_arena_info_read() tells which entry it was. Once an arena exists, touching its
 * memory cannot raise SIGBUS: every page is there.
 *
 * Memory is a shared mapping (memfd or a hugetlbfs file), so children of fork() share it. They may
 * read and write what is in it; only the process that created an arena gets and puts runs and
 * objects, because who holds what is written down outside.
 */
#ifndef HPM_ARENA_H
#define HPM_ARENA_H

#include <hpm/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_arena;

#define HPM_PAGE_SIZES_MAX 4 /**< Longest list of page sizes an arena may be offered. */

/** Which kernel interface the pages come from. */
enum hpm_source {
	HPM_SOURCE_MEMFD = 0,     /**< memfd_create(2); needs no mount, works for ordinary users. */
	HPM_SOURCE_HUGETLBFS = 1, /**< unlinked file on a hugetlbfs mount, found by libhugetlbfs. */
};

/** What an arena is to be. Start from HPM_ARENA_OPTS_INIT. */
struct hpm_arena_opts {
	size_t size;      /**< sizeof this struct, as the caller knows it. */
	const char *name; /**< [1, 31] bytes, for people; copied. */
	uint64_t bytes;   /**< At least this much; rounded up to whole pages. */
	int node;         /**< NUMA node, or HPM_NODE_LOCAL. */
	int source;       /**< enum hpm_source, for huge pages; base pages are always a memfd. */
	/**
	 * log2 of the page sizes that will do, best first: {21} is 2 MiB or an error, {30, 21} 1
	 * GiB or else 2 MiB. Base pages are used only where their shift (12 on x86) is written
	 * here. 0 ends the list.
	 */
	uint32_t page_shifts[HPM_PAGE_SIZES_MAX];
	struct hpm_reason *reason; /**< Filled on failure; may be NULL. Borrowed during the call. */
};

#define HPM_ARENA_OPTS_INIT                                                                        \
	{                                                                                          \
		sizeof(struct hpm_arena_opts), 0, 0, HPM_NODE_LOCAL, HPM_SOURCE_MEMFD,             \
			{0, 0, 0, 0}, 0                                                            \
	}

/** What an arena has become. */
struct hpm_arena_info {
	size_t size; /**< Set by the caller to sizeof this struct. */
	char name[HPM_NAME_MAX];
	void *base;          /**< First byte; aligned to a page. */
	uint64_t bytes;      /**< Held: pages times page size. */
	uint64_t used_bytes; /**< Lent out as runs. */
	uint64_t pages;
	uint32_t page_shift;       /**< Verified with the kernel after the pages were touched. */
	uint32_t asked_page_shift; /**< First of the caller's list; differs after a fallback. */
	uint32_t unit_shift;       /**< Runs are whole units of this size. */
	int node;                  /**< Verified with the kernel. */
	int fd;                    /**< The file behind the mapping; owned by the arena. */
};

/**
 * Creates an arena: reserves addresses, maps, binds, populates, verifies.
 *
 * @param[out] ret  the arena, owned by the caller, release with hpm_arena_destroy().
 * @param opts      borrowed during the call.
 * @return 0, or
 *   -EINVAL  bad option: name, bytes 0, page size list empty or not offered by this machine,
 *            node that does not exist, unknown source;
 *   -E2BIG   @p opts is newer than this library and uses what it does not know;
 *   -EOVERFLOW bytes rounded up to pages exceeds the address space;
 *   -ENOMEM  the pages are not there: the reason names node, size, wanted, free and the cure;
 *   -EACCES, -EPERM  the hugetlbfs mount or the node is not permitted;
 *   -ENOENT  no hugetlbfs mount of this page size, or libhugetlbfs is not installed;
 *   -ENOTSUP the kernel lacks a call this needs;
 *   -EIO     the kernel gave other pages than it was asked for (size or node); all were given back;
 *   or what else the kernel answered, e.g. -EMFILE.
 *   A cgroup's memory.max is not asked before: base pages beyond it end in its OOM killer.
 *   On any failure nothing is held.
 *
 * Threads: any thread.  Cost: zeroes every page, about 85 ms per GiB.
 */
HPM_API HPM_MUST_USE int hpm_arena_create(
	struct hpm_arena **ret, const struct hpm_arena_opts *opts);

/**
 * Gives every page back. Whatever still lies inside becomes invalid: pools, counters and heaps go
 * first.
 *
 * @param arena NULL is a no-op.
 * Threads: set-up only.
 */
HPM_API void hpm_arena_destroy(struct hpm_arena *arena);

/**
 * Fills @p info, at most info->size bytes of it.
 *
 * @return 0, -EINVAL (info->size smaller than the first published struct).
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_arena_info_read(struct hpm_arena *arena, struct hpm_arena_info *info);

/**
 * Asks the kernel again where every page of the arena is: memory may have been offlined or moved.
 *
 * @param[out] reason filled when something moved; may be NULL.
 * Pages whose entries a window has dropped are touched to be found: close windows before.
 *
 * @return number of pages on another node (0 is good), or -EIO when the kernel would not say.
 * Threads: any thread.  Cost: about 0.1 us a page.
 */
HPM_API HPM_MUST_USE int64_t hpm_arena_misplaced(
	const struct hpm_arena *arena, struct hpm_reason *reason);

#ifdef __cplusplus
}
#endif
#endif
