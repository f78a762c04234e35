/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel call per step of getting pages, as the backends share them. What each may answer is
 * documented in backend.h; what to make of it is decided in region.c.
 */
#include "region/backend.h"

#include "base/kfile.h"
#include "base/units.h"
#include "region/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <numa.h>
#include <numaif.h>

#define MIN_ALIGN_SHIFT 21
#define NODES_MAX       1024 /* the kernel's largest CONFIG_NODES_SHIFT is 10 */
#define LONG_BITS       (8 * (int)sizeof(unsigned long))

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* linux/mman.h since 5.14 */
#endif

static uint32_t base_shift(void)
{
	return shift_of((uint64_t)sysconf(_SC_PAGESIZE));
}

int kernel_offers(uint32_t shift)
{
	char path[96];

	if (shift == base_shift())
		return 0;
	if (shift < base_shift() || shift > 40)
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB",
		(UINT64_C(1) << shift) >> 10);
	return access(path, F_OK) == 0 ? 0 : -EINVAL;
}

int kernel_node(int *node)
{
	char path[64];
	unsigned cpu, here;

	if (*node == HPM_NODE_LOCAL) {
		if (getcpu(&cpu, &here) != 0)
			return -errno;
		*node = (int)here;
	}
	if (*node < 0)
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", *node);
	return access(path, F_OK) == 0 ? 0 : -EINVAL;
}

/* The number after a key of a meminfo file, in bytes; 0 when the key is not there. */
static uint64_t meminfo_bytes(const char *meminfo, const char *key)
{
	const char *at = strstr(meminfo, key);

	return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10) << 10;
}

/* Free bytes of a node, and those of files that the kernel can drop; 0 when it will not say. */
static uint64_t node_free(int node)
{
	char path[80], meminfo[8192];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	if (kfile_read(NULL, path, meminfo, sizeof(meminfo)) < 0)
		return 0;
	return meminfo_bytes(meminfo, "MemFree:") + meminfo_bytes(meminfo, "Active(file):") +
	       meminfo_bytes(meminfo, "Inactive(file):");
}

/*
 * Base pages. A node's own count can lag far behind while the kernel still initialises memory
 * (deferred_init), so what the whole host has beyond the other nodes' share counts too.
 */
static int base_room(struct region_room *ret, int node)
{
	uint64_t host, others = 0, own = node_free(node);
	char meminfo[8192];

	if (kfile_read(NULL, "/proc/meminfo", meminfo, sizeof(meminfo)) < 0)
		return -ENODATA;
	host = meminfo_bytes(meminfo, "MemAvailable:");
	for (int i = 0; i <= numa_max_node(); i++)
		if (i != node)
			others += node_free(i);
	if (host > others && host - others > own)
		own = host - others;
	ret->free_pages = own >> base_shift();
	ret->total_pages = meminfo_bytes(meminfo, "MemTotal:") >> base_shift();
	return 0;
}

int kernel_room(struct region_room *ret, int node, uint32_t shift)
{
	char path[128];
	int dir;

	if (shift == base_shift())
		return base_room(ret, node);
	dir = snprintf(path, sizeof(path),
		"/sys/devices/system/node/node%d/hugepages/hugepages-%" PRIu64 "kB/", node,
		(UINT64_C(1) << shift) >> 10);
	strcpy(path + dir, "nr_hugepages");
	if (kfile_read_u64(NULL, path, &ret->total_pages) < 0)
		return -ENODATA;
	strcpy(path + dir, "free_hugepages");
	return kfile_read_u64(NULL, path, &ret->free_pages) < 0 ? -ENODATA : 0;
}

int kernel_resize(int fd, uint64_t bytes)
{
	return ftruncate(fd, (off_t)bytes) == 0 ? 0 : -errno;
}

int kernel_reserve(void **ret, uint64_t bytes, uint32_t shift)
{
	uint64_t align = UINT64_C(1) << (shift > MIN_ALIGN_SHIFT ? shift : MIN_ALIGN_SHIFT);
	char *span, *start;

	span = mmap(
		NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (span == MAP_FAILED)
		return -errno;
	start = (char *)(((uintptr_t)span + align - 1) & ~(align - 1));
	if (start > span)
		munmap(span, (size_t)(start - span));
	munmap(start + bytes, (size_t)(span + align - start));
	*ret = start;
	return 0;
}

/*
 * A failed MAP_FIXED leaves a hole that another thread's mmap may fill. So what can fail is tried
 * elsewhere first: pages of a shared mapping are reserved for the file, and stay reserved.
 */
int kernel_map(const struct region_map *m)
{
	int prot = PROT_READ | PROT_WRITE;
	void *probe = mmap(NULL, m->bytes, prot, MAP_SHARED, m->fd, (off_t)m->offset);

	if (probe == MAP_FAILED)
		return -errno;
	if (mmap(m->addr, m->bytes, prot, MAP_SHARED | MAP_FIXED, m->fd, (off_t)m->offset) ==
		MAP_FAILED) {
		int rc = -errno;

		munmap(probe, m->bytes);
		mmap(m->addr, m->bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
		return rc;
	}
	munmap(probe, m->bytes);
	/* Base pages are asked for by name: shmem_enabled must not make others of them. */
	if (m->shift == base_shift())
		madvise(m->addr, m->bytes, MADV_NOHUGEPAGE);
	return 0;
}

int kernel_bind(void *addr, uint64_t bytes, int node)
{
	/* not libnuma's bitmask: without memory that one ends the process */
	unsigned long mask[NODES_MAX / LONG_BITS] = {0};

	if (node < 0 || node >= NODES_MAX)
		return -EINVAL;
	mask[node / LONG_BITS] = 1UL << (node % LONG_BITS);
	return mbind(addr, bytes, MPOL_BIND, mask, NODES_MAX + 1, MPOL_MF_STRICT) == 0 ? 0 : -errno;
}

int kernel_populate(void *addr, uint64_t bytes)
{
	return madvise(addr, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : -errno;
}

int kernel_touch(void *page, uint32_t shift)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	/* A system call that writes the page reports EFAULT where a store would raise SIGBUS. */
	if (read(fd, page, 1) != 1)
		rc = -errno;
	close(fd);
	return rc;
}

int kernel_page_shift(uint32_t *ret, const void *addr)
{
	struct smaps_entry entry;
	int rc = smaps_find(&entry, (uintptr_t)addr);

	if (rc < 0)
		return rc;
	if (entry.start > (uintptr_t)addr || entry.page_shift == 0 || entry.huge_mapped)
		return -EIO;
	*ret = entry.page_shift;
	return 0;
}

int kernel_where(int *status, void **pages, size_t n)
{
	return move_pages(0, n, pages, NULL, status, 0) == 0 ? 0 : -errno;
}

void kernel_unmap(void *addr, uint64_t bytes)
{
	mmap(addr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		0);
}

void kernel_unreserve(void *addr, uint64_t bytes)
{
	munmap(addr, bytes);
}

void kernel_close(int fd)
{
	close(fd);
}
