/* SPDX-License-Identifier: BSD-3-Clause */
/* Hugepage pools: of the whole host, and of each node. Which page sizes there are is read from the
 * names of directories. */
#include "topo/topo.h"

#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct adding {
	struct hpm_topo *topo;
	const char *dir;
	int node;
};

static struct hpm_datum number(const struct adding *to, uint32_t kib, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/hugepages-%ukB/%s", to->dir, kib, name);
	return topo_number(to->topo, path);
}

static int add_pool(void *arg, uint32_t kib)
{
	const struct adding *to = arg;
	struct hpm_topo_pool *pool;

	if (!is_pow2(kib))
		return 0; /* no page has such a size */
	pool = topo_append(&to->topo->pools, &to->topo->pool_count, sizeof(*pool));
	if (pool == NULL)
		return -ENOMEM;
	pool->node = to->node;
	pool->page_shift = shift_of(kib) + 10;
	pool->total_pages = number(to, kib, "nr_hugepages");
	pool->free_pages = number(to, kib, "free_hugepages");
	pool->surplus_pages = number(to, kib, "surplus_hugepages");
	pool->promised_pages =
		to->node < 0 ? number(to, kib, "resv_hugepages")
			     : datum_unknown("the kernel counts promised pages per host only");
	return 0;
}

static int host_first_largest_first(const void *a, const void *b)
{
	const struct hpm_topo_pool *x = a, *y = b;

	if (x->node != y->node)
		return x->node - y->node;
	return (int)y->page_shift - (int)x->page_shift;
}

int topo_read_pools(struct hpm_topo *topo)
{
	struct adding to = {topo, "/sys/kernel/mm/hugepages", -1};
	int rc = topo_list(topo, to.dir, "hugepages-", "kB", add_pool, &to);

	for (unsigned i = 0; i < topo->node_count && rc != -ENOMEM; i++) {
		char dir[96];

		to.node = topo->nodes[i].node;
		to.dir = dir;
		snprintf(dir, sizeof(dir), "/sys/devices/system/node/node%d/hugepages", to.node);
		rc = topo_list(topo, dir, "hugepages-", "kB", add_pool, &to);
	}
	if (topo->pool_count > 0)
		qsort(topo->pools, topo->pool_count, sizeof(*topo->pools),
			host_first_largest_first);
	return rc == -ENOMEM ? rc : 0;
}
