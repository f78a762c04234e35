/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the pages a forwarder touches, table by table: windows over the place's memory and EAL's.
 *
 * Every table is accounted for in the same way whatever place it lives in: its pieces are marked
 * with its tag, the kernel says which pages were touched. Memory that cannot be watched keeps its
 * reason, and its tables' counts stay unknown.
 */
#ifndef DEMO_ACCOUNTS_H
#define DEMO_ACCOUNTS_H

#include "pieces.h"
#include "tables.h"

#include <stdbool.h>

#define PAGE_SIZES 4   /* most page sizes one table lies on */
#define ONE_PACKET 200 /* one-packet windows below which their mean is no answer */

/* Pages of one size. */
struct page_count {
	uint32_t shift; /* log2 bytes */
	uint64_t held;  /* pages that hold bytes of the table */
	uint64_t touched;
};

/* One table's account; see accounts_read(). */
struct account {
	char tag[HPM_NAME_MAX];
	uint64_t bytes;
	struct page_count pages[PAGE_SIZES];
	unsigned sizes;          /* entries of pages[] */
	bool counted;            /* `touched` is known */
	bool per_packet_counted; /* `per_packet` is known */
	double per_packet;       /* mean of distinct pages over the one-packet windows */
	char why[200];           /* what is not known, and why; "" when all is */
};

struct accounts;

/*
 * Watches everything the tables, packets and EAL hold now.
 *
 * `pieces` are EAL's, all tagged. Borrows everything until accounts_destroy(). 0, -errno with a
 * reason; memory that refuses to be watched is no error here.
 */
int accounts_create(struct accounts **ret, struct tables *tables, const struct pieces *pieces,
	struct hpm_reason *reason);

void accounts_destroy(struct accounts *a);

/* Opens and closes a window. 0, what hpm_window_open() and _close() answer. */
int accounts_open(struct accounts *a);
int accounts_close(struct accounts *a);

/* Keeps the counts of the window just closed as those of the long window. */
int accounts_keep_window(struct accounts *a);

/* Adds the counts of the window just closed to the mean of one-packet windows. */
int accounts_keep_packet(struct accounts *a);

unsigned accounts_packets(const struct accounts *a);

/* What the long window cost. -EINVAL when none was kept. */
int accounts_cost(const struct accounts *a, struct hpm_window_cost *ret);

/*
 * The accounts: one of each table, then "hpm-meta" where pools have bitmaps, "mbuf", "rings",
 * "eal"; last the total ("total": every watched page once). Owned by `a`.
 */
const struct account *accounts_read(struct accounts *a, unsigned *n);

#endif
