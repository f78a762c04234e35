/* SPDX-License-Identifier: BSD-3-Clause */
/* What a family of rule sets looks like, as numbers for the generator. Constant tables. */
#ifndef DEMO_RULES_SHAPES_H
#define DEMO_RULES_SHAPES_H

#include <stdint.h>

enum port_class {
	PORT_ANY,   /* 0 : 65535 */
	PORT_HIGH,  /* 1024 : 65535 */
	PORT_EXACT, /* a service */
	PORT_RANGE, /* an application's few ports */
};

/* Prefix lengths that go together. */
struct gen_lens {
	uint8_t src, dst;
	uint16_t weight;
};

/* What a rule asks of layer 4; proto 0 is any. */
struct gen_l4 {
	uint8_t proto;
	uint8_t sport, dport; /* enum port_class */
	uint16_t weight;
};

/*
 * How the addresses of one side cluster in a set of n rules: hosts lie around `trunks` addresses,
 * these in `nets` different /8. Between two sizes the numbers are interpolated.
 */
struct gen_cluster {
	uint32_t n;
	uint32_t nets; /* [1, 256] */
	uint32_t trunks;
};

struct gen_side {
	struct gen_cluster small, large;
	uint8_t spread; /* low address bits in which the hosts around a trunk differ */
	uint8_t ports;  /* different services named on this side */
};

struct gen_shape {
	const char *name;
	const struct gen_lens *lens;
	const struct gen_l4 *l4;
	struct gen_side src, dst;
	uint8_t lens_n, l4_n;
};

extern const struct gen_shape gen_shapes[];
extern const uint32_t gen_shapes_n;

/* Ports of services, the most popular first: names in the IANA registry. */
extern const uint16_t gen_services[];
extern const uint32_t gen_services_n;

#endif
