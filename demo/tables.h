/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forwarder's tables: ACL, sessions with their meters and statistics, routes, counters. The
 * same code builds them in every place; what differs is where place.h puts their memory.
 *
 *   packet_key -> rte_hash -> struct session -> struct rte_meter_srtcm
 *                                            -> struct session_stats
 */
#ifndef DEMO_TABLES_H
#define DEMO_TABLES_H

#include "packet.h"
#include "place.h"
#include "routes.h"
#include "rules.h"

#include <rte_meter.h>

#include <stdint.h>

#define PORT_COUNTERS 2 /* per port: packets, bytes */

struct rte_acl_ctx;
struct rte_hash;
struct rte_lpm;

/* What a session did; written for every packet. One cache line, so that neighbours of other
 * lcores would not share it. */
struct session_stats {
	uint64_t packets;
	uint64_t bytes;
	uint64_t last_tsc;
	uint64_t pad_[5];
};

_Static_assert(sizeof(struct session_stats) == 64, "one line");

struct session {
	/* line 0: read for every packet */
	struct packet_key key;
	struct rte_meter_srtcm *meter;
	struct session_stats *stats;
	uint64_t created_tsc;
	uint32_t rule; /* the rule that let it in */
	uint32_t pad_;
	struct session *older; /* the one created before, NULL for the first */
	uint64_t line_pad_;
	/* line 1: what a switch keeps beside (translation, timers, owner); written at creation */
	uint64_t state[8];
};

_Static_assert(sizeof(struct session) == 128, "two lines");

/* What the tables are made from; borrowed. */
struct tables_input {
	const struct rules *rules;
	const struct routes *routes;
	uint32_t sessions;
	uint64_t cir; /* bytes per second and session; 0: metered all the same, never policed */
};

struct tables {
	struct tables_input from;
	struct place *place;
	struct rte_acl_ctx *acl;
	struct rte_hash *hash;
	struct rte_lpm *lpm;
	uint64_t *rule_counters; /* rule_counters[from.rules->n]: packets */
	uint64_t *port_counters; /* port_counters[ports * PORT_COUNTERS] */
	struct rte_meter_srtcm_profile meter_profile;
	struct session *newest; /* all sessions, along `older` */
	uint32_t sessions;
	uint32_t ports;      /* egress ports the routes name */
	int32_t default_hop; /* of the route 0.0.0.0/0; -1: there is none */
};

/* What objects and counters need; what DPDK's tables need, only building them tells. */
void tables_needs(struct need needs[TABLES], const struct tables_input *from);

/* Fresh tables without memory; `from` and `place` outlive them. */
void tables_init(struct tables *t, const struct tables_input *from, struct place *place);

/*
 * Builds one table (of KIND_HEAP or KIND_CELLS) in its place. 0, -ENOMEM and what DPDK answers,
 * with a reason. rte_acl's scratch memory comes from libc: up to 6 GB for 64,000 rules.
 */
int tables_build(struct tables *t, enum table table, struct hpm_reason *reason);

/* Frees sessions and DPDK's tables; counters go with the place. */
void tables_destroy(struct tables *t);

/*
 * Creates a session. The hash value of its key is given, since the caller has computed it.
 *
 * NULL when the table holds from.sessions already, or the hash has no room near the key.
 */
struct session *tables_session_create(struct tables *t, const struct packet_key *key,
	uint32_t hash_value, uint32_t rule, uint64_t now);

#endif
