/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays the kernel for windows; every answer comes from `fake`. */
#include "fake_window_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fake_kernel fake;
static char smaps_text[FAKE_MAX * 256];

void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
}

static FILE *smaps_open(void)
{
	size_t used = 0;

	if (fake.smaps_rc < 0) {
		errno = -fake.smaps_rc;
		return NULL;
	}
	for (const struct fake_mapping *m = fake.mappings; m->end != 0; m++)
		used += (size_t)snprintf(smaps_text + used, sizeof(smaps_text) - used,
			"%" PRIxPTR "-%" PRIxPTR " %s 00000000 00:01 7    /memfd:x (deleted)\n"
			"KernelPageSize: %8" PRIu64 " kB\nShmemPmdMapped: %8u kB\n"
			"VmFlags: rd wr %s\n",
			m->start, m->end, m->perms, (UINT64_C(1) << m->shift) >> 10, m->huge_mapped,
			m->flags);
	assert_true(used < sizeof(smaps_text));
	return fmemopen(smaps_text, used != 0 ? used : 1, "r");
}

static int some_descriptor(int rc)
{
	int fd = rc < 0 ? rc : open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(rc < 0 || fd >= 0);
	return fd;
}

static int guard_open(void)
{
	return some_descriptor(fake.guard_open_rc);
}

static int pagemap_open(void)
{
	return some_descriptor(fake.pagemap_rc);
}

/* What a call on [start, start + bytes) answers when `rc` is due at an address, or anywhere. */
static int answer(int rc, uintptr_t at, uintptr_t start, uint64_t bytes)
{
	return at == 0 || (start <= at && at - start < bytes) ? rc : 0;
}

static int guard(int guard_fd, uintptr_t start, uint64_t bytes)
{
	int rc = answer(fake.guard_rc, fake.guard_rc_at, start, bytes);

	if (rc < 0)
		return rc;
	assert_in_range(fake.guarded_count, 0, FAKE_MAX - 1);
	fake.guarded[fake.guarded_count].start = start;
	fake.guarded[fake.guarded_count++].end = start + bytes;
	return 0;
}

/* Only whole registrations are ended, in any order; one that is not there fails the test. */
static void unguard(int guard_fd, uintptr_t start, uint64_t bytes)
{
	while (bytes != 0) {
		unsigned i = 0;

		while (i < fake.guarded_count && fake.guarded[i].start != start)
			i++;
		assert_in_range(i, 0, (uintmax_t)fake.guarded_count - 1);
		assert_true(fake.guarded[i].end - start <= bytes);
		bytes -= fake.guarded[i].end - start;
		start = fake.guarded[i].end;
		fake.guarded[i] = fake.guarded[--fake.guarded_count];
	}
}

static int zap(uintptr_t start, uint64_t bytes)
{
	uintptr_t at = start, end = start + bytes;

	for (const struct fake_mapping *m = fake.mappings; m->end != 0 && at < end; m++) {
		if (m->end <= at)
			continue;
		assert_true(m->start <= at);
		if (m->perms[3] != 's' || strstr(m->flags, "lo") != NULL)
			fail_msg("zapped what is private or locked: 0x%" PRIxPTR, at);
		at = m->end;
	}
	assert_true(at >= end);
	fake.zaps++;
	return answer(fake.zap_rc, fake.zap_rc_at, start, bytes);
}

static int look(int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched)
{
	fake.looks++;
	if (fake.look_rc < 0)
		return fake.look_rc;
	for (const uintptr_t *at = fake.touched; *at != 0; at++)
		if (*at >= start && (*at - start) >> shift < pages)
			touched[((*at - start) >> shift) / 64] |= UINT64_C(1)
								  << ((*at - start) >> shift) % 64;
	return 0;
}

const struct window_kernel fake_window_kernel = {.smaps_open = smaps_open,
	.guard_open = guard_open,
	.guard = guard,
	.unguard = unguard,
	.zap = zap,
	.pagemap_open = pagemap_open,
	.look = look};
