/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's own word on our mappings: /proc/self/smaps, one mapping at a time. */
#ifndef REGION_SMAPS_H
#define REGION_SMAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct smaps_entry {
	uintptr_t start, end;
	uint32_t page_shift; /* of KernelPageSize */
	bool shared;         /* MAP_SHARED: data survives a zap */
	bool hugetlb;        /* hugetlbfs pages, anonymous MAP_HUGETLB included */
	bool locked;         /* mlock(2): pages cannot be zapped */
	bool huge_mapped;    /* base pages, some of them mapped as a transparent huge page */
};

/* The first mapping that ends above addr. 0, -ENOENT (none), -errno of /proc/self/smaps. */
int smaps_find(struct smaps_entry *ret, uintptr_t addr);

/* Reads the next mapping of an open smaps file. 1, or 0 at its end. For tests and smaps_find(). */
int smaps_next(struct smaps_entry *ret, FILE *smaps);

#endif
