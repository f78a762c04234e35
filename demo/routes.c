/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads, writes and makes up route tables.
 *
 * Invariant: no prefix occurs twice in a set, so that its order means nothing.
 */
#include "routes.h"

#include "fail.h"
#include "lines.h"
#include "rng.h"
#include "seen.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define GENERATE_MAX 100000
#define LENGTH_LONG  24 /* of the routes whose tail rte_lpm keeps in second-level groups */

_Static_assert(sizeof(struct route) == 8, "compared as bytes up to the port");
#define PREFIX_BYTES offsetof(struct route, port)

/*
 * How often a length occurs, per mille. From /8 to /24 about as in a backbone's table, where more
 * than half are /24; the longer ones are a provider's own links and hosts.
 */
static const uint16_t weights[33] = {[8] = 1,
	[10] = 1,
	[11] = 1,
	[12] = 2,
	[13] = 3,
	[14] = 5,
	[15] = 6,
	[16] = 18,
	[17] = 14,
	[18] = 22,
	[19] = 40,
	[20] = 55,
	[21] = 55,
	[22] = 110,
	[23] = 95,
	[24] = 520,
	[25] = 4,
	[26] = 6,
	[27] = 6,
	[28] = 8,
	[29] = 8,
	[30] = 10,
	[32] = 10};

static int scan_route(struct lines *l, struct route *route)
{
	const char *p = l->text;
	struct prefix prefix;
	uint32_t port;
	int rc;

	scan_blank(&p);
	rc = scan_prefix(l, &p, "the route", &prefix);
	if (rc < 0)
		return rc;
	if (!scan_blank(&p) || !scan_u32(&p, &port))
		return lines_fail(l, "has no port number behind the prefix");
	if (port > UINT16_MAX)
		return lines_fail(l, "port %u exceeds %u", port, UINT16_MAX);
	scan_blank(&p);
	if (*p != '\0')
		return lines_fail(l, "has something after its last field");
	*route = (struct route){.addr = prefix.addr, .len = prefix.len, .port = (uint16_t)port};
	return 0;
}

/* Makes room for one more route, doubling; the lines of routes keep pace. */
static int grow(struct lines *l, struct routes *routes, uint32_t **line_of, uint32_t *cap)
{
	uint32_t more = *cap == 0 ? 1024 : *cap * 2;
	void *v, *lines;

	if (routes->n < *cap)
		return 0;
	if (routes->n >= ROUTES_MAX)
		return demo_fail(-E2BIG, l->reason, "'%s' holds more than %u routes",
			path_tail(l->path), ROUTES_MAX);
	v = realloc(routes->v, more * sizeof(routes->v[0]));
	if (v != NULL)
		routes->v = v;
	lines = realloc(*line_of, more * sizeof((*line_of)[0]));
	if (lines != NULL)
		*line_of = lines;
	if (v == NULL || lines == NULL)
		return demo_fail(-ENOMEM, l->reason, "'%s': no memory for %u routes",
			path_tail(l->path), more);
	*cap = more;
	return 0;
}

/* -EINVAL naming both lines when a prefix occurs twice. */
static int refuse_twins(struct lines *l, const struct routes *routes, const uint32_t *line_of)
{
	struct seen seen;
	int rc = seen_open(&seen, routes->v, routes->n, sizeof(routes->v[0]), PREFIX_BYTES);

	if (rc < 0)
		return demo_fail(rc, l->reason, "'%s': no memory to compare %u routes",
			path_tail(l->path), routes->n);
	for (uint32_t i = 0; rc == 0 && i < routes->n; i++) {
		uint32_t twin = seen_add(&seen, i);

		if (twin == SEEN_NEW)
			continue;
		l->number = line_of[i];
		rc = lines_fail(l, "repeats the prefix of line %u", line_of[twin]);
	}
	seen_close(&seen);
	return rc;
}

static int load_all(struct lines *l, struct routes *routes, uint32_t **line_of)
{
	uint32_t cap = 0;
	int rc;

	while ((rc = lines_next(l)) > 0) {
		rc = grow(l, routes, line_of, &cap);
		if (rc == 0)
			rc = scan_route(l, &routes->v[routes->n]);
		if (rc < 0)
			return rc;
		(*line_of)[routes->n++] = l->number;
	}
	if (rc < 0)
		return rc;
	if (routes->n == 0)
		return demo_fail(-EINVAL, l->reason, "'%s' line %u: the file ends without a route",
			path_tail(l->path), l->number);
	return refuse_twins(l, routes, *line_of);
}

int routes_load(struct routes *ret, const char *path, struct hpm_reason *reason)
{
	struct routes routes = {0};
	uint32_t *line_of = NULL;
	struct lines l;
	int rc = lines_open(&l, path, reason);

	if (rc < 0)
		return rc;
	rc = load_all(&l, &routes, &line_of);
	lines_close(&l);
	free(line_of);
	if (rc < 0) {
		routes_free(&routes);
		return rc;
	}
	*ret = routes;
	return 0;
}

static uint32_t weights_sum(void)
{
	uint32_t sum = 0;

	for (uint32_t len = 0; len <= 32; len++)
		sum += weights[len];
	return sum;
}

static struct route draw_route(struct rng *rng, uint32_t sum, uint16_t ports)
{
	uint32_t at = rng_below(rng, sum);
	uint32_t addr = (uint32_t)rng_next(rng);
	uint8_t len = 0;

	while (at >= weights[len])
		at -= weights[len++];
	/* unicast: 1.0.0.0 to 223.255.255.255 */
	addr = (1 + rng_below(rng, 223)) << 24 | addr >> 8;
	return (struct route){.addr = addr & (UINT32_MAX << (32 - len)),
		.len = len,
		.port = (uint16_t)rng_below(rng, ports)};
}

int routes_generate(
	struct routes *ret, uint32_t n, uint16_t ports, uint64_t seed, struct hpm_reason *reason)
{
	uint32_t sum = weights_sum();
	struct route *v;
	struct seen seen;
	struct rng rng;

	if (n < 1 || n > GENERATE_MAX || ports == 0)
		return demo_fail(-EINVAL, reason,
			"%u generated routes to %u ports, possible are 1 to %u to at least 1", n,
			ports, GENERATE_MAX);
	v = calloc(n, sizeof(v[0])); /* all zeros: the default route to port 0 */
	if (v == NULL || seen_open(&seen, v, n, sizeof(v[0]), PREFIX_BYTES) < 0) {
		free(v);
		return demo_fail(-ENOMEM, reason, "no memory for %u generated routes", n);
	}
	rng_seed(&rng, seed);
	for (uint32_t i = 1; i < n; i++) {
		do
			v[i] = draw_route(&rng, sum, ports);
		while (seen_add(&seen, i) != SEEN_NEW);
	}
	seen_close(&seen);
	*ret = (struct routes){.v = v, .n = n};
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int64_t routes_count_groups(const struct routes *routes)
{
	uint32_t *group = malloc((routes->n + (size_t)1) * sizeof(group[0]));
	int64_t groups = 0;
	uint32_t n = 0;

	if (group == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < routes->n; i++) {
		if (routes->v[i].len > LENGTH_LONG)
			group[n++] = routes->v[i].addr >> (32 - LENGTH_LONG);
	}
	qsort(group, n, sizeof(group[0]), by_number);
	for (uint32_t i = 0; i < n; i++)
		groups += i == 0 || group[i] != group[i - 1];
	free(group);
	return groups;
}

int routes_write(const struct routes *routes, FILE *to)
{
	for (uint32_t i = 0; i < routes->n; i++) {
		const struct route *r = &routes->v[i];
		int rc = fprintf(to, "%u.%u.%u.%u/%u %u\n", r->addr >> 24, r->addr >> 16 & 0xff,
			r->addr >> 8 & 0xff, r->addr & 0xff, r->len, r->port);

		if (rc < 0)
			return -EIO;
	}
	return 0;
}

void routes_free(struct routes *routes)
{
	free(routes->v);
	*routes = (struct routes){0};
}
