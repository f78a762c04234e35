/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages from an unlinked file on a hugetlbfs mount. libhugetlbfs finds the mount; it is opened for
 * each call and closed again, because it looks at mounts only when it is loaded and its constructor
 * reads the environment: neither is to happen to programs that never ask for this source.
 */
#include "region/backend.h"

#include "base/kfile.h"
#include "base/log.h"
#include "base/units.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* libhugetlbfs 2.23, hugetlbfs.h */
typedef const char *find_path_fn(long page_size);
typedef int unlinked_fd_fn(long page_size);

/* Whether mount options say this page size; the kernel always shows pagesize=. */
static bool has_size(const char *options, uint32_t shift)
{
	const char *at = strstr(options, "pagesize=");
	char value[32];
	uint64_t bytes;

	return at != NULL && sscanf(at + strlen("pagesize="), "%31[^,]", value) == 1 &&
	       size_parse(&bytes, value) == 0 && bytes == UINT64_C(1) << shift;
}

/* A hugetlbfs mount of this page size that we may not write to: the likeliest reason for none. */
static bool find_forbidden(char *path, size_t size, uint32_t shift)
{
	char *mounts, *line, *rest = NULL;
	bool found = false;

	if (kfile_load(NULL, "/proc/self/mounts", 1 << 20, &mounts) < 0)
		return false;
	for (line = strtok_r(mounts, "\n", &rest); line && !found;
		line = strtok_r(NULL, "\n", &rest)) {
		char dir[256], type[32], options[256];

		if (sscanf(line, "%*s %255s %31s %255s", dir, type, options) != 3 ||
			strcmp(type, "hugetlbfs") != 0 || !has_size(options, shift))
			continue;
		found = access(dir, R_OK | W_OK | X_OK) != 0 && errno == EACCES;
		snprintf(path, size, "%s", dir);
	}
	free(mounts);
	return found;
}

static int no_mount(uint32_t shift, struct hpm_reason *why)
{
	char size[SIZE_TEXT_MAX], dir[256];

	if (find_forbidden(dir, sizeof(dir), shift))
		return fail(-EACCES, why,
			"no permission on hugetlbfs mount '%.100s'; try: mount -o "
			"remount,uid=%u,mode=0770 %.60s",
			dir, (unsigned)getuid(), dir);
	return fail(-ENOENT, why,
		"no hugetlbfs mount of %s pages; try: mkdir -p /mnt/huge && mount -t hugetlbfs -o "
		"pagesize=%" PRIu64 "K none /mnt/huge",
		size_text(size, UINT64_C(1) << shift), (UINT64_C(1) << shift) >> 10);
}

/* A mount may be smaller than the pool (its size= option); mmap would only say ENOMEM. */
static int check_limit(
	int fd, uint32_t shift, uint64_t bytes, const char *dir, struct hpm_reason *why)
{
	struct statfs fs;
	uint64_t wanted = bytes >> shift;

	if (fstatfs(fd, &fs) != 0)
		return fail(
			-errno, why, "cannot ask for the size of hugetlbfs mount '%.100s'", dir);
	/* f_blocks is 0 on a mount without a limit. */
	if (fs.f_blocks == 0 || fs.f_bavail >= wanted)
		return 0;
	return fail(-ENOMEM, why,
		"hugetlbfs mount '%.100s' has room for %" PRIu64 " more pages by its size= option, "
		"%" PRIu64 " are wanted; remount it with a larger size=",
		dir, (uint64_t)fs.f_bavail, wanted);
}

static int open_on(void *lib, uint32_t shift, uint64_t bytes, struct hpm_reason *why)
{
	find_path_fn *find_path = (find_path_fn *)dlsym(lib, "hugetlbfs_find_path_for_size");
	unlinked_fd_fn *unlinked_fd =
		(unlinked_fd_fn *)dlsym(lib, "hugetlbfs_unlinked_fd_for_size");
	const char *dir;
	int fd, rc;

	if (find_path == NULL || unlinked_fd == NULL)
		return fail(
			-ENOENT, why, "libhugetlbfs.so.0 lacks hugetlbfs_unlinked_fd_for_size()");
	dir = find_path(1L << shift);
	if (dir == NULL)
		return no_mount(shift, why);
	errno = 0;
	fd = unlinked_fd(1L << shift);
	if (fd < 0) {
		rc = errno != 0 ? -errno : -EIO;
		return fail(rc, why, "cannot make a file on hugetlbfs mount '%.100s' (errno %d)",
			dir, -rc);
	}
	/* libhugetlbfs leaves it open across exec: a child would keep the pages */
	rc = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? check_limit(fd, shift, bytes, dir, why)
						 : fail(-errno, why, "fcntl on hugetlbfs failed");
	if (rc == 0 && ftruncate(fd, (off_t)bytes) != 0)
		rc = fail(-errno, why, "cannot size a file on hugetlbfs mount '%.100s'", dir);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

static int open_hugetlbfs(uint32_t shift, uint64_t bytes, const char *name, struct hpm_reason *why)
{
	void *lib = dlopen("libhugetlbfs.so.0", RTLD_NOW | RTLD_LOCAL);
	int fd;

	if (lib == NULL)
		return fail(-ENOENT, why,
			"libhugetlbfs.so.0 is not installed; try: apt-get install libhugetlbfs0");
	fd = open_on(lib, shift, bytes, why);
	dlclose(lib);
	return fd;
}

const struct region_backend backend_hugetlbfs = {
	.name = "hugetlbfs", .open = open_hugetlbfs, KERNEL_STEPS};
