/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated rule sets: as many as asked for, distinct, the same everywhere, and shaped. */
#include "rules.h"
#include "rules_gen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const shapes[] = {"acl", "fw", "ipc"};

static struct rules rules_of(const char *shape, uint32_t n, uint64_t seed)
{
	struct rules rules;
	char spec[64];

	snprintf(spec, sizeof(spec), "gen:%s:%u", shape, n);
	assert_int_equal(rules_open(&rules, spec, seed, NULL), 0);
	assert_int_equal(rules.n, n);
	return rules;
}

static int as_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct rule));
}

static void assert_distinct(const struct rules *rules)
{
	struct rule *sorted = malloc(rules->n * sizeof(sorted[0]));

	assert_non_null(sorted);
	memcpy(sorted, rules->v, rules->n * sizeof(sorted[0]));
	qsort(sorted, rules->n, sizeof(sorted[0]), as_bytes);
	for (uint32_t i = 1; i < rules->n; i++)
		assert_true(as_bytes(&sorted[i - 1], &sorted[i]) != 0);
	free(sorted);
}

static void every_shape_makes_distinct_usable_rules_of_any_number(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 100, 8000, 64000};

	for (size_t s = 0; s < 3; s++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct rules rules = rules_of(shapes[s], sizes[k], 1);

			assert_distinct(&rules);
			for (uint32_t i = 0; i < rules.n; i++) {
				const struct rule *r = &rules.v[i];

				assert_true(r->src_len <= 32 && r->dst_len <= 32);
				assert_true((r->src & ~prefix_mask(r->src_len)) == 0);
				assert_true((r->dst & ~prefix_mask(r->dst_len)) == 0);
				assert_true(r->sport_lo <= r->sport_hi);
				assert_true(r->dport_lo <= r->dport_hi);
				assert_true(r->proto_mask == 0xff || r->proto == 0);
			}
			rules_free(&rules);
		}
	}
}

static void a_million_rules_are_possible_and_one_more_is_not(void **state)
{
	struct rules rules = rules_of("acl", RULES_GEN_MAX, 1);
	struct hpm_reason why;

	assert_distinct(&rules);
	rules_free(&rules);
	assert_int_equal(rules_open(&rules, "gen:acl:1000001", 1, &why), -EINVAL);
	assert_non_null(strstr(why.text, "1000001 rules, possible are 1 to 1000000"));
}

static void the_same_seed_makes_the_same_rules_and_another_seed_others(void **state)
{
	for (size_t s = 0; s < 3; s++) {
		struct rules a = rules_of(shapes[s], 5000, 9);
		struct rules b = rules_of(shapes[s], 5000, 9);
		struct rules c = rules_of(shapes[s], 5000, 10);

		assert_memory_equal(a.v, b.v, 5000 * sizeof(a.v[0]));
		assert_true(memcmp(a.v, c.v, 5000 * sizeof(a.v[0])) != 0);
		rules_free(&a);
		rules_free(&b);
		rules_free(&c);
	}
}

static void bad_specs_are_refused_in_words(void **state)
{
	static const struct {
		const char *spec, *what;
	} rows[] = {
		{"gen:", "is not gen:SHAPE:N"},
		{"gen:acl", "is not gen:SHAPE:N"},
		{"gen:acl:", "does not end in a number"},
		{"gen:acl:0", "asks for 0 rules"},
		{"gen:acl:-1", "does not end in a number"},
		{"gen:acl:10x", "does not end in a number"},
		{"gen:acl:99999999999", "does not end in a number"},
		{"gen:acl1:10", "there are acl, fw and ipc"},
		{"gen::10", "there are acl, fw and ipc"},
		{"gen:acl:10:1", "does not end in a number"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rules rules;
		struct hpm_reason why;

		assert_int_equal(rules_open(&rules, rows[i].spec, 1, &why), -EINVAL);
		assert_non_null(strstr(why.text, rows[i].what));
	}
}

/* Share of rules, per mille. */
static unsigned share(const struct rules *rules, int (*is)(const struct rule *))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rules->n; i++)
		n += is(&rules->v[i]) != 0;
	return (unsigned)((uint64_t)n * 1000 / rules->n);
}

static int names_two_hosts(const struct rule *r)
{
	return r->src_len >= 30 && r->dst_len >= 30;
}

static int takes_any_source(const struct rule *r)
{
	return r->src_len <= 2;
}

static int is_tcp(const struct rule *r)
{
	return r->proto == 6;
}

static int names_a_source_port(const struct rule *r)
{
	return r->sport_lo == r->sport_hi;
}

static int names_a_destination_port(const struct rule *r)
{
	return r->dport_lo == r->dport_hi;
}

/* Counted in sets of 8,000 rules made by ClassBench from its seeds acl1, fw1 and ipc1. */
static void the_shapes_have_the_proportions_of_classbench_sets(void **state)
{
	static const struct {
		int (*is)(const struct rule *);
		unsigned of[3]; /* per mille: acl1, fw1, ipc1 */
	} rows[] = {
		{names_two_hosts, {665, 54, 152}},
		{takes_any_source, {5, 646, 129}},
		{is_tcp, {875, 578, 270}},
		{names_a_source_port, {0, 142, 164}},
		{names_a_destination_port, {605, 634, 359}},
	};

	for (size_t s = 0; s < 3; s++) {
		struct rules rules = rules_of(shapes[s], 20000, 3);

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			unsigned have = share(&rules, rows[i].is), want = rows[i].of[s];

			if (have + 60 < want || have > want + 60)
				fail_msg("%s, row %zu: %u per mille, not %u", shapes[s], i, have,
					want);
		}
		rules_free(&rules);
	}
}

static void specific_rules_come_first_and_the_last_one_takes_everything(void **state)
{
	struct rules rules = rules_of("fw", 2000, 4);
	const struct rule *last = &rules.v[1999];

	for (uint32_t i = 1; i < rules.n; i++)
		assert_true(rules.v[i].src_len + rules.v[i].dst_len <=
			    rules.v[i - 1].src_len + rules.v[i - 1].dst_len);
	assert_true(last->src_len == 0 && last->dst_len == 0);
	rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_makes_distinct_usable_rules_of_any_number),
		cmocka_unit_test(a_million_rules_are_possible_and_one_more_is_not),
		cmocka_unit_test(the_same_seed_makes_the_same_rules_and_another_seed_others),
		cmocka_unit_test(bad_specs_are_refused_in_words),
		cmocka_unit_test(the_shapes_have_the_proportions_of_classbench_sets),
		cmocka_unit_test(specific_rules_come_first_and_the_last_one_takes_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
