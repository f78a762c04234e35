/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides the order: what can be wrong in a file is found before EAL starts and before any page is
 * taken; pieces of memory are told apart by what is there before and after each step.
 */
#include "forwarder.h"

#include "fail.h"
#include "rules_gen.h"
#include "sizing.h"

#include <errno.h>
#include <fcntl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <unistd.h>

#define POOL_PACKETS 8191 /* one less than a power of two, as rte_mempool likes it */
#define POOL_CACHE   256

#define ROUTES_DEFAULT_PORTS 4

static int read_inputs(struct forwarder *f, struct hpm_reason *reason)
{
	const struct options *o = f->options;
	int rc = rules_open(&f->rules, o->rules, o->seed, reason);

	if (rc == 0)
		rc = o->routes != NULL ? routes_load(&f->routes, o->routes, reason)
				       : routes_generate(&f->routes, ROUTES_DEFAULT_N,
						 ROUTES_DEFAULT_PORTS, o->seed, reason);
	if (rc == 0 && o->pcap_in != NULL)
		rc = capture_scan(&f->capture, o->pcap_in, reason);
	if (rc == 0 && o->generate != NULL)
		rc = traffic_init(&f->traffic, o->generate, o->sessions, o->seed, reason);
	return rc;
}

/* EAL prints its usage to stdout when it rejects an argument; only results belong there. */
static int init_eal(int argc, char **argv)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), rc;

	if (out >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	rc = rte_eal_init(argc, argv);
	if (out >= 0) {
		fflush(stdout);
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	return rc;
}

static int start_eal(int argc, char **argv, struct hpm_reason *reason)
{
	int rc = init_eal(argc, argv);

	if (rc < 0)
		return demo_fail(rte_errno != 0 ? -rte_errno : -EINVAL, reason,
			"EAL does not start: %s (its own messages are above; without hugepages: "
			"--no-huge -m 512)",
			rte_strerror(rte_errno));
	return 0;
}

static int open_ports(struct forwarder *f, struct hpm_reason *reason)
{
	f->pool = rte_pktmbuf_pool_create("packets", POOL_PACKETS, POOL_CACHE, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	if (f->pool == NULL)
		return demo_fail(-rte_errno, reason, "no memory for %d packet buffers in EAL: %s",
			POOL_PACKETS, rte_strerror(rte_errno));
	return ports_open(&f->ports, f->options, f->pool, reason);
}

static int open_source(struct forwarder *f, struct hpm_reason *reason)
{
	const struct options *o = f->options;
	int rc;

	if (f->ports.has_rx) {
		source_from_port(
			&f->source, &f->ports, f->pool, o->pcap_in != NULL ? &f->capture : NULL);
		snprintf(f->traffic_name, sizeof(f->traffic_name), "%s%.60s",
			o->pcap_in != NULL ? "capture " : "port ",
			o->pcap_in != NULL ? path_tail(o->pcap_in) : "0");
		return 0;
	}
	if (o->generate == NULL) { /* EAL has no port */
		rc = traffic_init(&f->traffic, "uniform", o->sessions, o->seed, reason);
		if (rc < 0)
			return rc;
	}
	rc = flows_make(&f->flows, &f->rules, o->sessions, o->seed, reason);
	if (rc < 0)
		return rc;
	source_from_flows(&f->source, &f->flows, &f->traffic, f->pool);
	snprintf(f->traffic_name, sizeof(f->traffic_name), "%u flows, %.40s", f->flows.n,
		o->generate != NULL ? o->generate : "uniform");
	return 0;
}

static int build_tables(struct forwarder *f, const struct need needs[TABLES],
	const struct tables_input *input, struct hpm_reason *reason)
{
	int rc = place_open(&f->place, f->options, needs, reason);

	if (rc == 0) {
		tables_init(&f->tables, input, f->place);
		rc = pieces_snapshot(&f->pieces, reason);
	}
	for (int i = 0; i < TABLES && rc == 0; i++) {
		rc = tables_build(&f->tables, (enum table)i, reason);
		/* what a table of an arena leaves in EAL is a few records of DPDK's own */
		if (rc == 0)
			rc = pieces_tag_new(&f->pieces,
				f->place->arena != NULL ? "eal" : table_info[i].tag, reason);
	}
	if (rc == 0)
		pieces_tag_rest(&f->pieces);
	return rc;
}

int forwarder_open(struct forwarder *f, const struct options *options, int eal_argc,
	char **eal_argv, struct hpm_reason *reason)
{
	struct tables_input input;
	struct need needs[TABLES];
	int rc;

	*f = (struct forwarder){.options = options};
	rc = read_inputs(f, reason);
	if (rc < 0)
		return rc;
	input = (struct tables_input){.rules = &f->rules,
		.routes = &f->routes,
		.sessions = options->sessions,
		.cir = options->cir};
	tables_needs(needs, &input);
	if (options->memory != MEMORY_DPDK)
		rc = sizing_measure(needs, &input, reason);
	if (rc == 0)
		rc = start_eal(eal_argc, eal_argv, reason);
	if (rc < 0)
		return rc;
	f->eal = true;
	rc = open_ports(f, reason);
	if (rc == 0)
		rc = open_source(f, reason);
	if (rc == 0)
		rc = build_tables(f, needs, &input, reason);
	f->pipeline = (struct pipeline){.tables = &f->tables,
		.source = &f->source,
		.ports = &f->ports,
		.police = options->cir != 0};
	return rc;
}

void forwarder_close(struct forwarder *f)
{
	if (f->place != NULL) {
		tables_destroy(&f->tables);
		f->place->close(f->place);
	}
	if (f->eal) {
		ports_close();
		rte_mempool_free(f->pool);
		(void)rte_eal_cleanup(); /* the process ends next */
	}
	pieces_free(&f->pieces);
	flows_free(&f->flows);
	routes_free(&f->routes);
	rules_free(&f->rules);
}
