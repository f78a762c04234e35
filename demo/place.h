/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where tables live: the one thing in which naive, dpdk and hpm differ.
 *
 * The forwarder asks a place for a socket id (the tables DPDK allocates itself), for objects
 * (sessions and what hangs on them) and for counter cells, and is told nothing else. What each
 * table needs is known before the place is opened (sizing.h).
 *
 *   naive | heaps on base pages (acl, hash, lpm) | objects from malloc, on base pages
 *   dpdk  | EAL's memory, whatever pages it took
 *   hpm   | one arena: heaps, pools and counters side by side, one page size
 */
#ifndef DEMO_PLACE_H
#define DEMO_PLACE_H

#include "needs.h"
#include "options.h"

#include <hpm/hpm.h>

#include <stdint.h>

/* A piece of memory that belongs to a table. */
struct span {
	const void *addr;
	uint64_t bytes;
};

struct place {
	/* The socket id for DPDK's create calls; table of KIND_HEAP. */
	int (*socket)(struct place *place, enum table table);
	/* One object, aligned to a cache line, contents undefined; NULL when there is no more. */
	void *(*get)(struct place *place, enum table table);
	void (*put)(struct place *place, enum table table, void *object);
	/* Cells of the table's need, zeroed; NULL when there is no memory. */
	uint64_t *(*cells)(struct place *place, enum table table);
	/* What an object costs, the allocator's header included; NULL when the arena knows. */
	struct span (*span)(struct place *place, void *object);
	/* Watches the place's own memory (EAL's is not its own). As hpm_window_watch(). */
	int (*watch)(struct place *place, struct hpm_window *window, struct hpm_reason *reason);
	/* Every object was put and every table freed before. */
	void (*close)(struct place *place);
	struct hpm_arena *arena; /* whose runs carry the tables' tags, or NULL */
};

/* Opens the place that options name. EAL is up. The reason says what to do on failure. */
int place_open(struct place **ret, const struct options *options, const struct need needs[TABLES],
	struct hpm_reason *reason);

/* The three behind place_open(). */
int place_naive_open(
	struct place **ret, const struct need needs[TABLES], struct hpm_reason *reason);
int place_dpdk_open(struct place **ret, const struct need needs[TABLES], struct hpm_reason *reason);
int place_hpm_open(struct place **ret, const struct need needs[TABLES], uint32_t page_shift,
	struct hpm_reason *reason);

#endif
