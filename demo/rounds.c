/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles by nearest rank: every number reported is one that was measured. */
#include "rounds.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void rounds_add(struct rounds *r, uint64_t ns, uint64_t packets)
{
	if (packets == 0)
		return;
	r->ns[r->n++ % ROUNDS_MAX] = (double)ns / (double)packets;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct round_times rounds_times(const struct rounds *r)
{
	size_t n = r->n < ROUNDS_MAX ? r->n : ROUNDS_MAX;
	double sorted[ROUNDS_MAX];

	if (n == 0)
		return (struct round_times){0, 0, 0, 0};
	memcpy(sorted, r->ns, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), ascending);
	return (struct round_times){.n = n,
		.median = sorted[(n - 1) / 2],
		.p10 = sorted[(n - 1) / 10],
		.p90 = sorted[(n - 1) * 9 / 10]};
}
