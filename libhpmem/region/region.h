/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region: one shared mapping of pages of one size on one node, every page of it present and
 * verified. Either all of it is there or nothing is held.
 */
#ifndef REGION_REGION_H
#define REGION_REGION_H

#include "region/backend.h"

/* User addresses of x86-64 with four page-table levels, less what else a process needs. */
#define REGION_BYTES_MAX ((UINT64_C(1) << 47) - (UINT64_C(1) << 40))

struct region {
	char *addr;
	uint64_t bytes; /* whole pages */
	uint32_t page_shift;
	int node;
	int fd;
	uint64_t offset; /* in the file; not 0: a part that is being added to a region */
	const struct region_backend *backend;
};

struct region_request {
	void *at;         /* reserved addresses, aligned to the pages */
	const char *name; /* of the memfd, for /proc/PID/maps */
	uint64_t bytes;   /* rounded up to whole pages */
	uint32_t page_shift;
	int node; /* or HPM_NODE_LOCAL */
	const struct region_backend *backend;
};

/* The errors of hpm_arena_create(). */
int region_acquire(struct region *ret, const struct region_request *want, struct hpm_reason *why);

/*
 * Adds whole pages at the end, in the same file, at the reserved addresses behind it. The errors of
 * region_acquire(); on failure nothing has changed.
 */
int region_extend(struct region *region, uint64_t bytes, const char *name, struct hpm_reason *why);

/* Gives back what was acquired; its addresses stay reserved. */
void region_release(struct region *region);

/* Pages that are not on the region's node now; `where` gets the node of the first. -EIO. */
int64_t region_misplaced(const struct region *region, int *where);

/* The backend of an enum hpm_source; NULL for a number that is none. */
const struct region_backend *region_backend_of(int source);

#endif
