/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPDK ports of the forwarder: those EAL was given, and those a capture or the lack of any
 * calls for. */
#ifndef DEMO_PORTS_H
#define DEMO_PORTS_H

#include "options.h"

#include <stdbool.h>
#include <stdint.h>

#define TX_PORTS_MAX 8

struct rte_mempool;

/* tx[n]: a packet whose route names port h leaves by tx[h % n]. */
struct ports {
	uint16_t rx; /* meaningful when has_rx */
	bool has_rx;
	uint16_t tx[TX_PORTS_MAX];
	uint32_t n;
};

/*
 * Creates, configures and starts the ports.
 *
 * In: a net_pcap of --pcap-in, else none with --generate, else EAL's first port. Out: a net_pcap
 * of --pcap-out, else EAL's other ports (its only one serves both ways), else a net_null.
 *
 * 0, -EINVAL (a path net_pcap cannot take), -ENODEV and what DPDK answers, with a reason.
 */
int ports_open(struct ports *ret, const struct options *options, struct rte_mempool *pool,
	struct hpm_reason *reason);

/* Stops and closes every port there is; a capture that was written is complete then. */
void ports_close(void);

#endif
