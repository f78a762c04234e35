/* SPDX-License-Identifier: BSD-3-Clause */
/* Aborts the test when a file cannot be made: nothing that follows would mean anything. */
#include "fake_host.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

/* The full path, its directories made. */
static void prepare(char full[2 * FAKE_HOST_PATH], const struct fake_host *host, const char *path)
{
	must(strlen(path) < FAKE_HOST_PATH, path);
	snprintf(full, 2 * FAKE_HOST_PATH, "%s%s", host->root, path);
	for (char *at = full + strlen(host->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
		*at = '\0';
		mkdir(full, 0700); /* or is there already */
		*at = '/';
	}
}

int fake_host_make(void **state)
{
	struct fake_host *host = calloc(1, sizeof(*host));

	must(host != NULL, "calloc");
	snprintf(host->root, sizeof(host->root), "/tmp/hpm-host-XXXXXX");
	must(mkdtemp(host->root) != NULL, host->root);
	fake_host_file(host, "/proc/version", "made by hand\n");
	fake_host_file(host, "/sys/power/state", "mem\n");
	*state = host;
	return 0;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
	return remove(path);
}

int fake_host_remove(void **state)
{
	struct fake_host *host = *state;
	int rc = nftw(host->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(host);
	return rc;
}

void fake_host_bytes(const struct fake_host *host, const char *path, const void *data, size_t size)
{
	char full[2 * FAKE_HOST_PATH];
	FILE *f;

	prepare(full, host, path);
	f = fopen(full, "we");
	must(f != NULL, full);
	must(fwrite(data, 1, size, f) == size, full);
	must(fclose(f) == 0, full);
}

void fake_host_file(const struct fake_host *host, const char *path, const char *text)
{
	fake_host_bytes(host, path, text, strlen(text));
}

void fake_host_numbered(
	const struct fake_host *host, const char *format, int number, const char *text)
{
	const char *mark = strchr(format, '%');
	char path[FAKE_HOST_PATH];

	must(mark != NULL, format);
	snprintf(path, sizeof(path), "%.*s%d%s", (int)(mark - format), format, number, mark + 2);
	fake_host_file(host, path, text);
}

void fake_host_fifo(const struct fake_host *host, const char *path)
{
	char full[2 * FAKE_HOST_PATH];

	prepare(full, host, path);
	must(mkfifo(full, 0600) == 0, full);
}
