/* SPDX-License-Identifier: BSD-3-Clause */
/* hpmem cpuid: the CPU's own words, in the rows a captured host keeps in hpm/cpuid.txt. */
#include "cli.h"

#include <hpm/topo.h>

#include <inttypes.h>

static void print_text(const struct hpm_topo_cpuid *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("%08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " %08" PRIx32
		       " %08" PRIx32 "\n",
			rows[i].leaf, rows[i].subleaf, rows[i].eax, rows[i].ebx, rows[i].ecx,
			rows[i].edx);
}

static void print_json(const struct cli *cli, const struct hpm_topo_cpuid *rows, unsigned n)
{
	struct json j = cli_json(cli, STATUS_YES);

	json_array(&j, "cpuid");
	for (unsigned i = 0; i < n; i++) {
		json_object(&j, NULL);
		json_u64(&j, "leaf", rows[i].leaf);
		json_u64(&j, "subleaf", rows[i].subleaf);
		json_u64(&j, "eax", rows[i].eax);
		json_u64(&j, "ebx", rows[i].ebx);
		json_u64(&j, "ecx", rows[i].ecx);
		json_u64(&j, "edx", rows[i].edx);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static enum status run(const struct cli *cli)
{
	const struct hpm_topo_cpuid *rows;
	struct hpm_reason reason;
	struct hpm_topo *topo;
	unsigned n;

	if (hpm_topo_create(&topo, cli_given(cli, "root"), &reason) < 0)
		return cli_fail(STATUS_LOOK, "%s", reason.text);
	rows = hpm_topo_cpuids(topo, &n);
	if (n == 0) {
		hpm_topo_destroy(topo);
		return cli_fail(STATUS_LOOK,
			"the CPU was not asked: no x86, or no hpm/cpuid.txt in the capture");
	}
	if (cli_given(cli, "json") != NULL)
		print_json(cli, rows, n);
	else
		print_text(rows, n);
	hpm_topo_destroy(topo);
	return STATUS_YES;
}

static const struct cli_option options[] = {CLI_OPTION_JSON, CLI_OPTION_ROOT, {NULL, NULL, NULL}};

const struct verb verb_cpuid = {
	.name = "cpuid",
	.summary = "what the CPU answered to CPUID, for scripts/capture-host.sh",
	.options = options,
	.run = run,
};
