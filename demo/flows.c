/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws flows out of rules.
 *
 * Invariant: the flows are distinct and each matches the rule it was drawn from. The number of
 * draws is bounded, so a rule set that matches too few flows ends in an error, not in a loop.
 */
#include "flows.h"

#include "fail.h"
#include "seen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Enough to find all of a million equally likely flows (about ln n draws each) and some. */
#define DRAWS_PER_FLOW 64
#define DRAWS_MIN      100000

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP;
}

/* TCP or UDP where the rule takes them, else its own. */
static uint8_t draw_proto(struct rng *rng, const struct rule *rule)
{
	bool tcp = (IPPROTO_TCP & rule->proto_mask) == rule->proto;
	bool udp = (IPPROTO_UDP & rule->proto_mask) == rule->proto;

	if (tcp && udp)
		return rng_below(rng, 2) == 0 ? IPPROTO_TCP : IPPROTO_UDP;
	if (tcp || udp)
		return tcp ? IPPROTO_TCP : IPPROTO_UDP;
	return rule->proto;
}

static uint32_t draw_address(struct rng *rng, uint32_t prefix, uint8_t len)
{
	return prefix | ((uint32_t)rng_next(rng) & ~prefix_mask(len));
}

static uint16_t draw_port(struct rng *rng, uint16_t lo, uint16_t hi)
{
	return htons((uint16_t)(lo + rng_below(rng, (uint32_t)hi - lo + 1)));
}

/* False when no packet of the rule's protocol could match it. */
static bool draw_flow(struct rng *rng, const struct rule *rule, struct packet_key *flow)
{
	*flow = (struct packet_key){.proto = draw_proto(rng, rule),
		.src_be = htonl(draw_address(rng, rule->src, rule->src_len)),
		.dst_be = htonl(draw_address(rng, rule->dst, rule->dst_len))};
	if (!has_ports(flow->proto))
		return rule->sport_lo == 0 && rule->dport_lo == 0;
	flow->sport_be = draw_port(rng, rule->sport_lo, rule->sport_hi);
	flow->dport_be = draw_port(rng, rule->dport_lo, rule->dport_hi);
	return true;
}

/* How many of n were found within the bounded number of draws. */
static uint32_t draw_flows(struct packet_key *v, uint32_t n, const struct rules *rules,
	struct rng *rng, struct seen *seen)
{
	uint64_t draws = (uint64_t)n * DRAWS_PER_FLOW + DRAWS_MIN;
	uint32_t found = 0;

	for (; found < n && draws > 0; draws--) {
		const struct rule *rule = &rules->v[rng_below(rng, rules->n)];

		if (draw_flow(rng, rule, &v[found]) && seen_add(seen, found) == SEEN_NEW)
			found++;
	}
	return found;
}

int flows_make(struct flows *ret, const struct rules *rules, uint32_t n, uint64_t seed,
	struct hpm_reason *reason)
{
	struct packet_key *v;
	struct seen seen;
	struct rng rng;
	uint32_t found;

	if (n < 1 || n > FLOWS_MAX)
		return demo_fail(
			-EINVAL, reason, "%u flows asked for, possible are 1 to %u", n, FLOWS_MAX);
	if (rules->n == 0)
		return demo_fail(-EINVAL, reason, "no rules to draw flows from");
	v = calloc(n, sizeof(v[0]));
	if (v == NULL || seen_open(&seen, v, n, sizeof(v[0]), sizeof(v[0])) < 0) {
		free(v);
		return demo_fail(-ENOMEM, reason, "no memory for %u flows", n);
	}
	rng_seed(&rng, seed);
	found = draw_flows(v, n, rules, &rng, &seen);
	seen_close(&seen);
	if (found < n) {
		free(v);
		return demo_fail(-ENOSPC, reason,
			"%u different flows that match the rules were found, %u are asked for",
			found, n);
	}
	*ret = (struct flows){.v = v, .n = n};
	return 0;
}

void flows_free(struct flows *flows)
{
	free(flows->v);
	*flows = (struct flows){0};
}
