/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpmem-bench: runs cases and compares their contenders. Repetitions take turns in a fresh random
 * order each round, so that what the machine does meanwhile hits all alike; times are medians with
 * their spread, and only ratios within one run mean anything.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS         21
#define CONTENDERS_MAX 8

#define BENCH_CASE(name) extern const struct bench_case bench_case_##name;
#include "cases.def"
#undef BENCH_CASE

static const struct bench_case *const cases[] = {
#define BENCH_CASE(name) &bench_case_##name,
#include "cases.def"
#undef BENCH_CASE
};

struct result {
	void *state; /* NULL: left out, and why */
	struct hpm_reason why;
	double ns[ROUNDS]; /* per object */
	uint64_t pages_4k, pages_2m;
};

uint64_t bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64, Vigna */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void shuffle(uint32_t *v, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)(next_random(state) % i), swap = v[i - 1];

		v[i - 1] = v[k];
		v[k] = swap;
	}
}

uint32_t *bench_shuffle(uint32_t n)
{
	uint32_t *v = calloc(n, sizeof(*v));
	uint64_t state = 1;

	for (uint32_t i = 0; v != NULL && i < n; i++)
		v[i] = i;
	if (v != NULL)
		shuffle(v, n, &state);
	return v;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t bench_pages(void *const *objects, uint64_t n, uint64_t bytes, uint32_t shift)
{
	uint64_t *pages = calloc(2 * n, sizeof(*pages)), distinct = 0;

	if (pages == NULL)
		return UINT64_MAX;
	for (uint64_t i = 0; i < n; i++) {
		pages[2 * i] = (uint64_t)(uintptr_t)objects[i] >> shift;
		pages[2 * i + 1] = ((uint64_t)(uintptr_t)objects[i] + bytes - 1) >> shift;
	}
	qsort(pages, 2 * n, sizeof(*pages), ascending);
	for (uint64_t i = 0; i < 2 * n; i++)
		distinct += i == 0 || pages[i] != pages[i - 1];
	free(pages);
	return distinct;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_result(const struct contender *c, struct result *r, double reference)
{
	if (r->state == NULL) {
		printf("%-22s %8s   (%s)\n", c->name, "-", r->why.text);
		return;
	}
	printf("%-22s %8.1f %7.1f %7.1f %8.2f %9llu %8llu\n", c->name, r->ns[ROUNDS / 2],
		r->ns[ROUNDS / 10], r->ns[ROUNDS - 1 - ROUNDS / 10], r->ns[ROUNDS / 2] / reference,
		(unsigned long long)r->pages_4k, (unsigned long long)r->pages_2m);
}

static void report(const struct bench_case *bench, struct result *results)
{
	double reference = 0;

	for (unsigned i = 0; i < bench->count; i++)
		if (results[i].state != NULL)
			qsort(results[i].ns, ROUNDS, sizeof(double), by_size);
	if (results[0].state != NULL)
		reference = results[0].ns[ROUNDS / 2];
	printf("%s: %s\n%llu objects, %d interleaved rounds; ratio to %s\n\n", bench->name,
		bench->question, (unsigned long long)bench->n, ROUNDS, bench->contenders[0].name);
	printf("%-22s %8s %7s %7s %8s %9s %8s\n", "", "ns", "p10", "p90", "ratio", "4K pages",
		"2M pages");
	for (unsigned i = 0; i < bench->count; i++)
		print_result(&bench->contenders[i], &results[i], reference);
}

static void run_rounds(const struct bench_case *bench, struct result *results)
{
	uint32_t order[CONTENDERS_MAX];
	uint64_t random = 1;

	for (uint32_t i = 0; i < bench->count; i++)
		order[i] = i;
	for (int round = -1; round < ROUNDS; round++) { /* the first warms up */
		shuffle(order, bench->count, &random);
		for (unsigned k = 0; k < bench->count; k++) {
			struct result *r = &results[order[k]];
			uint64_t start = bench_now();

			if (r->state == NULL)
				continue;
			bench->contenders[order[k]].run(r->state, bench->n);
			if (round >= 0)
				r->ns[round] = (double)(bench_now() - start) / (double)bench->n;
		}
	}
}

static int run_case(const struct bench_case *bench)
{
	struct result *results = calloc(bench->count, sizeof(*results));
	unsigned ran = 0;

	if (results == NULL || bench->count > CONTENDERS_MAX)
		return -ENOMEM;
	for (unsigned i = 0; i < bench->count; i++) {
		const struct contender *c = &bench->contenders[i];
		struct result *r = &results[i];

		if (c->setup(&r->state, bench->n, &r->why) < 0) {
			r->state = NULL;
			continue;
		}
		r->pages_4k = c->pages(r->state, bench->n, 12);
		r->pages_2m = c->pages(r->state, bench->n, 21);
		ran++;
	}
	run_rounds(bench, results);
	report(bench, results);
	for (unsigned i = 0; i < bench->count; i++)
		if (results[i].state != NULL)
			bench->contenders[i].teardown(results[i].state);
	free(results);
	return ran > 0 ? 0 : -ENODEV;
}

static void usage(FILE *to)
{
	fputs("usage: hpmem-bench [CASE...]\n\ncases:\n", to);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		fprintf(to, "  %-8s %s\n", cases[i]->name, cases[i]->question);
	fputs("\nexit status: 0 done, 2 wrong usage, 3 could not run\n", to);
}

static const struct bench_case *find(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i]->name, name) == 0)
			return cases[i];
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return 0;
	}
	for (int i = 1; i < argc; i++)
		if (find(argv[i]) == NULL) {
			fprintf(stderr, "hpmem-bench: no case '%s'; see --help\n", argv[i]);
			return 2;
		}
	for (size_t i = 0; i < (argc > 1 ? (size_t)argc - 1 : sizeof(cases) / sizeof(cases[0]));
		i++)
		if (run_case(argc > 1 ? find(argv[i + 1]) : cases[i]) < 0)
			return 3;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fputs("hpmem-bench: the result could not be written\n", stderr);
		return 3;
	}
	return 0;
}
