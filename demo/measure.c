/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides how the packets of a run are shared out. They are all forwarded, whatever is measured:
 * what a measurement leaves over runs at the end.
 */
#include "measure.h"

#include "fail.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PACKETS_DEFAULT 2000000 /* of a generator */
#define ROUNDS          41      /* an odd number has a median of its own */
#define ROUND_MIN       256     /* packets; a shorter round times the clock */
#define ROUND_ENDLESS   65536   /* packets of a round when the run has no end */
#define ONE_WINDOWS     256     /* one-packet windows, some more than the mean takes */
#define ONE_SECONDS     5       /* they give up when no packet comes */

static volatile sig_atomic_t stopped;

void measure_stop(void)
{
	stopped = 1;
}

struct shares {
	uint64_t total; /* UINT64_MAX: no end */
	uint64_t round; /* packets of one timed round; 0: none is timed */
	uint64_t rounds;
	uint64_t one;    /* one-packet windows */
	uint64_t window; /* most packets of the long window */
};

static struct shares share_out(const struct forwarder *f)
{
	const struct options *o = f->options;
	struct shares s = {.total = o->packets != 0 ? o->packets : UINT64_MAX};
	uint64_t rest;

	if (f->source.port)
		s.total = s.total < f->source.expected ? s.total : f->source.expected;
	else if (o->packets == 0)
		s.total = PACKETS_DEFAULT;
	if (o->window_ms != 0) {
		s.one = s.total / 4 < ONE_WINDOWS ? s.total / 4 : ONE_WINDOWS;
		s.window = s.total / 4 + (s.total % 4 != 0);
	}
	rest = s.total - s.one - s.window;
	s.round = s.total == UINT64_MAX ? ROUND_ENDLESS : rest / ROUNDS;
	if (s.round < ROUND_MIN)
		s.round = rest >= ROUND_MIN ? ROUND_MIN : 0;
	s.rounds = s.total == UINT64_MAX ? UINT64_MAX : s.round ? rest / s.round : 0;
	if (o->turns && o->window_ms != 0)
		s.window = UINT64_MAX; /* how many turns there are, lines decide: time ends it */
	return s;
}

/* Forwards n packets, fewer when the source ends, the user stops, or time is up. */
static uint64_t forward(struct forwarder *f, uint64_t n, uint64_t deadline_ns)
{
	uint64_t done = 0;

	while (done < n && !stopped) {
		uint32_t in =
			pipeline_run(&f->pipeline, n - done < BURST ? (uint32_t)(n - done) : BURST);

		done += in;
		if (in == 0 && source_ended(&f->source))
			break;
		if (deadline_ns != UINT64_MAX && now_ns() >= deadline_ns)
			break;
	}
	return done;
}

/* Every flow once, so that its session is there; then counting starts. */
static uint64_t warm_up(struct forwarder *f)
{
	uint64_t n;

	if (f->source.port)
		return 0;
	n = forward(f, UINT64_MAX, UINT64_MAX);
	memset(&f->pipeline.tally, 0, sizeof(f->pipeline.tally));
	source_start(&f->source);
	return n;
}

static void time_rounds(struct forwarder *f, struct rounds *rounds, const struct shares *s)
{
	for (uint64_t i = 0; i < s->rounds && !stopped; i++) {
		uint64_t start = now_ns();
		uint64_t n = forward(f, s->round, UINT64_MAX);
		uint64_t took = now_ns() - start;

		if (n < s->round)
			break; /* cut short: not comparable */
		rounds_add(rounds, took, n);
	}
}

/* One round per line that comes, so that several processes can take turns; each is answered with
 * its ns per packet, for ratios within a turn. */
static void take_turns(struct forwarder *f, struct rounds *rounds, const struct shares *s)
{
	char line[80];

	puts("ready");
	fflush(stdout);
	while (!stopped && fgets(line, sizeof(line), stdin) != NULL) {
		uint64_t start = now_ns();
		uint64_t n = forward(f, s->round, UINT64_MAX);
		uint64_t took = now_ns() - start;

		rounds_add(rounds, took, n);
		printf("done %.2f\n", n > 0 ? (double)took / (double)n : 0);
		fflush(stdout);
	}
}

static int count_packets(struct accounts *a, struct forwarder *f, uint64_t n)
{
	uint64_t give_up = now_ns() + UINT64_C(1000000000) * ONE_SECONDS;
	int rc = 0;

	for (uint64_t i = 0; i < n && rc == 0 && !stopped && now_ns() < give_up; i++) {
		uint64_t in;

		rc = accounts_open(a);
		if (rc < 0)
			return rc;
		in = forward(f, 1, give_up);
		rc = accounts_close(a);
		if (rc == 0 && in == 1)
			rc = accounts_keep_packet(a);
	}
	return rc;
}

static int count_window(struct accounts *a, struct forwarder *f, uint64_t most, uint64_t *packets)
{
	int rc = accounts_open(a);

	if (rc < 0)
		return rc;
	*packets = forward(f, most, now_ns() + UINT64_C(1000000) * f->options->window_ms);
	rc = accounts_close(a);
	if (rc == 0 && stopped && *packets == 0)
		return 0; /* stopped before it began: unknown, not 0 */
	return rc < 0 ? rc : accounts_keep_window(a);
}

static void read_reach(struct summary *s)
{
	const struct account *total = &s->accounts[s->n - 1];
	struct hpm_topo *topo = NULL;
	struct hpm_reason why = {""};
	int rc = hpm_topo_create(&topo, NULL, &why);

	for (unsigned i = 0; i < total->sizes; i++) {
		struct reach *r = &s->reach[i];
		const char *source = why.text;

		r->shift = total->pages[i].shift;
		r->known = rc == 0 && hpm_topo_tlb_reach(&r->bytes, topo, r->shift, &source) == 0;
		snprintf(r->source, sizeof(r->source), "%s", source);
	}
	hpm_topo_destroy(topo);
}

/* Packets that the capture holds and DPDK did not deliver: they came and were lost. */
static void count_lost(struct forwarder *f, uint64_t total)
{
	struct tally *t = &f->pipeline.tally;

	if (f->source.port && f->source.expected != UINT64_MAX && !stopped && t->in < total) {
		t->dropped[DROP_RX_ERROR] += total - t->in;
		t->in = total;
	}
}

static int take_windows(struct summary *ret, struct accounts *a, struct forwarder *f,
	const struct shares *s, struct hpm_reason *reason)
{
	int rc = 0;

	if (s->window == 0)
		return 0;
	stopped = 0; /* a signal ended the rounds; a second one ends this */
	rc = count_packets(a, f, s->one);
	if (rc == 0)
		rc = count_window(a, f, s->window, &ret->window_packets);
	if (rc < 0)
		return demo_fail(rc, reason, "counting pages failed: %s", strerror(-rc));
	ret->window = accounts_cost(a, &ret->cost) == 0;
	ret->one_packet_windows = accounts_packets(a);
	return 0;
}

int measure_run(struct summary *ret, struct accounts **accounts, struct forwarder *f,
	struct hpm_reason *reason)
{
	static struct rounds rounds;
	struct summary s = {.options = f->options,
		.traffic = f->traffic_name,
		.rules = f->rules.n,
		.routes = f->routes.n,
		.warm_up = warm_up(f)};
	struct shares shares = share_out(f);
	bool cut;
	int rc;

	if (f->options->turns)
		take_turns(f, &rounds, &shares);
	else
		time_rounds(f, &rounds, &shares);
	cut = stopped != 0;
	rc = accounts_create(accounts, &f->tables, &f->pieces, reason);
	if (rc == 0)
		rc = take_windows(&s, *accounts, f, &shares, reason);
	if (rc < 0)
		return rc;
	if (!cut && shares.total != UINT64_MAX && !f->options->turns)
		forward(f, shares.total - f->pipeline.tally.in, UINT64_MAX);
	if (!cut)
		count_lost(f, shares.total);
	s.tally = f->pipeline.tally;
	s.sessions = f->tables.sessions;
	s.times = rounds_times(&rounds);
	s.accounts = accounts_read(*accounts, &s.n);
	read_reach(&s);
	*ret = s;
	return 0;
}
