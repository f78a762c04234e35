/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking and counting pages by tag against a model of one byte per page and tag. */
#include "account/holdings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGES_MAX 400
#define TAGS      5

/* The model: who holds what, and which pages are in the mask. */
static struct {
	unsigned char held[TAGS + 1][PAGES_MAX], mask[PAGES_MAX];
	uint64_t pages;
} model;

static const uint8_t tags[TAGS + 1] = {TAG_NONE, 1, 2, 77, 254, TAG_MAX};

static uint64_t next_random(void)
{
	static uint64_t state = 20240731;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static unsigned holders(uint64_t page)
{
	unsigned n = 0;

	for (unsigned t = 1; t <= TAGS; t++)
		n += model.held[t][page];
	return n;
}

static struct holdings_count expected(unsigned t, int masked)
{
	struct holdings_count count = {0};

	for (uint64_t page = 0; page < model.pages; page++) {
		unsigned own = t == 0 || model.held[t][page];
		unsigned in = own && (!masked || model.mask[page]);

		count.held += own;
		count.touched += in;
		count.shared += in && holders(page) > 1;
	}
	return count;
}

static void assert_equals_model(const struct holdings *h)
{
	uint64_t mask[(PAGES_MAX + 63) / 64] = {0};

	for (uint64_t page = 0; page < model.pages; page++)
		mask[page / 64] |= (uint64_t)model.mask[page] << (page % 64);
	for (unsigned t = 0; t <= TAGS; t++)
		for (int masked = 0; masked <= 1; masked++) {
			struct holdings_count want = expected(t, masked);
			struct holdings_count got =
				holdings_count(h, tags[t], masked ? mask : NULL);

			assert_int_equal(got.held, want.held);
			assert_int_equal(got.touched, want.touched);
			assert_int_equal(got.shared, want.shared);
		}
}

static void mark_both(struct holdings *h, unsigned t, uint64_t first, uint64_t last)
{
	assert_int_equal(holdings_mark(h, tags[t], first, last), 0);
	memset(&model.held[t][first], 1, last - first + 1);
}

static void start(struct holdings *h, uint64_t pages)
{
	memset(&model, 0, sizeof(model));
	model.pages = pages;
	assert_int_equal(holdings_init(h, pages), 0);
}

static void random_marks_count_as_a_byte_per_page_does(void **state)
{
	static const uint64_t sizes[] = {
		1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 399};
	struct holdings h;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start(&h, sizes[i]);
		assert_equals_model(&h);
		for (int step = 0; step < 60; step++) {
			uint64_t first = next_random() % sizes[i];
			uint64_t last = first + next_random() % (sizes[i] - first);

			mark_both(&h, 1 + (unsigned)(next_random() % TAGS), first, last);
			for (uint64_t page = 0; page < sizes[i]; page++)
				model.mask[page] = next_random() % 3 == 0;
			assert_equals_model(&h);
		}
		holdings_free(&h);
	}
}

/* Every first and last page near the seams of words. */
static void ranges_end_exactly_where_they_should(void **state)
{
	static const uint64_t seams[] = {0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 191};
	size_t n = sizeof(seams) / sizeof(seams[0]);
	struct holdings h;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++) {
			start(&h, 192);
			memset(model.mask, 1, 192);
			mark_both(&h, 3, seams[i], seams[j]);
			assert_equals_model(&h);
			holdings_free(&h);
		}
}

static void marking_twice_shares_with_nobody(void **state)
{
	struct holdings h;

	start(&h, 130);
	mark_both(&h, 2, 10, 100);
	mark_both(&h, 2, 60, 129);
	assert_int_equal(holdings_count(&h, tags[2], NULL).held, 120);
	assert_int_equal(holdings_count(&h, tags[2], NULL).shared, 0);
	mark_both(&h, 4, 129, 129);
	assert_int_equal(holdings_count(&h, tags[2], NULL).shared, 1);
	assert_int_equal(holdings_count(&h, tags[4], NULL).shared, 1);
	assert_equals_model(&h);
	holdings_free(&h);
}

static void growing_keeps_the_marks_and_adds_free_pages(void **state)
{
	struct holdings h;

	start(&h, 1);
	while (model.pages < PAGES_MAX) {
		uint64_t first = next_random() % model.pages;

		mark_both(&h, 1 + (unsigned)(next_random() % TAGS), first, model.pages - 1);
		model.mask[first] = 1;
		model.pages += 1 + next_random() % 40;
		if (model.pages > PAGES_MAX)
			model.pages = PAGES_MAX;
		assert_int_equal(holdings_grow(&h, model.pages), 0);
		assert_equals_model(&h);
	}
	holdings_free(&h);
}

static void no_pages_count_as_none(void **state)
{
	struct holdings h;

	start(&h, 0);
	assert_equals_model(&h);
	assert_int_equal(holdings_grow(&h, 70), 0);
	model.pages = 70;
	mark_both(&h, 5, 69, 69);
	assert_equals_model(&h);
	holdings_free(&h);
	holdings_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_marks_count_as_a_byte_per_page_does),
		cmocka_unit_test(ranges_end_exactly_where_they_should),
		cmocka_unit_test(marking_twice_shares_with_nobody),
		cmocka_unit_test(growing_keeps_the_marks_and_adds_free_pages),
		cmocka_unit_test(no_pages_count_as_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
