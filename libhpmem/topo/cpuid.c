/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUID as a table: from this CPU on the live host, from ROOT/hpm/cpuid.txt in a capture. What is
 * read out of it does not know which.
 */
#include "topo/cpu.h"
#include "topo/topo.h"

#include "base/kfile.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBLEAVES_MAX 32  /* of leaf 0x18; CPUs have about 8 */
#define ROWS_MAX      256 /* of a captured file */

static const uint32_t leaves[] = {
	0x0, 0x1, 0x2, 0x18, 0x80000000, 0x80000001, 0x80000005, 0x80000006, 0x80000019};

static int add(struct hpm_topo *topo, const struct hpm_topo_cpuid *row)
{
	struct hpm_topo_cpuid *slot = topo_append(&topo->cpuids, &topo->cpuid_count, sizeof(*slot));

	if (slot == NULL)
		return -ENOMEM;
	*slot = *row;
	return 0;
}

static int ask_cpu(struct hpm_topo *topo)
{
	struct hpm_topo_cpuid row;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(leaves); i++) {
		uint32_t last = 0;

		for (uint32_t sub = 0; sub <= last && rc == 0; sub++) {
			if (!cpu_ask(&row, leaves[i], sub))
				break;
			rc = add(topo, &row);
			if (leaves[i] == 0x18 && sub == 0 && row.eax < SUBLEAVES_MAX)
				last = row.eax; /* its eax is the highest subleaf */
		}
	}
	return rc;
}

static int read_capture(struct hpm_topo *topo)
{
	char *text, *line, *rest;
	int rc;

	rc = kfile_load(topo->root, "/hpm/cpuid.txt", FILE_MAX, &text);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	rc = 0;
	for (line = strtok_r(text, "\n", &rest); line != NULL && rc == 0;
		line = strtok_r(NULL, "\n", &rest)) {
		struct hpm_topo_cpuid row;

		if (topo->cpuid_count < ROWS_MAX &&
			sscanf(line, "%8x %8x %8x %8x %8x %8x", &row.leaf, &row.subleaf, &row.eax,
				&row.ebx, &row.ecx, &row.edx) == 6)
			rc = add(topo, &row);
	}
	free(text);
	return rc;
}

int topo_read_cpuids(struct hpm_topo *topo)
{
	return strcmp(topo->root, "/") == 0 ? ask_cpu(topo) : read_capture(topo);
}

const struct hpm_topo_cpuid *topo_cpuid(
	const struct hpm_topo *topo, uint32_t leaf, uint32_t subleaf)
{
	for (unsigned i = 0; i < topo->cpuid_count; i++)
		if (topo->cpuids[i].leaf == leaf && topo->cpuids[i].subleaf == subleaf)
			return &topo->cpuids[i];
	return NULL;
}
