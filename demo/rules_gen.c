/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws rules from a shape.
 *
 * Decides: addresses are trunks plus a few random low bits, popular trunks are drawn more often,
 * and a rule that exists already is drawn again, from all addresses once its clusters are full, so
 * that every N can be reached. Integers only: floating point would not give the same rules on
 * every machine. Invariant: the rules are distinct, and sorted by how much of an address they fix.
 */
#include "rules_gen.h"

#include "fail.h"
#include "lines.h"
#include "rng.h"
#include "rules_shapes.h"
#include "seen.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_IN_CLUSTERS 64 /* then the clusters are taken for full */
#define RANGES            32 /* different port ranges of applications */
#define NETS              256

/* One side's trunks, laid out for a set of a given size. */
struct side {
	const struct gen_side *shape;
	uint32_t *trunk; /* [n] */
	uint32_t n;
};

struct gen {
	const struct gen_shape *shape;
	struct rng rng;
	struct side src, dst;
	uint32_t lens_sum, l4_sum; /* of the shape's weights */
};

static const struct gen_shape *shape_find(const char *name, size_t len)
{
	for (uint32_t i = 0; i < gen_shapes_n; i++) {
		if (strlen(gen_shapes[i].name) == len && memcmp(gen_shapes[i].name, name, len) == 0)
			return &gen_shapes[i];
	}
	return NULL;
}

int rules_gen_parse(struct rules_gen *ret, const char *spec, struct hpm_reason *reason)
{
	const char *p = strncmp(spec, "gen:", 4) == 0 ? spec + 4 : spec;
	const char *colon = strchr(p, ':');
	const struct gen_shape *shape;
	uint32_t n;

	if (p == spec || colon == NULL)
		return demo_fail(
			-EINVAL, reason, "'%.60s' is not gen:SHAPE:N, e.g. gen:acl:8000", spec);
	shape = shape_find(p, (size_t)(colon - p));
	if (shape == NULL)
		return demo_fail(-EINVAL, reason,
			"'%.60s' names a shape nobody knows; there are acl, fw and ipc", spec);
	p = colon + 1;
	if (!scan_u32(&p, &n) || *p != '\0')
		return demo_fail(
			-EINVAL, reason, "'%.60s' does not end in a number of rules", spec);
	if (n < 1 || n > RULES_GEN_MAX)
		return demo_fail(-EINVAL, reason, "'%.60s' asks for %u rules, possible are 1 to %u",
			spec, n, RULES_GEN_MAX);
	*ret = (struct rules_gen){.shape = shape, .n = n};
	return 0;
}

/* Between (n0, v0) and (n1, v1), below and above them in proportion to the nearer one; at least 1.
 */
static uint32_t interpolate(uint32_t n, uint32_t v0, uint32_t v1, const struct gen_side *s)
{
	int64_t n0 = s->small.n, n1 = s->large.n, v;

	if (n <= n0)
		v = (int64_t)v0 * n / n0;
	else if (n >= n1)
		v = (int64_t)v1 * n / n1;
	else
		v = v0 + ((int64_t)v1 - v0) * (n - n0) / (n1 - n0);
	return v < 1 ? 1 : (uint32_t)v;
}

static int side_init(struct side *side, const struct gen_side *shape, uint32_t n, struct rng *rng)
{
	uint32_t nets = interpolate(n, shape->small.nets, shape->large.nets, shape);
	uint8_t net[NETS];

	side->shape = shape;
	if (nets > NETS)
		nets = NETS;
	/* a shuffle, so that the first `nets` are different */
	for (uint32_t i = 0; i < NETS; i++) {
		uint32_t j = rng_below(rng, i + 1);

		net[i] = net[j];
		net[j] = (uint8_t)i;
	}
	if (shape->small.trunks == 0)
		return 0;
	side->n = interpolate(n, shape->small.trunks, shape->large.trunks, shape);
	side->trunk = malloc(side->n * sizeof(side->trunk[0]));
	if (side->trunk == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < side->n; i++) {
		uint32_t low = (uint32_t)rng_next(rng) >> 8;

		side->trunk[i] = (uint32_t)net[rng_below(rng, nets)] << 24 | low;
	}
	return 0;
}

/* Index in [0, n), the first ones more often: a number below a number. */
static uint32_t popular(struct rng *rng, uint32_t n)
{
	return rng_below(rng, rng_below(rng, n) + 1);
}

static uint32_t draw_address(struct gen *gen, const struct side *side)
{
	uint32_t trunk;

	if (side->n == 0)
		return (uint32_t)rng_next(&gen->rng);
	trunk = side->trunk[popular(&gen->rng, side->n)];
	return trunk ^ rng_below(&gen->rng, 1U << side->shape->spread);
}

static const struct gen_lens *draw_lens(struct gen *gen)
{
	const struct gen_lens *row = gen->shape->lens;
	uint32_t at = rng_below(&gen->rng, gen->lens_sum);

	for (; at >= row->weight; row++)
		at -= row->weight;
	return row;
}

static const struct gen_l4 *draw_l4(struct gen *gen)
{
	const struct gen_l4 *row = gen->shape->l4;
	uint32_t at = rng_below(&gen->rng, gen->l4_sum);

	for (; at >= row->weight; row++)
		at -= row->weight;
	return row;
}

static void draw_ports(struct gen *gen, uint8_t class, uint8_t services, uint16_t ret[2])
{
	static const uint16_t widths[] = {9, 49, 99, 10};
	uint32_t i;

	ret[0] = 0;
	ret[1] = UINT16_MAX;
	switch (class) {
	case PORT_HIGH:
		ret[0] = 1024;
		break;
	case PORT_EXACT:
		i = popular(&gen->rng, services < gen_services_n ? services : gen_services_n);
		ret[0] = ret[1] = gen_services[i];
		break;
	case PORT_RANGE:
		/* spread over the registered and the dynamic ports, none beyond 65535 */
		i = rng_below(&gen->rng, RANGES);
		ret[0] = (uint16_t)(1300 + 2000 * i);
		ret[1] = (uint16_t)(ret[0] + widths[i % 4]);
		break;
	}
}

static void draw_rule(struct gen *gen, struct rule *rule, bool clustered)
{
	const struct gen_lens *lens = draw_lens(gen);
	const struct gen_l4 *l4 = draw_l4(gen);
	uint32_t src = draw_address(gen, &gen->src), dst = draw_address(gen, &gen->dst);
	uint16_t sport[2], dport[2];

	draw_ports(gen, l4->sport, gen->shape->src.ports, sport);
	draw_ports(gen, l4->dport, gen->shape->dst.ports, dport);
	*rule = (struct rule){.src_len = lens->src,
		.dst_len = lens->dst,
		.sport_lo = sport[0],
		.sport_hi = sport[1],
		.dport_lo = dport[0],
		.dport_hi = dport[1],
		.proto = l4->proto,
		.proto_mask = l4->proto == 0 ? 0 : UINT8_MAX};
	if (!clustered) {
		src = (uint32_t)rng_next(&gen->rng);
		dst = (uint32_t)rng_next(&gen->rng);
		rule->src_len = rule->dst_len = 32;
	}
	rule->src = src & prefix_mask(rule->src_len);
	rule->dst = dst & prefix_mask(rule->dst_len);
}

static int draw_all(struct gen *gen, struct rules *rules)
{
	static const struct rule everything = {.sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX};
	uint32_t drawn = rules->n;
	struct seen seen;
	int rc = seen_open(&seen, rules->v, rules->n, sizeof(struct rule), sizeof(struct rule));

	if (rc < 0)
		return rc;
	if (rules->n > 1) {
		rules->v[--drawn] = everything;
		seen_add(&seen, drawn);
	}
	for (uint32_t i = 0; i < drawn; i++) {
		unsigned tries = 0;

		do
			draw_rule(gen, &rules->v[i], tries++ < TRIES_IN_CLUSTERS);
		while (seen_add(&seen, i) != SEEN_NEW);
	}
	seen_close(&seen);
	return 0;
}

/* Most specific first, equals as they were drawn: a counting sort, which needs no tie-breaker. */
static int sort_rules(struct rules *rules)
{
	struct rule *sorted = malloc(rules->n * sizeof(sorted[0]));
	uint32_t start[66] = {0};

	if (sorted == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < rules->n; i++)
		start[65 - rules->v[i].src_len - rules->v[i].dst_len]++;
	for (uint32_t i = 1; i < 66; i++)
		start[i] += start[i - 1];
	for (uint32_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->v[i];

		sorted[start[64 - r->src_len - r->dst_len]++] = *r;
	}
	free(rules->v);
	rules->v = sorted;
	return 0;
}

static int generate(struct gen *gen, struct rules *rules)
{
	int rc = side_init(&gen->src, &gen->shape->src, rules->n, &gen->rng);

	if (rc == 0)
		rc = side_init(&gen->dst, &gen->shape->dst, rules->n, &gen->rng);
	if (rc == 0)
		rc = draw_all(gen, rules);
	if (rc == 0)
		rc = sort_rules(rules);
	free(gen->src.trunk);
	free(gen->dst.trunk);
	return rc;
}

int rules_generate(
	struct rules *ret, const struct rules_gen *params, uint64_t seed, struct hpm_reason *reason)
{
	struct gen gen = {.shape = params->shape};
	struct rules rules = {.n = params->n};
	int rc = -ENOMEM;

	for (uint32_t i = 0; i < gen.shape->lens_n; i++)
		gen.lens_sum += gen.shape->lens[i].weight;
	for (uint32_t i = 0; i < gen.shape->l4_n; i++)
		gen.l4_sum += gen.shape->l4[i].weight;
	rng_seed(&gen.rng, seed);
	rules.v = malloc(rules.n * sizeof(rules.v[0]));
	if (rules.v != NULL)
		rc = generate(&gen, &rules);
	if (rc < 0) {
		rules_free(&rules);
		return demo_fail(rc, reason, "no memory for %u generated rules", params->n);
	}
	*ret = rules;
	return 0;
}

int rules_open(struct rules *ret, const char *spec, uint64_t seed, struct hpm_reason *reason)
{
	struct rules_gen gen;
	int rc;

	if (strncmp(spec, "gen:", 4) != 0)
		return rules_load(ret, spec, reason);
	rc = rules_gen_parse(&gen, spec, reason);
	if (rc < 0)
		return rc;
	return rules_generate(ret, &gen, seed, reason);
}
