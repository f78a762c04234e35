/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seam between policy and kernel. region.c decides in which order pages are asked for, bound,
 * touched and verified; a backend only carries out one step. So policy is tested on fake pages,
 * with any step failing, and a new way to get pages is one filled struct and one row in
 * backends.def.
 *
 * Every function returns 0 or a negative errno of the kernel; none retries or falls back.
 */
#ifndef REGION_BACKEND_H
#define REGION_BACKEND_H

#include <hpm/base.h>

#include <stddef.h>
#include <stdint.h>

/* How many pages of a size a node has, as far as the kernel says. */
struct region_room {
	uint64_t total_pages;
	uint64_t free_pages; /* a hint: promised pages are among them */
};

struct region_map {
	void *addr;
	uint64_t bytes;
	int fd;
	uint64_t offset; /* in the file */
	uint32_t shift;
};

struct region_backend {
	const char *name;

	/* Whether this machine has pages of 2^shift bytes; -EINVAL when not. */
	int (*offers)(uint32_t shift);
	/* -EINVAL when there is no such node; turns HPM_NODE_LOCAL into a number. */
	int (*node)(int *node);
	/* -ENODATA when the kernel does not count such pages on this node. */
	int (*room)(struct region_room *ret, int node, uint32_t shift);

	/* A file of `bytes` bytes in pages of 2^shift: its descriptor. Fills why on failure. */
	int (*open)(uint32_t shift, uint64_t bytes, const char *name, struct hpm_reason *why);
	/* Makes the file that long. Pages beyond go back, and what was reserved for them. */
	int (*resize)(int fd, uint64_t bytes);
	/* Addresses that nobody can use or get, aligned to 2^shift and at least to 2 MiB, the unit
	 * of DPDK memsegs. */
	int (*reserve)(void **ret, uint64_t bytes, uint32_t shift);
	/*
	 * Maps the file from an offset on, shared and untouched, over reserved addresses; on
	 * failure they stay reserved. -ENOMEM: the whole pool is short.
	 */
	int (*map)(const struct region_map *map);
	/* Pages touched from now on come from this node or not at all. -EINVAL: not permitted. */
	int (*bind)(void *addr, uint64_t bytes, int node);
	/* Touches all pages for writing. -EFAULT: node or cgroup is short. -EINVAL: old kernel. */
	int (*populate)(void *addr, uint64_t bytes);
	/* The same for one page without populate: -EFAULT. */
	int (*touch)(void *page, uint32_t shift);
	/* The kernel's word on the page size of a mapping. */
	int (*page_shift)(uint32_t *ret, const void *addr);
	/* The kernel's word on the node of n pages: status[n], negative errno for one that is none.
	 */
	int (*where)(int *status, void **pages, size_t n);

	/* Addresses are reserved again. */
	void (*unmap)(void *addr, uint64_t bytes);
	void (*unreserve)(void *addr, uint64_t bytes);
	void (*close)(int fd);
};

#define BACKEND_ROW(source, backend) extern const struct region_backend backend;
#include "region/backends.def"
#undef BACKEND_ROW

/* The steps that do not depend on where the file comes from: kernel.c. */
int kernel_offers(uint32_t shift);
int kernel_node(int *node);
int kernel_room(struct region_room *ret, int node, uint32_t shift);
int kernel_resize(int fd, uint64_t bytes);
int kernel_reserve(void **ret, uint64_t bytes, uint32_t shift);
int kernel_map(const struct region_map *map);
int kernel_bind(void *addr, uint64_t bytes, int node);
int kernel_populate(void *addr, uint64_t bytes);
int kernel_touch(void *page, uint32_t shift);
int kernel_page_shift(uint32_t *ret, const void *addr);
int kernel_where(int *status, void **pages, size_t n);
void kernel_unmap(void *addr, uint64_t bytes);
void kernel_unreserve(void *addr, uint64_t bytes);
void kernel_close(int fd);

#define KERNEL_STEPS                                                                               \
	.offers = kernel_offers, .node = kernel_node, .room = kernel_room,                         \
	.resize = kernel_resize, .reserve = kernel_reserve, .map = kernel_map,                     \
	.bind = kernel_bind, .populate = kernel_populate, .touch = kernel_touch,                   \
	.page_shift = kernel_page_shift, .where = kernel_where, .unmap = kernel_unmap,             \
	.unreserve = kernel_unreserve, .close = kernel_close

#endif
