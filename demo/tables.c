/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the tables. An earlier rule has a higher priority, so that the first match in the file
 * wins; user data is the rule's number plus one, since rte_acl keeps 0 for "no match".
 */
#include "tables.h"

#include "fail.h"

#include <errno.h>
#include <rte_acl.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lpm.h>
#include <stdlib.h>
#include <string.h>

#define ACL_CHUNK   1024                /* rules handed to rte_acl at a time */
#define CIR_DEFAULT UINT64_C(125000000) /* bytes per second: 1 Gbit/s */

enum { FIELD_PROTO, FIELD_SRC, FIELD_DST, FIELD_SPORT, FIELD_DPORT, FIELDS };

RTE_ACL_RULE_DEF(acl_rule, FIELDS);

/* Input groups are 4 bytes that rte_acl reads at once; both ports share one. */
static const struct rte_acl_field_def fields[FIELDS] = {
	{RTE_ACL_FIELD_TYPE_BITMASK, 1, FIELD_PROTO, 0, offsetof(struct packet_key, proto)},
	{RTE_ACL_FIELD_TYPE_MASK, 4, FIELD_SRC, 1, offsetof(struct packet_key, src_be)},
	{RTE_ACL_FIELD_TYPE_MASK, 4, FIELD_DST, 2, offsetof(struct packet_key, dst_be)},
	{RTE_ACL_FIELD_TYPE_RANGE, 2, FIELD_SPORT, 3, offsetof(struct packet_key, sport_be)},
	{RTE_ACL_FIELD_TYPE_RANGE, 2, FIELD_DPORT, 3, offsetof(struct packet_key, dport_be)},
};

void tables_needs(struct need needs[TABLES], const struct tables_input *from)
{
	uint32_t ports = 1;

	for (uint32_t i = 0; i < from->routes->n; i++)
		if (from->routes->v[i].port >= ports)
			ports = from->routes->v[i].port + 1U;
	needs[TABLE_SESSION] = (struct need){sizeof(struct session), from->sessions};
	needs[TABLE_METER] = (struct need){
		RTE_CACHE_LINE_ROUNDUP(sizeof(struct rte_meter_srtcm)), from->sessions};
	needs[TABLE_STATS] = (struct need){sizeof(struct session_stats), from->sessions};
	needs[TABLE_COUNTERS] = (struct need){
		sizeof(uint64_t), (uint64_t)from->rules->n + (uint64_t)ports * PORT_COUNTERS};
}

void tables_init(struct tables *t, const struct tables_input *from, struct place *place)
{
	struct need needs[TABLES];
	uint64_t cir = from->cir != 0 ? from->cir : CIR_DEFAULT;
	uint64_t burst = RTE_MAX(cir / 10, UINT64_C(2048)); /* a tenth of a second's worth */
	struct rte_meter_srtcm_params params = {.cir = cir, .cbs = burst, .ebs = burst};

	tables_needs(needs, from);
	*t = (struct tables){.from = *from,
		.place = place,
		.ports = (uint32_t)((needs[TABLE_COUNTERS].count - from->rules->n) / PORT_COUNTERS),
		.default_hop = -1};
	rte_meter_srtcm_profile_config(&t->meter_profile, &params);
}

static void fill_rule(struct acl_rule *to, const struct rule *from, uint32_t index)
{
	*to = (struct acl_rule){
		.data = {.category_mask = 1,
			.priority = RTE_ACL_MAX_PRIORITY - (int32_t)index,
			.userdata = index + 1},
		.field[FIELD_PROTO] = {.value.u8 = from->proto, .mask_range.u8 = from->proto_mask},
		.field[FIELD_SRC] = {.value.u32 = from->src, .mask_range.u32 = from->src_len},
		.field[FIELD_DST] = {.value.u32 = from->dst, .mask_range.u32 = from->dst_len},
		.field[FIELD_SPORT] = {.value.u16 = from->sport_lo,
			.mask_range.u16 = from->sport_hi},
		.field[FIELD_DPORT] = {.value.u16 = from->dport_lo,
			.mask_range.u16 = from->dport_hi},
	};
}

static int add_rules(struct rte_acl_ctx *acl, const struct rules *rules)
{
	struct acl_rule *chunk = calloc(ACL_CHUNK, sizeof(*chunk));
	int rc = chunk != NULL ? 0 : -ENOMEM;

	for (uint32_t done = 0; done < rules->n && rc == 0;) {
		uint32_t n = RTE_MIN(rules->n - done, (uint32_t)ACL_CHUNK);

		for (uint32_t i = 0; i < n; i++)
			fill_rule(&chunk[i], &rules->v[done + i], done + i);
		rc = rte_acl_add_rules(acl, (const struct rte_acl_rule *)chunk, n);
		done += n;
	}
	free(chunk);
	return rc;
}

static int build_acl(struct tables *t, struct hpm_reason *reason)
{
	const struct rules *rules = t->from.rules;
	struct rte_acl_param params = {.name = "acl",
		.socket_id = t->place->socket(t->place, TABLE_ACL),
		.rule_size = RTE_ACL_RULE_SZ(FIELDS),
		.max_rule_num = rules->n};
	struct rte_acl_config config = {.num_categories = 1, .num_fields = FIELDS};
	int rc;

	memcpy(config.defs, fields, sizeof(fields));
	t->acl = rte_acl_create(&params);
	if (t->acl == NULL)
		return demo_fail(-rte_errno, reason, "rte_acl_create: no room for %u rules: %s",
			rules->n, rte_strerror(rte_errno));
	rc = add_rules(t->acl, rules);
	if (rc == 0)
		rc = rte_acl_build(t->acl, &config);
	if (rc < 0)
		return demo_fail(rc, reason, "rte_acl could not build a trie of %u rules: %s",
			rules->n, rte_strerror(-rc));
	return 0;
}

static int build_hash(struct tables *t, struct hpm_reason *reason)
{
	struct rte_hash_parameters params = {.name = "sessions",
		/* cuckoo hashing fails near 95 % full; 1/8 above the sessions it never gets there
		 */
		.entries = RTE_MAX(t->from.sessions + t->from.sessions / 8, 64U),
		.key_len = sizeof(struct packet_key),
		.hash_func = rte_hash_crc,
		.socket_id = t->place->socket(t->place, TABLE_HASH)};

	t->hash = rte_hash_create(&params);
	if (t->hash == NULL)
		return demo_fail(-rte_errno, reason, "rte_hash_create: %u sessions: %s",
			t->from.sessions, rte_strerror(rte_errno));
	return 0;
}

static int build_lpm(struct tables *t, struct hpm_reason *reason)
{
	const struct routes *routes = t->from.routes;
	int64_t groups = routes_count_groups(routes);
	struct rte_lpm_config config = {.max_rules = routes->n};

	if (groups < 0)
		return demo_fail((int)groups, reason, "out of memory");
	config.number_tbl8s = (uint32_t)groups + 1; /* rte_lpm refuses 0 */
	t->lpm = rte_lpm_create("routes", t->place->socket(t->place, TABLE_LPM), &config);
	if (t->lpm == NULL)
		return demo_fail(-rte_errno, reason, "rte_lpm_create: %u routes: %s", routes->n,
			rte_strerror(rte_errno));
	for (uint32_t i = 0; i < routes->n; i++) {
		const struct route *r = &routes->v[i];
		int rc = 0;

		if (r->len == 0)
			t->default_hop = r->port; /* rte_lpm knows no /0 */
		else
			rc = rte_lpm_add(t->lpm, r->addr, r->len, r->port);
		if (rc < 0)
			return demo_fail(rc, reason, "rte_lpm_add: route %u of %u: %s", i + 1,
				routes->n, rte_strerror(-rc));
	}
	return 0;
}

static int build_counters(struct tables *t, struct hpm_reason *reason)
{
	t->rule_counters = t->place->cells(t->place, TABLE_COUNTERS);
	if (t->rule_counters == NULL)
		return demo_fail(-ENOMEM, reason, "no memory for the counters of %u rules",
			t->from.rules->n);
	t->port_counters = t->rule_counters + t->from.rules->n;
	return 0;
}

int tables_build(struct tables *t, enum table table, struct hpm_reason *reason)
{
	switch (table) {
	case TABLE_ACL:
		return build_acl(t, reason);
	case TABLE_HASH:
		return build_hash(t, reason);
	case TABLE_LPM:
		return build_lpm(t, reason);
	case TABLE_COUNTERS:
		return build_counters(t, reason);
	default:
		return 0; /* objects come one by one */
	}
}

static void put_session(struct tables *t, struct session *s)
{
	if (s->stats != NULL)
		t->place->put(t->place, TABLE_STATS, s->stats);
	if (s->meter != NULL)
		t->place->put(t->place, TABLE_METER, s->meter);
	t->place->put(t->place, TABLE_SESSION, s);
}

void tables_destroy(struct tables *t)
{
	while (t->newest != NULL) {
		struct session *s = t->newest;

		t->newest = s->older;
		put_session(t, s);
	}
	rte_lpm_free(t->lpm);
	rte_hash_free(t->hash);
	rte_acl_free(t->acl);
}

struct session *tables_session_create(struct tables *t, const struct packet_key *key,
	uint32_t hash_value, uint32_t rule, uint64_t now)
{
	struct session *s;

	if (t->sessions == t->from.sessions)
		return NULL;
	s = t->place->get(t->place, TABLE_SESSION);
	if (s == NULL)
		return NULL;
	*s = (struct session){.key = *key,
		.meter = t->place->get(t->place, TABLE_METER),
		.stats = t->place->get(t->place, TABLE_STATS),
		.created_tsc = now,
		.rule = rule,
		.older = t->newest};
	if (s->meter == NULL || s->stats == NULL ||
		rte_meter_srtcm_config(s->meter, &t->meter_profile) != 0 ||
		rte_hash_add_key_with_hash_data(t->hash, key, hash_value, s) != 0) {
		put_session(t, s);
		return NULL;
	}
	*s->stats = (struct session_stats){.last_tsc = now};
	t->newest = s;
	t->sessions++;
	return s;
}
