/* SPDX-License-Identifier: BSD-3-Clause */
/* Stock DPDK: everything by rte_malloc from EAL's own memory, one allocation an object. */
#include "fail.h"
#include "place.h"

#include <errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdlib.h>

#define ELEMENT_HEADER 128 /* struct malloc_elem in front of each object, DPDK 22.11 to 24.11 */

struct place_dpdk {
	struct place base;
	struct need needs[TABLES];
};

static int dpdk_socket(struct place *base, enum table table)
{
	return (int)rte_socket_id();
}

static void *dpdk_get(struct place *base, enum table table)
{
	const struct place_dpdk *p = (const struct place_dpdk *)base;

	return rte_malloc(table_info[table].tag, p->needs[table].bytes, RTE_CACHE_LINE_SIZE);
}

static void dpdk_put(struct place *base, enum table table, void *object)
{
	rte_free(object);
}

static uint64_t *dpdk_cells(struct place *base, enum table table)
{
	const struct place_dpdk *p = (const struct place_dpdk *)base;

	return rte_calloc(table_info[table].tag, p->needs[table].count, sizeof(uint64_t),
		RTE_CACHE_LINE_SIZE);
}

static struct span dpdk_span(struct place *base, void *object)
{
	size_t bytes = 0;

	rte_malloc_validate(object, &bytes);
	return (struct span){(char *)object - ELEMENT_HEADER, bytes + ELEMENT_HEADER};
}

static int dpdk_watch(struct place *base, struct hpm_window *window, struct hpm_reason *reason)
{
	return 0; /* all of it is EAL's */
}

static void dpdk_close(struct place *base)
{
	free(base); /* cells go with EAL */
}

int place_dpdk_open(struct place **ret, const struct need needs[TABLES], struct hpm_reason *reason)
{
	struct place_dpdk *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return demo_fail(-ENOMEM, reason, "out of memory");
	p->base = (struct place){.socket = dpdk_socket,
		.get = dpdk_get,
		.put = dpdk_put,
		.cells = dpdk_cells,
		.span = dpdk_span,
		.watch = dpdk_watch,
		.close = dpdk_close};
	for (int i = 0; i < TABLES; i++)
		p->needs[i] = needs[i];
	*ret = &p->base;
	return 0;
}
