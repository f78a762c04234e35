/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the glue share: EAL in one of several configurations, arenas, and which blocks
 * DPDK allocated between two moments. */
#ifndef TESTS_EAL_H
#define TESTS_EAL_H

#include <hpm/dpdk.h>
#include <hpm/run.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts EAL; ends the program as skipped when the machine lacks what the mode needs.
 *
 *   no-huge        without hugepages: the arena alone may have some
 *   in-memory      hugepages on demand, no files; IOVA mode as EAL likes
 *   in-memory-va   the same, IOVA = virtual address
 *   in-memory-pa   the same, IOVA = physical address (root)
 *   legacy         all of a hugetlbfs mount of 64 MiB, mapped at start (root)
 */
void eal_start(const char *mode);

/* An arena of pages of 2^shift bytes; ends the program as skipped when they are not there. */
struct hpm_arena *arena_of(uint32_t shift, uint64_t bytes);

struct hpm_arena_info info_of(struct hpm_arena *arena);

/* A heap that must come up. */
struct hpm_dpdk_heap *heap_in(struct hpm_arena *arena, const char *tag, uint64_t bytes);

/* Live blocks of DPDK's heaps at one moment, ascending by address. */
struct blocks {
	struct hpm_dpdk_element *at;
	size_t n, room;
};

/* Every live block; free with blocks_free(). */
struct blocks blocks_now(void);
void blocks_free(struct blocks *blocks);

/* What has come since: bytes in runs of `arena` under `tag`, and bytes anywhere else. */
struct landed {
	uint64_t inside, outside;
};
struct landed landed_since(const struct blocks *before, struct hpm_arena *arena, const char *tag);

#endif
