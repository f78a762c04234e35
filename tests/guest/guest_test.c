/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an arena does on one kind of NUMA machine, one check a call:
 *
 *   lands NODE SHIFT PAGES                  pages come from that node's pool and no other
 *   local SHIFT                             HPM_NODE_LOCAL on each CPU is that CPU's node
 *   refused NODE SHIFT PAGES ERRNO TEXT...  -ERRNO, the reason has each TEXT, nothing was taken
 *   exhausted NODE SHIFT                    the last free page is held, one more is -ENOMEM
 *   moved NODE SHIFT PAGES                  the node's memory goes offline under the arena
 *
 * Uses the public API only. Where pages are is asked of move_pages(2) and sysfs, not of the
 * library. A SIGBUS is left alone: it ends the check with status 128 + 7. -u UID first: as that
 * user.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hpm/arena.h>
#include <hpm/run.h>

#define NODE_DIR    "/sys/devices/system/node/node"
#define COUNTERS    64
#define PATH_LENGTH 128
#define ASK(cond, ...)                                                                             \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("not ok: " __VA_ARGS__);                                            \
			printf("\n");                                                              \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct pools {
	size_t n;
	char path[COUNTERS][PATH_LENGTH];
	long pages[COUNTERS];
};

static long number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	long value = -1;

	ASK(f != NULL, "cannot open %s", path);
	ASK(fscanf(f, "%ld", &value) == 1, "no number in %s", path);
	fclose(f);
	return value;
}

static void pools_read(struct pools *p)
{
	glob_t found;

	ASK(glob(NODE_DIR "*/hugepages/hugepages-*kB/*_hugepages", 0, NULL, &found) == 0,
		"no pools in sysfs");
	ASK(found.gl_pathc <= COUNTERS, "more pools than this test can hold");
	p->n = found.gl_pathc;
	for (size_t i = 0; i < p->n; i++) {
		snprintf(p->path[i], PATH_LENGTH, "%s", found.gl_pathv[i]);
		p->pages[i] = number_in(p->path[i]);
	}
	globfree(&found);
}

static void free_file(char path[PATH_LENGTH], int node, uint32_t shift)
{
	snprintf(path, PATH_LENGTH, NODE_DIR "%d/hugepages/hugepages-%" PRIu64 "kB/free_hugepages",
		node, (UINT64_C(1) << shift) >> 10);
}

/* Every pool of the machine is as before, but for taken pages less free in one of them. */
static void ask_pools(const struct pools *before, const char *path, long taken)
{
	struct pools now;

	pools_read(&now);
	ASK(now.n == before->n, "pools came or went");
	for (size_t i = 0; i < now.n; i++) {
		bool ours = path != NULL && strcmp(now.path[i], path) == 0;
		long want = before->pages[i] - (ours ? taken : 0);

		ASK(now.pages[i] == want, "%s is %ld, should be %ld", now.path[i], now.pages[i],
			want);
	}
}

static int create(
	struct hpm_arena **ret, int node, uint32_t shift, uint64_t pages, struct hpm_reason *why)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;

	opts.name = "guest";
	opts.node = node;
	opts.page_shifts[0] = shift;
	opts.bytes = pages << shift;
	opts.reason = why;
	return hpm_arena_create(ret, &opts);
}

static struct hpm_arena *must_create(int node, uint32_t shift, uint64_t pages)
{
	struct hpm_reason why = {""};
	struct hpm_arena *arena;
	int rc = create(&arena, node, shift, pages, &why);

	ASK(rc == 0, "arena on node %d: %d, %s", node, rc, why.text);
	return arena;
}

static struct hpm_arena_info info_of(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};

	ASK(hpm_arena_info_read(arena, &info) == 0, "no info");
	return info;
}

/* How many pages of the arena the kernel says are not on a node. */
static uint64_t pages_elsewhere(struct hpm_arena *arena, int node)
{
	struct hpm_arena_info info = info_of(arena);
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < info.pages; i++) {
		void *page = (char *)info.base + (i << info.page_shift);
		int where = -1;

		ASK(syscall(SYS_move_pages, 0, 1UL, &page, NULL, &where, 0) == 0 && where >= 0,
			"move_pages does not say where page %" PRIu64 " is (%d)", i, where);
		wrong += where != node;
	}
	return wrong;
}

/* One run over all of it, a word written into each 4 KiB. */
static uint64_t *fill(struct hpm_arena *arena)
{
	struct hpm_arena_info info = info_of(arena);
	struct hpm_reason why = {""};
	void *run;

	ASK(hpm_run_get(&run, arena, "guest", info.bytes, 0, &why) == 0, "%s", why.text);
	for (uint64_t at = 0; at < info.bytes; at += 4096)
		((uint64_t *)run)[at / 8] = at + 1;
	return run;
}

static void ask_filled(struct hpm_arena *arena, const uint64_t *run)
{
	for (uint64_t at = 0; at < info_of(arena).bytes; at += 4096)
		ASK(run[at / 8] == at + 1, "byte %" PRIu64 " was lost", at);
}

static void lands(int node, uint32_t shift, uint64_t pages)
{
	struct hpm_reason why = {""};
	struct pools before;
	struct hpm_arena *arena;
	char path[PATH_LENGTH];
	uint64_t *run;

	pools_read(&before);
	free_file(path, node, shift);
	arena = must_create(node, shift, pages);
	ask_pools(&before, path, (long)pages);
	run = fill(arena);
	ask_filled(arena, run);
	ASK(pages_elsewhere(arena, node) == 0, "pages are not on node %d", node);
	ASK(info_of(arena).node == node && info_of(arena).page_shift == shift, "info is wrong");
	ASK(hpm_arena_misplaced(arena, &why) == 0, "misplaced: %s", why.text);
	ask_pools(&before, path, (long)pages);
	ASK(hpm_run_put(arena, run) == 0, "the run does not go back");
	hpm_arena_destroy(arena);
	ask_pools(&before, NULL, 0);
}

static void local(uint32_t shift)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int want = 0; want < cpus; want++) {
		struct hpm_arena *arena;
		unsigned cpu, node;
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(want, &set);
		ASK(sched_setaffinity(0, sizeof(set), &set) == 0, "cannot go to CPU %d", want);
		ASK(syscall(SYS_getcpu, &cpu, &node, NULL) == 0 && (int)cpu == want, "not there");
		arena = must_create(HPM_NODE_LOCAL, shift, 1);
		ASK(pages_elsewhere(arena, (int)node) == 0, "CPU %u: not on node %u", cpu, node);
		hpm_arena_destroy(arena);
		printf("CPU %u is served by node %u\n", cpu, node);
	}
}

struct refusal {
	int rc;
	char **texts;
};

static void ask_refused(int node, uint32_t shift, uint64_t pages, const struct refusal *want)
{
	struct hpm_arena *arena = NULL;
	struct hpm_reason why = {""};
	struct pools before;
	int rc;

	pools_read(&before);
	rc = create(&arena, node, shift, pages, &why);
	printf("%d: %s\n", rc, why.text);
	ASK(rc == want->rc && arena == NULL, "%d instead of %d", rc, want->rc);
	for (char **text = want->texts; *text != NULL; text++)
		ASK(strstr(why.text, *text) != NULL, "no '%s' in the reason", *text);
	ask_pools(&before, NULL, 0);
}

static void exhausted(int node, uint32_t shift)
{
	char here[16], *texts[] = {here, "has 0 free pages", "nr_hugepages", NULL};
	const struct refusal want = {.rc = -ENOMEM, .texts = texts};
	struct hpm_arena *all;
	char path[PATH_LENGTH];
	uint64_t *run;

	snprintf(here, sizeof(here), "node %d", node);
	free_file(path, node, shift);
	all = must_create(node, shift, (uint64_t)number_in(path));
	run = fill(all);
	ask_refused(node, shift, 1, &want);
	ask_filled(all, run);
	hpm_arena_destroy(all);
}

/* Blocks the kernel will not give up stay; the arena's own must go, or nothing moves. */
static void take_offline(int node)
{
	char pattern[PATH_LENGTH];
	glob_t found;
	size_t gone = 0;

	snprintf(pattern, sizeof(pattern), NODE_DIR "%d/memory*/state", node);
	ASK(glob(pattern, 0, NULL, &found) == 0, "node %d has no memory blocks", node);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *f = fopen(found.gl_pathv[i], "we");

		ASK(f != NULL, "cannot open %s", found.gl_pathv[i]);
		fputs("offline", f);
		gone += fclose(f) == 0;
	}
	printf("%zu of %zu memory blocks went offline\n", gone, found.gl_pathc);
	globfree(&found);
}

static void moved(int node, uint32_t shift, uint64_t pages)
{
	struct hpm_arena *arena = must_create(node, shift, pages);
	struct hpm_reason why = {""};
	uint64_t *run = fill(arena);
	uint64_t wrong;
	int64_t told;

	ASK(pages_elsewhere(arena, node) == 0, "pages are not on node %d", node);
	take_offline(node);
	wrong = pages_elsewhere(arena, node);
	told = hpm_arena_misplaced(arena, &why);
	printf("%" PRId64 ": %s\n", told, why.text);
	ASK(wrong > 0, "no page has moved");
	ASK(told == (int64_t)wrong, "%" PRIu64 " pages have moved", wrong);
	ASK(why.text[0] != '\0', "no reason");
	ask_filled(arena, run);
	hpm_arena_destroy(arena);
}

int main(int argc, char **argv)
{
	const char *check;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 3 && strcmp(argv[1], "-u") == 0) {
		ASK(setgid((gid_t)atoi(argv[2])) == 0 && setuid((uid_t)atoi(argv[2])) == 0,
			"setuid");
		argc -= 2;
		argv += 2;
	}
	check = argc > 1 ? argv[1] : "";
	if (argc == 5 && strcmp(check, "lands") == 0)
		lands(atoi(argv[2]), (uint32_t)atoi(argv[3]), strtoull(argv[4], NULL, 10));
	else if (argc == 3 && strcmp(check, "local") == 0)
		local((uint32_t)atoi(argv[2]));
	else if (argc >= 6 && strcmp(check, "refused") == 0)
		ask_refused(atoi(argv[2]), (uint32_t)atoi(argv[3]), strtoull(argv[4], NULL, 10),
			&(struct refusal){.rc = -atoi(argv[5]), .texts = argv + 6});
	else if (argc == 4 && strcmp(check, "exhausted") == 0)
		exhausted(atoi(argv[2]), (uint32_t)atoi(argv[3]));
	else if (argc == 5 && strcmp(check, "moved") == 0)
		moved(atoi(argv[2]), (uint32_t)atoi(argv[3]), strtoull(argv[4], NULL, 10));
	else
		ASK(false, "unknown check '%s'", check);
	return 0;
}
