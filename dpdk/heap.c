/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides how a run becomes a DPDK heap: registered in units of 2 MiB, also inside a 1 GiB page, so
 * that heaps of several tags share one page and an object can span two; and named after its tag and
 * node, so that DPDK itself refuses a second one.
 */
#include "memsegs.h"

#include <hpm/dpdk.h>
#include <hpm/run.h>

#include <errno.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <stdarg.h>
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

/* "hpm-session-0"; a tag too long for DPDK's 31 bytes is cut and told apart by its hash (FNV-1a).
 */
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

static int check(struct hpm_dpdk_heap_opts *opts, struct hpm_arena_info *info, uint64_t unit)
{
	if (rte_lcore_count() == 0)
		return fail(-EINVAL, opts->reason, "call rte_eal_init() before making a heap");
	if (opts->bytes == 0)
		return fail(-EINVAL, opts->reason, "heap '%s': 0 bytes", opts->tag);
	if (opts->bytes > UINT64_MAX - unit + 1)
		return fail(-EOVERFLOW, opts->reason, "heap '%s': more bytes than addresses",
			opts->tag);
	return 0;
}

/* DPDK's answer in our words. Which limit was hit it does not say: creating takes one of 32 heaps,
 * adding memory one of 128 lists. */
static int refused(struct hpm_reason *reason, const char *name, bool adding)
{
	int rc = -rte_errno;

	if (rc == -EEXIST)
		return fail(rc, reason, "heap '%s' exists: one per tag and node", name);
	if (rc == -ENOSPC && adding)
		return fail(rc, reason,
			"heap '%s': DPDK's %d memseg lists are used up (RTE_MAX_MEMSEG_LISTS)",
			name, RTE_MAX_MEMSEG_LISTS);
	if (rc == -ENOSPC)
		return fail(rc, reason, "heap '%s': DPDK's %d heaps are used up (RTE_MAX_HEAPS)",
			name, RTE_MAX_HEAPS);
	return fail(rc < 0 ? rc : -EINVAL, reason, "heap '%s': DPDK refused %s: %s", name,
		adding ? "its memory" : "it", rte_strerror(rte_errno));
}

/* Registers the run with DPDK; on failure DPDK knows nothing of it. */
static int add_to_dpdk(struct hpm_dpdk_heap *heap, const struct hpm_arena_info *info, uint64_t unit,
	struct hpm_reason *reason)
{
	unsigned n = (unsigned)(heap->bytes / unit);
	rte_iova_t *iovas;
	int rc;

	if (rte_malloc_heap_create(heap->name) != 0)
		return refused(reason, heap->name, false);
	iovas = memsegs_iovas(heap->block, n, unit);
	if (iovas == NULL) {
		rc = fail(-ENOMEM, reason, "heap '%s': out of memory", heap->name);
	} else if (rte_malloc_heap_memory_add(
			   heap->name, heap->block, heap->bytes, iovas, n, unit) != 0) {
		rc = refused(reason, heap->name, true);
	} else {
		memsegs_set_node(heap->block, n, unit, info->node);
		heap->socket = rte_malloc_heap_get_socket(heap->name);
		rc = 0;
	}
	free(iovas);
	if (rc < 0)
		rte_malloc_heap_destroy(heap->name);
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
	if (opts.arena == NULL || opts.tag == NULL)
		return fail(-EINVAL, opts.reason, "a heap takes an arena and a tag");
	rc = hpm_arena_info_read(opts.arena, &info);
	if (rc < 0)
		return rc;
	unit = UINT64_C(1) << (info.page_shift < UNIT_SHIFT ? info.page_shift : UNIT_SHIFT);
	rc = check(&opts, &info, unit);
	if (rc < 0)
		return rc;
	heap = calloc(1, sizeof(*heap));
	if (heap == NULL)
		return fail(-ENOMEM, opts.reason, "heap '%s': out of memory", opts.tag);
	heap->arena = opts.arena;
	heap->bytes = (opts.bytes + unit - 1) / unit * unit;
	rc = hpm_run_get(&heap->block, opts.arena, opts.tag, heap->bytes, unit, opts.reason);
	if (rc == 0) {
		name_heap(heap->name, opts.tag, info.node);
		rc = add_to_dpdk(heap, &info, unit, opts.reason);
		if (rc < 0 && hpm_run_put(heap->arena, heap->block) < 0)
			abort(); /* got above */
	}
	if (rc < 0) {
		free(heap);
		return rc;
	}
	*ret = heap;
	return 0;
}

int hpm_dpdk_heap_destroy(struct hpm_dpdk_heap *heap)
{
	struct rte_malloc_socket_stats stats;

	if (heap == NULL)
		return 0;
	/* DPDK would take free memory away even while the heap holds objects: ask first */
	if (rte_malloc_get_socket_stats(heap->socket, &stats) == 0 && stats.alloc_count > 0)
		return -EBUSY;
	if (rte_malloc_heap_memory_remove(heap->name, heap->block, heap->bytes) != 0 ||
		rte_malloc_heap_destroy(heap->name) != 0)
		return -EBUSY;
	if (hpm_run_put(heap->arena, heap->block) < 0)
		abort(); /* the heap owned it */
	free(heap);
	return 0;
}

int hpm_dpdk_heap_socket(const struct hpm_dpdk_heap *heap)
{
	return heap->socket;
}
