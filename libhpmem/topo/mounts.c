/* SPDX-License-Identifier: BSD-3-Clause */
/* hugetlbfs mounts, from /proc/mounts: "device path type options ...", blanks in a path written as
 * octal escapes (proc(5), getmntent(3)). */
#include "topo/topo.h"

#include "base/kfile.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* \040 and its like, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
			from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static struct hpm_datum option_bytes(const char *options, const char *key, const char *unset)
{
	size_t length = strlen(key);
	char value[32];
	uint64_t bytes;

	for (const char *at = options; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) != 0)
			continue;
		at += length;
		if (strcspn(at, ",") >= sizeof(value))
			return datum_unknown("the mount's option is no size");
		memcpy(value, at, strcspn(at, ","));
		value[strcspn(at, ",")] = '\0';
		return size_parse(&bytes, value) == 0
			       ? datum_known(bytes, "mount option")
			       : datum_unknown("the mount's option is no size");
	}
	return datum_unknown(unset);
}

static int add_mount(struct hpm_topo *topo, char *path, const char *options)
{
	struct hpm_topo_mount *mount;

	if (topo->mount_count == MOUNTS_MAX)
		return 0;
	mount = topo_append(&topo->mounts, &topo->mount_count, sizeof(*mount));
	if (mount == NULL)
		return -ENOMEM;
	unescape(path);
	mount->path = topo_keep(topo, path);
	mount->page_bytes = option_bytes(options, "pagesize=", NULL);
	if (!mount->page_bytes.known && mount->page_bytes.source == NULL)
		mount->page_bytes = topo->host.default_huge_bytes;
	mount->size_bytes = option_bytes(options, "size=", "the mount has no size limit");
	return mount->path != NULL ? 0 : -ENOMEM;
}

int topo_read_mounts(struct hpm_topo *topo)
{
	char *text, *line, *rest;
	int rc;

	rc = kfile_load(topo->root, "/proc/mounts", FILE_MAX, &text);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	topo->mounts_known = true;
	rc = 0;
	for (line = strtok_r(text, "\n", &rest); line != NULL && rc == 0;
		line = strtok_r(NULL, "\n", &rest)) {
		char *fields[4] = {NULL}, *next = NULL;

		for (int i = 0; i < 4; i++)
			fields[i] = strtok_r(i == 0 ? line : NULL, " ", &next);
		if (fields[3] != NULL && strcmp(fields[2], "hugetlbfs") == 0)
			rc = add_mount(topo, fields[1], fields[3]);
	}
	free(text);
	return rc;
}
