/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run found out. Text and JSON are two renderings of this one struct. */
#ifndef DEMO_SUMMARY_H
#define DEMO_SUMMARY_H

#include "accounts.h"
#include "options.h"
#include "pipeline.h"
#include "rounds.h"

#include <stdio.h>

/* What the data TLB of a core covers with pages of one size. */
struct reach {
	uint32_t shift;
	bool known;
	uint64_t bytes;
	char source[96]; /* where it is from, or why it is unknown */
};

struct summary {
	const struct options *options;
	const char *traffic; /* where packets came from */
	uint32_t rules, routes, sessions;
	uint64_t warm_up; /* packets before anything was counted */
	struct tally tally;
	struct round_times times;
	const struct account *accounts; /* the last is the total */
	unsigned n;
	struct reach reach[PAGE_SIZES]; /* of the page sizes the total lies on, in its order */
	bool window;                    /* one was taken */
	struct hpm_window_cost cost;
	uint64_t window_packets;
	unsigned one_packet_windows;
	struct hpm_reason remark; /* what went wrong on the way, "" when nothing did */
	int exit_status;
};

void summary_text(FILE *to, const struct summary *s);
void summary_json(FILE *to, const struct summary *s);

#endif
