/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, tags, option structs and kernel files: what callers and captured hosts may throw at us. */
#include "base/kfile.h"
#include "base/opts.h"
#include "base/tag.h"
#include "base/units.h"

#include <hpm/base.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void sizes_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {{"0", 0}, {"4096", 4096}, {"4K", 4096}, {"2M", 2097152}, {"2m", 2097152},
		{"1G", 1073741824}, {"1GiB", 1073741824}, {"3MB", 3145728},
		{"15E", 17293822569102704640ULL}};
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(size_parse(&bytes, rows[i].text), 0);
		assert_true(bytes == rows[i].bytes);
	}
}

static void bad_sizes_are_refused(void **state)
{
	static const char *const bad[] = {"", "-1", "M", "2X", "2MM", "1.5G", " 1", "0x10", "2 M"};
	uint64_t bytes = 7;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(size_parse(&bytes, bad[i]), -EINVAL);
	assert_int_equal(size_parse(&bytes, "16E"), -EOVERFLOW);
	assert_int_equal(size_parse(&bytes, "99999999999999999999"), -EOVERFLOW);
	assert_true(bytes == 7);
}

static void sizes_print_in_the_largest_exact_unit(void **state)
{
	char buf[SIZE_TEXT_MAX];

	assert_string_equal(size_text(buf, 0), "0 B");
	assert_string_equal(size_text(buf, 1536), "1536 B");
	assert_string_equal(size_text(buf, 2097152), "2 MiB");
	assert_string_equal(size_text(buf, 1ULL << 30), "1 GiB");
	assert_string_equal(size_text(buf, 1ULL << 63), "8 EiB");
}

static void rounding_up_reports_overflow(void **state)
{
	uint64_t n;

	assert_true(round_up(&n, 1, 4096) && n == 4096);
	assert_true(round_up(&n, 4096, 4096) && n == 4096);
	assert_false(round_up(&n, UINT64_MAX - 4094, 4096));
	assert_true(units_of(UINT64_MAX, 21) == 1ULL << 43);
}

static void tags_keep_their_number_and_bad_ones_are_refused(void **state)
{
	int acl = tag_intern("acl");

	assert_true(acl > 0);
	assert_int_equal(tag_intern("acl"), acl);
	assert_int_equal(tag_find("acl"), acl);
	assert_string_equal(tag_name((uint8_t)acl), "acl");
	assert_int_equal(tag_find("never-seen"), TAG_NONE);
	assert_null(tag_name(TAG_NONE));
	assert_int_equal(tag_intern(""), -EINVAL);
	assert_int_equal(tag_intern(NULL), -EINVAL);
	assert_int_equal(tag_intern("Upper"), -EINVAL);
	assert_int_equal(tag_intern("a b"), -EINVAL);
	assert_int_equal(tag_intern("exactly-thirty-two-bytes-long-xx"), -EINVAL);
}

static void the_256th_tag_is_enospc(void **state)
{
	char name[16];
	int rc = 0, n = 0;

	while (n < 1000 && rc >= 0) {
		snprintf(name, sizeof(name), "t%d", n++);
		rc = tag_intern(name);
	}
	assert_int_equal(rc, -ENOSPC);
	assert_true(tag_intern("t0") > 0);
}

struct v1 {
	size_t size;
	int a;
};
struct v2 {
	size_t size;
	int a;
	int pad_;
	long b;
};

static void older_caller_gets_zeroes_newer_caller_must_not_use_the_unknown(void **state)
{
	struct v1 old = {sizeof(old), 5}, ours_v1;
	struct v2 young = {sizeof(young), 6, 0, 0}, ours_v2;

	memset(&ours_v2, 0xff, sizeof(ours_v2));
	assert_int_equal(opts_copy(&ours_v2, sizeof(ours_v2), &old, sizeof(old)), 0);
	assert_int_equal(ours_v2.a, 5);
	assert_int_equal(ours_v2.b, 0);
	assert_int_equal(opts_copy(&ours_v1, sizeof(ours_v1), &young, sizeof(old)), 0);
	assert_int_equal(ours_v1.a, 6);
	young.b = 1;
	assert_int_equal(opts_copy(&ours_v1, sizeof(ours_v1), &young, sizeof(old)), -E2BIG);
	old.size = 3;
	assert_int_equal(opts_copy(&ours_v1, sizeof(ours_v1), &old, sizeof(old)), -EINVAL);
	assert_int_equal(opts_copy(&ours_v1, sizeof(ours_v1), NULL, sizeof(old)), -EINVAL);
}

static void results_never_write_beyond_what_the_caller_knows(void **state)
{
	struct v2 full = {sizeof(full), 1, 2, 3}, caller = {sizeof(struct v1), 9, 9, 9};

	assert_int_equal(opts_fill(&caller, &full, sizeof(full), sizeof(struct v1)), 0);
	assert_true(caller.size == sizeof(struct v1));
	assert_int_equal(caller.a, 1);
	assert_int_equal(caller.b, 9);
	caller.size = 1;
	assert_int_equal(opts_fill(&caller, &full, sizeof(full), sizeof(struct v1)), -EINVAL);
}

static char root[] = "/tmp/hpm-kfile-XXXXXX";

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void numbers_in_kernel_files_are_strict(void **state)
{
	static const char *const bad[] = {"", "x", "-3", "12x", "1 2", "99999999999999999999"};
	uint64_t n = 0;
	char buf[4], path[64], *text;

	assert_non_null(mkdtemp(root));
	put_file("/n", "42\n");
	assert_int_equal(kfile_read_u64(root, "/n", &n), 0);
	assert_true(n == 42);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put_file("/n", bad[i]);
		assert_int_equal(kfile_read_u64(root, "/n", &n), -EINVAL);
	}
	assert_int_equal(kfile_read_u64(root, "/missing", &n), -ENOENT);
	put_file("/n", "12345678");
	assert_int_equal(kfile_read(root, "/n", buf, sizeof(buf)), -EFBIG);
	assert_int_equal(kfile_load(root, "/n", 1 << 20, &text), 8);
	assert_string_equal(text, "12345678");
	free(text);
	assert_true(n == 42);
	put_file("/n", "");
	assert_int_equal(kfile_load(root, "/n", 1 << 20, &text), 0);
	assert_string_equal(text, "");
	free(text);
	snprintf(path, sizeof(path), "%s/n", root);
	unlink(path);
	rmdir(root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_read_as_people_write_them),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(sizes_print_in_the_largest_exact_unit),
		cmocka_unit_test(rounding_up_reports_overflow),
		cmocka_unit_test(tags_keep_their_number_and_bad_ones_are_refused),
		cmocka_unit_test(the_256th_tag_is_enospc),
		cmocka_unit_test(older_caller_gets_zeroes_newer_caller_must_not_use_the_unknown),
		cmocka_unit_test(results_never_write_beyond_what_the_caller_knows),
		cmocka_unit_test(numbers_in_kernel_files_are_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
