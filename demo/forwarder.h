/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarder, assembled: inputs, EAL, ports, place, tables, and the pipeline over them. */
#ifndef DEMO_FORWARDER_H
#define DEMO_FORWARDER_H

#include "pieces.h"
#include "pipeline.h"
#include "summary.h"

struct forwarder {
	const struct options *options;
	struct rules rules;
	struct routes routes;
	struct flows flows;
	struct traffic traffic;
	struct capture capture; /* meaningful with options->pcap_in */
	char traffic_name[96];

	struct rte_mempool *pool;
	struct ports ports;
	struct source source;
	struct place *place;
	struct tables tables;
	struct pieces pieces; /* EAL's, tagged */
	struct pipeline pipeline;
	bool eal; /* rte_eal_init() succeeded */
};

/*
 * Reads the inputs, then starts EAL with its own arguments, then builds everything.
 *
 * 0, or -errno with a reason; forwarder_close() is due in both cases.
 */
int forwarder_open(struct forwarder *f, const struct options *options, int eal_argc,
	char **eal_argv, struct hpm_reason *reason);

void forwarder_close(struct forwarder *f);

#endif
