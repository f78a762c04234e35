/* SPDX-License-Identifier: BSD-3-Clause */
/* hpmem topo: what this host, or a captured one, offers. Text and JSON read one snapshot. */
#include "verb_topo.h"

const struct ability topo_abilities[HPM_ABILITIES] = {
	[HPM_ABILITY_POPULATE_WRITE] = {"populate_write",
		"populate without a signal when pages run out (5.14)"},
	[HPM_ABILITY_HUGETLB_ZAP] = {"hugetlb_zap", "exact windows on huge pages (5.18)"},
	[HPM_ABILITY_UFFD_WP_SHARED] = {"uffd_wp_shared",
		"exact windows where processes share page tables (5.19)"},
	[HPM_ABILITY_PAGEMAP_SCAN] = {"pagemap_scan", "fast windows: PAGEMAP_SCAN (6.7)"},
};

const char topo_no_mounts[] = "/proc/mounts cannot be read";

struct hpm_datum topo_reach(const struct hpm_topo_tlb *tlb)
{
	struct hpm_datum reach = tlb->entries;

	if (reach.known && reach.value > UINT64_MAX >> tlb->page_shift)
		return (struct hpm_datum){.source = "more than 2^64 bytes"};
	reach.value <<= tlb->page_shift;
	return reach;
}

static enum status run(const struct cli *cli)
{
	struct hpm_reason reason;
	struct hpm_topo *topo;

	if (hpm_topo_create(&topo, cli_given(cli, "root"), &reason) < 0)
		return cli_fail(STATUS_LOOK, "%s", reason.text);
	if (cli_given(cli, "json") != NULL)
		topo_print_json(cli, topo);
	else
		topo_print_text(topo);
	hpm_topo_destroy(topo);
	return STATUS_YES;
}

static const struct cli_option options[] = {CLI_OPTION_JSON, CLI_OPTION_ROOT, {NULL, NULL, NULL}};

const struct verb verb_topo = {
	.name = "topo",
	.summary = "what this host offers: nodes, pools, mounts, TLB, kernel",
	.options = options,
	.run = run,
};
