/* SPDX-License-Identifier: BSD-3-Clause */
/* An address that is unknown to the IOMMU or hidden by the kernel stays RTE_BAD_IOVA, as it would
 * in EAL's own memory. */
#include "memsegs.h"

#include <rte_eal_memconfig.h>
#include <rte_memory.h>
#include <stdlib.h>

rte_iova_t *memsegs_iovas(const void *addr, unsigned n, uint64_t unit)
{
	rte_iova_t *iovas = calloc(n, sizeof(*iovas));

	for (unsigned i = 0; iovas != NULL && i < n; i++)
		iovas[i] = rte_mem_virt2iova((const char *)addr + i * unit);
	return iovas;
}

void memsegs_set_node(const void *addr, unsigned n, uint64_t unit, int node)
{
	struct rte_memseg_list *list = rte_mem_virt2memseg_list(addr);

	if (list == NULL)
		return;
	list->socket_id = node;
	for (unsigned i = 0; i < n; i++) {
		struct rte_memseg *segment =
			rte_mem_virt2memseg((const char *)addr + i * unit, list);

		if (segment != NULL)
			segment->socket_id = node;
	}
}
