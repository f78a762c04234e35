/* SPDX-License-Identifier: BSD-3-Clause */
/* Where packets come from: a port, a capture behind a port, or made up on the spot. */
#ifndef DEMO_SOURCE_H
#define DEMO_SOURCE_H

#include "capture.h"
#include "flows.h"
#include "ports.h"

#include <rte_mbuf.h>

#include <stdbool.h>
#include <stdint.h>

struct source {
	struct rte_mempool *pool;
	bool ethernet; /* frames start with an Ethernet header */

	bool port; /* packets come from port_id; else they are made from flows */
	uint16_t port_id;
	uint64_t expected; /* packets of the capture; UINT64_MAX: a port that has no end */
	uint64_t received;
	unsigned idle; /* empty polls in a row */

	const struct packet_key *flows; /* flows[flow_count]; borrowed */
	uint32_t flow_count;
	uint32_t warm; /* flows [0, warm) were sent once by source_warm_up() */
	bool warming;
	struct traffic traffic;
};

/* Packets from the ports' rx; `capture` is what was found in --pcap-in, or NULL. */
void source_from_port(struct source *ret, const struct ports *ports, struct rte_mempool *pool,
	const struct capture *capture);

/* Packets made from flows as `traffic` picks them; flows are borrowed. Not received before
 * source_start() ends the warm-up, in which each flow comes once. */
void source_from_flows(struct source *ret, const struct flows *flows, const struct traffic *traffic,
	struct rte_mempool *pool);

/* Ends the warm-up. */
void source_start(struct source *source);

/* At most `max` packets; the caller owns them. Fast path. */
uint32_t source_burst(struct source *source, struct rte_mbuf **mbufs, uint32_t max);

/* No packet will come any more: the capture has ended, or the warm-up. */
bool source_ended(const struct source *source);

#endif
