/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when a source has ended. net_pcap does not tell the end of a capture from a pause. */
#include "source.h"

#include "packet.h"

#include <rte_ethdev.h>

/* Polls in a row without a packet after which a capture is over: net_pcap delivers all there is
 * without a pause, so a few would do. */
#define IDLE_POLLS 64

#define FRAME_BYTES PACKET_BYTES_MIN /* of made-up packets: 64 on the wire */

void source_from_port(struct source *ret, const struct ports *ports, struct rte_mempool *pool,
	const struct capture *capture)
{
	*ret = (struct source){.pool = pool,
		.ethernet = capture == NULL || capture->ethernet,
		.port = true,
		.port_id = ports->rx,
		.expected = capture != NULL ? capture->packets : UINT64_MAX};
}

void source_from_flows(struct source *ret, const struct flows *flows, const struct traffic *traffic,
	struct rte_mempool *pool)
{
	*ret = (struct source){.pool = pool,
		.ethernet = true,
		.flows = flows->v,
		.flow_count = flows->n,
		.warming = true,
		.traffic = *traffic};
}

void source_start(struct source *source)
{
	source->warming = false;
}

static uint32_t make_packets(struct source *s, struct rte_mbuf **mbufs, uint32_t max)
{
	if (s->warming && max > s->flow_count - s->warm)
		max = s->flow_count - s->warm;
	if (max == 0 || rte_pktmbuf_alloc_bulk(s->pool, mbufs, max) != 0)
		return 0;
	for (uint32_t i = 0; i < max; i++) {
		uint32_t flow = s->warming ? s->warm++ : traffic_next(&s->traffic);
		(void)packet_build(/* the size is right */
			rte_pktmbuf_mtod(mbufs[i], uint8_t *), FRAME_BYTES, &s->flows[flow]);
		mbufs[i]->data_len = FRAME_BYTES;
		mbufs[i]->pkt_len = FRAME_BYTES;
	}
	return max;
}

uint32_t source_burst(struct source *source, struct rte_mbuf **mbufs, uint32_t max)
{
	uint32_t n;

	if (!source->port)
		return make_packets(source, mbufs, max);
	n = rte_eth_rx_burst(source->port_id, 0, mbufs, (uint16_t)max);
	source->received += n;
	source->idle = n > 0 ? 0 : source->idle + 1;
	return n;
}

bool source_ended(const struct source *source)
{
	if (!source->port)
		return source->warming && source->warm == source->flow_count;
	return source->expected != UINT64_MAX &&
	       (source->received >= source->expected || source->idle >= IDLE_POLLS);
}
