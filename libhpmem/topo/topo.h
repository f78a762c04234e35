/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The snapshot, and how its parts are filled. Each part reads its own files; a file that is
 * missing, huge or garbled makes numbers unknown and never fails the snapshot: only memory can.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <hpm/topo.h>

#include <stdbool.h>

#define NODES_MAX  1024      /* the kernel's largest CONFIG_NODES_SHIFT is 10 */
#define MOUNTS_MAX 4096      /* of hugetlbfs */
#define FILE_MAX   (1 << 20) /* bytes of any file read */

struct hpm_topo {
	const char *root;
	struct hpm_topo_host host;
	struct hpm_topo_node *nodes; /* ascending */
	struct hpm_topo_pool *pools;
	struct hpm_topo_mount *mounts;
	bool mounts_known;
	struct hpm_topo_tlb *tlbs;
	struct hpm_topo_cpuid *cpuids;
	struct hpm_datum *distances; /* row-major [node_count][node_count] */
	struct hpm_datum abilities[HPM_ABILITIES];
	unsigned node_count, pool_count, mount_count, tlb_count, cpuid_count;
	char **kept; /* strings that live as long as the snapshot */
	unsigned kept_count;
};

/* 0 or -ENOMEM each, in this order: later ones use what earlier ones found. */
int topo_read_host(struct hpm_topo *topo);
int topo_read_nodes(struct hpm_topo *topo);
int topo_read_pools(struct hpm_topo *topo);
int topo_read_mounts(struct hpm_topo *topo);
int topo_read_cpuids(struct hpm_topo *topo);
int topo_read_tlbs(struct hpm_topo *topo);

/* Appends a zeroed entry to an array of *count entries of `each` bytes; NULL without memory. */
void *topo_append(void *array, unsigned *count, size_t each);

/* A copy that lives as long as the snapshot; NULL without memory. */
const char *topo_keep(struct hpm_topo *topo, const char *text);

/* Calls back for each number n of entries "<prefix>n<suffix>" of a directory, in no order, n below
 * 2^32. 0, -errno of opening, or what fn returned. */
int topo_list(const struct hpm_topo *topo, const char *dir, const char *prefix, const char *suffix,
	int (*fn)(void *arg, uint32_t n), void *arg);

static inline struct hpm_datum datum_known(uint64_t value, const char *source)
{
	return (struct hpm_datum){.value = value, .known = 1, .source = source};
}

/* `why` is static, or kept by the snapshot. */
static inline struct hpm_datum datum_unknown(const char *why)
{
	return (struct hpm_datum){.value = 0, .known = 0, .source = why};
}

/* The number that a file holds. */
struct hpm_datum topo_number(const struct hpm_topo *topo, const char *path);

/* The kilobytes behind a key ("MemTotal:") of a meminfo file, in bytes. */
struct hpm_datum topo_meminfo(const struct hpm_topo *topo, const char *path, const char *key);

/* A row of cpuids; NULL when the CPU has no such leaf. */
const struct hpm_topo_cpuid *topo_cpuid(
	const struct hpm_topo *topo, uint32_t leaf, uint32_t subleaf);

#endif
