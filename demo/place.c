/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which place serves which --mem. */
#include "place.h"

int place_open(struct place **ret, const struct options *options, const struct need needs[TABLES],
	struct hpm_reason *reason)
{
	switch (options->memory) {
	case MEMORY_NAIVE:
		return place_naive_open(ret, needs, reason);
	case MEMORY_DPDK:
		return place_dpdk_open(ret, needs, reason);
	default:
		return place_hpm_open(ret, needs, options->page_shift, reason);
	}
}
