/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out the steps of region/backend.h on books instead of pages.
 * Invariant: for each size and node, free + taken by mappings = what was free at first.
 */
#include "fake_backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"

#define FIRST_FD  1000
#define MIN_ALIGN (UINT64_C(1) << 21) /* what backend.h asks of map */

struct fake fake;

static const char *const step_names[FAKE_STEPS] = {"offers", "node", "room", "open", "resize",
	"reserve", "map", "bind", "populate", "touch", "page_shift", "where"};

/* Each step begins here: 0, or the negative errno it is to fail with. */
static int begin(enum fake_step step)
{
	size_t used = strlen(fake.trace);

	snprintf(fake.trace + used, sizeof(fake.trace) - used, "%s ", step_names[step]);
	if (++fake.steps == fake.fail_at)
		return -fake.fail_at_errno;
	return -fake.fail_errno[step];
}

static struct fake_pages *find_pages(uint32_t shift)
{
	for (int i = 0; i < FAKE_SIZES && fake.sizes[i].shift != 0; i++)
		if (fake.sizes[i].shift == shift)
			return &fake.sizes[i];
	return NULL;
}

struct fake_pages *fake_pages(uint32_t shift)
{
	struct fake_pages *pages = find_pages(shift);

	if (pages == NULL)
		abort();
	return pages;
}

/* The mapping an address is in; the code under test passes no other. */
static struct fake_map *find_map(const void *addr)
{
	for (int i = 0; i < FAKE_MAPS; i++) {
		struct fake_map *map = &fake.maps[i];

		if (map->addr != NULL && (const char *)addr >= map->addr &&
			(const char *)addr < map->addr + map->bytes)
			return map;
	}
	abort();
}

static int offers(uint32_t shift)
{
	int rc = begin(FAKE_OFFERS);

	return rc < 0 ? rc : find_pages(shift) != NULL ? 0 : -EINVAL;
}

static int node_of(int *node)
{
	int rc = begin(FAKE_NODE);

	if (rc < 0)
		return rc;
	if (*node == HPM_NODE_LOCAL)
		*node = fake.local_node;
	return *node >= 0 && *node < fake.nodes ? 0 : -EINVAL;
}

static int room(struct region_room *ret, int node, uint32_t shift)
{
	int rc = begin(FAKE_ROOM);

	if (rc < 0)
		return rc;
	if (fake.no_room)
		return -ENODATA;
	ret->total_pages = fake_pages(shift)->total[node];
	ret->free_pages = fake_pages(shift)->free[node];
	return 0;
}

static int open_file(uint32_t shift, uint64_t bytes, const char *name, struct hpm_reason *why)
{
	int rc = begin(FAKE_OPEN);

	if (rc < 0)
		return fail(rc, why, "fake: cannot open '%s'", name);
	return FIRST_FD + fake.open++;
}

static bool host_is_short(uint32_t shift, uint64_t wanted)
{
	const struct fake_pages *pages = fake_pages(shift);
	uint64_t free_pages = 0;

	for (int i = 0; i < fake.nodes; i++)
		free_pages += pages->free[i];
	return shift != 12 && free_pages < wanted + fake.promised;
}

static int resize(int fd, uint64_t bytes)
{
	if (fd < FIRST_FD)
		abort();
	return begin(FAKE_RESIZE);
}

static int reserve(void **ret, uint64_t bytes, uint32_t shift)
{
	uint64_t page = UINT64_C(1) << shift, align = page > MIN_ALIGN ? page : MIN_ALIGN;
	int rc = begin(FAKE_RESERVE);
	char *span, *start;

	if (rc < 0)
		return rc;
	span = mmap(
		NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (span == MAP_FAILED)
		return -ENOMEM;
	start = (char *)(((uintptr_t)span + align - 1) & ~(align - 1));
	if (start > span)
		munmap(span, (size_t)(start - span));
	munmap(start + bytes, (size_t)(span + align - start));
	fake.reserved++;
	*ret = start;
	return 0;
}

static void put_over(void *addr, uint64_t bytes, int prot)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	if (mmap(addr, bytes, prot, flags, -1, 0) == MAP_FAILED)
		abort();
}

static int map_file(const struct region_map *want)
{
	uint64_t page = UINT64_C(1) << want->shift;
	struct fake_map *map = fake.maps;
	int rc = begin(FAKE_MAP);

	if (rc < 0)
		return rc;
	if (want->fd < FIRST_FD || want->bytes % page != 0 || want->offset % page != 0)
		abort();
	if (host_is_short(want->shift, want->bytes >> want->shift))
		return -ENOMEM;
	if ((uintptr_t)want->addr % page != 0)
		abort();
	put_over(want->addr, want->bytes, PROT_READ | PROT_WRITE);
	while (map->addr != NULL)
		map++;
	*map = (struct fake_map){.addr = want->addr,
		.fd = want->fd,
		.bytes = want->bytes,
		.shift = want->shift,
		.node = -1};
	fake.mapped++;
	return 0;
}

static int bind_to(void *addr, uint64_t bytes, int node)
{
	int rc = begin(FAKE_BIND);

	if (rc < 0)
		return rc;
	if (fake.no_mbind)
		return -ENOSYS;
	if (fake.forbidden_nodes >> node & 1)
		return -EINVAL;
	if (find_map(addr)->taken != 0)
		return -EIO;
	find_map(addr)->node = node;
	return 0;
}

static int take_page(struct fake_map *map)
{
	uint64_t *free_pages;

	if (map->node < 0)
		abort(); /* touched before it was bound */
	free_pages = &fake_pages(map->shift)->free[map->node];
	if (*free_pages <= fake.promised)
		return -EFAULT;
	--*free_pages;
	map->taken++;
	return 0;
}

static int populate(void *addr, uint64_t bytes)
{
	struct fake_map *map = find_map(addr);
	int rc = begin(FAKE_POPULATE);

	if (rc == 0 && fake.no_populate)
		rc = -EINVAL;
	while (rc == 0 && map->taken < bytes >> map->shift)
		rc = take_page(map);
	return rc;
}

static int touch(void *page, uint32_t shift)
{
	int rc = begin(FAKE_TOUCH);

	return rc < 0 ? rc : take_page(find_map(page));
}

static int page_shift_of(uint32_t *ret, const void *addr)
{
	int rc = begin(FAKE_PAGE_SHIFT);

	if (rc < 0)
		return rc;
	*ret = fake.lying_shift != 0 ? fake.lying_shift : find_map(addr)->shift;
	return 0;
}

static int where(int *status, void **pages, size_t n)
{
	int rc = begin(FAKE_WHERE);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct fake_map *map = find_map(pages[i]);
		uint64_t page = (uint64_t)((char *)pages[i] - map->addr) >> map->shift;

		if (page >= map->taken)
			status[i] = -ENOENT;
		else if (fake.lying_node >= 0 && page >= fake.lie_from)
			status[i] = fake.lying_node;
		else
			status[i] = map->node;
	}
	return 0;
}

static void unmap_one(struct fake_map *map)
{
	if (map->taken != 0)
		fake_pages(map->shift)->free[map->node] += map->taken;
	put_over(map->addr, map->bytes, PROT_NONE);
	map->addr = NULL;
	fake.mapped--;
}

/* One mapping or several that adjoin, whole. */
static void unmap(void *addr, uint64_t bytes)
{
	char *at = addr, *end = at + bytes;

	while (at < end) {
		struct fake_map *map = find_map(at);

		if (at != map->addr || map->bytes > (uint64_t)(end - at))
			abort();
		at += map->bytes;
		unmap_one(map);
	}
}

static void unreserve(void *addr, uint64_t bytes)
{
	munmap(addr, bytes);
	fake.reserved--;
}

static void close_file(int fd)
{
	fake.open--;
}

const struct region_backend fake_backend = {.name = "fake",
	.offers = offers,
	.node = node_of,
	.room = room,
	.open = open_file,
	.resize = resize,
	.reserve = reserve,
	.map = map_file,
	.bind = bind_to,
	.populate = populate,
	.touch = touch,
	.page_shift = page_shift_of,
	.where = where,
	.unmap = unmap,
	.unreserve = unreserve,
	.close = close_file};

void fake_reset(void)
{
	fake = (struct fake){.nodes = 2,
		.lying_node = -1,
		.sizes = {{12, {1000, 1000}, {1000, 1000}}, {21, {8, 8}, {8, 8}},
			{30, {2, 2}, {2, 2}}}};
}

bool fake_is_clean(void)
{
	for (int i = 0; i < FAKE_MAPS; i++)
		if (fake.maps[i].addr != NULL)
			return false;
	return fake.open == 0 && fake.mapped == 0 && fake.reserved == 0;
}

struct hpm_arena *fake_arena(uint64_t pages, uint32_t page_shift)
{
	struct hpm_arena_opts opts = HPM_ARENA_OPTS_INIT;
	struct hpm_arena *arena;

	fake_reset();
	fake.sizes[0] = (struct fake_pages){page_shift, {pages}, {pages}};
	fake.sizes[1] = (struct fake_pages){0};
	opts.name = "fake";
	opts.bytes = pages << page_shift;
	opts.page_shifts[0] = page_shift;
	if (arena_create_on(&arena, &opts, &fake_backend) < 0)
		abort();
	return arena;
}

uint64_t fake_arena_used(struct hpm_arena *arena)
{
	struct hpm_arena_info info = {.size = sizeof(info)};

	if (hpm_arena_info_read(arena, &info) < 0)
		abort();
	return info.used_bytes;
}

int fake_arena_end(struct hpm_arena *arena)
{
	uint64_t left = fake_arena_used(arena);

	hpm_arena_destroy(arena);
	return left == 0 && fake_is_clean() ? 0 : -1;
}
