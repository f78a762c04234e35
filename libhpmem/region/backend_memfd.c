/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages from memfd_create(2): no mount, no path, no privilege, gone with the last descriptor. Also
 * the only source of base pages.
 */
#include "region/backend.h"

#include "base/log.h"
#include "base/units.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_HUGE_SHIFT
#define MFD_HUGE_SHIFT 26 /* linux/memfd.h */
#endif

static int open_memfd(uint32_t shift, uint64_t bytes, const char *name, struct hpm_reason *why)
{
	char size[SIZE_TEXT_MAX];
	unsigned flags = MFD_CLOEXEC;
	int fd, rc;

	if (UINT64_C(1) << shift != (uint64_t)sysconf(_SC_PAGESIZE))
		flags |= MFD_HUGETLB | (shift << MFD_HUGE_SHIFT);
	fd = memfd_create(name, flags);
	if (fd < 0) {
		rc = errno == EINVAL || errno == ENOSYS || errno == ENODEV ? -ENOTSUP : -errno;
		return fail(rc, why, "the kernel has no memfd of %s pages (memfd_create: errno %d)",
			size_text(size, UINT64_C(1) << shift), errno);
	}
	if (ftruncate(fd, (off_t)bytes) != 0) {
		rc = -errno;
		close(fd);
		return fail(rc, why, "cannot size a memfd to %s (ftruncate: errno %d)",
			size_text(size, bytes), -rc);
	}
	return fd;
}

const struct region_backend backend_memfd = {.name = "memfd", .open = open_memfd, KERNEL_STEPS};
