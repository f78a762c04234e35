/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Glue for DPDK applications: DPDK's own tables inside arenas.
 *
 * A heap is a piece of an arena that DPDK's allocator manages as an external heap. Its socket id
 * goes wherever a DPDK call takes a socket_id, and the object lands in the arena:
 *
 *     struct hpm_dpdk_heap_opts o = HPM_DPDK_HEAP_OPTS_INIT;
 *     o.arena = arena; o.tag = "session"; o.bytes = 64 << 20;
 *     hpm_dpdk_heap_create(&heap, &o);
 *     params.socket_id = hpm_dpdk_heap_socket(heap);
 *     rte_hash_create(&params);
 *
 * One heap per (node, tag). DPDK knows 32 heaps, one for each node among them, and 128 memseg
 * lists; each heap of ours takes one of both. Memory is registered in units of at most 2 MiB even
 * inside a 1 GiB page, so that several tags share a big page. The memsegs carry the real NUMA node
 * and the real IOVA of every unit.
 *
 * The socket id is a heap's name, not a node: never index an array with it.
 * Heaps belong to DPDK's primary process and are destroyed before rte_eal_cleanup().
 *
 * In this library the glue alone depends on DPDK.
 */
#ifndef HPM_DPDK_H
#define HPM_DPDK_H

#include <hpm/arena.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hpm_dpdk_heap;

/** What a heap is to be. Start from HPM_DPDK_HEAP_OPTS_INIT. */
struct hpm_dpdk_heap_opts {
	size_t size;             /**< sizeof this struct, as the caller knows it. */
	struct hpm_arena *arena; /**< Borrowed; outlives the heap. */
	const char *tag;         /**< See hpm/run.h; copied. Unique per arena node. */
	uint64_t bytes; /**< For objects and DPDK's headers (128 bytes each); rounded up. */
	struct hpm_reason *reason; /**< Filled on failure; may be NULL. Borrowed during the call. */
};

#define HPM_DPDK_HEAP_OPTS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct hpm_dpdk_heap_opts), 0, 0, 0, 0                                      \
	}

/**
 * Creates a heap and registers it with DPDK.
 *
 * @param[out] ret owned by the caller, release with hpm_dpdk_heap_destroy().
 * @return 0, or
 *   -EINVAL  bad option; EAL is not initialised, or not as the primary process;
 *   -EEXIST  this tag has a heap on the node;
 *   -E2BIG   @p opts is newer than this library and uses what it does not know;
 *   -EOVERFLOW more bytes than DPDK can register;
 *   -ENOMEM  the arena is too full;
 *   -ENOSPC  DPDK's heaps or memseg lists are used up, or it is the 256th tag: the reason says
 *            which;
 *   or what else DPDK's own call failed with. On any failure nothing is held.
 *
 * Threads: set-up only.  Cost: DPDK zeroes the memory; with --iova-mode=pa about 10 us a unit more.
 */
HPM_API HPM_MUST_USE int hpm_dpdk_heap_create(
	struct hpm_dpdk_heap **ret, const struct hpm_dpdk_heap_opts *opts);

/**
 * Takes the heap away from DPDK and the run back to the arena.
 *
 * @param heap NULL is a no-op.
 * @return 0, -EBUSY (objects still live in it, or the application has added memory to it: nothing
 *   was changed).
 * Threads: set-up only.
 */
HPM_API HPM_MUST_USE int hpm_dpdk_heap_destroy(struct hpm_dpdk_heap *heap);

/** The socket id to pass to DPDK's create calls. Threads: any thread. */
HPM_API int hpm_dpdk_heap_socket(const struct hpm_dpdk_heap *heap);

/** A block that DPDK's allocator has handed out. */
struct hpm_dpdk_element {
	const void *addr; /**< Its header; the object lies inside [addr, addr + bytes). */
	uint64_t bytes;   /**< Header and trailer included. */
	unsigned heap;    /**< DPDK's heap index: EAL's own come first, one for each node. */
	int external;     /**< 1: in an external heap, ours or another's; 0: in EAL's memory. */
};

/**
 * Calls back for each live block of every DPDK heap, ours and EAL's, in address order per heap.
 * The difference between two walks tells what a DPDK create call allocated, and where.
 *
 * @param fn returns 0 to go on; anything else ends the walk. Must not allocate from DPDK.
 * @return 0, what @p fn returned, -ENOMEM, -EPROTO (this DPDK prints its heaps in another way than
 *   the releases known here, 22.11 to 24.11).
 * Threads: set-up only.  Cost: about 2 us a block; it reads DPDK's own dump, its public interface.
 */
HPM_API HPM_MUST_USE int hpm_dpdk_elements_walk(
	int (*fn)(void *arg, const struct hpm_dpdk_element *element), void *arg);

#ifdef __cplusplus
}
#endif
#endif
