/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides how EAL is started so that tests disturb neither each other nor other DPDK programs: no
 * shared files, no PCI, no telemetry socket, and in legacy mode a mount of their own to be greedy
 * in.
 */
#include "eal.h"

#include "../integration/need.h"

#include <errno.h>
#include <rte_eal.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGS_MAX 16

static char mount_dir[] = "/tmp/hpm-legacy-XXXXXX";

static const struct mode {
	const char *name;
	const char *args[8];
	uint64_t pages; /* of 2 MiB that EAL may take */
	bool legacy;
} modes[] = {
	{"no-huge", {"--no-huge", "--no-shconf", "-m", "128"}, 0, false},
	{"in-memory", {"--in-memory"}, 32, false},
	{"in-memory-va", {"--in-memory", "--iova-mode=va"}, 32, false},
	{"in-memory-pa", {"--in-memory", "--iova-mode=pa"}, 32, false},
	{"legacy", {"--legacy-mem", "--no-shconf", "-m", "32", "--huge-dir", mount_dir}, 32, true},
};

static void skip_because(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(SKIP_STATUS);
}

/* Legacy mode maps whatever its mount gives: 64 MiB, seen by this process alone. */
static void mount_small(void)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		skip_because("needs to mount hugetlbfs: run as root");
	if (mkdtemp(mount_dir) == NULL)
		skip_because("needs a directory in /tmp");
	if (mount("none", mount_dir, "hugetlbfs", 0, "pagesize=2M,size=64M") != 0) {
		rmdir(mount_dir);
		skip_because("needs to mount hugetlbfs");
	}
}

/* What is mapped stays; the pages go back when the process ends. */
static void unmount_small(void)
{
	if (umount2(mount_dir, MNT_DETACH) != 0 || rmdir(mount_dir) != 0)
		perror(mount_dir);
}

void eal_start(const char *mode_name)
{
	static const char *const common[] = {"test", "--no-pci", "--no-telemetry", "-l", "0"};
	static char words[ARGS_MAX][32]; /* EAL keeps pointers to them, and moves them about */
	const struct mode *mode = modes;
	char *args[ARGS_MAX];
	int n = 0;

	while (strcmp(mode->name, mode_name) != 0)
		if (++mode == modes + sizeof(modes) / sizeof(modes[0]))
			abort();
	if (mode->pages > 0)
		need_pages(21, mode->pages);
	if (strcmp(mode->name, "in-memory-pa") == 0 && geteuid() != 0)
		skip_because("needs physical addresses: run as root");
	if (mode->legacy)
		mount_small();
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		strcpy(words[n++], common[i]);
	for (int i = 0; mode->args[i] != NULL; i++)
		strcpy(words[n++], mode->args[i]);
	for (int i = 0; i < n; i++)
		args[i] = words[i];
	if (rte_eal_init(n, args) < 0) {
		fprintf(stderr, "rte_eal_init() failed in mode '%s'\n", mode->name);
		exit(EXIT_FAILURE);
	}
	if (mode->legacy)
		unmount_small();
}

struct hpm_arena *arena_of(uint32_t shift, uint64_t bytes)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_reason reason;
	struct hpm_arena *arena;
	int rc;

	if (shift > 12)
		need_pages(shift, (bytes + (UINT64_C(1) << shift) - 1) >> shift);
	opts.name = "tables";
	opts.bytes = bytes;
	opts.page_shifts[0] = shift;
	opts.reason = &reason;
	opts.node = 0;
	rc = hpm_arena_create(&arena, &opts);
	if (rc == -ENOMEM)
		skip_because(reason.text); /* somebody was quicker, or they are on another node */
	if (rc != 0) {
		fprintf(stderr, "%s\n", reason.text);
		exit(EXIT_FAILURE);
	}
	return arena;
}

struct hpm_arena_info info_of(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};

	assert_int_equal(hpm_arena_info_read(arena, &info), 0);
	return info;
}

struct hpm_dpdk_heap *heap_in(struct hpm_arena *arena, const char *tag, uint64_t bytes)
{
	struct hpm_dpdk_heap_opts opts = HPM_DPDK_HEAP_OPTS_INIT;
	struct hpm_dpdk_heap *heap;
	struct hpm_reason reason = {"?"};
	int rc;

	opts.arena = arena;
	opts.tag = tag;
	opts.bytes = bytes;
	opts.reason = &reason;
	rc = hpm_dpdk_heap_create(&heap, &opts);
	if (rc != 0)
		fail_msg("heap '%s': %d, %s", tag, rc, reason.text);
	assert_string_equal(reason.text, "");
	return heap;
}

static int remember(void *arg, const struct hpm_dpdk_element *element)
{
	struct blocks *blocks = arg;

	if (blocks->n == blocks->room) {
		size_t room = blocks->room ? 2 * blocks->room : 1024;
		void *at = realloc(blocks->at, room * sizeof(*blocks->at));

		if (at == NULL)
			return -ENOMEM;
		blocks->at = at;
		blocks->room = room;
	}
	blocks->at[blocks->n++] = *element;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct hpm_dpdk_element *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

struct blocks blocks_now(void)
{
	struct blocks blocks = {0};

	assert_int_equal(hpm_dpdk_elements_walk(remember, &blocks), 0);
	qsort(blocks.at, blocks.n, sizeof(blocks.at[0]), by_address);
	return blocks;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->at);
	*blocks = (struct blocks){0};
}

struct landed landed_since(const struct blocks *before, struct hpm_arena *arena, const char *tag)
{
	struct blocks now = blocks_now();
	struct landed landed = {0, 0};

	for (size_t i = 0; i < now.n; i++) {
		const struct hpm_dpdk_element *block = &now.at[i];
		const char *last = (const char *)block->addr + block->bytes - 1;
		const char *first_tag = hpm_run_tag(arena, block->addr);
		const char *last_tag = hpm_run_tag(arena, last);

		if (bsearch(block, before->at, before->n, sizeof(*block), by_address) != NULL)
			continue;
		if (first_tag != NULL && strcmp(first_tag, tag) == 0 && last_tag == first_tag &&
			block->external)
			landed.inside += block->bytes;
		else
			landed.outside += block->bytes;
	}
	blocks_free(&now);
	return landed;
}
