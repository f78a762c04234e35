/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generated traffic: flows that hit the rules, and who sends next.
 *
 *   --generate uniform    every flow as often as any other
 *   --generate zipf:S     the flow of rank k with probability proportional to k^-S
 *   --generate active:N   N flows spread evenly over the table, uniform among them
 *
 * The same seed gives the same flows and the same order of packets.
 */
#ifndef DEMO_FLOWS_H
#define DEMO_FLOWS_H

#include "packet.h"
#include "rng.h"
#include "rules.h"

#include <hpm/base.h>

#include <stdint.h>

#define FLOWS_MAX  (1U << 28)
#define ZIPF_S_MAX 5.0

/* v[n], distinct, in no order, from malloc; flows_free() releases. */
struct flows {
	struct packet_key *v;
	uint32_t n;
};

/*
 * Makes n distinct flows; each matches at least one rule (an earlier one than it was made for may
 * win). A rule is picked, then addresses within its prefixes, ports within its ranges, and its
 * protocol; TCP or UDP where it leaves the choice. Flows of protocols without ports have ports 0,
 * and rules which want other ports of such a protocol are passed over.
 *
 * @param rules borrowed during the call; at least one.
 * @param n     [1, FLOWS_MAX].
 * @return 0, -EINVAL (n out of range, no rules), -ENOSPC (the rules do not match that many
 * different flows, or so few more that they are not found), -ENOMEM; the reason says which.
 *
 * Threads: set-up only. Cost: about 0.2 s and 24 MB for a million.
 */
int flows_make(struct flows *ret, const struct rules *rules, uint32_t n, uint64_t seed,
	struct hpm_reason *reason);

/* Releases v; a zeroed set is fine. */
void flows_free(struct flows *flows);

enum traffic_kind { TRAFFIC_UNIFORM, TRAFFIC_ZIPF, TRAFFIC_ACTIVE };

/* Picks flows. Fields are read-only to users; plain data, may be copied. */
struct traffic {
	struct rng rng;
	enum traffic_kind kind;
	uint32_t n;      /* flows of the table, >= 1 */
	uint32_t active; /* flows that may be picked; n unless active:N */
	/* zipf: constants of the method, and the permutation from rank to flow */
	double s, h_x1, h_n, shortcut;
	uint32_t stride, offset;
};

/*
 * Sets up a picker over n flows from what --generate takes.
 *
 * @param n >= 1.
 * @return 0, -EINVAL: unknown word, S not in (0, 5] or no number, N not in [1, n], anything behind
 *         them, n 0; the reason says what is taken.
 *
 * Threads: set-up only.
 */
int traffic_init(struct traffic *ret, const char *spec, uint32_t n, uint64_t seed,
	struct hpm_reason *reason);

/*
 * Checks the words of a spec alone, before the number of flows is known. As traffic_init().
 *
 * Threads: any thread.
 */
int traffic_check(const char *spec, struct hpm_reason *reason);

/* traffic_next() of kind zipf: the rank drawn, [1, n]. Threads: fast path. */
uint32_t traffic_zipf_rank(struct traffic *t);

/*
 * Index in [0, n) of the flow of the next packet.
 *
 * Threads: fast path. Cost: 2 ns; zipf see traffic_zipf_rank().
 */
static inline uint32_t traffic_next(struct traffic *t)
{
	if (t->kind == TRAFFIC_ZIPF)
		return (uint32_t)(((uint64_t)traffic_zipf_rank(t) * t->stride + t->offset) % t->n);
	if (t->kind == TRAFFIC_ACTIVE)
		return (uint32_t)((uint64_t)rng_below(&t->rng, t->active) * t->n / t->active);
	return rng_below(&t->rng, t->n);
}

#endif
