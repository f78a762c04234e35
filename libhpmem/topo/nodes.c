/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA nodes. Their numbers may have gaps; a row of distances has an entry for each node there is,
 * in ascending order. */
#include "topo/topo.h"

#include "base/kfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 65536 /* more than any kernel knows: a larger number is garbage */

static int add_node(void *arg, uint32_t n)
{
	struct hpm_topo *topo = arg;
	struct hpm_topo_node *node;

	if (n >= NODES_MAX || topo->node_count == NODES_MAX)
		return 0;
	node = topo_append(&topo->nodes, &topo->node_count, sizeof(*node));
	if (node == NULL)
		return -ENOMEM;
	node->node = (int)n;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return ((const struct hpm_topo_node *)a)->node - ((const struct hpm_topo_node *)b)->node;
}

/* CPUs in "0-3,8"; -EINVAL when the text is no such list. */
static int count_cpus(const char *text)
{
	unsigned long low, high, count = 0;
	const char *at = text;
	char *end;

	while (*at != '\0') {
		if (*at < '0' || *at > '9')
			return -EINVAL;
		low = high = strtoul(at, &end, 10);
		if (*end == '-') {
			at = end + 1;
			if (*at < '0' || *at > '9')
				return -EINVAL;
			high = strtoul(at, &end, 10);
		}
		if (low > high || high >= CPUS_MAX || (*end != ',' && *end != '\0'))
			return -EINVAL;
		count += high - low + 1;
		if (count > CPUS_MAX)
			return -EINVAL;
		if (*end == ',' && end[1] == '\0')
			return -EINVAL;
		at = *end == ',' ? end + 1 : end;
	}
	return (int)count;
}

static int read_cpus(struct hpm_topo *topo, struct hpm_topo_node *node)
{
	char path[96], *text;
	int rc;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node->node);
	rc = kfile_load(topo->root, path, FILE_MAX, &text);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	text[strcspn(text, "\n")] = '\0';
	rc = count_cpus(text);
	if (rc >= 0) {
		node->cpulist = topo_keep(topo, text);
		node->cpus = (unsigned)rc;
		rc = node->cpulist != NULL ? 0 : -ENOMEM;
	}
	free(text);
	return rc == -ENOMEM ? rc : 0;
}

static void read_memory(const struct hpm_topo *topo, struct hpm_topo_node *node)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node->node);
	node->total_bytes = topo_meminfo(topo, path, "MemTotal:");
	node->free_bytes = topo_meminfo(topo, path, "MemFree:");
}

static void read_distances(struct hpm_topo *topo, unsigned row)
{
	struct hpm_datum *distances = &topo->distances[(size_t)row * topo->node_count];
	char path[96], *text, *at, *end;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance",
		topo->nodes[row].node);
	for (unsigned i = 0; i < topo->node_count; i++)
		distances[i] = datum_unknown("the kernel lists no distance");
	if (kfile_load(topo->root, path, FILE_MAX, &text) < 0)
		return;
	at = text;
	for (unsigned i = 0; i < topo->node_count; i++) {
		unsigned long distance = strtoul(at, &end, 10);

		if (end == at ||
			distance > UINT8_MAX) /* the firmware's table has bytes (ACPI SLIT) */
			break;
		distances[i] = datum_known(distance, "sysfs");
		at = end;
	}
	free(text);
}

int topo_read_nodes(struct hpm_topo *topo)
{
	int rc = topo_list(topo, "/sys/devices/system/node", "node", "", add_node, topo);

	if (rc == -ENOMEM)
		return rc;
	if (topo->node_count == 0)
		return 0; /* a kernel without NUMA */
	qsort(topo->nodes, topo->node_count, sizeof(*topo->nodes), by_number);
	topo->distances =
		calloc((size_t)topo->node_count * topo->node_count, sizeof(*topo->distances));
	if (topo->distances == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < topo->node_count; i++) {
		rc = read_cpus(topo, &topo->nodes[i]);
		if (rc < 0)
			return rc;
		read_memory(topo, &topo->nodes[i]);
		read_distances(topo, i);
	}
	return 0;
}
