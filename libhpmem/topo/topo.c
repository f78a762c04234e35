/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what a root directory must have to be a host at all; everything else may be missing. */
#include "topo/topo.h"

#include "base/kfile.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *topo_append(void *array, unsigned *count, size_t each)
{
	void **at = array;
	char *grown = reallocarray(*at, *count + 1U, each);

	if (grown == NULL)
		return NULL;
	*at = grown;
	grown += *count * each;
	memset(grown, 0, each);
	(*count)++;
	return grown;
}

const char *topo_keep(struct hpm_topo *topo, const char *text)
{
	char *copy = strdup(text);
	char **slot =
		copy != NULL ? topo_append(&topo->kept, &topo->kept_count, sizeof(*slot)) : NULL;

	if (slot == NULL) {
		free(copy);
		return NULL;
	}
	*slot = copy;
	return copy;
}

/* The number between prefix and suffix of a name; false when there is none. */
static bool number_in(uint32_t *ret, const char *name, const char *prefix, const char *suffix)
{
	size_t length = strlen(prefix);
	unsigned long long n;
	char *end;

	if (strncmp(name, prefix, length) != 0 || name[length] < '0' || name[length] > '9')
		return false;
	if (name[length] == '0' && name[length + 1] >= '0' && name[length + 1] <= '9')
		return false; /* the kernel pads nothing: "node00" would be a second node 0 */
	errno = 0;
	n = strtoull(name + length, &end, 10);
	if (errno != 0 || n > UINT32_MAX || strcmp(end, suffix) != 0)
		return false;
	*ret = (uint32_t)n;
	return true;
}

int topo_list(const struct hpm_topo *topo, const char *dir, const char *prefix, const char *suffix,
	int (*fn)(void *arg, uint32_t n), void *arg)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *open;
	int rc = kfile_path(path, sizeof(path), topo->root, dir);

	if (rc < 0)
		return rc;
	open = opendir(path);
	if (open == NULL)
		return -errno;
	while (rc == 0 && (entry = readdir(open)) != NULL) {
		uint32_t n;

		if (number_in(&n, entry->d_name, prefix, suffix))
			rc = fn(arg, n);
	}
	closedir(open);
	return rc;
}

struct hpm_datum topo_number(const struct hpm_topo *topo, const char *path)
{
	uint64_t value;
	int rc = kfile_read_u64(topo->root, path, &value);

	if (rc == 0)
		return datum_known(value, "sysfs");
	if (rc == -ENOENT || rc == -ENOTDIR)
		return datum_unknown("the kernel has no such file");
	return datum_unknown(rc == -EACCES ? "not permitted to read" : "the file holds no number");
}

struct hpm_datum topo_meminfo(const struct hpm_topo *topo, const char *path, const char *key)
{
	char *text, *at;
	unsigned long long kib = 0;
	int rc = kfile_load(topo->root, path, FILE_MAX, &text);

	if (rc < 0)
		return datum_unknown("no meminfo can be read");
	at = strstr(text, key);
	if (at != NULL) {
		at += strlen(key);
		at += strspn(at, " ");
	}
	errno = 0;
	if (at != NULL && *at >= '0' && *at <= '9')
		kib = strtoull(at, NULL, 10);
	else
		rc = -EINVAL;
	if (errno != 0 || kib > UINT64_MAX >> 10)
		rc = -EINVAL;
	free(text);
	return rc < 0 ? datum_unknown("meminfo has no such line, or no number in it")
		      : datum_known((uint64_t)kib << 10, "meminfo");
}

static bool has(const char *root, const char *dir)
{
	char path[PATH_MAX];

	return kfile_path(path, sizeof(path), root, dir) == 0 && access(path, F_OK) == 0;
}

static int read_all(struct hpm_topo *topo)
{
	static int (*const parts[])(struct hpm_topo *) = {topo_read_cpuids, topo_read_host,
		topo_read_nodes, topo_read_pools, topo_read_mounts, topo_read_tlbs};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts) && rc == 0; i++)
		rc = parts[i](topo);
	return rc;
}

int hpm_topo_create(struct hpm_topo **ret, const char *root, struct hpm_reason *reason)
{
	struct hpm_topo *topo;
	int rc;

	reason_clear(reason);
	if (root == NULL || (*root == '/' && root[strspn(root, "/")] == '\0'))
		root = "/"; /* the live host, however it is spelled */
	if (access(root, X_OK) != 0)
		return fail(-errno, reason, "'%.150s': %s", root, strerror(errno));
	if (!has(root, "/proc") && !has(root, "/sys"))
		return fail(-ENOENT, reason,
			"'%.150s' is no host: neither proc nor sys is below it", root);
	topo = calloc(1, sizeof(*topo));
	if (topo == NULL)
		return fail(-ENOMEM, reason, "out of memory");
	topo->root = topo_keep(topo, root);
	rc = topo->root != NULL ? read_all(topo) : -ENOMEM;
	if (rc < 0) {
		hpm_topo_destroy(topo);
		return fail(rc, reason, "out of memory");
	}
	*ret = topo;
	return 0;
}

void hpm_topo_destroy(struct hpm_topo *topo)
{
	if (topo == NULL)
		return;
	for (unsigned i = 0; i < topo->kept_count; i++)
		free(topo->kept[i]);
	free(topo->kept);
	free(topo->nodes);
	free(topo->pools);
	free(topo->mounts);
	free(topo->tlbs);
	free(topo->cpuids);
	free(topo->distances);
	free(topo);
}

int hpm_topo_host_read(const struct hpm_topo *topo, struct hpm_topo_host *host)
{
	return opts_fill(host, &topo->host, sizeof(topo->host), sizeof(topo->host));
}

const struct hpm_topo_node *hpm_topo_nodes(const struct hpm_topo *topo, unsigned *n)
{
	*n = topo->node_count;
	return topo->nodes;
}

const struct hpm_topo_pool *hpm_topo_pools(const struct hpm_topo *topo, unsigned *n)
{
	*n = topo->pool_count;
	return topo->pools;
}

const struct hpm_topo_mount *hpm_topo_mounts(const struct hpm_topo *topo, unsigned *n)
{
	static const struct hpm_topo_mount none;

	*n = topo->mount_count;
	return topo->mount_count == 0 && topo->mounts_known ? &none : topo->mounts;
}

const struct hpm_topo_tlb *hpm_topo_tlbs(const struct hpm_topo *topo, unsigned *n)
{
	*n = topo->tlb_count;
	return topo->tlbs;
}

const struct hpm_topo_cpuid *hpm_topo_cpuids(const struct hpm_topo *topo, unsigned *n)
{
	*n = topo->cpuid_count;
	return topo->cpuids;
}

struct hpm_datum hpm_topo_distance(const struct hpm_topo *topo, int from, int to)
{
	unsigned row = topo->node_count, column = topo->node_count;

	for (unsigned i = 0; i < topo->node_count; i++) {
		if (topo->nodes[i].node == from)
			row = i;
		if (topo->nodes[i].node == to)
			column = i;
	}
	if (row == topo->node_count || column == topo->node_count)
		return datum_unknown("no such node");
	return topo->distances[(size_t)row * topo->node_count + column];
}

struct hpm_datum hpm_topo_ability(const struct hpm_topo *topo, enum hpm_ability ability)
{
	if ((unsigned)ability >= HPM_ABILITIES)
		return datum_unknown("no such ability");
	return topo->abilities[ability];
}
