/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides where each lcore's counters lie: in one run, a block per lcore.
 * Invariant: a block starts on a cache line and fills whole lines, so two writers never share one.
 */
#include <hpm/counters.h>
#include <hpm/run.h>

#include "alloc/give_run.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#define LCORES_MAX      4096
#define FIELDS_MAX      8
#define OPTS_FIRST_SIZE 48 /* as first published */
#define LINE_SHIFT      6  /* of HPM_CACHE_LINE */

_Static_assert(1 << LINE_SHIFT == HPM_CACHE_LINE, "one number written twice");
_Static_assert(offsetof(struct hpm_counters_opts, kind) == OPTS_FIRST_SIZE,
	"the first published options never change");

struct hpm_counters {
	struct hpm_arena *arena;
	uint64_t *cells; /* [lcores][block_cells] */
	uint64_t count;  /* cells of a block that exist */
	uint64_t block_cells;
	uint32_t lcores;
};

static int check_opts(struct hpm_counters_opts *opts, const struct hpm_counters_opts *from)
{
	int rc = opts_copy(opts, sizeof(*opts), from, OPTS_FIRST_SIZE);

	if (rc < 0)
		return rc;
	reason_clear(opts->reason);
	if (opts->count == 0 || opts->count > UINT32_MAX)
		return fail(-EINVAL, opts->reason,
			"counters have 1 to %" PRIu32 " cells, not %" PRIu64, UINT32_MAX,
			opts->count);
	if (opts->lcores == 0 || opts->lcores > LCORES_MAX)
		return fail(-EINVAL, opts->reason, "counters have 1 to %d lcores, not %" PRIu32,
			LCORES_MAX, opts->lcores);
	if (opts->kind > HPM_COUNTERS_OWNED)
		return fail(-EINVAL, opts->reason,
			"counters are replicated (0) or owned (1), not kind %" PRIu32, opts->kind);
	if (opts->kind == HPM_COUNTERS_OWNED && opts->lcores != 1)
		return fail(-EINVAL, opts->reason,
			"owned counters have one block: set lcores to 1, not %" PRIu32,
			opts->lcores);
	if (opts->fields > FIELDS_MAX)
		return fail(-EINVAL, opts->reason, "counters have 1 to %d fields, not %" PRIu32,
			FIELDS_MAX, opts->fields);
	if (opts->fields == 0)
		opts->fields = 1;
	return 0;
}

/* At most 2^32 indices of 2^3 fields of 2^3 bytes, for 2^12 lcores: no overflow. */
static uint64_t block_bytes_of(const struct hpm_counters_opts *opts)
{
	return units_of(opts->count * opts->fields * sizeof(uint64_t), LINE_SHIFT) << LINE_SHIFT;
}

int hpm_counters_plan(uint64_t *ret, const struct hpm_counters_opts *from)
{
	struct hpm_counters_opts opts;
	int rc = check_opts(&opts, from);

	if (rc < 0)
		return rc;
	*ret = block_bytes_of(&opts) * opts.lcores;
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
	if (opts.arena == NULL)
		return fail(-EINVAL, opts.reason, "counters need an arena");
	counters = calloc(1, sizeof(*counters));
	if (counters == NULL)
		return fail(-ENOMEM, opts.reason, "out of memory for a control block of counters");
	block_bytes = block_bytes_of(&opts);
	rc = hpm_run_get(&cells, opts.arena, opts.tag, block_bytes * opts.lcores, HPM_CACHE_LINE,
		opts.reason);
	if (rc < 0) {
		free(counters);
		return rc;
	}
	*counters = (struct hpm_counters){.arena = opts.arena,
		.cells = cells,
		.count = opts.count * opts.fields,
		.block_cells = block_bytes / sizeof(uint64_t),
		.lcores = opts.lcores};
	*ret = counters;
	return 0;
}

void hpm_counters_destroy(struct hpm_counters *counters)
{
	if (counters == NULL)
		return;
	give_run(counters->arena, counters->cells, "counters");
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

int hpm_counters_snapshot(
	const struct hpm_counters *counters, uint64_t first, uint64_t n, uint64_t *out)
{
	if (first > counters->count || n > counters->count - first)
		return -EINVAL;
	for (uint64_t i = 0; i < n; i++)
		out[i] = hpm_counters_read(counters, first + i);
	return 0;
}
