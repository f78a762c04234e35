/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary for people: under 80 columns, unknown is "-" with its reason below. */
#include "summary.h"

#include <inttypes.h>
#include <string.h>

/* "281 MiB", "1.4 GiB": three digits are enough for a glance, exact bytes are in the JSON. */
static const char *size_text(char text[16], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text, 16,
		unit > 0 && value < 10 && value != (uint64_t)value ? "%.1f %s" : "%.0f %s", value,
		units[unit]);
	return text;
}

static void print_packets(FILE *to, const struct summary *s)
{
	uint64_t dropped = 0;

	for (int i = 0; i < DROP_REASONS; i++)
		dropped += s->tally.dropped[i];
	fprintf(to, "packets  %" PRIu64 " in = %" PRIu64 " forwarded + %" PRIu64 " dropped\n",
		s->tally.in, s->tally.forwarded, dropped);
	for (int i = 0; i < DROP_REASONS; i++)
		if (s->tally.dropped[i] > 0)
			fprintf(to, "         %12" PRIu64 "  %-15s %s\n", s->tally.dropped[i],
				drop_name((unsigned)i), drop_sentence((unsigned)i));
}

static void print_time(FILE *to, const struct summary *s)
{
	if (s->times.n == 0)
		fputs("time     - ns/packet (too few packets for a round)\n", to);
	else
		fprintf(to,
			"time     %.1f ns/packet, median of %" PRIu64
			" rounds without a window (p10 %.1f, p90 %.1f)\n",
			s->times.median, s->times.n, s->times.p10, s->times.p90);
}

static void print_account(FILE *to, const struct account *a)
{
	char size[16], page[16], touched[24] = "-", mean[24] = "-";

	if (a->per_packet_counted)
		snprintf(mean, sizeof(mean), "%.2f", a->per_packet);
	if (a->sizes == 0)
		fprintf(to, "%-10s %9s %8s %9s %9s %10s\n", a->tag, size_text(size, a->bytes), "-",
			"-", "-", mean);
	for (unsigned i = 0; i < a->sizes; i++) {
		const struct page_count *p = &a->pages[i];

		if (a->counted)
			snprintf(touched, sizeof(touched), "%" PRIu64, p->touched);
		fprintf(to, "%-10s %9s %8s %9" PRIu64 " %9s %10s\n", i == 0 ? a->tag : "",
			i == 0 ? size_text(size, a->bytes) : "",
			size_text(page, UINT64_C(1) << p->shift), p->held, touched,
			i == 0 ? mean : "");
	}
}

static void print_reach(FILE *to, const struct summary *s)
{
	const struct account *total = &s->accounts[s->n - 1];

	for (unsigned i = 0; i < total->sizes; i++) {
		uint64_t bytes = total->pages[i].touched << total->pages[i].shift;
		char page[16], size[16], reach[16];

		if (!total->counted || total->pages[i].touched == 0)
			continue;
		fprintf(to, "%-8s %s pages: touched %s, ", i == 0 ? "TLB" : "",
			size_text(page, UINT64_C(1) << s->reach[i].shift), size_text(size, bytes));
		if (!s->reach[i].known)
			fprintf(to, "reach - (%s)\n", s->reach[i].source);
		else if (bytes > s->reach[i].bytes)
			fprintf(to, "reach %s (%s): exceeded %.1f times\n",
				size_text(reach, s->reach[i].bytes), s->reach[i].source,
				(double)bytes / (double)s->reach[i].bytes);
		else
			fprintf(to, "reach %s (%s): fits\n", size_text(reach, s->reach[i].bytes),
				s->reach[i].source);
	}
}

void summary_text(FILE *to, const struct summary *s)
{
	fprintf(to, "hpfwd    --mem %s, %s\n", memory_name(s->options), s->traffic);
	fprintf(to, "tables   %u rules, %u of %u sessions, %u routes\n", s->rules, s->sessions,
		s->options->sessions, s->routes);
	print_packets(to, s);
	print_time(to, s);
	fprintf(to, "\n%-10s %9s %8s %9s %9s %10s\n", "TABLE", "BYTES", "PAGE", "PAGES", "TOUCHED",
		"PER PACKET");
	for (unsigned i = 0; i < s->n; i++)
		print_account(to, &s->accounts[i]);
	if (s->window)
		fprintf(to, "window   %" PRIu64 " packets in %.1f ms; %u one-packet windows\n",
			s->window_packets, (double)s->cost.open_ns / 1e6, s->one_packet_windows);
	print_reach(to, s);
	for (unsigned i = 0; i < s->n; i++)
		if (s->accounts[i].why[0] != '\0' &&
			(i == 0 || strcmp(s->accounts[i].why, s->accounts[i - 1].why) != 0))
			fprintf(to, "note     %s: %s\n", s->accounts[i].tag, s->accounts[i].why);
	if (s->remark.text[0] != '\0')
		fprintf(to, "note     %s\n", s->remark.text);
}
