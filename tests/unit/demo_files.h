/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for tests of readers: one scratch directory per executable, files of given bytes in it. */
#ifndef TESTS_DEMO_FILES_H
#define TESTS_DEMO_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char files_dir[64];
static char files_path[96]; /* of the file written last; there is only one at a time */

static inline int files_open(void **state)
{
	/* in memory where possible: the fuzzers write tens of thousands of files */
	strcpy(files_dir, "/dev/shm/hpfwd-test-XXXXXX");
	if (mkdtemp(files_dir) == NULL) {
		strcpy(files_dir, "/tmp/hpfwd-test-XXXXXX");
		if (mkdtemp(files_dir) == NULL)
			return -1;
	}
	snprintf(files_path, sizeof(files_path), "%s/input", files_dir);
	return 0;
}

static inline int files_close(void **state)
{
	unlink(files_path);
	return rmdir(files_dir);
}

/* Path of a file that holds these bytes until the next call. */
static inline const char *file_of(const void *bytes, size_t n)
{
	FILE *f = fopen(files_path, "wb");

	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		abort();
	return files_path;
}

static inline const char *file_of_text(const char *text)
{
	return file_of(text, strlen(text));
}

/* True when the reason says so, and which line of the file. */
static inline int says(const char *text, unsigned line, const char *what)
{
	char at[32];

	snprintf(at, sizeof(at), "input' line %u: ", line);
	if (strstr(text, what) != NULL && (line == 0 || strstr(text, at) != NULL))
		return 1;
	fprintf(stderr, "reason is \"%s\", wanted line %u and \"%s\"\n", text, line, what);
	return 0;
}

#endif
