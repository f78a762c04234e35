/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user asked hpfwd for: everything behind "--" on its command line. */
#ifndef DEMO_OPTIONS_H
#define DEMO_OPTIONS_H

#include <hpm/base.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SESSIONS_MAX (1U << 26)

enum memory {
	MEMORY_NAIVE, /* objects from malloc, tables in heaps: all on base pages */
	MEMORY_DPDK,  /* stock rte_malloc in EAL's memory */
	MEMORY_HPM,   /* packed in one arena */
};

/* Strings are borrowed from argv. */
struct options {
	const char *rules;    /* a file, or gen:SHAPE:N */
	const char *routes;   /* NULL: a generated table */
	const char *pcap_in;  /* NULL: no capture is read */
	const char *pcap_out; /* NULL: none is written */
	const char *generate; /* NULL: packets come from a port */
	uint64_t seed;
	uint64_t packets; /* after warm-up; 0: until a signal, or the capture's end */
	uint64_t cir;     /* bytes per second and session; 0: nothing is policed */
	uint32_t sessions;
	uint32_t window_ms; /* 0: no window is opened */
	enum memory memory;
	uint32_t page_shift; /* MEMORY_HPM only; 0: base pages */
	bool json;
	bool turns; /* one round per line of standard input */
	bool help;
};

/*
 * Reads argv[1 .. argc). 0, -EINVAL with one line that says what is wrong.
 *
 * A capture or a generator is the source of packets; without either, EAL's first port is, and when
 * EAL has none, the uniform generator.
 */
int options_parse(struct options *ret, int argc, char **argv, struct hpm_reason *reason);

void options_usage(FILE *to);

/* As --mem takes it, e.g. "hpm:2M". Static storage. */
const char *memory_name(const struct options *options);

#endif
