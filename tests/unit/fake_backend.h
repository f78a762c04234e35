/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine made of ordinary memory: nodes with so many free pages of each size, and a kernel that
 * fails, lies or is old where a test says so. It counts what is open, mapped and taken, so that a
 * leak shows.
 *
 * One machine per test program: fake_reset() starts it anew, tests then write into `fake`.
 */
#ifndef TESTS_FAKE_BACKEND_H
#define TESTS_FAKE_BACKEND_H

#include "arena/arena.h"
#include "region/backend.h"

#include <stdbool.h>

#define FAKE_NODES 4
#define FAKE_SIZES 4
#define FAKE_MAPS  64

enum fake_step {
	FAKE_OFFERS,
	FAKE_NODE,
	FAKE_ROOM,
	FAKE_OPEN,
	FAKE_RESIZE,
	FAKE_RESERVE,
	FAKE_MAP,
	FAKE_BIND,
	FAKE_POPULATE,
	FAKE_TOUCH,
	FAKE_PAGE_SHIFT,
	FAKE_WHERE,
	FAKE_STEPS
};

struct fake_pages { /* of one size */
	uint32_t shift;
	uint64_t total[FAKE_NODES];
	uint64_t free[FAKE_NODES];
};

struct fake_map {
	char *addr; /* NULL: the entry is not used */
	int fd;
	uint64_t bytes;
	uint64_t taken; /* pages, from the front */
	uint32_t shift;
	int node;
};

struct fake {
	/* the machine */
	int nodes;
	int local_node;
	struct fake_pages sizes[FAKE_SIZES]; /* shift 0 ends the list */
	uint64_t promised; /* free pages of any size and node that are refused all the same */
	uint32_t forbidden_nodes; /* bit n: cpuset.mems lacks node n */
	bool no_populate;         /* before 5.14 */
	bool no_mbind;            /* CONFIG_NUMA is off */
	bool no_room;             /* pages are not counted per node */
	uint32_t lying_shift;     /* not 0: the kernel says pages have this size */
	int lying_node;           /* not -1: the kernel says pages from lie_from on lie there */
	uint64_t lie_from;

	/* steps that fail, with a positive errno */
	int fail_errno[FAKE_STEPS]; /* always; 0 = works */
	int fail_at;                /* the n-th step of any kind, counted from 1 */
	int fail_at_errno;

	/* what happened */
	char trace[512]; /* the steps, by name, each followed by a blank */
	int steps;
	int open;     /* descriptors */
	int mapped;   /* mappings */
	int reserved; /* address ranges */
	struct fake_map maps[FAKE_MAPS];
};

extern struct fake fake;
extern const struct region_backend fake_backend;

/* Two nodes, node 0 local: 1000 base pages, 8 of 2 MiB and 2 of 1 GiB on each, all free. */
void fake_reset(void);

/* The entry of a page size, to be changed; aborts when the machine has none. */
struct fake_pages *fake_pages(uint32_t shift);

/* Nothing is open or mapped; pages go back to `free` with their mapping. */
bool fake_is_clean(void);

/* fake_reset(), and an arena of so many pages of any size from 4 KiB up; aborts on failure. */
struct hpm_arena *fake_arena(uint64_t pages, uint32_t page_shift);

/* Bytes of an arena that are lent out. */
uint64_t fake_arena_used(struct hpm_arena *arena);

/* Destroys the arena, as a test's teardown: 0 when nothing was lent and nothing stayed mapped, else
 * -1. */
int fake_arena_end(struct hpm_arena *arena);

#endif
