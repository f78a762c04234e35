/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zap, look and guard on the live kernel.
 *
 * The guard is a userfaultfd registration in write-protect mode in which nothing is ever protected,
 * so no fault is ever delivered to it. It is there for two side effects: the kernel neither shares
 * page tables of registered hugetlb ranges between processes (uffd_disable_huge_pmd_share) nor maps
 * neighbours of a faulting page (uffd_disable_fault_around), see include/linux/userfaultfd_k.h.
 */
#include "account/window_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* since 5.11: what ordinary users may open */
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12) /* since 5.19 */
#endif

/* PAGEMAP_SCAN, include/uapi/linux/fs.h since 6.7; Debian 12's headers do not have it. */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_IOCTL      _IOWR('f', 16, struct scan_arg)
#define SCAN_IS_PRESENT (1 << 3)

#define PAGEMAP_PRESENT (UINT64_C(1) << 63) /* Documentation/admin-guide/mm/pagemap.rst */

static FILE *smaps_open(void)
{
	return fopen("/proc/self/smaps", "re");
}

static int guard_open(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api) != 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

static int guard(int guard_fd, uintptr_t start, uint64_t bytes)
{
	struct uffdio_register range = {
		.range = {.start = start, .len = bytes}, .mode = UFFDIO_REGISTER_MODE_WP};

	return ioctl(guard_fd, UFFDIO_REGISTER, &range) == 0 ? 0 : -errno;
}

static void unguard(int guard_fd, uintptr_t start, uint64_t bytes)
{
	struct uffdio_range range = {.start = start, .len = bytes};

	/* Nothing can be done about a failure; closing the descriptor ends it too. */
	(void)ioctl(guard_fd, UFFDIO_UNREGISTER, &range);
}

static int zap(uintptr_t start, uint64_t bytes)
{
	return madvise((void *)start, bytes, MADV_DONTNEED) == 0 ? 0 : -errno;
}

static int pagemap_open(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void set_bit(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static int look_by_scan(
	int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched)
{
	struct scan_region regions[256];
	uint64_t end = start + (pages << shift);
	struct scan_arg arg = {.size = sizeof(arg),
		.start = start,
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = sizeof(regions) / sizeof(regions[0]),
		.category_mask = SCAN_IS_PRESENT,
		.return_mask = SCAN_IS_PRESENT};

	while (arg.start < end) {
		int n = ioctl(pagemap_fd, SCAN_IOCTL, &arg);

		if (n < 0)
			return -errno;
		for (int i = 0; i < n; i++) {
			uint64_t last = (regions[i].end - 1 - start) >> shift;

			for (uint64_t p = (regions[i].start - start) >> shift; p <= last; p++)
				set_bit(touched, p);
		}
		if (arg.walk_end <= arg.start)
			return -EIO; /* no progress: this would never end */
		arg.start = arg.walk_end;
	}
	return 0;
}

/* One entry per huge page: all its entries agree. */
static int look_at_huge(
	int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint64_t i = 0; i < pages; i++) {
		off_t at = (off_t)((start + (i << shift)) / base * sizeof(uint64_t));
		uint64_t entry;

		if (pread(pagemap_fd, &entry, sizeof(entry), at) != sizeof(entry))
			return errno != 0 ? -errno : -EIO;
		if (entry & PAGEMAP_PRESENT)
			set_bit(touched, i);
	}
	return 0;
}

int look_by_entries(
	int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched)
{
	uint64_t entries[512];

	errno = 0;
	if (UINT64_C(1) << shift != (uint64_t)sysconf(_SC_PAGESIZE))
		return look_at_huge(pagemap_fd, start, pages, shift, touched);
	for (uint64_t done = 0; done < pages;) {
		size_t n = pages - done < 512 ? (size_t)(pages - done) : 512;
		off_t at = (off_t)(((start >> shift) + done) * sizeof(uint64_t));
		ssize_t got = pread(pagemap_fd, entries, n * sizeof(uint64_t), at);

		if (got < (ssize_t)sizeof(uint64_t))
			return got < 0 ? -errno : -EIO;
		n = (size_t)got / sizeof(uint64_t);
		for (size_t i = 0; i < n; i++)
			if (entries[i] & PAGEMAP_PRESENT)
				set_bit(touched, done + i);
		done += n;
	}
	return 0;
}

static int look(int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched)
{
	int rc = look_by_scan(pagemap_fd, start, pages, shift, touched);

	/* ENOTTY before 6.7; a few page kinds answer EINVAL. Bits set so far are right. */
	if (rc == -ENOTTY || rc == -EINVAL)
		rc = look_by_entries(pagemap_fd, start, pages, shift, touched);
	return rc;
}

const struct window_kernel window_kernel_live = {.smaps_open = smaps_open,
	.guard_open = guard_open,
	.guard = guard,
	.unguard = unguard,
	.zap = zap,
	.pagemap_open = pagemap_open,
	.look = look};
