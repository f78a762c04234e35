/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes: where packets for a prefix leave; the longest prefix wins, whatever the order.
 *
 * A file holds one route a line, "10.1.0.0/16 3": a prefix and a port number. The default route is
 * "0.0.0.0/0 0". Comments, line ends and limits are those of lines.h.
 *
 * Threads: set-up only, for all of it.
 */
#ifndef DEMO_ROUTES_H
#define DEMO_ROUTES_H

#include <hpm/base.h>

#include <stdint.h>
#include <stdio.h>

#define ROUTES_MAX       (1U << 20) /* routes of a set */
#define ROUTES_DEFAULT_N 16000      /* of the generated set used when no file is given */

struct route {
	uint32_t addr; /* host byte order, no bit set beyond the length */
	uint8_t len;   /* [0, 32]; rte_lpm takes no 0: give it the two halves of length 1 */
	uint8_t pad_;  /* 0 */
	uint16_t port;
};

/* v[n], no prefix twice, from malloc; routes_free() releases. */
struct routes {
	struct route *v;
	uint32_t n;
};

/*
 * Loads a route file. 0, -EINVAL (what the file holds, also a prefix given twice and no routes at
 * all: the reason names file and line), -E2BIG (more than ROUTES_MAX), -ENOMEM, -errno of opening
 * or reading.
 */
int routes_load(struct routes *ret, const char *path, struct hpm_reason *reason);

/*
 * Makes n routes, the first the default route to port 0, the others of lengths 8 to 32, most 24, as
 * in a backbone's table with some customers' links; ports in [0, ports). 0, -EINVAL (n not in
 * [1, 100000], ports 0), -ENOMEM.
 */
int routes_generate(
	struct routes *ret, uint32_t n, uint16_t ports, uint64_t seed, struct hpm_reason *reason);

/* How many different /24 hold routes longer than 24: the groups of second-level entries (tbl8)
 * rte_lpm needs. -ENOMEM. */
int64_t routes_count_groups(const struct routes *routes);

/* Writes routes as routes_load() reads them. 0, -EIO. */
int routes_write(const struct routes *routes, FILE *to);

/* Releases v; a zeroed set is fine. */
void routes_free(struct routes *routes);

#endif
