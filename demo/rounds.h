/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing: the same number of packets again and again, and the median of what one took. */
#ifndef DEMO_ROUNDS_H
#define DEMO_ROUNDS_H

#include <stdint.h>

#define ROUNDS_MAX 1024 /* later ones overwrite the oldest */

struct rounds {
	double ns[ROUNDS_MAX]; /* per packet */
	uint64_t n;            /* rounds there were */
};

/* ns per packet over rounds [n]; meaningless when n is 0. */
struct round_times {
	uint64_t n;
	double median, p10, p90;
};

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

void rounds_add(struct rounds *r, uint64_t ns, uint64_t packets);

struct round_times rounds_times(const struct rounds *r);

#endif
