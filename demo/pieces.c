/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps every list sorted by address, so that comparing two is one pass. */
#include "pieces.h"

#include "fail.h"

#include <hpm/dpdk.h>

#include <errno.h>
#include <rte_memzone.h>
#include <stdlib.h>
#include <string.h>

int pieces_add(struct pieces *list, const struct piece *piece)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 256;
		struct piece *v = reallocarray(list->v, capacity, sizeof(*v));

		if (v == NULL)
			return -ENOMEM;
		list->v = v;
		list->capacity = capacity;
	}
	list->v[list->n++] = *piece;
	return 0;
}

void pieces_free(struct pieces *list)
{
	free(list->v);
	*list = (struct pieces){NULL, 0, 0};
}

static int add_element(void *arg, const struct hpm_dpdk_element *element)
{
	struct piece piece = {.addr = (uint64_t)(uintptr_t)element->addr, .bytes = element->bytes};

	if (element->external)
		return 0; /* its arena knows */
	return pieces_add(arg, &piece);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct piece *)a)->addr, y = ((const struct piece *)b)->addr;

	return x < y ? -1 : x > y;
}

int pieces_snapshot(struct pieces *ret, struct hpm_reason *reason)
{
	struct pieces list = {NULL, 0, 0};
	int rc = hpm_dpdk_elements_walk(add_element, &list);

	if (rc < 0) {
		pieces_free(&list);
		return demo_fail(rc, reason, "DPDK's list of memory blocks cannot be read: %s",
			strerror(-rc));
	}
	if (list.n > 0)
		qsort(list.v, list.n, sizeof(*list.v), by_address);
	*ret = list;
	return 0;
}

int pieces_tag_new(struct pieces *known, const char *tag, struct hpm_reason *reason)
{
	struct pieces now;
	size_t k = 0;
	int rc = pieces_snapshot(&now, reason);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < now.n; i++) {
		while (k < known->n && known->v[k].addr < now.v[i].addr)
			k++;
		now.v[i].tag =
			k < known->n && known->v[k].addr == now.v[i].addr ? known->v[k].tag : tag;
	}
	pieces_free(known);
	*known = now;
	return 0;
}

/* Mempools and rings name their memzones so (RTE_MEMPOOL_MZ_PREFIX, RTE_RING_MZ_PREFIX). */
static void tag_zone(const struct rte_memzone *zone, void *arg)
{
	struct pieces *list = arg;
	uint64_t addr = zone->addr_64;
	size_t low = 0, high = list->n;

	while (low < high) { /* first piece that starts behind the zone's start */
		size_t middle = low + (high - low) / 2;

		if (list->v[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return;
	struct piece *p = &list->v[low - 1];

	if (p->tag != NULL || addr >= p->addr + p->bytes)
		return;
	if (strncmp(zone->name, "MP_", 3) == 0)
		p->tag = "mbuf";
	else if (strncmp(zone->name, "RG_", 3) == 0)
		p->tag = "rings";
}

void pieces_tag_rest(struct pieces *list)
{
	rte_memzone_walk(tag_zone, list);
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].tag == NULL)
			list->v[i].tag = "eal";
}

uint64_t pieces_bytes(const struct pieces *list, const char *tag)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].tag != NULL && strcmp(list->v[i].tag, tag) == 0)
			bytes += list->v[i].bytes;
	return bytes;
}
