/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading kernel files below a root directory, so that a captured host reads like a live one.
 *
 * `root` is a directory that stands for "/"; "" or "/" or NULL is the live host. Paths start with
 * '/'. Contents are untrusted: bounded, and numbers are parsed strictly.
 */
#ifndef BASE_KFILE_H
#define BASE_KFILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole small file as a string; trailing newlines are cut. Bytes read, -errno, -EFBIG. */
int kfile_read(const char *root, const char *path, char *buf, size_t size);

/* Reads a file that holds one decimal number. 0, -errno, -EINVAL when it holds anything else. */
int kfile_read_u64(const char *root, const char *path, uint64_t *ret);

/* Reads a whole file of up to about `max` (< 2^30) bytes into fresh memory as a string; the caller
 * frees it. Bytes read, -errno, -EFBIG, -ENOMEM. */
int kfile_load(const char *root, const char *path, size_t max, char **ret);

/* Joins root and path into buf. -ENAMETOOLONG. */
int kfile_path(char *buf, size_t size, const char *root, const char *path);

#endif
