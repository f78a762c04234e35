/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule sets out of nothing, shaped like real ones: access lists (acl), firewalls (fw), and IP
 * chains (ipc), the three families ClassBench's seeds describe (Taylor and Turner, 2007).
 *
 * What is modelled: which source and destination prefix lengths go together, which protocols and
 * kinds of port ranges, and how strongly addresses cluster, which changes with the size of the set.
 * What it is for: a classifier's table grows with these as with the real sets. rte_acl's trie is as
 * large as there for acl: 13 MB at 8,000 rules, 280 to 320 MB at 64,000, by seed. The others are
 * less exact: at 8,000 rules fw takes 68 MB (there 78) and ipc 23 MB (there 15), at 64,000 both
 * take about 128 MB, far less than real sets. No rule is copied from anywhere.
 *
 * Threads: set-up only.
 */
#ifndef DEMO_RULES_GEN_H
#define DEMO_RULES_GEN_H

#include "rules.h"

#define RULES_GEN_MAX 1000000 /* the largest N of gen:SHAPE:N */

struct gen_shape; /* rules_gen.c */

struct rules_gen {
	const struct gen_shape *shape;
	uint32_t n; /* [1, RULES_GEN_MAX] */
};

/* Reads "gen:SHAPE:N". 0, -EINVAL with what is wrong. */
int rules_gen_parse(struct rules_gen *ret, const char *spec, struct hpm_reason *reason);

/*
 * Makes gen->n distinct rules, the most specific first; with two or more, the last one matches
 * everything. Same shape, n and seed: same rules, on every machine. rules_free() releases. -ENOMEM.
 *
 * Cost: about 1 us a rule.
 */
int rules_generate(
	struct rules *ret, const struct rules_gen *gen, uint64_t seed, struct hpm_reason *reason);

/*
 * What --rules takes: "gen:SHAPE:N" generates, anything else is a file to load.
 * `seed` serves the generator only. Errors of either.
 */
int rules_open(struct rules *ret, const char *spec, uint64_t seed, struct hpm_reason *reason);

#endif
