/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Windows: exactly which pages were touched between two moments, by any code.
 *
 * Opening a window drops the page-table entries of the watched memory but not its data (zap); a
 * touch brings an entry back through a minor fault; closing looks which entries are there. Nothing
 * has to be instrumented: unmodified libraries are counted too. What is counted is pages touched by
 * CPUs in this process. DMA is not counted, and neither is anything about the TLB itself.
 *
 *     hpm_window_create(&w, &reason);
 *     hpm_window_watch_arena(w, arena, &reason);
 *     hpm_window_open(w);   ... the code in question ...   hpm_window_close(w);
 *     n = hpm_window_touched(rows, 4, w, "session");
 *
 * A page belongs to every tag that holds bytes on it. A touched page that several tags share counts
 * once for each of them, is reported as shared, and counts once in the total (tag NULL).
 *
 * Only shared mappings can be watched: zapping a private one would lose its data, so it is refused.
 * The kernel may share page tables of 2 MiB pages between processes, which would count the other
 * process's touches; the window switches that off for its ranges (userfaultfd), or refuses.
 * The same registration switches fault-around off, so that 4 KiB pages are counted exactly.
 *
 * One window at a time can watch a piece of memory; without userfaultfd, a second one on huge pages
 * is not noticed, and each would drop what the other counts. A child of fork(2) cannot use its parent's
 * windows (-ECHILD), but destroys them and creates its own; its touches do not count in its
 * parent's.
 */
#ifndef HPM_WINDOW_H
#define HPM_WINDOW_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_window;

/** Pages of one size that were touched. */
struct hpm_touched {
	uint64_t pages;        /**< Distinct pages touched. */
	uint64_t shared_pages; /**< Of them, pages on which another tag holds bytes too. */
	uint64_t held_pages;   /**< Distinct pages of this size that hold bytes of the tag. */
	uint32_t page_shift;   /**< log2 bytes of a page. */
};

/** What the last window cost. */
struct hpm_window_cost {
	uint64_t open_ns; /**< Time between open and close. */
	uint64_t zap_ns;  /**< Spent in hpm_window_open(). */
	uint64_t look_ns; /**< Spent in hpm_window_close(). */
	uint64_t faults;  /**< Touched pages: each took a minor fault inside the window. */
};

/**
 * Creates a window that watches nothing yet.
 *
 * @param[out] ret    owned by the caller, release with hpm_window_destroy().
 * @param[out] reason filled on failure; may be NULL.
 * @return 0, -ENOMEM, -ENOTSUP (no /proc/self/pagemap), -EACCES (not permitted to open it: the
 *   process changed its user and is not dumpable).
 * Threads: any thread; each call below: one thread at a time.
 */
HPM_API HPM_MUST_USE int hpm_window_create(struct hpm_window **ret, struct hpm_reason *reason);

/** Stops watching. NULL is a no-op. */
HPM_API void hpm_window_destroy(struct hpm_window *window);

/**
 * Watches an arena, with the tags of its runs as they are now.
 *
 * @param arena borrowed; outlives the window. Runs got or put later are not seen: create anew.
 * @return as hpm_window_watch().
 */
HPM_API HPM_MUST_USE int hpm_window_watch_arena(
	struct hpm_window *window, struct hpm_arena *arena, struct hpm_reason *reason);

/**
 * Watches a range of a shared mapping that is no arena, e.g. EAL's memory. Its page size is read
 * from the kernel.
 *
 * What is mapped there stays until the window is destroyed. A private mapping put in its place
 * would lose its data at the next hpm_window_open(), which checks nothing: that would cost more
 * than the window.
 *
 * @param addr   any address; the range is extended to whole pages.
 * @param bytes  at least 1. It may span several mappings of different page sizes.
 * @param reason filled on failure; may be NULL.
 * @return 0, or
 *   -EINVAL  nothing is mapped in part of the range, or part is watched already, or the window is
 *            open;
 *   -EPERM   part of the range is a private mapping: zapping it would lose its data;
 *   -EBUSY   page tables may be shared with another process and there is no userfaultfd to end
 *            that; or another window watches the memory; or it is locked with mlock(2);
 *   -ENOTSUP the kernel cannot zap this memory (hugetlb before 5.18), or it would map neighbours of
 *            a touched base page (fault-around) and there is no userfaultfd to stop that;
 *   -ECHILD  the window was created by the parent of this process;
 *   -EOVERFLOW, -ENOMEM, what opening /proc/self/smaps answered.
 *   On failure the window watches what it watched before. On success an earlier answer is gone.
 */
HPM_API HPM_MUST_USE int hpm_window_watch(
	struct hpm_window *window, const void *addr, uint64_t bytes, struct hpm_reason *reason);

/**
 * Says that bytes belong to a tag: the pages they lie on count for it from now on.
 *
 * @param tag  as hpm/run.h.
 * @return 0, -EINVAL (bad tag, bytes 0, or not inside watched memory: nothing is marked),
 *   -ENOSPC (256th tag), -ENOMEM (part may be marked).
 */
HPM_API HPM_MUST_USE int hpm_window_mark(
	struct hpm_window *window, const char *tag, const void *addr, uint64_t bytes);

/**
 * Opens the window: from here on a touch counts.
 *
 * @return 0, -EBUSY (is open), -ECHILD (created before fork), or what the kernel answered to the
 * zap. Cost: about 0.2 us per page that is mapped.
 */
HPM_API HPM_MUST_USE int hpm_window_open(struct hpm_window *window);

/**
 * Closes the window and looks.
 *
 * @return 0, -EINVAL (was not open), -ECHILD (created before fork), or what the kernel answered.
 */
HPM_API HPM_MUST_USE int hpm_window_close(struct hpm_window *window);

/**
 * The answer: how many pages of which size a tag's memory was touched on in the last window.
 *
 * @param[out] rows rows[n], one per page size on which the tag holds bytes, smallest page first.
 * @param n         entries of @p rows.
 * @param window    closed at least once.
 * @param tag       NULL for all watched memory, marked or not, each page once.
 * @return number of rows there are, which may exceed @p n: then only n were filled; 0 when nothing
 *   carries the tag; -EINVAL (window open or never closed).
 */
HPM_API HPM_MUST_USE int hpm_window_touched(
	struct hpm_touched *rows, unsigned n, const struct hpm_window *window, const char *tag);

/** Fills what the last window cost. @return 0, -EINVAL (never closed). */
HPM_API HPM_MUST_USE int hpm_window_cost_read(
	const struct hpm_window *window, struct hpm_window_cost *ret);

#ifdef __cplusplus
}
#endif
#endif
