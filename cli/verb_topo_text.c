/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpmem topo as tables of under 80 columns. A number that is unknown is "-", and the reason stands
 * once at the end. Names from files (a kernel's release, a mount's path) come last in their line.
 */
#include "text.h"
#include "verb_topo.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS       79
#define DISTANCES_MAX 14 /* in one line */
#define CELL_MAX      24
#define UNKNOWNS_MAX  128 /* what is unknown differs by kind, size and level, not by node */

struct unknowns {
	struct unknown {
		char what[48];
		const char *why;
	} rows[UNKNOWNS_MAX];
	unsigned n;
};

static void note(struct unknowns *u, const char *what, const char *why)
{
	for (unsigned i = 0; i < u->n; i++)
		if (strcmp(u->rows[i].what, what) == 0 && strcmp(u->rows[i].why, why) == 0)
			return;
	if (u->n == UNKNOWNS_MAX)
		return;
	snprintf(u->rows[u->n].what, sizeof(u->rows[u->n].what), "%s", what);
	u->rows[u->n++].why = why;
}

/* A count, right-aligned after two blanks. */
static void count(struct unknowns *u, int width, const char *what, struct hpm_datum d)
{
	if (d.known) {
		printf("  %*" PRIu64, width, d.value);
		return;
	}
	printf("  %*s", width, "-");
	note(u, what, d.source);
}

static void bytes(struct unknowns *u, int width, const char *what, struct hpm_datum d)
{
	char text[TEXT_SIZE_MAX];

	printf("  %*s", width, d.known ? text_size(text, d.value) : "-");
	if (!d.known)
		note(u, what, d.source);
}

static void word(struct unknowns *u, const char *what, const char *text)
{
	text_print(text[0] != '\0' ? text : "-");
	if (text[0] == '\0')
		note(u, what, "the file is missing, or holds something else");
}

static void print_host(struct unknowns *u, const struct hpm_topo_host *host)
{
	char text[TEXT_SIZE_MAX];

	printf("cpu       %s", host->cpu_vendor[0] != '\0' ? host->cpu_vendor : "-");
	if (host->cpu_family.known && host->cpu_model.known)
		printf(" family %" PRIu64 " model %" PRIu64, host->cpu_family.value,
			host->cpu_model.value);
	if (host->guest.known)
		fputs(host->guest.value != 0 ? ", guest" : ", bare metal", stdout);
	else
		note(u, "cpu", host->guest.source);
	fputs("\nkernel    ", stdout);
	word(u, "kernel", host->kernel);
	printf("\npages     %s", text_size(text, UINT64_C(1) << host->base_page_shift));
	printf(", huge by default %s", host->default_huge_bytes.known
					       ? text_size(text, host->default_huge_bytes.value)
					       : "-");
	if (!host->default_huge_bytes.known)
		note(u, "default huge page", host->default_huge_bytes.source);
	fputs("\nTHP       ", stdout);
	word(u, "THP", host->thp);
	fputs(", of shared memory ", stdout);
	word(u, "THP of shared memory", host->thp_shmem);
	fputs("\n", stdout);
}

static void print_nodes(struct unknowns *u, const struct hpm_topo_node *nodes, unsigned n)
{
	printf("\n%5s  %5s  %10s  %10s  %s\n", "NODE", "CPUS", "TOTAL", "FREE", "CPU LIST");
	for (unsigned i = 0; i < n; i++) {
		const struct hpm_topo_node *node = &nodes[i];
		struct hpm_datum cpus = {node->cpus, node->cpulist != NULL,
			"the kernel's list of CPUs is missing, or no list"};

		printf("%5d", node->node);
		count(u, 5, "CPUs of a node", cpus);
		bytes(u, 10, "memory of a node", node->total_bytes);
		bytes(u, 10, "free memory of a node", node->free_bytes);
		if (node->cpus > 0) {
			fputs("  ", stdout);
			text_print_list(node->cpulist, 38, COLUMNS + 1);
		}
		fputs("\n", stdout);
	}
	if (n == 0)
		fputs("    -\n", stdout);
	if (n == 0)
		note(u, "nodes", "the kernel has no /sys/devices/system/node");
}

/* One node is 10 from itself: said only where there are more. */
static void print_distances(struct unknowns *u, const struct hpm_topo *topo)
{
	unsigned n;
	const struct hpm_topo_node *nodes = hpm_topo_nodes(topo, &n);

	for (unsigned first = 0; n > 1 && first < n; first += DISTANCES_MAX) {
		unsigned end = n - first > DISTANCES_MAX ? first + DISTANCES_MAX : n;

		printf("\n%8s", "DISTANCE");
		for (unsigned to = first; to < end; to++)
			printf("%5d", nodes[to].node);
		fputs("\n", stdout);
		for (unsigned from = 0; from < n; from++) {
			printf("%8d", nodes[from].node);
			for (unsigned to = first; to < end; to++)
				count(u, 3, "distance",
					hpm_topo_distance(topo, nodes[from].node, nodes[to].node));
			fputs("\n", stdout);
		}
	}
}

static void print_pools(struct unknowns *u, const struct hpm_topo_pool *pools, unsigned n)
{
	char text[TEXT_SIZE_MAX], node[CELL_MAX];

	printf("\n%5s  %8s  %10s  %10s  %10s  %10s\n", "NODE", "PAGE", "TOTAL", "FREE", "PROMISED",
		"SURPLUS");
	for (unsigned i = 0; i < n; i++) {
		const struct hpm_topo_pool *pool = &pools[i];

		snprintf(node, sizeof(node), "%d", pool->node);
		printf("%5s  %8s", pool->node < 0 ? "all" : node,
			text_size(text, UINT64_C(1) << pool->page_shift));
		count(u, 10, "pages of a pool", pool->total_pages);
		count(u, 10, "free pages of a pool", pool->free_pages);
		count(u, 10, pool->node < 0 ? "promised pages" : "promised pages of a node",
			pool->promised_pages);
		count(u, 10, "surplus pages of a pool", pool->surplus_pages);
		fputs("\n", stdout);
	}
	if (n == 0)
		fputs("    -\n", stdout);
	if (n == 0)
		note(u, "pools", "the kernel has no /sys/kernel/mm/hugepages, or it is empty");
}

static void print_mounts(struct unknowns *u, const struct hpm_topo_mount *mounts, unsigned n)
{
	printf("\n%5s  %8s  %10s  %s\n", "", "PAGE", "LIMIT", "MOUNT");
	for (unsigned i = 0; i < n; i++) {
		printf("%5s", "");
		bytes(u, 8, "page size of a mount", mounts[i].page_bytes);
		bytes(u, 10, "limit of a mount", mounts[i].size_bytes);
		fputs("  ", stdout);
		text_print(mounts[i].path);
		fputs("\n", stdout);
	}
	if (n == 0)
		printf("%5s  %8s  %10s  %s\n", "", "", "",
			mounts != NULL ? "no hugetlbfs is mounted" : "-");
	if (mounts == NULL)
		note(u, "mounts", topo_no_mounts);
}

static void print_tlbs(struct unknowns *u, const struct hpm_topo_tlb *tlbs, unsigned n)
{
	char page[TEXT_SIZE_MAX], what[48];

	printf("\n%5s  %8s  %10s  %10s  %10s  %10s\n", "dTLB", "PAGE", "ENTRIES", "WAYS", "SHARED",
		"REACH");
	for (unsigned i = 0; i < n; i++) {
		const struct hpm_topo_tlb *tlb = &tlbs[i];

		text_size(page, UINT64_C(1) << tlb->page_shift);
		snprintf(what, sizeof(what), "L%u dTLB for %s", tlb->level, page);
		printf("   L%u  %8s", tlb->level, page);
		count(u, 10, what, tlb->entries);
		count(u, 10, what, tlb->ways);
		printf("  %10s", !tlb->shared.known ? "-" : tlb->shared.value != 0 ? "yes" : "no");
		if (!tlb->shared.known)
			note(u, tlb->entries.known ? "shared entries of the dTLB" : what,
				tlb->shared.source);
		bytes(u, 10, what, topo_reach(tlb));
		fputs("\n", stdout);
	}
}

static void print_abilities(struct unknowns *u, const struct hpm_topo *topo)
{
	printf("\n%14s  %4s  %s\n", "KERNEL", "HAS", "FOR (since)");
	for (int i = 0; i < HPM_ABILITIES; i++) {
		struct hpm_datum able = hpm_topo_ability(topo, (enum hpm_ability)i);

		printf("%14s  %4s  %s\n", topo_abilities[i].name,
			!able.known       ? "-"
			: able.value != 0 ? "yes"
					  : "no",
			topo_abilities[i].what);
		if (!able.known)
			note(u, "kernel abilities", able.source);
	}
}

void topo_print_text(const struct hpm_topo *topo)
{
	struct hpm_topo_host host = {.size = sizeof(host)};
	struct unknowns unknown = {.n = 0};
	const struct hpm_topo_node *nodes;
	const struct hpm_topo_pool *pools;
	const struct hpm_topo_mount *mounts;
	const struct hpm_topo_tlb *tlbs;
	unsigned n;

	if (hpm_topo_host_read(topo, &host) == 0)
		print_host(&unknown, &host);
	nodes = hpm_topo_nodes(topo, &n);
	print_nodes(&unknown, nodes, n);
	print_distances(&unknown, topo);
	pools = hpm_topo_pools(topo, &n);
	print_pools(&unknown, pools, n);
	mounts = hpm_topo_mounts(topo, &n);
	print_mounts(&unknown, mounts, n);
	tlbs = hpm_topo_tlbs(topo, &n);
	print_tlbs(&unknown, tlbs, n);
	print_abilities(&unknown, topo);
	for (unsigned i = 0; i < unknown.n; i++)
		printf("%s- %s\n    why   %s\n", i == 0 ? "\n" : "", unknown.rows[i].what,
			unknown.rows[i].why);
}
