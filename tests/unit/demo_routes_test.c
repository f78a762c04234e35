/* SPDX-License-Identifier: BSD-3-Clause */
/* Route files, and the made-up table that stands in for one. */
#include "demo_files.h"
#include "rng.h"
#include "routes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static void routes_are_read_with_comments_crlf_and_a_default(void **state)
{
	struct routes routes;

	assert_int_equal(routes_load(&routes,
				 file_of_text("# table\r\n0.0.0.0/0 0\r\n\t10.1.0.0/16\t3 \n"
					      "\n192.0.2.1/32 65535"),
				 NULL),
		0);
	assert_int_equal(routes.n, 3);
	assert_true(routes.v[0].len == 0 && routes.v[0].addr == 0 && routes.v[0].port == 0);
	assert_true(routes.v[1].addr == 0x0a010000 && routes.v[1].len == 16);
	assert_int_equal(routes.v[1].port, 3);
	assert_true(routes.v[2].addr == 0xc0000201 && routes.v[2].port == 65535);
	assert_int_equal(routes_count_groups(&routes), 1);
	routes_free(&routes);
}

static void bad_routes_are_errors_with_file_and_line(void **state)
{
	static const struct {
		const char *line, *what;
	} rows[] = {
		{"10.1.0.0/33 1", "prefix length 33 exceeds 32"},
		{"10.1.0.0 1", "no prefix length"},
		{"10.1.0.1/16 1", "bits set beyond"},
		{"10.1/16 1", "not an IPv4 prefix"},
		{"10.1.0.0/16", "no port number"},
		{"10.1.0.0/16 x", "no port number"},
		{"10.1.0.0/16 -1", "no port number"},
		{"10.1.0.0/16 65536", "port 65536 exceeds 65535"},
		{"10.1.0.0/16 1 2", "something after its last field"},
		{"10.1.0.0/161", "exceeds 32"},
		{"0.0.0.0/0 1", "repeats the prefix of line 1"},
		{"default 1", "not an IPv4 prefix"},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct routes routes = {0};
		struct hpm_reason why;

		snprintf(text, sizeof(text), "0.0.0.0/0 0\n%s\n", rows[i].line);
		assert_int_equal(routes_load(&routes, file_of_text(text), &why), -EINVAL);
		assert_true(says(why.text, 2, rows[i].what));
		assert_null(routes.v);
	}
}

static void files_without_routes_or_access_are_errors(void **state)
{
	struct hpm_reason why;
	struct routes routes;

	assert_int_equal(routes_load(&routes, file_of_text("#\n"), &why), -EINVAL);
	assert_true(says(why.text, 1, "ends without a route"));
	assert_int_equal(routes_load(&routes, "/nonexistent/routes", &why), -ENOENT);
	assert_true(says(why.text, 0, "'/nonexistent/routes': No such file"));
}

static int by_prefix(const void *a, const void *b)
{
	const struct route *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (int)x->len - (int)y->len;
}

static void the_generated_table_is_a_set_of_prefixes_with_a_default(void **state)
{
	uint32_t of_len[33] = {0}, ports = 0;
	struct routes routes;

	assert_int_equal(routes_generate(&routes, ROUTES_DEFAULT_N, 4, 1, NULL), 0);
	assert_int_equal(routes.n, ROUTES_DEFAULT_N);
	assert_true(routes.v[0].len == 0 && routes.v[0].port == 0);
	for (uint32_t i = 0; i < routes.n; i++) {
		const struct route *r = &routes.v[i];

		assert_true(r->len <= 32 && r->port < 4);
		assert_true(r->len == 32 || (r->addr & (UINT32_MAX >> r->len)) == 0 || r->len == 0);
		of_len[r->len]++;
		ports |= 1U << r->port;
	}
	assert_int_equal(ports, 0xf);
	assert_true(of_len[0] == 1 && of_len[8] > 0 && of_len[32] > 0);
	for (int len = 0; len < 33; len++)
		assert_true(len == 24 || of_len[len] < of_len[24]);
	assert_true(of_len[24] > ROUTES_DEFAULT_N / 2 - 400);
	qsort(routes.v, routes.n, sizeof(routes.v[0]), by_prefix);
	for (uint32_t i = 1; i < routes.n; i++)
		assert_true(by_prefix(&routes.v[i - 1], &routes.v[i]) != 0);
	routes_free(&routes);
}

static void the_same_seed_makes_the_same_routes(void **state)
{
	struct routes a, b, c;

	assert_int_equal(routes_generate(&a, 1000, 2, 7, NULL), 0);
	assert_int_equal(routes_generate(&b, 1000, 2, 7, NULL), 0);
	assert_int_equal(routes_generate(&c, 1000, 2, 8, NULL), 0);
	assert_memory_equal(a.v, b.v, 1000 * sizeof(a.v[0]));
	assert_true(memcmp(a.v, c.v, 1000 * sizeof(a.v[0])) != 0);
	routes_free(&a);
	routes_free(&b);
	routes_free(&c);
}

static void sizes_no_table_can_have_are_refused(void **state)
{
	struct hpm_reason why;
	struct routes routes;

	assert_int_equal(routes_generate(&routes, 0, 1, 1, &why), -EINVAL);
	assert_int_equal(routes_generate(&routes, 100001, 1, 1, &why), -EINVAL);
	assert_int_equal(routes_generate(&routes, 1, 0, 1, &why), -EINVAL);
	assert_int_equal(routes_generate(&routes, 100000, 1, 1, &why), 0);
	routes_free(&routes);
}

static void groups_are_counted_by_the_24_they_lie_in(void **state)
{
	static const char text[] = "10.0.0.0/24 1\n10.0.0.0/25 1\n10.0.0.128/25 1\n10.0.1.7/32 1\n"
				   "10.0.2.0/24 1\n10.0.0.9/32 1\n";
	struct routes routes;

	assert_int_equal(routes_load(&routes, file_of_text(text), NULL), 0);
	assert_int_equal(routes_count_groups(&routes), 2);
	routes_free(&routes);
}

static void twenty_thousand_damaged_files_are_read_or_refused_with_a_reason(void **state)
{
	static const char alphabet[] = "0123456789/. \t\r\n#x";
	static const char good[] = "0.0.0.0/0 0\n10.1.0.0/16 3\n192.0.2.1/32 65535\n";
	unsigned read = 0;
	struct rng rng;

	rng_seed(&rng, 43);
	for (int i = 0; i < 20000; i++) {
		struct hpm_reason why = {""};
		struct routes routes;
		char text[sizeof(good)];

		memcpy(text, good, sizeof(good));
		for (uint32_t k = 1 + rng_below(&rng, 3); k > 0; k--)
			text[rng_below(&rng, sizeof(good) - 1)] =
				rng_below(&rng, 4) == 0 ? (char)rng_next(&rng)
							: alphabet[rng_below(&rng, 18)];
		if (routes_load(&routes, file_of(text, sizeof(good) - 1), &why) < 0) {
			assert_true(says(why.text, 0, "input' line "));
			continue;
		}
		for (uint32_t k = 0; k < routes.n; k++)
			assert_true(
				routes.v[k].len == 32 || routes.v[k].addr << routes.v[k].len == 0);
		routes_free(&routes);
		read++;
	}
	assert_true(read > 1000 && read < 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_are_read_with_comments_crlf_and_a_default),
		cmocka_unit_test(bad_routes_are_errors_with_file_and_line),
		cmocka_unit_test(files_without_routes_or_access_are_errors),
		cmocka_unit_test(the_generated_table_is_a_set_of_prefixes_with_a_default),
		cmocka_unit_test(the_same_seed_makes_the_same_routes),
		cmocka_unit_test(sizes_no_table_can_have_are_refused),
		cmocka_unit_test(groups_are_counted_by_the_24_they_lie_in),
		cmocka_unit_test(twenty_thousand_damaged_files_are_read_or_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, files_open, files_close);
}
