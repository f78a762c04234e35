/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded reads of /proc and /sys files, live or captured. */
#include "base/kfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kfile_path(char *buf, size_t size, const char *root, const char *path)
{
	int n;

	if (root == NULL || strcmp(root, "/") == 0)
		root = "";
	n = snprintf(buf, size, "%s%s", root, path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int open_below(const char *root, const char *path)
{
	char full[4096];
	int rc = kfile_path(full, sizeof(full), root, path);
	int fd;

	if (rc < 0)
		return rc;
	/* a captured host may hold a FIFO, which would wait for a writer */
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Reads to the end or until buf is full; the byte after the last is left for a NUL. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

int kfile_read(const char *root, const char *path, char *buf, size_t size)
{
	int fd = open_below(root, path);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_all(fd, buf, size);
	close(fd);
	if (n < 0)
		return (int)n;
	if ((size_t)n == size)
		return -EFBIG;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (int)n;
}

int kfile_read_u64(const char *root, const char *path, uint64_t *ret)
{
	char buf[32], *end;
	int n = kfile_read(root, path, buf, sizeof(buf));
	uint64_t value;

	if (n < 0)
		return n == -EFBIG ? -EINVAL : n;
	if (!isdigit((unsigned char)buf[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(buf, &end, 10);
	if (errno != 0 || *end != '\0')
		return -EINVAL;
	*ret = value;
	return 0;
}

int kfile_load(const char *root, const char *path, size_t max, char **ret)
{
	int fd = open_below(root, path);
	size_t size = 4096;
	char *buf = NULL;
	ssize_t used = 0;

	if (fd < 0)
		return fd;
	for (;;) {
		char *more = realloc(buf, size);
		ssize_t n;

		if (more == NULL) {
			used = -ENOMEM;
			break;
		}
		buf = more;
		n = read_all(fd, buf + used, size - (size_t)used - 1);
		if (n < 0) {
			used = n;
			break;
		}
		used += n;
		if ((size_t)used < size - 1)
			break; /* the end of the file */
		if (size >= max) {
			used = -EFBIG;
			break;
		}
		size *= 2;
	}
	close(fd);
	if (used < 0) {
		free(buf);
		return (int)used;
	}
	buf[used] = '\0';
	*ret = buf;
	return (int)used;
}
