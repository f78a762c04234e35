/* SPDX-License-Identifier: BSD-3-Clause */
/* The bitmap under the pools, against an array of bools. */
#include "alloc/bitmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct bitmap b;
static void *memory;

/* Memory of exactly the size asked for, so that a sanitizer sees a step beyond it. */
static void begin(uint32_t bits)
{
	memory = malloc(bitmap_bytes(bits));
	assert_non_null(memory);
	memset(memory, 0x5a, bitmap_bytes(bits));
	bitmap_init(&b, memory, bits);
	assert_true(bitmap_check(&b));
}

static void end(void)
{
	assert_true(bitmap_check(&b));
	free(memory);
}

static void memory_is_a_bit_per_object_and_a_64th_for_each_level_above(void **state)
{
	assert_int_equal(bitmap_bytes(1), 8);
	assert_int_equal(bitmap_bytes(64), 8);
	assert_int_equal(bitmap_bytes(65), 8 * (2 + 1));
	assert_int_equal(bitmap_bytes(4096), 8 * (64 + 1));
	assert_int_equal(bitmap_bytes(4097), 8 * (65 + 2 + 1));
	assert_int_equal(bitmap_bytes(1000000), 8 * (15625 + 245 + 4 + 1));
	assert_true(bitmap_bytes(UINT32_MAX) ==
		    UINT64_C(8) * (67108864 + 1048576 + 16384 + 256 + 4 + 1));
}

static void a_million_bits_are_four_levels(void **state)
{
	begin(1000000);
	assert_int_equal(b.levels, 4);
	end();
}

static void all_bits_are_free_at_first_and_none_beyond_the_last(void **state)
{
	static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 262145};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin(sizes[i]);
		for (uint32_t bit = 0; bit < sizes[i]; bit++) {
			assert_true(bitmap_is_free(&b, bit));
			assert_int_equal(bitmap_lowest(&b), bit);
			bitmap_take(&b, bit);
		}
		assert_int_equal(bitmap_lowest(&b), BITMAP_NONE);
		assert_true(bitmap_check(&b));
		bitmap_give(&b, sizes[i] - 1);
		assert_int_equal(bitmap_lowest(&b), sizes[i] - 1);
		end();
	}
}

static void a_bit_given_back_below_is_found_first(void **state)
{
	begin(300000);
	for (uint32_t bit = 0; bit < 290000; bit++)
		bitmap_take(&b, bit);
	bitmap_give(&b, 5000);
	bitmap_give(&b, 200000);
	assert_int_equal(bitmap_lowest(&b), 5000);
	bitmap_take(&b, 5000);
	assert_int_equal(bitmap_lowest(&b), 200000);
	bitmap_take(&b, 200000);
	assert_int_equal(bitmap_lowest(&b), 290000);
	end();
}

static void taken_bits_are_walked_upwards(void **state)
{
	static const uint32_t taken[] = {0, 1, 63, 64, 700, 9998, 9999};

	begin(10000);
	assert_int_equal(bitmap_next_taken(&b, 0), BITMAP_NONE);
	for (size_t i = 0; i < 7; i++)
		bitmap_take(&b, taken[i]);
	for (uint32_t i = 0, from = 0; i < 7; i++) {
		assert_int_equal(bitmap_next_taken(&b, from), taken[i]);
		from = taken[i] + 1;
	}
	assert_int_equal(bitmap_next_taken(&b, 10000), BITMAP_NONE);
	end();
	begin(128); /* the walk may start where the last word ends */
	bitmap_take(&b, 127);
	assert_int_equal(bitmap_next_taken(&b, 127), 127);
	assert_int_equal(bitmap_next_taken(&b, 128), BITMAP_NONE);
	end();
}

static uint32_t model_lowest(const bool *is_free, uint32_t bits)
{
	for (uint32_t i = 0; i < bits; i++)
		if (is_free[i])
			return i;
	return BITMAP_NONE;
}

static uint32_t model_next_taken(const bool *is_free, uint32_t bits, uint32_t from)
{
	for (uint32_t i = from; i < bits; i++)
		if (!is_free[i])
			return i;
	return BITMAP_NONE;
}

static uint32_t model_prev_taken(const bool *is_free, uint32_t from)
{
	for (uint32_t i = from + 1; i-- > 0;)
		if (!is_free[i])
			return i;
	return BITMAP_NONE;
}

/* The lowest free bits that share a word, n of them if there are so many. */
static void step_some(bool *is_free, uint32_t bits, uint32_t n)
{
	uint32_t lowest = model_lowest(is_free, bits), first = 0, taken = 0;
	uint64_t mask = bitmap_take_some(&b, &first, n), expected = 0;

	for (uint32_t i = lowest; i < bits && i / 64 == lowest / 64 && taken < n; i++)
		if (is_free[i]) {
			expected |= UINT64_C(1) << (i % 64);
			is_free[i] = false;
			taken++;
		}
	assert_true(mask == expected);
	if (mask != 0)
		assert_int_equal(first, lowest / 64 * 64);
}

/* Takes the lowest `bias` times in 8, else flips a random bit; so the map is full now and then. */
static void step(bool *is_free, uint32_t bits, uint32_t r, uint32_t bias)
{
	uint32_t at = r / 8 % bits;

	if (r % 8 < bias) {
		at = bitmap_lowest(&b);
		assert_int_equal(at, model_lowest(is_free, bits));
		if (at == BITMAP_NONE)
			return;
	}
	assert_int_equal(bitmap_is_free(&b, at), is_free[at]);
	if (is_free[at])
		bitmap_take(&b, at);
	else
		bitmap_give(&b, at);
	is_free[at] = !is_free[at];
	if (r % 64 == 0) {
		assert_int_equal(bitmap_next_taken(&b, at), model_next_taken(is_free, bits, at));
		assert_int_equal(bitmap_prev_taken(&b, at), model_prev_taken(is_free, at));
		step_some(is_free, bits, r / 64 % 70 + 1);
	}
}

static void random_steps_do_what_an_array_of_bools_does(void **state)
{
	static const uint32_t sizes[] = {1, 64, 130, 4097};
	static bool is_free[4097];
	uint64_t random = 42;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin(sizes[i]);
		memset(is_free, true, sizeof(is_free));
		for (int n = 0; n < 250000; n++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			step(is_free, sizes[i], (uint32_t)(random >> 33), (uint32_t)n / 10000 % 5);
			if (n % 5000 == 0)
				assert_true(bitmap_check(&b));
		}
		end();
	}
}

static void damage_is_noticed(void **state)
{
	begin(5000);
	assert_true(bitmap_check(&b));
	*b.level[1] ^= 1; /* the word below is not 0 */
	assert_false(bitmap_check(&b));
	*b.level[1] ^= 1;
	b.level[0][78] |= UINT64_C(1) << 63; /* bit 5055 of 5000 */
	assert_false(bitmap_check(&b));
	b.level[0][78] &= ~(UINT64_C(1) << 63);
	b.low = 1; /* word 0 has free bits */
	assert_false(bitmap_check(&b));
	b.low = 0;
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_a_bit_per_object_and_a_64th_for_each_level_above),
		cmocka_unit_test(a_million_bits_are_four_levels),
		cmocka_unit_test(all_bits_are_free_at_first_and_none_beyond_the_last),
		cmocka_unit_test(a_bit_given_back_below_is_found_first),
		cmocka_unit_test(taken_bits_are_walked_upwards),
		cmocka_unit_test(random_steps_do_what_an_array_of_bools_does),
		cmocka_unit_test(damage_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
