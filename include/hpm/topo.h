/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Topology: what this host offers, as one immutable snapshot.
 *
 * NUMA nodes with their CPUs, distances and hugepage pools, hugetlbfs mounts, the THP mode, what
 * the kernel can do, and the geometry of the data TLB. Page sizes are discovered, never assumed.
 * Every number carries its source; what could not be found out is unknown with a reason, never 0.
 *
 * All reads go below a root directory, so that a captured host (scripts/capture-host.sh) can be
 * examined anywhere; the CPU's own answers (CPUID) are captured in a file beside /proc and /sys.
 */
#ifndef HPM_TOPO_H
#define HPM_TOPO_H

#include <hpm/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_topo;

/** A number with where it came from. */
struct hpm_datum {
	uint64_t value;     /**< Meaningless unless known. */
	int known;          /**< 0: unknown, and source says why. */
	const char *source; /**< e.g. "sysfs", "cpuid 0x80000006", or the reason it is unknown. */
};

/** One NUMA node. */
struct hpm_topo_node {
	int node;                     /**< The kernel's number; numbers may have gaps. */
	struct hpm_datum total_bytes; /**< MemTotal of the node. */
	struct hpm_datum free_bytes;  /**< MemFree of the node. */
	/** e.g. "0-3,8"; "" on a node without CPUs, NULL when unknown. Owned by the snapshot. */
	const char *cpulist;
	unsigned cpus; /**< CPUs in cpulist. */
};

/** The hugepages of one size on one node (node -1: of the whole host). */
struct hpm_topo_pool {
	int node;
	uint32_t page_shift;          /**< log2 bytes. */
	struct hpm_datum total_pages; /**< nr_hugepages. */
	struct hpm_datum free_pages;  /**< free_hugepages: a hint, promised pages are among them. */
	struct hpm_datum promised_pages; /**< resv_hugepages; the kernel keeps it per host only. */
	struct hpm_datum surplus_pages;  /**< surplus_hugepages. */
};

/** One hugetlbfs mount. */
struct hpm_topo_mount {
	const char *path; /**< Owned by the snapshot. */
	struct hpm_datum
		page_bytes; /**< From its pagesize= option, else the default hugepage size. */
	struct hpm_datum size_bytes; /**< From its size= option. */
};

/** One level of the data TLB for one page size. */
struct hpm_topo_tlb {
	unsigned level;      /**< 1 or 2. */
	uint32_t page_shift; /**< log2 bytes of the page. */
	struct hpm_datum entries;
	struct hpm_datum ways;   /**< Equals entries when fully associative. */
	struct hpm_datum shared; /**< 1: the same entries serve smaller pages too; else 0. */
};

/** What the CPU answered to one leaf of CPUID. */
struct hpm_topo_cpuid {
	uint32_t leaf, subleaf;
	uint32_t eax, ebx, ecx, edx;
};

/** Facts about the host that are not per node. */
struct hpm_topo_host {
	size_t size;         /**< Set by the caller to sizeof this struct. */
	char kernel[64];     /**< e.g. "6.1.0-18-amd64"; "" when unknown. */
	char cpu_vendor[16]; /**< e.g. "AuthenticAMD"; "" when unknown. */
	struct hpm_datum cpu_family;
	struct hpm_datum cpu_model;
	struct hpm_datum guest; /**< 1 under a hypervisor, 0 on bare metal. */
	uint32_t base_page_shift;
	struct hpm_datum default_huge_bytes; /**< Hugepagesize of /proc/meminfo. */
	char thp[16];                        /**< "always", "madvise", "never"; "" when unknown. */
	char thp_shmem[16];                  /**< shmem_enabled; "" when unknown. */
};

/** What a kernel can do, judged by its release; a live call may still be refused. */
enum hpm_ability {
	HPM_ABILITY_POPULATE_WRITE, /**< MADV_POPULATE_WRITE, 5.14. */
	HPM_ABILITY_HUGETLB_ZAP,    /**< MADV_DONTNEED on hugetlb, 5.18. */
	HPM_ABILITY_UFFD_WP_SHARED, /**< userfaultfd write-protect on shmem and hugetlb, 5.19. */
	HPM_ABILITY_PAGEMAP_SCAN,   /**< PAGEMAP_SCAN, 6.7. */
	HPM_ABILITIES
};

/**
 * Takes a snapshot.
 *
 * @param[out] ret    owned by the caller, release with hpm_topo_destroy().
 * @param root        directory that stands for "/": NULL or "/" is the live host; copied.
 * @param[out] reason filled on failure; may be NULL.
 * @return 0, -ENOENT (no such root, or neither proc nor sys below it), -EACCES, -ENOMEM.
 *   A file that is missing, huge or garbled makes its numbers unknown; it is no failure.
 * Threads: any thread.  Cost: some 50 small reads per node.
 */
HPM_API HPM_MUST_USE int hpm_topo_create(
	struct hpm_topo **ret, const char *root, struct hpm_reason *reason);

/** NULL is a no-op. */
HPM_API void hpm_topo_destroy(struct hpm_topo *topo);

/** Fills @p host, at most host->size bytes. @return 0, -EINVAL. Threads: any thread. */
HPM_API HPM_MUST_USE int hpm_topo_host_read(
	const struct hpm_topo *topo, struct hpm_topo_host *host);

/** nodes[*n], ascending; owned by the snapshot. Threads: any thread, as all below. */
HPM_API const struct hpm_topo_node *hpm_topo_nodes(const struct hpm_topo *topo, unsigned *n);

/** pools[*n]: the host's (node -1) first, then by node, each largest page first. */
HPM_API const struct hpm_topo_pool *hpm_topo_pools(const struct hpm_topo *topo, unsigned *n);

/** mounts[*n], in the kernel's order; NULL when unknown, as nothing could be read. */
HPM_API const struct hpm_topo_mount *hpm_topo_mounts(const struct hpm_topo *topo, unsigned *n);

/** tlb[*n]: level 1 before 2, each smallest page first. Rows exist for every page size offered. */
HPM_API const struct hpm_topo_tlb *hpm_topo_tlbs(const struct hpm_topo *topo, unsigned *n);

/** cpuids[*n]: the leaves the TLB was read from; none where the CPU is no x86. */
HPM_API const struct hpm_topo_cpuid *hpm_topo_cpuids(const struct hpm_topo *topo, unsigned *n);

/** Distance between two nodes as the firmware says: 10 is local. Unknown for nodes that are not. */
HPM_API struct hpm_datum hpm_topo_distance(const struct hpm_topo *topo, int from, int to);

/** Whether the kernel has an ability: value 0 or 1; unknown when its release is unknown. */
HPM_API struct hpm_datum hpm_topo_ability(const struct hpm_topo *topo, enum hpm_ability ability);

/**
 * Bytes the data TLB of one core covers with pages of one size: the larger of its levels.
 *
 * reach = entries * page size.
 *
 * @param[out] ret   bytes.
 * @param[out] source where the entries came from, or why they are unknown; static or owned by the
 *                   snapshot; may be NULL.
 * @return 0, -EINVAL (no such page size here), -ENODATA (the CPU will not say).
 */
HPM_API HPM_MUST_USE int hpm_topo_tlb_reach(
	uint64_t *ret, const struct hpm_topo *topo, uint32_t page_shift, const char **source);

#ifdef __cplusplus
}
#endif
#endif
