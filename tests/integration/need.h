/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a live test needs of the machine. A test that lacks it ends with status 77, which meson
 * reports as SKIP, and one line on stderr that says what was missing.
 */
#ifndef TESTS_NEED_H
#define TESTS_NEED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SKIP_STATUS 77

/* Free huge pages of 2^shift bytes on the whole host; 0 where there are none or no such size. */
static inline uint64_t free_pages(uint32_t shift)
{
	char path[96];
	uint64_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path),
		"/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/free_hugepages",
		(UINT64_C(1) << shift) >> 10);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%" SCNu64, &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* Ends the program as skipped unless that many pages are free. */
static inline void need_pages(uint32_t shift, uint64_t pages)
{
	uint64_t there = free_pages(shift);

	if (there >= pages)
		return;
	fprintf(stderr,
		"skipped: needs %" PRIu64 " free pages of %" PRIu64 " KiB, there are %" PRIu64 "\n",
		pages, (UINT64_C(1) << shift) >> 10, there);
	exit(SKIP_STATUS);
}

#endif
