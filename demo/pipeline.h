/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path of one lcore, a burst at a time:
 *
 *   rx -> parse -> rte_acl_classify -> session look-up or creation -> rte_lpm -> rte_meter
 *      -> counters, rewrite -> tx
 *
 * A packet that leaves on the way is freed and counted under its reason, so that
 * in = forwarded + the sum of all drops, after every burst.
 */
#ifndef DEMO_PIPELINE_H
#define DEMO_PIPELINE_H

#include "packet.h"
#include "ports.h"
#include "source.h"
#include "tables.h"

#define BURST 32

struct tally {
	uint64_t in;
	uint64_t forwarded;
	uint64_t dropped[DROP_REASONS];
};

/* The packets of a burst that are still alive, [0, n) of each array. */
struct burst {
	uint32_t n;
	struct rte_mbuf *mbufs[BURST];
	struct packet packets[BURST];
	uint32_t rules[BURST];
	struct session *sessions[BURST];
	uint32_t hops[BURST];
	uint32_t dead; /* dead_mbufs[dead] are freed at the end */
	struct rte_mbuf *dead_mbufs[BURST];
};

struct pipeline {
	struct tables *tables;
	struct source *source;
	struct ports *ports;
	bool police; /* red packets are dropped */
	struct tally tally;
	struct burst burst;
};

/*
 * Forwards one burst of at most `max` packets, [1, BURST]. Returns how many came in.
 *
 * Fast path; a packet of a new flow allocates its session.
 */
uint32_t pipeline_run(struct pipeline *p, uint32_t max);

#endif
