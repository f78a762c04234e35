/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region: one shared mapping of pages of one size on one node, every page of it present and
 * verified. Either all of it is there or nothing is held.
 */
#ifndef REGION_REGION_H
#define REGION_REGION_H

#include "region/backend.h"

struct region {
	char *addr;
	uint64_t bytes; /* whole pages */
	uint32_t page_shift;
	int node;
	int fd;
	const struct region_backend *backend;
};

struct region_request {
	const char *name; /* of the memfd, for /proc/PID/maps */
	uint64_t bytes;   /* rounded up to whole pages */
	uint32_t page_shift;
	int node; /* or HPM_NODE_LOCAL */
	const struct region_backend *backend;
};

/* The errors of hpm_arena_create(). */
int region_acquire(struct region *ret, const struct region_request *want, struct hpm_reason *why);

/* Gives back what was acquired. */
void region_release(struct region *region);

/* Pages that are not on the region's node now; `where` gets the node of the first. -EIO. */
int64_t region_misplaced(const struct region *region, int *where);

/* The backend of an enum hpm_source; NULL for a number that is none. */
const struct region_backend *region_backend_of(int source);

#endif
