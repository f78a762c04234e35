/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what hpfwd's own options mean. Numbers are parsed strictly, and what contradicts itself
 * is refused here, before EAL starts.
 */
#include "options.h"

#include "fail.h"
#include "flows.h"
#include "rules_gen.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	OPT_RULES = 256,
	OPT_ROUTES,
	OPT_SESSIONS,
	OPT_MEM,
	OPT_PCAP_IN,
	OPT_PCAP_OUT,
	OPT_GENERATE,
	OPT_SEED,
	OPT_PACKETS,
	OPT_WINDOW,
	OPT_CIR,
	OPT_JSON,
	OPT_TURNS,
	OPT_HELP,
};

static const struct option long_options[] = {
	{"rules", required_argument, NULL, OPT_RULES},
	{"routes", required_argument, NULL, OPT_ROUTES},
	{"sessions", required_argument, NULL, OPT_SESSIONS},
	{"mem", required_argument, NULL, OPT_MEM},
	{"pcap-in", required_argument, NULL, OPT_PCAP_IN},
	{"pcap-out", required_argument, NULL, OPT_PCAP_OUT},
	{"generate", required_argument, NULL, OPT_GENERATE},
	{"seed", required_argument, NULL, OPT_SEED},
	{"packets", required_argument, NULL, OPT_PACKETS},
	{"window", required_argument, NULL, OPT_WINDOW},
	{"cir", required_argument, NULL, OPT_CIR},
	{"json", no_argument, NULL, OPT_JSON},
	{"turns", no_argument, NULL, OPT_TURNS},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static const struct {
	const char *name;
	enum memory memory;
	uint32_t page_shift;
} memories[] = {
	{"naive", MEMORY_NAIVE, 0},
	{"dpdk", MEMORY_DPDK, 0},
	{"hpm", MEMORY_HPM, 21},
	{"hpm:1G", MEMORY_HPM, 30},
	{"hpm:2M", MEMORY_HPM, 21},
	{"hpm:4K", MEMORY_HPM, 12},
};

void options_usage(FILE *to)
{
	fputs("usage: hpfwd [EAL options] -- --rules F|gen:SHAPE:N [options]\n"
	      "\n"
	      "  --rules F|gen:SHAPE:N  ClassBench file, or N rules of shape acl, fw or ipc\n"
	      "  --routes F             lines of 'prefix/len port' (default: 16,000 made up)\n"
	      "  --sessions N           session table, and flows of the generator (100000)\n"
	      "  --mem M                where tables live: naive, dpdk, hpm[:1G|2M|4K] (hpm)\n"
	      "  --pcap-in F            packets from a capture\n"
	      "  --pcap-out F           forwarded packets to a capture (default: net_null)\n"
	      "  --generate T           packets made up: uniform, zipf:S, active:N\n"
	      "  --seed N               of rules, routes, flows and traffic (1)\n"
	      "  --packets N            stop after N, warm-up not counted (0: on a signal, or\n"
	      "                         when the capture ends; 2000000 with --generate)\n"
	      "  --window MS            longest time of the window of page counts (100; 0: none)\n"
	      "  --cir N                police sessions at N bytes/s (0: meter, never drop)\n"
	      "  --json                 the summary as JSON\n"
	      "  --turns                one round per line of standard input, then the summary\n"
	      "\n"
	      "exit status: 0 done, 1 input damaged half-way, 2 wrong usage, 3 cannot run\n",
		to);
}

const char *memory_name(const struct options *options)
{
	for (size_t i = sizeof(memories) / sizeof(memories[0]); i-- > 0;)
		if (memories[i].memory == options->memory &&
			memories[i].page_shift == options->page_shift)
			return memories[i].name;
	return "?";
}

static int parse_number(
	uint64_t *ret, const char *name, const char *text, uint64_t max, struct hpm_reason *reason)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > max)
		return demo_fail(-EINVAL, reason, "--%s takes a number from 0 to %llu, not '%.40s'",
			name, (unsigned long long)max, text);
	*ret = value;
	return 0;
}

static int parse_memory(struct options *o, const char *text, struct hpm_reason *reason)
{
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		if (strcmp(text, memories[i].name) == 0) {
			o->memory = memories[i].memory;
			o->page_shift = memories[i].page_shift;
			return 0;
		}
	return demo_fail(-EINVAL, reason,
		"--mem takes naive, dpdk, hpm, hpm:1G, hpm:2M or hpm:4K, not '%.40s'", text);
}

static int parse_one(struct options *o, int opt, struct hpm_reason *reason)
{
	uint64_t value = 0;
	int rc = 0;

	switch (opt) {
	case OPT_RULES:
		o->rules = optarg;
		return 0;
	case OPT_ROUTES:
		o->routes = optarg;
		return 0;
	case OPT_MEM:
		return parse_memory(o, optarg, reason);
	case OPT_PCAP_IN:
		o->pcap_in = optarg;
		return 0;
	case OPT_PCAP_OUT:
		o->pcap_out = optarg;
		return 0;
	case OPT_GENERATE:
		o->generate = optarg;
		return 0;
	case OPT_SESSIONS:
		rc = parse_number(&value, "sessions", optarg, SESSIONS_MAX, reason);
		o->sessions = (uint32_t)value;
		return rc;
	case OPT_WINDOW:
		rc = parse_number(&value, "window", optarg, 60000, reason);
		o->window_ms = (uint32_t)value;
		return rc;
	case OPT_SEED:
		return parse_number(&o->seed, "seed", optarg, UINT64_MAX, reason);
	case OPT_PACKETS:
		return parse_number(&o->packets, "packets", optarg, UINT64_MAX, reason);
	case OPT_CIR:
		return parse_number(&o->cir, "cir", optarg, UINT64_C(1) << 40, reason);
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_TURNS:
		o->turns = true;
		return 0;
	default:
		o->help = true;
		return 0;
	}
}

static const char *nearest(const char *wrong)
{
	const char *ret = NULL;
	size_t best = 0;

	for (const struct option *o = long_options; o->name != NULL; o++) {
		size_t same = 0;

		while (wrong[same] != '\0' && wrong[same] == o->name[same])
			same++;
		if (same > best) {
			best = same;
			ret = o->name;
		}
	}
	return ret;
}

static int unknown(char **argv, struct hpm_reason *reason)
{
	const char *wrong = argv[optind - 1];
	const char *close;

	if (optopt > 0 && optopt < OPT_RULES) /* a letter: optind may not be behind it yet */
		return demo_fail(
			-EINVAL, reason, "unknown option '-%c'; see hpfwd -- --help", optopt);
	close = strncmp(wrong, "--", 2) == 0 ? nearest(wrong + 2) : NULL;

	for (const struct option *o = long_options; o->name != NULL && close != NULL; o++)
		if (strcmp(o->name, wrong + 2) == 0)
			return demo_fail(-EINVAL, reason, "%s needs a value", wrong);
	if (close != NULL)
		return demo_fail(-EINVAL, reason, "unknown option '%.40s'; did you mean --%s?",
			wrong, close);
	return demo_fail(-EINVAL, reason, "unknown option '%.40s'; see hpfwd -- --help", wrong);
}

/* What is made up is asked for here, so that a slip in it is wrong usage, not a missing file. */
static int check_generators(const struct options *o, struct hpm_reason *reason)
{
	struct rules_gen rules;
	struct traffic traffic;
	int rc = 0;

	if (strncmp(o->rules, "gen:", 4) == 0)
		rc = rules_gen_parse(&rules, o->rules, reason);
	if (rc == 0 && o->generate != NULL)
		rc = traffic_init(&traffic, o->generate, o->sessions, o->seed, reason);
	return rc;
}

static bool same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

static int check(const struct options *o, struct hpm_reason *reason)
{
	if (o->rules == NULL)
		return demo_fail(
			-EINVAL, reason, "--rules is missing: a ClassBench file, or gen:acl:64000");
	if (o->sessions == 0)
		return demo_fail(-EINVAL, reason, "--sessions 0: the table needs at least one");
	if (o->pcap_in != NULL && o->generate != NULL)
		return demo_fail(-EINVAL, reason,
			"--pcap-in and --generate: packets have one source, name one");
	if (o->pcap_in != NULL && o->pcap_out != NULL && same_file(o->pcap_in, o->pcap_out))
		return demo_fail(-EINVAL, reason,
			"--pcap-out '%s' would overwrite what --pcap-in reads",
			path_tail(o->pcap_out));
	if (o->turns && o->pcap_in != NULL)
		return demo_fail(-EINVAL, reason, "--turns needs --generate: a capture ends");
	return check_generators(o, reason);
}

int options_parse(struct options *ret, int argc, char **argv, struct hpm_reason *reason)
{
	struct options o = {.seed = 1,
		.sessions = 100000,
		.window_ms = 100,
		.memory = MEMORY_HPM,
		.page_shift = 21};
	int rc, opt;

	optind = 0; /* start afresh: EAL uses getopt as well */
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
		if (opt == '?')
			return unknown(argv, reason);
		rc = parse_one(&o, opt, reason);
		if (rc < 0)
			return rc;
	}
	if (o.help) {
		*ret = o;
		return 0;
	}
	if (optind < argc)
		return demo_fail(-EINVAL, reason, "'%.40s' is no option", argv[optind]);
	rc = check(&o, reason);
	if (rc == 0)
		*ret = o;
	return rc;
}
