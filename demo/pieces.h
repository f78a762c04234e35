/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose memory is what inside EAL: a list of pieces with tags, made from DPDK's own records.
 *
 * Which blocks a create call allocated is the difference between two snapshots of all live blocks.
 */
#ifndef DEMO_PIECES_H
#define DEMO_PIECES_H

#include <hpm/base.h>

#include <stddef.h>
#include <stdint.h>

struct piece {
	uint64_t addr;
	uint64_t bytes;
	const char *tag; /* NULL: not told yet; else static storage */
};

/* v[n], from malloc; a zeroed list is empty. */
struct pieces {
	struct piece *v;
	size_t n, capacity;
};

/* Appends. 0, -ENOMEM. */
int pieces_add(struct pieces *list, const struct piece *piece);

void pieces_free(struct pieces *list);

/* All live blocks of EAL's own heaps by address, none tagged. 0, -ENOMEM, -EPROTO as
 * hpm_dpdk_elements_walk(). Set-up only. */
int pieces_snapshot(struct pieces *ret, struct hpm_reason *reason);

/* Takes a snapshot, and tags what is not in `known` (by address); the result becomes `known`. */
int pieces_tag_new(struct pieces *known, const char *tag, struct hpm_reason *reason);

/* Tags what is left untagged by the memzone it lies in: mempools "mbuf", rings "rings", and all
 * else "eal". */
void pieces_tag_rest(struct pieces *list);

/* Bytes that carry a tag. */
uint64_t pieces_bytes(const struct pieces *list, const char *tag);

#endif
