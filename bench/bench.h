/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench: cases that ask a question, contenders that answer it, repetitions that take turns.
 *
 * A new case is one file and one row in cases.def.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <hpm/base.h>

#include <stdint.h>

/* One way to do the work. A repetition is run() from start to end; set-up is not timed. */
struct contender {
	const char *name; /* as people know it; the first of a case is the one others are held to */
	/* 0, or -errno with a reason: the contender is left out, and the reason is shown. */
	int (*setup)(void **ret, uint64_t n, struct hpm_reason *reason);
	void (*run)(void *state, uint64_t n);
	/* Distinct pages of 2^shift bytes that hold the objects while they are live. */
	uint64_t (*pages)(void *state, uint64_t n, uint32_t shift);
	void (*teardown)(void *state);
};

struct bench_case {
	const char *name;
	const char *question;
	const char *unit; /* what n counts, e.g. "object" */
	uint64_t n;
	const struct contender *contenders;
	unsigned count;
};

/* CLOCK_MONOTONIC in ns. */
uint64_t bench_now(void);

/* The same shuffle of [0, n) on every machine; from malloc, NULL when there is none. */
uint32_t *bench_shuffle(uint32_t n);

/* Distinct pages of 2^shift bytes on which objects[n] of `bytes` bytes lie; UINT64_MAX without
 * memory to count in. */
uint64_t bench_pages(void *const *objects, uint64_t n, uint64_t bytes, uint32_t shift);

#endif
