/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows that hit rules, and the law by which they send. */
#include "flows.h"
#include "rules.h"
#include "rules_gen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A linear scan that shares nothing with the generator: bit by bit, as the words say. */
static bool matches(const struct rule *r, const struct packet_key *k)
{
	uint32_t src = ntohl(k->src_be), dst = ntohl(k->dst_be);
	unsigned sport = ntohs(k->sport_be), dport = ntohs(k->dport_be);

	for (int bit = 0; bit < r->src_len; bit++)
		if (((src ^ r->src) >> (31 - bit) & 1) != 0)
			return false;
	for (int bit = 0; bit < r->dst_len; bit++)
		if (((dst ^ r->dst) >> (31 - bit) & 1) != 0)
			return false;
	for (int bit = 0; bit < 8; bit++)
		if ((r->proto_mask >> bit & 1) != 0 && ((k->proto ^ r->proto) >> bit & 1) != 0)
			return false;
	return sport >= r->sport_lo && sport <= r->sport_hi && dport >= r->dport_lo &&
	       dport <= r->dport_hi;
}

static int as_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct packet_key));
}

static void every_flow_matches_a_rule(void **state)
{
	static const char *const specs[] = {"gen:acl:500", "gen:fw:500", "gen:ipc:500"};

	for (size_t s = 0; s < 3; s++) {
		struct rules rules;
		struct flows flows;

		assert_int_equal(rules_open(&rules, specs[s], 2, NULL), 0);
		rules.n--; /* the last one takes everything and would prove nothing */
		assert_int_equal(flows_make(&flows, &rules, 20000, 3, NULL), 0);
		for (uint32_t i = 0; i < flows.n; i++) {
			uint32_t r = 0;

			while (r < rules.n && !matches(&rules.v[r], &flows.v[i]))
				r++;
			assert_true(r < rules.n);
			assert_true(flows.v[i].pad[0] == 0 && flows.v[i].pad[1] == 0 &&
				    flows.v[i].pad[2] == 0);
		}
		flows_free(&flows);
		rules_free(&rules);
	}
}

static void flows_are_distinct_and_the_seed_decides_them(void **state)
{
	struct flows a, b, c;
	struct rules rules;

	assert_int_equal(rules_open(&rules, "gen:acl:8000", 2, NULL), 0);
	assert_int_equal(flows_make(&a, &rules, 200000, 3, NULL), 0);
	assert_int_equal(flows_make(&b, &rules, 200000, 3, NULL), 0);
	assert_int_equal(flows_make(&c, &rules, 200000, 4, NULL), 0);
	assert_memory_equal(a.v, b.v, a.n * sizeof(a.v[0]));
	assert_true(memcmp(a.v, c.v, a.n * sizeof(a.v[0])) != 0);
	qsort(a.v, a.n, sizeof(a.v[0]), as_bytes);
	for (uint32_t i = 1; i < a.n; i++)
		assert_true(as_bytes(&a.v[i - 1], &a.v[i]) != 0);
	flows_free(&a);
	flows_free(&b);
	flows_free(&c);
	rules_free(&rules);
}

/* 4 sources, 2 source ports: 8 flows and not one more. */
static void asking_for_more_flows_than_there_are_is_an_error_that_counts_them(void **state)
{
	struct rule rule = {.src = 0x0a000000,
		.src_len = 30,
		.dst_len = 32,
		.sport_lo = 7,
		.sport_hi = 8,
		.dport_lo = 80,
		.dport_hi = 80,
		.proto = 6,
		.proto_mask = 0xff};
	struct rules rules = {&rule, 1};
	struct hpm_reason why;
	struct flows flows;

	assert_int_equal(flows_make(&flows, &rules, 8, 1, &why), 0);
	flows_free(&flows);
	assert_int_equal(flows_make(&flows, &rules, 9, 1, &why), -ENOSPC);
	assert_non_null(strstr(why.text, "8 different flows"));
	assert_int_equal(flows_make(&flows, &rules, 0, 1, &why), -EINVAL);
	assert_int_equal(flows_make(&flows, &rules, FLOWS_MAX + 1, 1, &why), -EINVAL);
	rules.n = 0;
	assert_int_equal(flows_make(&flows, &rules, 1, 1, &why), -EINVAL);
}

static void protocols_without_ports_have_ports_0(void **state)
{
	struct rule rule = {.sport_hi = 65535, .dport_hi = 65535, .proto = 1, .proto_mask = 0xff};
	struct rules rules = {&rule, 1};
	struct flows flows;

	assert_int_equal(flows_make(&flows, &rules, 1000, 1, NULL), 0);
	for (uint32_t i = 0; i < flows.n; i++)
		assert_true(flows.v[i].proto == 1 && flows.v[i].sport_be == 0 &&
			    flows.v[i].dport_be == 0);
	flows_free(&flows);
	/* no ICMP packet can have port 80 */
	rule.dport_lo = 80;
	assert_int_equal(flows_make(&flows, &rules, 1, 1, NULL), -ENOSPC);
}

static void bad_kinds_of_traffic_are_refused_in_words(void **state)
{
	static const char *const bad[] = {"", "Uniform", "uniform ", "uniform:1", "zipf",
		"zipf:", "zipf:NaN", "zipf:nan", "zipf:inf", "zipf:0", "zipf:0.0", "zipf:-1",
		"zipf:+1", "zipf:5.01", "zipf:1e0", "zipf:0x1", "zipf: 1", "zipf:1.1x",
		"zipf:1.1.1", "zipf:.", "active", "active:", "active:0", "active:-1", "active:10x",
		"active:1001", "active:4294967296", "active:1.5"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hpm_reason why = {""};
		struct traffic t;

		if (traffic_init(&t, bad[i], 1000, 1, &why) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(why.text, bad[i]));
	}
	for (size_t i = 0; i < 3; i++) {
		static const char *const good[] = {"uniform", "zipf:5", "active:1000"};
		struct traffic t;

		assert_int_equal(traffic_init(&t, good[i], 1000, 1, NULL), 0);
		assert_int_equal(traffic_init(&t, good[i], 0, 1, NULL), -EINVAL);
		assert_int_equal(traffic_check(good[i], NULL), 0);
	}
}

/* Chi-square over the ranks that are expected often enough, against k^-s / sum. */
static void assert_zipf(double s, uint32_t n)
{
	enum { DRAWS = 2000000 };
	uint32_t *count = calloc((size_t)n + 1, sizeof(count[0]));
	double sum = 0, chi = 0, rest = DRAWS, rest_seen = DRAWS;
	struct traffic t;
	unsigned cells = 0;
	char spec[32];

	assert_non_null(count);
	snprintf(spec, sizeof(spec), "zipf:%g", s);
	assert_int_equal(traffic_init(&t, spec, n, 11, NULL), 0);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t rank = traffic_zipf_rank(&t);

		assert_true(rank >= 1 && rank <= n);
		count[rank]++;
	}
	for (uint32_t k = 1; k <= n; k++)
		sum += pow(k, -s);
	for (uint32_t k = 1; k <= n && DRAWS * pow(k, -s) / sum >= 20 && cells < 2000; k++) {
		double want = DRAWS * pow(k, -s) / sum, off = count[k] - want;

		chi += off * off / want;
		rest -= want;
		rest_seen -= count[k];
		cells++;
	}
	if (rest > 20)
		chi += (rest_seen - rest) * (rest_seen - rest) / rest;
	free(count);
	/* mean cells, deviation sqrt(2 cells): five of them are out of reach for a fair seed */
	if (chi > cells + 5 * sqrt(2.0 * cells) + 5)
		fail_msg("zipf:%g of %u: chi-square %.1f over %u cells", s, n, chi, cells);
}

static void zipf_ranks_follow_the_law(void **state)
{
	assert_zipf(0.5, 1000);
	assert_zipf(0.99, 100000);
	assert_zipf(1, 1000);
	assert_zipf(1, 1000000);
	assert_zipf(1.1, 1000000);
	assert_zipf(2, 50);
	assert_zipf(5, 1000);
	assert_zipf(0.01, 10);
	assert_zipf(1.3, 1);
}

static void every_rank_has_a_flow_of_its_own(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 4, 6, 1000, 65536, 99991};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];
		bool *taken = calloc(n, 1);
		struct traffic t;

		assert_non_null(taken);
		assert_int_equal(traffic_init(&t, "zipf:1", n, 5, NULL), 0);
		for (uint64_t rank = 1; rank <= n; rank++) {
			uint64_t flow = (rank * t.stride + t.offset) % n;

			assert_false(taken[flow]);
			taken[flow] = true;
		}
		free(taken);
	}
}

static void active_flows_are_spread_evenly_and_nobody_else_sends(void **state)
{
	enum { N = 100000, ACTIVE = 400 };
	uint32_t *count = calloc(N, sizeof(count[0]));
	unsigned senders = 0;
	struct traffic t;

	assert_non_null(count);
	assert_int_equal(traffic_init(&t, "active:400", N, 5, NULL), 0);
	for (int i = 0; i < ACTIVE * 1000; i++)
		count[traffic_next(&t)]++;
	for (uint32_t i = 0; i < N; i++) {
		assert_true((count[i] != 0) == (i % (N / ACTIVE) == 0));
		/* mean 1000, deviation 32 */
		assert_true(count[i] == 0 || (count[i] > 800 && count[i] < 1200));
		senders += count[i] != 0;
	}
	assert_int_equal(senders, ACTIVE);
	free(count);
}

static void uniform_traffic_is_uniform_and_seeded(void **state)
{
	uint32_t count[64] = {0};
	struct traffic a, b;

	assert_int_equal(traffic_init(&a, "uniform", 64, 5, NULL), 0);
	assert_int_equal(traffic_init(&b, "uniform", 64, 5, NULL), 0);
	for (int i = 0; i < 64000; i++) {
		uint32_t flow = traffic_next(&a);

		assert_true(flow < 64 && flow == traffic_next(&b));
		count[flow]++;
	}
	for (int i = 0; i < 64; i++)
		assert_true(count[i] > 800 && count[i] < 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_flow_matches_a_rule),
		cmocka_unit_test(flows_are_distinct_and_the_seed_decides_them),
		cmocka_unit_test(asking_for_more_flows_than_there_are_is_an_error_that_counts_them),
		cmocka_unit_test(protocols_without_ports_have_ports_0),
		cmocka_unit_test(bad_kinds_of_traffic_are_refused_in_words),
		cmocka_unit_test(zipf_ranks_follow_the_law),
		cmocka_unit_test(every_rank_has_a_flow_of_its_own),
		cmocka_unit_test(active_flows_are_spread_evenly_and_nobody_else_sends),
		cmocka_unit_test(uniform_traffic_is_uniform_and_seeded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
