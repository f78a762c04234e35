/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides how a run becomes a DPDK heap: registered in units of 2 MiB, also inside a 1 GiB page, so
 * that heaps of several tags share one page and an object can span two; and named after its tag and
 * node, so that a second one can be refused. Invariant: DPDK knows a heap exactly as long as it has
 * its run; a failure in between undoes both.
 */
#include "memsegs.h"

#include <hpm/dpdk.h>
#include <hpm/run.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_SHIFT 21 /* the largest page registered as one */
#define NAME_BYTES 32 /* of a heap in DPDK, its NUL included: RTE_HEAP_NAME_MAX_LEN, not public */

struct hpm_dpdk_heap {
	struct hpm_arena *arena;
	void *block; /* the run */
	uint64_t bytes;
	int socket;
	char name[NAME_BYTES];
};

static int fail(int rc, struct hpm_reason *reason, const char *fmt, ...) HPM_PRINTF(3, 4);

static int fail(int rc, struct hpm_reason *reason, const char *fmt, ...)
{
	va_list args;

	if (reason == NULL)
		return rc;
	va_start(args, fmt);
	vsnprintf(reason->text, sizeof(reason->text), fmt, args);
	va_end(args);
	return rc;
}

/* "hpm-session-0"; a tag too long for DPDK is cut and told apart by its hash (FNV-1a). */
static void name_heap(char *name, const char *tag, int node)
{
	uint32_t hash = 2166136261u;

	if (snprintf(name, NAME_BYTES, "hpm-%s-%d", tag, node) < NAME_BYTES)
		return;
	for (const char *c = tag; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	snprintf(name, NAME_BYTES, "hpm-%.10s~%08x-%d", tag, hash, node);
}

/* Options appended by a newer caller must be zero: bytes of his that this library does not know. */
static int copy_opts(struct hpm_dpdk_heap_opts *ret, const struct hpm_dpdk_heap_opts *from)
{
	const unsigned char *bytes = (const unsigned char *)from;

	if (from == NULL || from->size < sizeof(*from))
		return -EINVAL;
	for (size_t i = sizeof(*from); i < from->size; i++)
		if (bytes[i] != 0)
			return -E2BIG;
	*ret = *from;
	return 0;
}

/*
 * Whether DPDK's heaps can be used. Its counts of lcores and nodes are set before its memory is,
 * and stay after an rte_eal_init() that failed; but the first heap gets its name when heaps are
 * ready.
 */
static bool eal_is_up(void)
{
	char first[NAME_BYTES];

	if (rte_socket_count() == 0)
		return false;
	snprintf(first, sizeof(first), "socket_%d", rte_socket_id_by_idx(0));
	return rte_malloc_heap_get_socket(first) >= 0;
}

static int check(const struct hpm_dpdk_heap_opts *opts, uint64_t unit)
{
	if (!eal_is_up())
		return fail(-EINVAL, opts->reason, "call rte_eal_init() before making a heap");
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return fail(-EINVAL, opts->reason,
			"heaps are made in the primary process: no other has the arena mapped");
	if (opts->bytes == 0)
		return fail(-EINVAL, opts->reason, "heap '%s': 0 bytes", opts->tag);
	/* DPDK counts units in an int */
	if (opts->bytes > UINT64_MAX - unit + 1 || opts->bytes / unit >= INT_MAX)
		return fail(-EOVERFLOW, opts->reason,
			"heap '%s': %" PRIu64 " bytes are more than DPDK can register", opts->tag,
			opts->bytes);
	return 0;
}

static bool exists(const char *name)
{
	return rte_malloc_heap_get_socket(name) >= 0;
}

/* DPDK has no heap left, or another complaint. */
static int create_refused(struct hpm_reason *reason, const char *name)
{
	int rc = rte_errno > 0 ? -rte_errno : -EINVAL;

	if (rc == -ENOSPC)
		return fail(rc, reason,
			"heap '%s': DPDK's %d heaps are used up (RTE_MAX_HEAPS), EAL's own "
			"included; let tables share a tag, or rebuild DPDK",
			name, RTE_MAX_HEAPS);
	return fail(rc, reason, "DPDK refused heap '%s': %s", name, rte_strerror(-rc));
}

/* The same number can also come from the file behind a memseg list, so the lists are counted. */
static int memory_refused(struct hpm_reason *reason, const char *name)
{
	int rc = rte_errno > 0 ? -rte_errno : -EINVAL;

	if (rc == -ENOSPC && memsegs_lists() >= RTE_MAX_MEMSEG_LISTS)
		return fail(rc, reason,
			"heap '%s': DPDK's %d memseg lists are used up (RTE_MAX_MEMSEG_LISTS)",
			name, RTE_MAX_MEMSEG_LISTS);
	return fail(
		rc, reason, "DPDK refused the memory of heap '%s': %s", name, rte_strerror(-rc));
}

/* Registers the run with DPDK; on failure DPDK knows nothing of it. */
static int add_to_dpdk(
	struct hpm_dpdk_heap *heap, int node, uint64_t unit, struct hpm_reason *reason)
{
	unsigned n = (unsigned)(heap->bytes / unit);
	rte_iova_t *iovas = memsegs_iovas(heap->block, n, unit);
	int rc = 0;

	if (iovas == NULL)
		return fail(-ENOMEM, reason, "heap '%s': out of memory", heap->name);
	if (rte_malloc_heap_create(heap->name) != 0) {
		rc = create_refused(reason, heap->name);
	} else if (rte_malloc_heap_memory_add(
			   heap->name, heap->block, heap->bytes, iovas, n, unit) != 0) {
		rc = memory_refused(reason, heap->name);
		rte_malloc_heap_destroy(heap->name);
	} else {
		memsegs_set_node(heap->block, n, unit, node);
		heap->socket = rte_malloc_heap_get_socket(heap->name);
	}
	free(iovas);
	return rc;
}

/* A heap whose tag and size are checked; its arena is on `node`. */
static int make(
	struct hpm_dpdk_heap *heap, const struct hpm_dpdk_heap_opts *opts, int node, uint64_t unit)
{
	int rc;

	name_heap(heap->name, opts->tag, node);
	/* DPDK's own check stops at the first gap that a destroyed heap has left */
	if (exists(heap->name))
		return fail(-EEXIST, opts->reason,
			"tag '%s' has a heap on node %d already: use its socket id", opts->tag,
			node);
	heap->arena = opts->arena;
	heap->bytes = (opts->bytes + unit - 1) / unit * unit;
	rc = hpm_run_get(&heap->block, opts->arena, opts->tag, heap->bytes, unit, opts->reason);
	if (rc < 0)
		return rc;
	rc = add_to_dpdk(heap, node, unit, opts->reason);
	if (rc < 0 && hpm_run_put(heap->arena, heap->block) < 0)
		abort(); /* got above */
	return rc;
}

int hpm_dpdk_heap_create(struct hpm_dpdk_heap **ret, const struct hpm_dpdk_heap_opts *from)
{
	struct hpm_arena_info info = {.size = sizeof(info)};
	struct hpm_dpdk_heap_opts opts;
	struct hpm_dpdk_heap *heap;
	uint64_t unit;
	int rc = copy_opts(&opts, from);

	if (rc < 0)
		return rc;
	if (opts.reason != NULL)
		opts.reason->text[0] = '\0';
	if (opts.arena == NULL || opts.tag == NULL)
		return fail(-EINVAL, opts.reason, "a heap takes an arena and a tag");
	rc = hpm_arena_info_read(opts.arena, &info);
	if (rc < 0)
		return rc;
	unit = UINT64_C(1) << (info.page_shift < UNIT_SHIFT ? info.page_shift : UNIT_SHIFT);
	rc = check(&opts, unit);
	if (rc < 0)
		return rc;
	heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return fail(-ENOMEM, opts.reason, "heap '%s': out of memory", opts.tag);
	rc = make(heap, &opts, info.node, unit);
	if (rc < 0) {
		free(heap);
		return rc;
	}
	*ret = heap;
	return 0;
}

/*
 * Whether somebody gave the heap more memory, by its name. DPDK would then take ours away and
 * refuse to destroy the heap. Whether objects live in ours it checks itself before it changes
 * anything.
 */
static bool has_more(const struct hpm_dpdk_heap *heap)
{
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(heap->socket, &stats) != 0 ||
	       stats.heap_totalsz_bytes != heap->bytes;
}

int hpm_dpdk_heap_destroy(struct hpm_dpdk_heap *heap)
{
	if (heap == NULL)
		return 0;
	if (has_more(heap) ||
		rte_malloc_heap_memory_remove(heap->name, heap->block, heap->bytes) != 0)
		return -EBUSY;
	/* an empty heap can always be destroyed, and the run was ours: else memory is corrupt */
	if (rte_malloc_heap_destroy(heap->name) != 0 || hpm_run_put(heap->arena, heap->block) < 0)
		abort();
	free(heap);
	return 0;
}

int hpm_dpdk_heap_socket(const struct hpm_dpdk_heap *heap)
{
	return heap->socket;
}
