/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which flow sends next.
 *
 * Zipf ranks are drawn by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996): exact, and
 * without a table whose pages would compete with the ones being measured. H is the integral of
 * x^-s; a uniform number between H(1.5) - 1 and H(n + 0.5) is inverted, rounded, and nearly always
 * accepted at once.
 *
 * Invariant: rank -> flow is a bijection (a stride coprime to n), so that the popular flows lie far
 * apart in the tables.
 */
#include "flows.h"

#include "fail.h"
#include "lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* (e^x - 1) / x, its limit near 0 */
static double expm1_over(double x)
{
	return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

/* ln(1 + x) / x, likewise */
static double log1p_over(double x)
{
	return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

/* Integral of t^-s from 1 to x. */
static double zipf_h(double s, double x)
{
	double log_x = log(x);

	return expm1_over((1 - s) * log_x) * log_x;
}

static double zipf_h_inverse(double s, double y)
{
	double t = y * (1 - s);

	/* rounding may pass the pole by a hair */
	return exp(log1p_over(t < -1 ? -1 : t) * y);
}

static void zipf_init(struct traffic *t, double s)
{
	t->s = s;
	t->h_x1 = zipf_h(s, 1.5) - 1;
	t->h_n = zipf_h(s, t->n + 0.5);
	t->shortcut = 2 - zipf_h_inverse(s, zipf_h(s, 2.5) - pow(2, -s));
}

uint32_t traffic_zipf_rank(struct traffic *t)
{
	for (;;) {
		double u = t->h_n + rng_unit(&t->rng) * (t->h_x1 - t->h_n);
		double x = zipf_h_inverse(t->s, u);
		double k = floor(x + 0.5);

		/* written so that a NaN or infinity cannot leave the range either */
		if (!(k >= 1))
			k = 1;
		else if (k > t->n)
			k = t->n;
		if (k - x <= t->shortcut || u >= zipf_h(t->s, k + 0.5) - exp(-t->s * log(k)))
			return (uint32_t)k;
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Strides near the golden section spread any run of ranks evenly. */
static void permutation_init(struct traffic *t)
{
	uint32_t stride = (uint32_t)(t->n * 0.6180339887498949);

	while (stride < 1 || gcd(stride, t->n) != 1)
		stride++;
	t->stride = stride;
	t->offset = rng_below(&t->rng, t->n);
}

static int parse_zipf(double *ret, const char *text, struct hpm_reason *reason)
{
	char *end;
	double s;

	/* strtod() alone would also take blanks, signs, hexadecimal, nan and inf */
	if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
		return demo_fail(-EINVAL, reason,
			"'zipf:%.40s' is not zipf:S with a decimal number, e.g. zipf:1.1", text);
	s = strtod(text, &end);
	if (*end != '\0')
		return demo_fail(-EINVAL, reason,
			"'zipf:%.40s' is not zipf:S with a decimal number, e.g. zipf:1.1", text);
	if (!(s > 0) || s > ZIPF_S_MAX)
		return demo_fail(-EINVAL, reason,
			"'zipf:%.40s': the exponent must be above 0 and at most %.0f", text,
			ZIPF_S_MAX);
	*ret = s;
	return 0;
}

static int parse_active(uint32_t *ret, const char *text, struct hpm_reason *reason)
{
	const char *p = text;

	if (!scan_u32(&p, ret) || *p != '\0')
		return demo_fail(-EINVAL, reason,
			"'active:%.40s' is not active:N with a number of flows, e.g. active:4000",
			text);
	if (*ret == 0)
		return demo_fail(
			-EINVAL, reason, "'active:%.40s': at least one flow must send", text);
	return 0;
}

/* Fills kind, and s or active; active is 0 where the spec names none. */
static int parse(struct traffic *ret, const char *spec, struct hpm_reason *reason)
{
	if (strcmp(spec, "uniform") == 0) {
		ret->kind = TRAFFIC_UNIFORM;
		return 0;
	}
	if (strncmp(spec, "zipf:", 5) == 0) {
		ret->kind = TRAFFIC_ZIPF;
		return parse_zipf(&ret->s, spec + 5, reason);
	}
	if (strncmp(spec, "active:", 7) == 0) {
		ret->kind = TRAFFIC_ACTIVE;
		return parse_active(&ret->active, spec + 7, reason);
	}
	return demo_fail(-EINVAL, reason,
		"'%.40s' is no kind of traffic; there are uniform, zipf:S and active:N", spec);
}

int traffic_check(const char *spec, struct hpm_reason *reason)
{
	struct traffic t = {0};

	return parse(&t, spec, reason);
}

int traffic_init(
	struct traffic *ret, const char *spec, uint32_t n, uint64_t seed, struct hpm_reason *reason)
{
	struct traffic t = {.n = n};
	int rc = parse(&t, spec, reason);

	if (rc < 0)
		return rc;
	if (n == 0 || n > FLOWS_MAX)
		return demo_fail(-EINVAL, reason, "traffic over %u flows, possible are 1 to %u", n,
			FLOWS_MAX);
	if (t.active > n)
		return demo_fail(-EINVAL, reason,
			"'%.40s' asks for more than the %u flows there are", spec, n);
	if (t.active == 0)
		t.active = n;
	rng_seed(&t.rng, seed);
	permutation_init(&t);
	if (t.kind == TRAFFIC_ZIPF)
		zipf_init(&t, t.s);
	*ret = t;
	return 0;
}
