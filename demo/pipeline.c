/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each stage looks up in bulk, so that cache and TLB misses of a burst overlap, then keeps the
 * packets that go on, in order.
 */
#include "pipeline.h"

#include <rte_acl.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_hash.h>
#include <rte_ip.h>
#include <rte_lpm.h>
#include <rte_prefetch.h>

static void drop(struct pipeline *p, uint32_t i, enum drop_reason reason)
{
	struct burst *b = &p->burst;

	p->tally.dropped[reason]++;
	b->dead_mbufs[b->dead++] = b->mbufs[i];
}

/* Packet i goes on as packet `to` <= i. */
static void keep(struct burst *b, uint32_t to, uint32_t i)
{
	b->mbufs[to] = b->mbufs[i];
	b->packets[to] = b->packets[i];
	b->rules[to] = b->rules[i];
	b->sessions[to] = b->sessions[i];
	b->hops[to] = b->hops[i];
}

/* Bytes that may be told to packet_parse(): a long frame lies in several buffers, and the headers
 * in its first. */
static uint32_t there(const struct rte_mbuf *m)
{
	return m->data_len >= PACKET_PARSED_MAX ? m->pkt_len : m->data_len;
}

static void parse(struct pipeline *p)
{
	struct burst *b = &p->burst;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(b->mbufs[i], void *));
	for (uint32_t i = 0; i < b->n; i++) {
		const struct rte_mbuf *m = b->mbufs[i];
		int reason = p->source->ethernet ? packet_parse(&b->packets[i],
							   rte_pktmbuf_mtod(m, const uint8_t *),
							   there(m), m->pkt_len)
						 : DROP_LINK_TYPE;

		if (reason != DROP_NONE)
			drop(p, i, (enum drop_reason)reason);
		else
			keep(b, n++, i);
	}
	b->n = n;
}

static void classify(struct pipeline *p)
{
	struct burst *b = &p->burst;
	const uint8_t *keys[BURST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		keys[i] = (const uint8_t *)&b->packets[i].key;
	rte_acl_classify(p->tables->acl, keys, b->rules, b->n, 1);
	for (uint32_t i = 0; i < b->n; i++) {
		if (b->rules[i] == 0)
			drop(p, i, DROP_NO_ACL_MATCH);
		else
			keep(b, n++, i);
	}
	b->n = n;
}

static void find_sessions(struct pipeline *p, uint64_t now)
{
	struct burst *b = &p->burst;
	const void *keys[BURST];
	hash_sig_t values[BURST];
	uint64_t hits = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		keys[i] = &b->packets[i].key;
		values[i] = rte_hash_hash(p->tables->hash, keys[i]);
	}
	rte_hash_lookup_with_hash_bulk_data(
		p->tables->hash, keys, values, b->n, &hits, (void **)b->sessions);
	for (uint32_t i = 0; i < b->n; i++)
		if (hits & UINT64_C(1) << i)
			rte_prefetch0(b->sessions[i]);
	for (uint32_t i = 0; i < b->n; i++) {
		if ((hits & UINT64_C(1) << i) == 0) {
			void *found = NULL;

			/* an earlier packet of this burst may have made it */
			if (rte_hash_lookup_with_hash_data(
				    p->tables->hash, keys[i], values[i], &found) < 0)
				found = tables_session_create(
					p->tables, keys[i], values[i], b->rules[i] - 1, now);
			b->sessions[i] = found;
		}
		if (b->sessions[i] == NULL) {
			drop(p, i, DROP_SESSION_FULL);
			continue;
		}
		rte_prefetch0(b->sessions[i]->meter);
		rte_prefetch0(b->sessions[i]->stats);
		keep(b, n++, i);
	}
	b->n = n;
}

static void route(struct pipeline *p)
{
	struct burst *b = &p->burst;
	uint32_t addresses[BURST], n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		addresses[i] = rte_be_to_cpu_32(b->packets[i].key.dst_be);
	rte_lpm_lookup_bulk(p->tables->lpm, addresses, b->hops, b->n);
	for (uint32_t i = 0; i < b->n; i++) {
		if (b->hops[i] & RTE_LPM_LOOKUP_SUCCESS) {
			b->hops[i] &= ~(uint32_t)RTE_LPM_LOOKUP_SUCCESS & 0x00ffffff;
		} else if (p->tables->default_hop >= 0) {
			b->hops[i] = (uint32_t)p->tables->default_hop;
		} else {
			drop(p, i, DROP_NO_ROUTE);
			continue;
		}
		if (b->packets[i].ttl <= 1)
			drop(p, i, DROP_TTL_EXPIRED);
		else
			keep(b, n++, i);
	}
	b->n = n;
}

static void police(struct pipeline *p, uint64_t now)
{
	struct burst *b = &p->burst;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		enum rte_color color = rte_meter_srtcm_color_blind_check(b->sessions[i]->meter,
			&p->tables->meter_profile, now, b->packets[i].l3_bytes);

		if (color == RTE_COLOR_RED && p->police)
			drop(p, i, DROP_POLICED);
		else
			keep(b, n++, i);
	}
	b->n = n;
}

static void count(struct pipeline *p, uint64_t now)
{
	const struct burst *b = &p->burst;
	struct tables *t = p->tables;

	for (uint32_t i = 0; i < b->n; i++) {
		struct session_stats *stats = b->sessions[i]->stats;
		uint64_t *port = &t->port_counters[b->hops[i] * PORT_COUNTERS];

		stats->packets++;
		stats->bytes += b->mbufs[i]->pkt_len;
		stats->last_tsc = now;
		hpm_counter_add(&t->rule_counters[b->rules[i] - 1], 1);
		hpm_counter_add(&port[0], 1);
		hpm_counter_add(&port[1], b->mbufs[i]->pkt_len);
	}
}

/* One hop: TTL less one, header checksum mended in place (RFC 1624, equation 3), and the addresses
 * of the next link, as l3fwd makes them: 02:00:00:00:00:<port>. */
static void rewrite(struct pipeline *p)
{
	const struct burst *b = &p->burst;

	for (uint32_t i = 0; i < b->n; i++) {
		struct rte_ether_hdr *ether = rte_pktmbuf_mtod(b->mbufs[i], void *);
		struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(b->mbufs[i], void *, b->packets[i].l3_offset);
		uint32_t sum = (uint16_t)~ip->hdr_checksum + (uint32_t)RTE_BE16(0xfeff);

		ip->time_to_live--;
		sum = (sum & 0xffff) + (sum >> 16);
		ip->hdr_checksum = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
		ether->src_addr = ether->dst_addr;
		ether->dst_addr = (struct rte_ether_addr){{2, 0, 0, 0, 0, (uint8_t)b->hops[i]}};
	}
}

static void transmit(struct pipeline *p)
{
	struct burst *b = &p->burst;
	struct rte_mbuf *out[BURST];

	for (uint32_t port = 0; port < p->ports->n; port++) {
		uint16_t n = 0, sent;

		for (uint32_t i = 0; i < b->n; i++)
			if (b->hops[i] % p->ports->n == port)
				out[n++] = b->mbufs[i];
		sent = rte_eth_tx_burst(p->ports->tx[port], 0, out, n);
		p->tally.forwarded += sent;
		p->tally.dropped[DROP_TX_FULL] += (uint64_t)(n - sent);
		for (; sent < n; sent++)
			b->dead_mbufs[b->dead++] = out[sent];
	}
}

uint32_t pipeline_run(struct pipeline *p, uint32_t max)
{
	struct burst *b = &p->burst;
	uint64_t now = rte_rdtsc();
	uint32_t in = source_burst(p->source, b->mbufs, max);

	b->n = in;
	b->dead = 0;
	p->tally.in += in;
	parse(p);
	/* DPDK's bulk look-ups take at least one packet */
	if (b->n > 0)
		classify(p);
	if (b->n > 0)
		find_sessions(p, now);
	if (b->n > 0)
		route(p);
	if (b->n > 0) {
		police(p, now);
		count(p, now);
		rewrite(p);
		transmit(p);
	}
	rte_pktmbuf_free_bulk(b->dead_mbufs, b->dead);
	return in;
}
