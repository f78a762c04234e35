/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarder's tables by number, what each needs, and how large an arena holds them. */
#ifndef DEMO_NEEDS_H
#define DEMO_NEEDS_H

#include <stdint.h>

enum table {
	TABLE_ACL,
	TABLE_HASH,
	TABLE_SESSION,
	TABLE_METER,
	TABLE_STATS,
	TABLE_LPM,
	TABLE_COUNTERS,
	TABLES,
};

enum table_kind {
	KIND_HEAP,    /* DPDK allocates; needs `bytes` in all */
	KIND_OBJECTS, /* `count` objects of `bytes` each */
	KIND_CELLS,   /* `count` counters of 64 bits */
};

/* By enum table. */
extern const struct table_info {
	const char *tag;
	enum table_kind kind;
} table_info[TABLES];

struct need {
	uint64_t bytes;
	uint64_t count;
};

/*
 * Bytes of an arena that holds tables of the given kinds (bit 1 << kind), whose runs are taken in
 * the order of enum table: they start on pages, or do not straddle one (hpm/run.h).
 */
uint64_t needs_arena_bytes(const struct need needs[TABLES], unsigned kinds, uint32_t page_shift);

#endif
