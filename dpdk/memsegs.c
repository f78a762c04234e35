/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what DPDK's records say of a heap's memory: the real node, and the IOVA of every unit. An
 * address that the kernel hides stays RTE_BAD_IOVA, as it would in EAL's own memory.
 */
#include "memsegs.h"

#include <rte_eal_memconfig.h>
#include <rte_memory.h>
#include <stdlib.h>

rte_iova_t *memsegs_iovas(const void *addr, unsigned n, uint64_t unit)
{
	rte_iova_t *iovas = calloc(n, sizeof(*iovas));

	for (unsigned i = 0; iovas != NULL && i < n; i++) {
		const volatile char *at = (const char *)addr + (size_t)i * unit;

		(void)*at; /* a window may have dropped the entry that the address is read from */
		iovas[i] = rte_mem_virt2iova((const void *)(uintptr_t)at);
	}
	return iovas;
}

void memsegs_set_node(const void *addr, unsigned n, uint64_t unit, int node)
{
	struct rte_memseg_list *list;

	rte_mcfg_mem_write_lock();
	list = rte_mem_virt2memseg_list(addr);
	if (list != NULL)
		list->socket_id = node;
	for (unsigned i = 0; list != NULL && i < n; i++) {
		struct rte_memseg *segment =
			rte_mem_virt2memseg((const char *)addr + (size_t)i * unit, list);

		if (segment != NULL)
			segment->socket_id = node;
	}
	rte_mcfg_mem_write_unlock();
}

static int count(const struct rte_memseg_list *list, void *arg)
{
	unsigned *n = arg;

	(*n)++;
	return 0;
}

unsigned memsegs_lists(void)
{
	unsigned n = 0;

	rte_memseg_list_walk(count, &n);
	return n;
}
