/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpmem topo as JSON. Keeps one rule: an object that holds a null says why, and one that holds a
 * number says where it came from.
 */
#include "verb_topo.h"

#include <stdlib.h>
#include <string.h>

#define SENTENCES_MAX 512

/* An object whose members are data of the snapshot. */
struct facts {
	struct json *j;
	char source[SENTENCES_MAX], why[SENTENCES_MAX]; /* distinct ones, "; " between */
};

static void add_sentence(char *to, const char *sentence)
{
	size_t used = strlen(to);

	if (strstr(to, sentence) == NULL && used < SENTENCES_MAX)
		snprintf(to + used, SENTENCES_MAX - used, "%s%s", used > 0 ? "; " : "", sentence);
}

static struct facts facts_open(struct json *j, const char *key)
{
	json_object(j, key);
	return (struct facts){.j = j};
}

static void facts_end(struct facts *f)
{
	if (f->source[0] != '\0')
		json_string(f->j, "source", f->source);
	if (f->why[0] != '\0')
		json_string(f->j, "why", f->why);
	json_end(f->j);
}

static void fact(struct facts *f, const char *key, struct hpm_datum d)
{
	if (d.known)
		json_u64(f->j, key, d.value);
	else
		json_null(f->j, key);
	add_sentence(d.known ? f->source : f->why, d.source);
}

static void fact_bool(struct facts *f, const char *key, struct hpm_datum d)
{
	if (d.known)
		json_bool(f->j, key, d.value != 0);
	else
		json_null(f->j, key);
	add_sentence(d.known ? f->source : f->why, d.source);
}

static void fact_text(struct facts *f, const char *key, const char *text, const char *why)
{
	json_string(f->j, key, text[0] != '\0' ? text : NULL);
	if (text[0] == '\0')
		add_sentence(f->why, why);
}

static void write_cpu(struct json *j, const struct hpm_topo_host *host)
{
	struct facts f = facts_open(j, "cpu");

	fact_text(&f, "vendor", host->cpu_vendor, host->cpu_family.source);
	fact(&f, "family", host->cpu_family);
	fact(&f, "model", host->cpu_model);
	fact_bool(&f, "guest", host->guest);
	facts_end(&f);
}

static void write_kernel(struct json *j, const struct hpm_topo *topo, const struct hpm_topo_host *h)
{
	static const char why[] = "the file is missing, or holds something else";
	struct facts f = facts_open(j, "kernel");

	fact_text(&f, "release", h->kernel, why);
	json_u64(j, "page_bytes", UINT64_C(1) << h->base_page_shift);
	fact(&f, "default_huge_bytes", h->default_huge_bytes);
	fact_text(&f, "thp", h->thp, why);
	fact_text(&f, "thp_shmem", h->thp_shmem, why);
	for (int i = 0; i < HPM_ABILITIES; i++)
		fact_bool(&f, topo_abilities[i].name, hpm_topo_ability(topo, (enum hpm_ability)i));
	facts_end(&f);
}

/* "0-3,8" as numbers; the snapshot has checked that it is such a list. */
static void write_cpulist(struct facts *f, const char *list)
{
	if (list == NULL) {
		json_null(f->j, "cpus");
		add_sentence(f->why, "the kernel's list of CPUs is missing, or no list");
		return;
	}
	json_array(f->j, "cpus");
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last; first++)
			json_u64(f->j, NULL, first);
		list = end + (*end == ',');
	}
	json_end(f->j);
}

static void write_pools(struct json *j, const struct hpm_topo *topo, int node)
{
	unsigned n;
	const struct hpm_topo_pool *pools = hpm_topo_pools(topo, &n);

	json_array(j, "pools");
	for (unsigned i = 0; i < n; i++) {
		struct facts f;

		if (pools[i].node != node)
			continue;
		f = facts_open(j, NULL);
		json_u64(j, "page_bytes", UINT64_C(1) << pools[i].page_shift);
		fact(&f, "total_pages", pools[i].total_pages);
		fact(&f, "free_pages", pools[i].free_pages);
		fact(&f, "promised_pages", pools[i].promised_pages);
		fact(&f, "surplus_pages", pools[i].surplus_pages);
		facts_end(&f);
	}
	json_end(j);
}

static void write_nodes(struct json *j, const struct hpm_topo *topo)
{
	unsigned n;
	const struct hpm_topo_node *nodes = hpm_topo_nodes(topo, &n);

	json_array(j, "nodes");
	for (unsigned i = 0; i < n; i++) {
		struct facts f = facts_open(j, NULL);

		json_i64(j, "node", nodes[i].node);
		write_cpulist(&f, nodes[i].cpulist);
		fact(&f, "total_bytes", nodes[i].total_bytes);
		fact(&f, "free_bytes", nodes[i].free_bytes);
		json_array(j, "distances"); /* to each of nodes[], in their order */
		for (unsigned to = 0; to < n; to++)
			fact(&f, NULL, hpm_topo_distance(topo, nodes[i].node, nodes[to].node));
		json_end(j);
		write_pools(j, topo, nodes[i].node);
		facts_end(&f);
	}
	json_end(j);
}

static void write_mounts(struct json *j, const struct hpm_topo *topo)
{
	unsigned n;
	const struct hpm_topo_mount *mounts = hpm_topo_mounts(topo, &n);

	if (mounts == NULL) {
		json_null(j, "mounts");
		json_string(j, "why", topo_no_mounts);
		return;
	}
	json_array(j, "mounts");
	for (unsigned i = 0; i < n; i++) {
		struct facts f = facts_open(j, NULL);

		json_string(j, "path", mounts[i].path);
		fact(&f, "page_bytes", mounts[i].page_bytes);
		fact(&f, "limit_bytes", mounts[i].size_bytes);
		facts_end(&f);
	}
	json_end(j);
}

static void write_tlbs(struct json *j, const struct hpm_topo *topo)
{
	unsigned n;
	const struct hpm_topo_tlb *tlbs = hpm_topo_tlbs(topo, &n);

	json_array(j, "tlb");
	for (unsigned i = 0; i < n; i++) {
		struct facts f = facts_open(j, NULL);

		json_u64(j, "level", tlbs[i].level);
		json_string(j, "kind", "data");
		json_u64(j, "page_bytes", UINT64_C(1) << tlbs[i].page_shift);
		fact(&f, "entries", tlbs[i].entries);
		fact(&f, "ways", tlbs[i].ways);
		fact_bool(&f, "shared", tlbs[i].shared);
		fact(&f, "reach_bytes", topo_reach(&tlbs[i]));
		facts_end(&f);
	}
	json_end(j);
}

void topo_print_json(const struct cli *cli, const struct hpm_topo *topo)
{
	struct hpm_topo_host host = {.size = sizeof(host)};
	struct json j = cli_json(cli, STATUS_YES);

	json_object(&j, "host");
	if (hpm_topo_host_read(topo, &host) == 0) {
		write_cpu(&j, &host);
		write_kernel(&j, topo, &host);
	}
	write_nodes(&j, topo);
	write_pools(&j, topo, -1);
	write_mounts(&j, topo);
	write_tlbs(&j, topo);
	json_end(&j);
	json_end(&j);
}
