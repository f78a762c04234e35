/* SPDX-License-Identifier: BSD-3-Clause */
/* A host made of plain files in a temporary directory, for what reads below a root directory. */
#ifndef TESTS_FAKE_HOST_H
#define TESTS_FAKE_HOST_H

#include <stddef.h>

#define FAKE_HOST_PATH 256 /* bytes of any path below the root, its NUL included */

struct fake_host {
	char root[64];
};

/* cmocka's set-up and tear-down: *state is a struct fake_host, empty but for proc/ and sys/. */
int fake_host_make(void **state);
int fake_host_remove(void **state);

/* Writes a file with its directories; path starts with '/'. */
void fake_host_file(const struct fake_host *host, const char *path, const char *text);
void fake_host_bytes(const struct fake_host *host, const char *path, const void *data, size_t size);

/* The same with one number in the path: "%d" or "%u". */
void fake_host_numbered(
	const struct fake_host *host, const char *format, int number, const char *text);

/* Makes a FIFO, which nobody writes. */
void fake_host_fifo(const struct fake_host *host, const char *path);

#endif
