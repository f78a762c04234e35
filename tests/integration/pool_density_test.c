/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million objects of 128 bytes lie on 62 frames of 2 MiB (61.04 is the sum of their bytes), by
 * the frame numbers the kernel shows in pagemap. Without root it hides them; then pages that are
 * present are counted instead.
 */
#include "live_pool.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define OBJECTS      1000000
#define OBJECT_BYTES 128
#define ARENA_PAGES  63 /* 62, and one that the bitmap starts on */
#define BASE_SHIFT   12
#define ENTRIES      (ARENA_PAGES << (HUGE_SHIFT - BASE_SHIFT))

#define PRESENT (UINT64_C(1) << 63) /* Documentation/admin-guide/mm/pagemap.rst */
#define PFN     ((UINT64_C(1) << 55) - 1)

static uint64_t pagemap[ENTRIES]; /* of the arena, one entry per base page */
static bool holds[ENTRIES];       /* base page i holds a byte of an object */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void fill_pool(void)
{
	for (uint32_t i = 0; i < OBJECTS; i++) {
		char *object = hpm_pool_get(pool);
		uint64_t offset;

		assert_non_null(object);
		memset(object, 0xee, OBJECT_BYTES);
		memcpy(object, &i, sizeof(i));
		offset = (uint64_t)(object - (char *)info.base);
		holds[offset >> BASE_SHIFT] = true;
		holds[(offset + OBJECT_BYTES - 1) >> BASE_SHIFT] = true;
	}
	assert_null(hpm_pool_get(pool));
}

/* Frames of 2 MiB under all base pages that hold objects. */
static unsigned count_frames(void)
{
	static uint64_t frames[ENTRIES];
	unsigned n = 0, distinct = 0;

	for (unsigned i = 0; i < ENTRIES; i++) {
		uint64_t pfn = pagemap[i] & PFN;

		if (!holds[i])
			continue;
		assert_true(pagemap[i] & PRESENT);
		/* hidden: the address is as good, since every page is present */
		frames[n++] = (pfn != 0 ? pfn : i) >> (HUGE_SHIFT - BASE_SHIFT);
	}
	qsort(frames, n, sizeof(frames[0]), compare);
	for (unsigned i = 0; i < n; i++)
		distinct += i == 0 || frames[i] != frames[i - 1];
	return distinct;
}

static void a_million_objects_lie_on_62_frames(void **state)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t at = (off_t)((uintptr_t)info.base >> BASE_SHIFT) * 8;
	unsigned frames;

	fill_pool();
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, pagemap, sizeof(pagemap), at), sizeof(pagemap));
	close(fd);
	frames = count_frames();
	print_message("%u %s of 2 MiB, ideal 62\n", frames,
		pagemap[0] & PFN ? "frames" : "pages present (frame numbers are hidden)");
	assert_in_range(frames, 62, 63);
}

static void no_object_overlaps_another(void **state)
{
	for (uint32_t i = 0; i < OBJECTS; i++) {
		const unsigned char *object = hpm_pool_at(pool, i);

		assert_memory_equal(object, &i, sizeof(i));
		for (int at = sizeof(i); at < OBJECT_BYTES; at++)
			if (object[at] != 0xee)
				fail_msg("object %u was overwritten at byte %d", i, at);
	}
}

static int set_up(void **state)
{
	return live_pool_begin("density", ARENA_PAGES, OBJECTS, OBJECT_BYTES);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_objects_lie_on_62_frames),
		cmocka_unit_test(no_object_overlaps_another),
	};

	need_pages(HUGE_SHIFT, ARENA_PAGES);
	return cmocka_run_group_tests(tests, set_up, live_pool_end);
}
