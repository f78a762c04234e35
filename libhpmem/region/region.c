/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides how pages are got without ever risking SIGBUS:
 *
 *   map without populating   ENOMEM: the pool of the whole host is short
 *   bind to the node, strict before the first touch; EINVAL: the cpuset forbids the node
 *   populate                 EFAULT: this node's pool or a cgroup limit is short
 *   verify                   page size and node of every page, by the kernel's own word
 *
 * MAP_POPULATE would succeed although pages are missing and the process would die later;
 * fallocate(2) would ignore the binding. Invariant: on failure nothing stays mapped or open.
 */
#include "region/region.h"

#include "base/log.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include <hpm/arena.h>

#define WHERE_BATCH 512 /* pages per move_pages call */

const struct region_backend *region_backend_of(int source)
{
	switch (source) {
#define BACKEND_ROW(number, backend)                                                               \
	case number:                                                                               \
		return &backend;
#include "region/backends.def"
#undef BACKEND_ROW
	default:
		return NULL;
	}
}

static bool is_base(uint32_t shift)
{
	return UINT64_C(1) << shift == (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * The sentence for "too few pages": node, size, wanted, free, and the line that mends it. The
 * line's number is absolute, as nr_hugepages is: what is there plus what is missing. What was got
 * half-way goes back first, or it would be told as missing.
 */
static int too_few(struct region *r, const char *name, struct hpm_reason *why)
{
	uint64_t wanted = r->bytes >> r->page_shift;
	struct region_room room = {0};
	char size[SIZE_TEXT_MAX];

	region_release(r);
	size_text(size, UINT64_C(1) << r->page_shift);
	if (r->backend->room(&room, r->node, r->page_shift) < 0)
		return fail(-ENOMEM, why, "arena '%s': node %d cannot give %" PRIu64 " pages of %s",
			name, r->node, wanted, size);
	if (room.free_pages >= wanted)
		return fail(-ENOMEM, why,
			"arena '%s': node %d shows %" PRIu64 " free pages of %s, wanted %" PRIu64
			", but refuses: they are promised to others, or a cgroup limit "
			"(hugetlb.*.max, memory.max) is reached",
			name, r->node, room.free_pages, size, wanted);
	if (is_base(r->page_shift))
		return fail(-ENOMEM, why,
			"arena '%s': node %d has %" PRIu64 " free pages of %s, wanted %" PRIu64
			"; free memory or ask for less",
			name, r->node, room.free_pages, size, wanted);
	return fail(-ENOMEM, why,
		"arena '%s': node %d has %" PRIu64 " free pages of %s, wanted %" PRIu64
		"; try: echo %" PRIu64
		" >/sys/devices/system/node/node%d/hugepages/hugepages-%" PRIu64 "kB/nr_hugepages",
		name, r->node, room.free_pages, size, wanted,
		room.total_pages + wanted - room.free_pages, r->node,
		(UINT64_C(1) << r->page_shift) >> 10);
}

static int map(struct region *r, void *at, const char *name, struct hpm_reason *why)
{
	struct region_map map = {.addr = at,
		.bytes = r->bytes,
		.fd = r->fd,
		.offset = r->offset,
		.shift = r->page_shift};
	int rc = r->backend->map(&map);

	if (rc == -ENOMEM)
		return too_few(r, name, why);
	if (rc < 0)
		return fail(rc, why, "arena '%s': mmap of %" PRIu64 " bytes failed (errno %d)",
			name, r->bytes, -rc);
	r->addr = at;
	return 0;
}

static int bind(struct region *r, const char *name, struct hpm_reason *why)
{
	int rc = r->backend->bind(r->addr, r->bytes, r->node);

	switch (rc) {
	case 0:
		return 0;
	case -EINVAL:
		return fail(-EPERM, why,
			"arena '%s': node %d has no memory this process may use (cpuset.mems); ask "
			"for "
			"another node or widen the cpuset",
			name, r->node);
	case -EIO:
		return fail(-EIO, why,
			"arena '%s': pages came before they could be bound to node %d; is "
			"mlockall(MCL_FUTURE) in force?",
			name, r->node);
	case -ENOSYS:
		return fail(
			-ENOTSUP, why, "arena '%s': the kernel has no mbind (CONFIG_NUMA)", name);
	default:
		return fail(rc, why, "arena '%s': mbind to node %d failed (errno %d)", name,
			r->node, -rc);
	}
}

static int touch_each(const struct region *r)
{
	int rc = 0;

	for (uint64_t at = 0; at < r->bytes && rc == 0; at += UINT64_C(1) << r->page_shift)
		rc = r->backend->touch(r->addr + at, r->page_shift);
	return rc;
}

/* Base pages are not reserved by mmap, and the kernel kills a process rather than say no. */
static bool base_pages_missing(const struct region *r)
{
	struct region_room room;

	return is_base(r->page_shift) && r->backend->room(&room, r->node, r->page_shift) == 0 &&
	       room.free_pages < r->bytes >> r->page_shift;
}

static int populate(struct region *r, const char *name, struct hpm_reason *why)
{
	int rc;

	if (base_pages_missing(r))
		return too_few(r, name, why);
	rc = r->backend->populate(r->addr, r->bytes);
	if (rc == -EINVAL) /* before 5.14 */
		rc = touch_each(r);
	if (rc == -EFAULT || rc == -ENOMEM)
		return too_few(r, name, why);
	if (rc == -EHWPOISON)
		return fail(-EIO, why, "arena '%s': a page on node %d has a memory error", name,
			r->node);
	if (rc < 0)
		return fail(rc, why, "arena '%s': cannot populate pages (errno %d)", name, -rc);
	return 0;
}

/* A page is there but not mapped here: a window has dropped its entry, or this is a child. A touch
 * brings it back; every page of the file exists, so it cannot raise SIGBUS. */
static int ask_after_touch(const struct region *r, void *page, int *status)
{
	(void)*(volatile const char *)page;
	return r->backend->where(status, &page, 1);
}

int64_t region_misplaced(const struct region *r, int *where)
{
	void *pages[WHERE_BATCH];
	int status[WHERE_BATCH];
	uint64_t total = r->bytes >> r->page_shift;
	int64_t wrong = 0;

	for (uint64_t done = 0; done < total;) {
		size_t n = total - done < WHERE_BATCH ? (size_t)(total - done) : WHERE_BATCH;

		for (size_t i = 0; i < n; i++)
			pages[i] = r->addr + ((done + i) << r->page_shift);
		if (r->backend->where(status, pages, n) < 0)
			return -EIO;
		for (size_t i = 0; i < n; i++) {
			if (status[i] == -ENOENT && ask_after_touch(r, pages[i], &status[i]) < 0)
				return -EIO;
			if (status[i] < 0)
				return -EIO;
			if (status[i] != r->node && wrong++ == 0)
				*where = status[i];
		}
		done += n;
	}
	return wrong;
}

static int verify(struct region *r, const char *name, struct hpm_reason *why)
{
	char asked[SIZE_TEXT_MAX], got[SIZE_TEXT_MAX];
	uint32_t shift = 0;
	int64_t wrong;
	int where = -1;

	if (r->backend->page_shift(&shift, r->addr) < 0)
		return fail(
			-EIO, why, "arena '%s': the kernel does not say which pages it gave", name);
	if (shift != r->page_shift)
		return fail(-EIO, why, "arena '%s': asked for pages of %s, the kernel gave %s",
			name, size_text(asked, UINT64_C(1) << r->page_shift),
			size_text(got, UINT64_C(1) << shift));
	wrong = region_misplaced(r, &where);
	if (wrong < 0)
		return fail(-EIO, why,
			"arena '%s': the kernel does not say on which node pages are", name);
	if (wrong > 0)
		return fail(-EIO, why, "arena '%s': %" PRId64 " pages are on node %d instead of %d",
			name, wrong, where, r->node);
	return 0;
}

static int check(struct region *r, const struct region_request *want, struct hpm_reason *why)
{
	char size[SIZE_TEXT_MAX];
	int rc;

	if (r->backend->offers(want->page_shift) < 0)
		return fail(-EINVAL, why,
			"arena '%s': this machine has no pages of %s; see /sys/kernel/mm/hugepages",
			want->name,
			want->page_shift < 63 ? size_text(size, UINT64_C(1) << want->page_shift)
					      : "2^63+ B");
	rc = r->backend->node(&r->node);
	if (rc < 0)
		return fail(rc, why,
			"arena '%s': there is no node %d; see /sys/devices/system/node", want->name,
			want->node);
	if (!round_up(&r->bytes, want->bytes, UINT64_C(1) << r->page_shift) ||
		r->bytes > REGION_BYTES_MAX)
		return fail(-EOVERFLOW, why,
			"arena '%s': %" PRIu64 " bytes exceed the address space", want->name,
			want->bytes);
	return 0;
}

/* Pages for a file that is open; on failure the region is released. */
static int fill(struct region *r, void *at, const char *name, struct hpm_reason *why)
{
	int rc = map(r, at, name, why);

	if (rc == 0)
		rc = bind(r, name, why);
	if (rc == 0)
		rc = populate(r, name, why);
	if (rc == 0)
		rc = verify(r, name, why);
	if (rc < 0)
		region_release(r);
	return rc;
}

int region_acquire(struct region *ret, const struct region_request *want, struct hpm_reason *why)
{
	struct region r = {.page_shift = want->page_shift,
		.node = want->node,
		.fd = -1,
		.backend = want->backend};
	int rc = check(&r, want, why);

	if (rc < 0)
		return rc;
	r.fd = r.backend->open(r.page_shift, r.bytes, want->name, why);
	if (r.fd < 0)
		return r.fd;
	rc = fill(&r, want->at, want->name, why);
	if (rc == 0)
		*ret = r;
	return rc;
}

int region_extend(struct region *region, uint64_t bytes, const char *name, struct hpm_reason *why)
{
	struct region part = *region;
	int rc = region->backend->resize(region->fd, region->bytes + bytes);

	if (rc < 0)
		return fail(rc, why, "arena '%s': cannot lengthen its file (errno %d)", name, -rc);
	part.addr = NULL;
	part.bytes = bytes;
	part.offset = region->bytes;
	rc = fill(&part, region->addr + region->bytes, name, why);
	if (rc == 0)
		region->bytes += bytes;
	return rc;
}

void region_release(struct region *r)
{
	if (r->addr != NULL)
		r->backend->unmap(r->addr, r->bytes);
	if (r->fd >= 0 && r->offset != 0)
		r->backend->resize(r->fd, r->offset);
	else if (r->fd >= 0)
		r->backend->close(r->fd);
	r->addr = NULL;
	r->fd = -1;
}
