/* SPDX-License-Identifier: BSD-3-Clause */
/* Where runs lie, by the rule in hpm/run.h and nothing else: a byte map says which units are lent,
 * and the lowest place that keeps the rule is searched one by one. */
#include "fake_backend.h"

#include "base/units.h"

#include <hpm/run.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNIT 4096
#define PAGE 4 /* units */

static struct hpm_arena *arena; /* 64 pages of 16 KiB: 256 units */
static char *base;
static struct hpm_reason why;

static struct hpm_arena_info info(void)
{
	struct hpm_arena_info now = {.size = sizeof(now)};

	assert_int_equal(hpm_arena_info_read(arena, &now), 0);
	return now;
}

static int begin(void **state)
{
	arena = fake_arena(64, 14);
	base = info().base;
	return 0;
}

static int finish(void **state)
{
	hpm_arena_destroy(arena);
	return fake_is_clean() ? 0 : -1;
}

static char *get(uint64_t units)
{
	void *block = NULL;

	assert_int_equal(hpm_run_get(&block, arena, "t", units * UNIT, 0, &why), 0);
	assert_string_equal(why.text, "");
	return block;
}

static void a_run_below_a_page_never_straddles_two(void **state)
{
	assert_ptr_equal(get(3), base);
	assert_ptr_equal(get(2), base + PAGE * UNIT); /* only one unit was left on page 0 */
	assert_ptr_equal(get(1), base + 3 * UNIT);
	assert_ptr_equal(get(2), base + 6 * UNIT);
	assert_ptr_equal(get(4), base + 8 * UNIT);
}

static void a_run_above_a_page_starts_on_one(void **state)
{
	assert_ptr_equal(get(1), base);
	assert_ptr_equal(get(5), base + 4 * UNIT);
	assert_ptr_equal(get(1), base + 1 * UNIT);
	assert_ptr_equal(get(3), base + 9 * UNIT); /* the tail of its last page is for others */
}

static void the_lowest_gap_is_taken(void **state)
{
	char *runs[8];

	for (int i = 0; i < 8; i++)
		runs[i] = get(4);
	assert_int_equal(hpm_run_put(arena, runs[5]), 0);
	assert_int_equal(hpm_run_put(arena, runs[2]), 0);
	assert_ptr_equal(get(2), runs[2]);
	assert_ptr_equal(get(4), runs[5]);
	assert_ptr_equal(get(2), runs[2] + 2 * UNIT);
	assert_ptr_equal(get(1), runs[7] + 4 * UNIT);
}

static void bytes_are_rounded_up_to_units(void **state)
{
	void *block;

	assert_int_equal(hpm_run_get(&block, arena, "t", 1, 0, NULL), 0);
	assert_true(info().used_bytes == UNIT);
	assert_int_equal(hpm_run_get(&block, arena, "t", UNIT + 1, 0, NULL), 0);
	assert_true(info().used_bytes == 3 * UNIT);
	assert_ptr_equal(block, base + UNIT);
}

static void alignment_holds_up_to_beyond_the_page(void **state)
{
	for (uint64_t align = 1; align <= UINT64_C(1) << 19; align *= 2) {
		void *one, *block;

		assert_int_equal(hpm_run_get(&one, arena, "t", 1, 0, NULL), 0);
		assert_int_equal(hpm_run_get(&block, arena, "t", 3 * UNIT, align, NULL), 0);
		assert_int_equal((uintptr_t)block % align, 0);
		assert_int_equal((uintptr_t)block % UNIT, 0);
		assert_int_equal(hpm_run_put(arena, one), 0);
		assert_int_equal(hpm_run_put(arena, block), 0);
	}
	assert_true(info().used_bytes == 0);
}

static void alignments_no_address_has_are_enomem(void **state)
{
	void *block = NULL;

	assert_int_equal(hpm_run_get(&block, arena, "t", 1, UINT64_C(1) << 62, &why), -ENOMEM);
	assert_int_equal(hpm_run_get(&block, arena, "t", 1, UINT64_C(1) << 63, &why), -EOVERFLOW);
	assert_null(block);
}

static void what_makes_no_run_is_refused(void **state)
{
	void *block = NULL;

	assert_int_equal(hpm_run_get(&block, arena, "t", 0, 0, &why), -EINVAL);
	assert_int_equal(hpm_run_get(&block, arena, "t", 1, 3, &why), -EINVAL);
	assert_string_equal(why.text, "a run has at least 1 byte and a power of two as alignment");
	assert_int_equal(hpm_run_get(&block, arena, NULL, 1, 0, &why), -EINVAL);
	assert_string_equal(why.text, "a tag is 1 to 31 of [a-z0-9_.-], not '(null)'");
	assert_int_equal(hpm_run_get(&block, arena, "A", 1, 0, &why), -EINVAL);
	assert_int_equal(hpm_run_get(&block, arena, "t", UINT64_C(1) << 63, 0, &why), -EOVERFLOW);
	assert_int_equal(hpm_run_get(&block, arena, "t", UINT64_MAX, 0, NULL), -EOVERFLOW);
	assert_int_equal(
		hpm_run_get(&block, arena, "t", (UINT64_C(1) << 63) - 1, 0, &why), -ENOMEM);
	assert_null(block);
	assert_true(info().used_bytes == 0);
}

static void a_full_arena_names_wanted_and_longest_gap(void **state)
{
	void *block = NULL;

	get(100);
	get(150);
	assert_int_equal(hpm_run_get(&block, arena, "acl", 30000, 0, &why), -ENOMEM);
	assert_string_equal(why.text,
		"arena 'fake': no gap of 30000 bytes for 'acl', the longest has 24576; create it "
		"larger");
}

/* A gap of 4 units is there, but no multiple of 8 in it: it is not told as long enough. */
static void a_gap_that_alignment_spoils_is_not_told_as_free(void **state)
{
	void *block = NULL;

	get(1);
	get(248); /* units 4 to 251 */
	assert_int_equal(hpm_run_get(&block, arena, "acl", 4 * UNIT, 8 * UNIT, &why), -ENOMEM);
	assert_string_equal(why.text,
		"arena 'fake': no gap of 16384 bytes for 'acl', the longest has 12288; create it "
		"larger");
}

static void only_starts_of_runs_can_be_put_and_only_once(void **state)
{
	char *run = get(6), *other = get(1);
	int local;

	assert_int_equal(hpm_run_put(arena, run + 1), -EINVAL);
	assert_int_equal(hpm_run_put(arena, run + UNIT), -EINVAL);
	assert_int_equal(hpm_run_put(arena, other + UNIT), -EINVAL);
	assert_int_equal(hpm_run_put(arena, base - UNIT), -EINVAL);
	assert_int_equal(hpm_run_put(arena, base + 256 * UNIT), -EINVAL);
	assert_int_equal(hpm_run_put(arena, &local), -EINVAL);
	assert_int_equal(hpm_run_put(arena, NULL), -EINVAL);
	assert_true(info().used_bytes == 7 * UNIT);
	assert_int_equal(hpm_run_put(arena, run), 0);
	assert_int_equal(hpm_run_put(arena, run), -EINVAL);
	assert_true(info().used_bytes == UNIT);
}

static void an_address_has_the_tag_of_its_run(void **state)
{
	void *acl, *hash;

	assert_int_equal(hpm_run_get(&acl, arena, "acl", 3 * UNIT, 0, NULL), 0);
	assert_int_equal(hpm_run_get(&hash, arena, "hash", 9 * UNIT, 0, NULL), 0);
	assert_string_equal(hpm_run_tag(arena, acl), "acl");
	assert_string_equal(hpm_run_tag(arena, (char *)acl + 3 * UNIT - 1), "acl");
	assert_null(hpm_run_tag(arena, (char *)acl + 3 * UNIT));
	assert_string_equal(hpm_run_tag(arena, (char *)hash + 5 * UNIT), "hash");
	assert_null(hpm_run_tag(arena, base - 1));
	assert_null(hpm_run_tag(arena, NULL));
	assert_int_equal(hpm_run_put(arena, acl), 0);
	assert_null(hpm_run_tag(arena, acl));
}

/* The model: which run has a unit (0 = none), and the runs that are lent. */
#define UNITS 256
#define RUNS  64

static int owner[UNITS];
static struct {
	char *block; /* NULL: not lent */
	uint64_t units;
} runs[RUNS];

static bool may_start(uint64_t unit, uint64_t units, uint64_t align)
{
	uint64_t address = (uint64_t)(uintptr_t)base + unit * UNIT;

	if (address % align != 0 || unit + units > UNITS)
		return false;
	if (units < PAGE ? unit / PAGE != (unit + units - 1) / PAGE : unit % PAGE != 0)
		return false;
	for (uint64_t i = unit; i < unit + units; i++)
		if (owner[i] != 0)
			return false;
	return true;
}

/* Marks a run at its start and its end of each quarter unit; all must be zero before. */
static void dirty(char *block, uint64_t units)
{
	for (uint64_t at = 0; at < units * UNIT; at += 1024) {
		assert_true(block[at] == 0 && block[at + 1023] == 0);
		block[at] = block[at + 1023] = (char)0xa5;
	}
}

/* What dirty() wrote is still there: no other run was laid or zeroed over it. */
static void check_dirty(const char *block, uint64_t units)
{
	for (uint64_t at = 0; at < units * UNIT; at += 1024)
		assert_true(block[at] == (char)0xa5 && block[at + 1023] == (char)0xa5);
}

static void model_get(int slot, uint64_t units, uint64_t align)
{
	void *block = NULL;
	uint64_t unit = 0;
	int rc = hpm_run_get(&block, arena, "t", units * UNIT - 5, align, NULL);

	while (unit < UNITS && !may_start(unit, units, align))
		unit++;
	if (unit == UNITS) {
		assert_int_equal(rc, -ENOMEM);
		return;
	}
	assert_int_equal(rc, 0);
	assert_ptr_equal(block, base + unit * UNIT);
	for (uint64_t i = unit; i < unit + units; i++)
		owner[i] = slot + 1;
	runs[slot].block = block;
	runs[slot].units = units;
	dirty(block, units);
}

static void model_put(int slot)
{
	uint64_t unit = (uint64_t)(runs[slot].block - base) / UNIT;

	check_dirty(runs[slot].block, runs[slot].units);
	assert_int_equal(hpm_run_put(arena, runs[slot].block), 0);
	for (uint64_t i = unit; i < unit + runs[slot].units; i++) {
		assert_int_equal(owner[i], slot + 1);
		owner[i] = 0;
	}
	runs[slot].block = NULL;
}

static void random_runs_lie_where_the_rule_says_and_are_zero(void **state)
{
	uint64_t random = 3, used = 0;

	for (int n = 0; n < 100000; n++) {
		uint32_t r;
		int slot;

		random = random * 6364136223846793005u + 1442695040888963407u;
		r = (uint32_t)(random >> 33);
		slot = (int)(r % RUNS);
		if (runs[slot].block != NULL)
			model_put(slot);
		else
			model_get(slot, 1 + (r >> 6) % 13, UINT64_C(64) << (r >> 10) % 12);
		if (n % 1000 != 0)
			continue;
		used = 0;
		for (int i = 0; i < UNITS; i++)
			used += owner[i] != 0;
		assert_true(info().used_bytes == used * UNIT);
	}
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, begin, finish)
	static const struct CMUnitTest tests[] = {
		ROW(a_run_below_a_page_never_straddles_two),
		ROW(a_run_above_a_page_starts_on_one),
		ROW(the_lowest_gap_is_taken),
		ROW(bytes_are_rounded_up_to_units),
		ROW(alignment_holds_up_to_beyond_the_page),
		ROW(alignments_no_address_has_are_enomem),
		ROW(what_makes_no_run_is_refused),
		ROW(a_full_arena_names_wanted_and_longest_gap),
		ROW(a_gap_that_alignment_spoils_is_not_told_as_free),
		ROW(only_starts_of_runs_can_be_put_and_only_once),
		ROW(an_address_has_the_tag_of_its_run),
		ROW(random_runs_lie_where_the_rule_says_and_are_zero),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
