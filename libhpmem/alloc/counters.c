/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides where each lcore's counters lie: in one run, a block per lcore.
 * Invariant: a block starts on a cache line and fills whole lines, so two writers never share one.
 */
#include <hpm/counters.h>
#include <hpm/run.h>

#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LCORES_MAX 4096
#define LINE_SHIFT 6 /* of HPM_CACHE_LINE */

_Static_assert(1 << LINE_SHIFT == HPM_CACHE_LINE, "one number written twice");

struct hpm_counters {
	struct hpm_arena *arena;
	uint64_t *cells; /* [lcores][block_cells] */
	uint64_t count;  /* cells of a block that exist */
	uint64_t block_cells;
	uint32_t lcores;
};

static int check_opts(struct hpm_counters_opts *opts, const struct hpm_counters_opts *from)
{
	int rc = opts_copy(opts, sizeof(*opts), from, sizeof(*opts));

	if (rc < 0)
		return rc;
	reason_clear(opts->reason);
	if (opts->arena == NULL)
		return fail(-EINVAL, opts->reason, "counters need an arena");
	if (opts->count == 0 || opts->count > UINT32_MAX)
		return fail(-EINVAL, opts->reason,
			"counters have 1 to %" PRIu32 " cells, not %" PRIu64, UINT32_MAX,
			opts->count);
	if (opts->lcores == 0 || opts->lcores > LCORES_MAX)
		return fail(-EINVAL, opts->reason, "counters have 1 to %d lcores, not %" PRIu32,
			LCORES_MAX, opts->lcores);
	return 0;
}

int hpm_counters_create(struct hpm_counters **ret, const struct hpm_counters_opts *from)
{
	struct hpm_counters_opts opts;
	struct hpm_counters *counters;
	uint64_t block_bytes;
	void *cells;
	int rc = check_opts(&opts, from);

	if (rc < 0)
		return rc;
	counters = calloc(1, sizeof(*counters));
	if (counters == NULL)
		return fail(-ENOMEM, opts.reason, "out of memory for a control block of counters");
	/* at most 2^32 cells of 2^3 bytes for 2^12 lcores: no overflow */
	block_bytes = units_of(opts.count * sizeof(uint64_t), LINE_SHIFT) << LINE_SHIFT;
	rc = hpm_run_get(&cells, opts.arena, opts.tag, block_bytes * opts.lcores, HPM_CACHE_LINE,
		opts.reason);
	if (rc < 0) {
		free(counters);
		return rc;
	}
	*counters = (struct hpm_counters){.arena = opts.arena,
		.cells = cells,
		.count = opts.count,
		.block_cells = block_bytes / sizeof(uint64_t),
		.lcores = opts.lcores};
	*ret = counters;
	return 0;
}

void hpm_counters_destroy(struct hpm_counters *counters)
{
	if (counters == NULL)
		return;
	if (hpm_run_put(counters->arena, counters->cells) < 0)
		log_msg(HPM_LOG_ERR, "alloc", "the arena of counters no longer knows their run %p",
			(void *)counters->cells);
	free(counters);
}

uint64_t *hpm_counters_block(struct hpm_counters *counters, uint32_t lcore)
{
	return lcore < counters->lcores ? counters->cells + lcore * counters->block_cells : NULL;
}

uint64_t hpm_counters_read(const struct hpm_counters *counters, uint64_t cell)
{
	uint64_t sum = 0;

	if (cell >= counters->count)
		return 0;
	/* relaxed: pairs with hpm_counter_add(), whole values are all that is wanted */
	for (uint32_t lcore = 0; lcore < counters->lcores; lcore++)
		sum += __atomic_load_n(
			&counters->cells[lcore * counters->block_cells + cell], __ATOMIC_RELAXED);
	return sum;
}
