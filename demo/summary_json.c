/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary for programs: exact numbers; what is unknown is null and has a "why" beside it. */
#include "cli/json.h"
#include "summary.h"

#include <inttypes.h>

#define SCHEMA 1

static void key_of(char key[24], uint32_t shift)
{
	snprintf(key, 24, "%" PRIu64, UINT64_C(1) << shift);
}

static void write_envelope(struct json *j, const struct summary *s)
{
	json_object(j, "hpmem");
	json_string(j, "version", hpm_version());
	json_u64(j, "schema", SCHEMA);
	json_string(j, "verb", "hpfwd");
	json_i64(j, "exit", s->exit_status);
	json_end(j);
	json_string(j, "mem", memory_name(s->options));
	json_string(j, "traffic", s->traffic);
	json_u64(j, "rules", s->rules);
	json_u64(j, "routes", s->routes);
	json_u64(j, "sessions", s->sessions);
	json_u64(j, "sessions_max", s->options->sessions);
	json_u64(j, "seed", s->options->seed);
}

static void write_packets(struct json *j, const struct summary *s)
{
	json_object(j, "packets");
	json_u64(j, "in", s->tally.in);
	json_u64(j, "forwarded", s->tally.forwarded);
	json_object(j, "dropped");
	for (unsigned i = 0; i < DROP_REASONS; i++)
		if (s->tally.dropped[i] > 0)
			json_u64(j, drop_name(i), s->tally.dropped[i]);
	json_end(j);
	json_u64(j, "warm_up", s->warm_up);
	json_end(j);
}

static void write_times(struct json *j, const struct summary *s)
{
	if (s->times.n > 0) {
		json_double(j, "ns_per_packet", s->times.median, 2);
		json_double(j, "ns_p10", s->times.p10, 2);
		json_double(j, "ns_p90", s->times.p90, 2);
	} else {
		json_null(j, "ns_per_packet");
		json_string(j, "ns_why", "too few packets for a round");
	}
	json_u64(j, "rounds", s->times.n);
}

static void write_account(struct json *j, const char *key, const struct account *a)
{
	char size[24];

	json_object(j, key);
	json_string(j, "tag", a->tag);
	json_u64(j, "bytes", a->bytes);
	json_object(j, "pages");
	for (unsigned i = 0; i < a->sizes; i++) {
		key_of(size, a->pages[i].shift);
		json_u64(j, size, a->pages[i].held);
	}
	json_end(j);
	json_object(j, "touched");
	for (unsigned i = 0; i < a->sizes; i++) {
		key_of(size, a->pages[i].shift);
		if (a->counted)
			json_u64(j, size, a->pages[i].touched);
		else
			json_null(j, size);
	}
	json_end(j);
	if (a->per_packet_counted)
		json_double(j, "touched_per_packet", a->per_packet, 3);
	else
		json_null(j, "touched_per_packet");
	json_string(j, "why", a->why[0] != '\0' ? a->why : NULL);
	json_end(j);
}

static void write_window(struct json *j, const struct summary *s)
{
	if (!s->window) {
		json_null(j, "window");
		return;
	}
	json_object(j, "window");
	json_double(j, "ms", (double)s->cost.open_ns / 1e6, 3);
	json_u64(j, "packets", s->window_packets);
	json_u64(j, "open_cost_ns", s->cost.zap_ns);
	json_u64(j, "close_cost_ns", s->cost.look_ns);
	json_u64(j, "one_packet_windows", s->one_packet_windows);
	json_end(j);
}

static void write_reach(struct json *j, const struct summary *s)
{
	json_array(j, "tlb");
	for (unsigned i = 0; i < s->accounts[s->n - 1].sizes; i++) {
		const struct reach *r = &s->reach[i];

		json_object(j, NULL);
		json_u64(j, "page_bytes", UINT64_C(1) << r->shift);
		if (r->known)
			json_u64(j, "reach_bytes", r->bytes);
		else
			json_null(j, "reach_bytes");
		json_string(j, r->known ? "source" : "why", r->source);
		json_end(j);
	}
	json_end(j);
}

void summary_json(FILE *to, const struct summary *s)
{
	struct json j = json_start(to);

	json_object(&j, NULL);
	write_envelope(&j, s);
	write_packets(&j, s);
	write_times(&j, s);
	json_array(&j, "tables");
	for (unsigned i = 0; i + 1 < s->n; i++)
		write_account(&j, NULL, &s->accounts[i]);
	json_end(&j);
	write_account(&j, "total", &s->accounts[s->n - 1]);
	write_window(&j, s);
	write_reach(&j, s);
	json_string(&j, "remark", s->remark.text[0] != '\0' ? s->remark.text : NULL);
	json_end(&j);
}
