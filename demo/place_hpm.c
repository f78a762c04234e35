/* SPDX-License-Identifier: BSD-3-Clause */
/* libhpmem: every table in one arena, objects packed in pools. */
#include "fail.h"
#include "place.h"
#include "shelf.h"

#include <hpm/dpdk.h>

#include <errno.h>
#include <rte_debug.h>
#include <stdlib.h>

#define ALL_KINDS (1U << KIND_HEAP | 1U << KIND_OBJECTS | 1U << KIND_CELLS)

struct place_hpm {
	struct place base;
	struct shelf shelf;
};

static struct shelf *shelf_of(struct place *base)
{
	return &container_of(base, struct place_hpm, base)->shelf;
}

static int hpm_socket(struct place *base, enum table table)
{
	return hpm_dpdk_heap_socket(shelf_of(base)->heaps[table]);
}

static void *hpm_get(struct place *base, enum table table)
{
	return hpm_pool_get(shelf_of(base)->pools[table]);
}

static void hpm_put(struct place *base, enum table table, void *object)
{
	int rc = hpm_pool_put(shelf_of(base)->pools[table], object);

	RTE_VERIFY(rc == 0); /* it came from hpm_get() and is put once */
}

static uint64_t *hpm_cells(struct place *base, enum table table)
{
	return hpm_counters_block(shelf_of(base)->counters[table], 0);
}

static int hpm_watch(struct place *base, struct hpm_window *window, struct hpm_reason *reason)
{
	return hpm_window_watch_arena(window, base->arena, reason);
}

static void hpm_close(struct place *base)
{
	shelf_close(shelf_of(base));
	free(container_of(base, struct place_hpm, base));
}

int place_hpm_open(struct place **ret, const struct need needs[TABLES], uint32_t page_shift,
	struct hpm_reason *reason)
{
	struct place_hpm *p = calloc(1, sizeof(*p));
	int rc;

	if (p == NULL)
		return demo_fail(-ENOMEM, reason, "out of memory");
	rc = shelf_open(&p->shelf, needs, ALL_KINDS, page_shift, reason);
	if (rc < 0) {
		free(p);
		return rc;
	}
	p->base = (struct place){.socket = hpm_socket,
		.get = hpm_get,
		.put = hpm_put,
		.cells = hpm_cells,
		.watch = hpm_watch,
		.close = hpm_close,
		.arena = p->shelf.arena};
	*ret = &p->base;
	return 0;
}
