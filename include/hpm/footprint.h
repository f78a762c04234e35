/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Footprint: which bytes and pages an arena's tables hold, by tag.
 *
 * Counted from the arena's own books, whose page size and node the kernel confirmed. What of it is
 * touched is another question: hpm/window.h.
 */
#ifndef HPM_FOOTPRINT_H
#define HPM_FOOTPRINT_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One tag's share of one arena. */
struct hpm_footprint {
	char arena[HPM_NAME_MAX];
	char tag[HPM_NAME_MAX];
	uint64_t asked_bytes;  /**< What the users of the runs asked for. */
	uint64_t held_bytes;   /**< Whole units lent to them. */
	uint64_t pages;        /**< Distinct pages that hold at least one unit of the tag. */
	uint64_t shared_pages; /**< Of them, pages that hold units of another tag too. */
	uint32_t page_shift;   /**< log2 bytes of a page. */
	int node;
};

/**
 * Reads an arena's footprint, a row per tag, in order of first address. In an arena with pages of
 * several sizes a tag has a row for each size it lies in, in the order of the sizes.
 *
 * @param[out] rows  rows[n]; may be NULL when n is 0.
 * @param n          entries of @p rows.
 * @param arena      borrowed.
 * @return number of rows there are, which may exceed @p n: then only n were filled; -ENOMEM.
 * Threads: any thread.
 */
HPM_API HPM_MUST_USE int hpm_footprint_read(
	struct hpm_footprint *rows, unsigned n, struct hpm_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
