/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK is told, and tells others, about the units of a heap. */
#ifndef DPDK_MEMSEGS_H
#define DPDK_MEMSEGS_H

#include <rte_common.h>

#include <stdint.h>

/* The IOVA of each of n units, from malloc; NULL without memory. Every unit must be populated. */
rte_iova_t *memsegs_iovas(const void *addr, unsigned n, uint64_t unit);

/* Writes the real node into DPDK's records of registered memory, which carry the heap's id: drivers
 * and applications index arrays with it. */
void memsegs_set_node(const void *addr, unsigned n, uint64_t unit, int node);

/* How many of DPDK's memseg lists are taken. */
unsigned memsegs_lists(void);

#endif
