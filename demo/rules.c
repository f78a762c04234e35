/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes ClassBench rule files.
 *
 * Invariant: every rule that leaves here is one a classifier can take as it stands: prefixes
 * without host bits, port ranges in order. A file is all right or not loaded at all.
 */
#include "rules.h"

#include "fail.h"
#include "lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int scan_ports(struct lines *l, const char **p, const char *what, uint16_t ret[2])
{
	uint32_t lo, hi;
	bool formed;

	formed = scan_u32(p, &lo);
	scan_blank(p);
	formed = formed && scan_char(p, ':');
	scan_blank(p);
	formed = formed && scan_u32(p, &hi);
	if (!formed)
		return lines_fail(l, "%s ports are not a range like 0 : 65535", what);
	if (lo > UINT16_MAX || hi > UINT16_MAX)
		return lines_fail(l, "%s port %u exceeds 65535", what, lo > UINT16_MAX ? lo : hi);
	if (lo > hi)
		return lines_fail(l, "%s port range %u : %u is inverted", what, lo, hi);
	ret[0] = (uint16_t)lo;
	ret[1] = (uint16_t)hi;
	return 0;
}

/* "value/mask", both at most `max`. */
static int scan_masked(
	struct lines *l, const char **p, const char *what, uint32_t max, uint32_t ret[2])
{
	if (!scan_u32(p, &ret[0]) || !scan_char(p, '/') || !scan_u32(p, &ret[1]))
		return lines_fail(l, "%s is not a value and a mask like 0x06/0xFF", what);
	for (int i = 0; i < 2; i++) {
		if (ret[i] > max)
			return lines_fail(l, "%s %s 0x%x exceeds 0x%x", what,
				i == 0 ? "value" : "mask", ret[i], max);
	}
	return 0;
}

/* Protocol, then flags if there are any, then nothing. */
static int scan_tail(struct lines *l, const char **p, struct rule *rule)
{
	uint32_t proto[2], flags[2];
	int rc = scan_masked(l, p, "protocol", UINT8_MAX, proto);

	if (rc < 0)
		return rc;
	if (scan_blank(p) && **p != '\0') {
		rc = scan_masked(l, p, "flags field", UINT16_MAX, flags);
		if (rc < 0)
			return rc;
		scan_blank(p);
	}
	if (**p != '\0')
		return lines_fail(l, "has something after its last field");
	rule->proto = (uint8_t)(proto[0] & proto[1]);
	rule->proto_mask = (uint8_t)proto[1];
	return 0;
}

static int scan_rule(struct lines *l, struct rule *rule)
{
	const char *p = l->text;
	struct prefix src, dst;
	uint16_t sport[2], dport[2];
	int rc;

	scan_blank(&p);
	if (!scan_char(&p, '@'))
		return lines_fail(l, "is no rule: it does not start with '@'");
	rc = scan_prefix(l, &p, "source", &src);
	if (rc < 0)
		return rc;
	scan_blank(&p);
	rc = scan_prefix(l, &p, "destination", &dst);
	if (rc < 0)
		return rc;
	scan_blank(&p);
	rc = scan_ports(l, &p, "source", sport);
	if (rc < 0)
		return rc;
	scan_blank(&p);
	rc = scan_ports(l, &p, "destination", dport);
	if (rc < 0)
		return rc;
	scan_blank(&p);
	*rule = (struct rule){.src = src.addr,
		.dst = dst.addr,
		.src_len = src.len,
		.dst_len = dst.len,
		.sport_lo = sport[0],
		.sport_hi = sport[1],
		.dport_lo = dport[0],
		.dport_hi = dport[1]};
	return scan_tail(l, &p, rule);
}

/* Makes room for one more rule, doubling. */
static int grow(struct lines *l, struct rules *rules, uint32_t *cap)
{
	uint32_t more = *cap == 0 ? 1024 : *cap * 2;
	struct rule *v;

	if (rules->n < *cap)
		return 0;
	if (rules->n >= RULES_MAX)
		return demo_fail(-E2BIG, l->reason, "'%s' holds more than %u rules",
			path_tail(l->path), RULES_MAX);
	v = realloc(rules->v, more * sizeof(v[0]));
	if (v == NULL)
		return demo_fail(-ENOMEM, l->reason, "'%s': no memory for %u rules",
			path_tail(l->path), more);
	rules->v = v;
	*cap = more;
	return 0;
}

static int load_all(struct lines *l, struct rules *rules)
{
	uint32_t cap = 0;
	int rc;

	while ((rc = lines_next(l)) > 0) {
		rc = grow(l, rules, &cap);
		if (rc == 0)
			rc = scan_rule(l, &rules->v[rules->n]);
		if (rc < 0)
			return rc;
		rules->n++;
	}
	if (rc == 0 && rules->n == 0)
		return demo_fail(-EINVAL, l->reason, "'%s' line %u: the file ends without a rule",
			path_tail(l->path), l->number);
	return rc;
}

int rules_load(struct rules *ret, const char *path, struct hpm_reason *reason)
{
	struct rules rules = {0};
	struct lines l;
	int rc = lines_open(&l, path, reason);

	if (rc < 0)
		return rc;
	rc = load_all(&l, &rules);
	lines_close(&l);
	if (rc < 0) {
		rules_free(&rules);
		return rc;
	}
	*ret = rules;
	return 0;
}

#define QUAD(a) (a) >> 24, (a) >> 16 & 0xff, (a) >> 8 & 0xff, (a)&0xff

int rules_write(const struct rules *rules, FILE *to)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->v[i];
		int rc = fprintf(to,
			"@%u.%u.%u.%u/%u\t%u.%u.%u.%u/%u\t%u : %u\t%u : %u\t0x%02x/0x%02X"
			"\t0x0000/0x0000\n",
			QUAD(r->src), r->src_len, QUAD(r->dst), r->dst_len, r->sport_lo,
			r->sport_hi, r->dport_lo, r->dport_hi, r->proto, r->proto_mask);

		if (rc < 0)
			return -EIO;
	}
	return 0;
}

void rules_free(struct rules *rules)
{
	free(rules->v);
	*rules = (struct rules){0};
}
