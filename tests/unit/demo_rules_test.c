/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule files: what is read out of good ones, and what is said about bad ones. */
#include "demo_files.h"
#include "rng.h"
#include "rules.h"
#include "rules_gen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#define GOOD "@10.1.0.0/16\t192.168.0.7/32\t0 : 65535\t80 : 80\t0x06/0xFF\t0x0000/0x0200\t\n"

static void a_classbench_line_is_read_field_by_field(void **state)
{
	struct rules rules;
	struct hpm_reason why = {""};

	assert_int_equal(rules_load(&rules, file_of_text(GOOD), &why), 0);
	assert_int_equal(rules.n, 1);
	assert_true(rules.v[0].src == 0x0a010000 && rules.v[0].src_len == 16);
	assert_true(rules.v[0].dst == 0xc0a80007 && rules.v[0].dst_len == 32);
	assert_true(rules.v[0].sport_lo == 0 && rules.v[0].sport_hi == 65535);
	assert_true(rules.v[0].dport_lo == 80 && rules.v[0].dport_hi == 80);
	assert_true(rules.v[0].proto == 6 && rules.v[0].proto_mask == 0xff);
	assert_string_equal(why.text, "");
	rules_free(&rules);
}

static void spaces_crlf_comments_and_missing_flags_are_fine(void **state)
{
	static const char text[] =
		"# a comment\r\n\r\n   \t\n"
		"@0.0.0.0/0 1.2.3.4/32 0:65535 1024 : 65535 17/255\r\n"
		"  # another\n" GOOD "@0.0.0.0/0 0.0.0.0/0 0 : 65535 0 : 65535 0x00/0x00";
	struct rules rules;

	assert_int_equal(rules_load(&rules, file_of_text(text), NULL), 0);
	assert_int_equal(rules.n, 3);
	assert_true(rules.v[0].proto == 17 && rules.v[0].dport_lo == 1024);
	assert_true(rules.v[2].src_len == 0 && rules.v[2].proto_mask == 0);
	rules_free(&rules);
}

static void bad_rules_are_errors_with_file_and_line(void **state)
{
	static const struct {
		const char *line, *what;
	} rows[] = {
		{"@1.2.3.4/33 0.0.0.0/0 0 : 1 0 : 1 6/255", "source prefix length 33 exceeds 32"},
		{"@1.2.3.4/32 0.0.0.0/99 0 : 1 0 : 1 6/255", "destination prefix length 99"},
		{"@1.2.3.4 0.0.0.0/0 0 : 1 0 : 1 6/255", "source has no prefix length"},
		{"@1.2.3.4/ 0.0.0.0/0 0 : 1 0 : 1 6/255", "source has no prefix length"},
		{"@1.2.3.256/32 0.0.0.0/0 0 : 1 0 : 1 6/255", "source has octet 256"},
		{"@1.2.3/24 0.0.0.0/0 0 : 1 0 : 1 6/255", "source is not an IPv4 prefix"},
		{"@::1/128 0.0.0.0/0 0 : 1 0 : 1 6/255", "source is not an IPv4 prefix"},
		{"@1.2.3.4/24 0.0.0.0/0 0 : 1 0 : 1 6/255", "bits set beyond its prefix length 24"},
		{"@0.0.0.1/0 0.0.0.0/0 0 : 1 0 : 1 6/255", "bits set beyond its prefix length 0"},
		{"1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6/255", "does not start with '@'"},
		{"@1.2.3.4/32 0.0.0.0/0 9 : 8 0 : 1 6/255", "source port range 9 : 8 is inverted"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 80 : 79 6/255", "destination port range 80 : 79"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 65536 0 : 1 6/255", "source port 65536 exceeds 65535"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 4294967297 : 1 6/255", "destination ports are not"},
		{"@1.2.3.4/32 0.0.0.0/0 -1 : 1 0 : 1 6/255", "source ports are not a range"},
		{"@1.2.3.4/32 0.0.0.0/0 0 - 1 0 : 1 6/255", "source ports are not a range"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1", "protocol"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 0x100/0xFF", "protocol value 0x100 exceeds"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6/0x1FF", "protocol mask 0x1ff exceeds"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6", "protocol"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6/255 1", "flags field"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6/255 0/0 x", "something after its last field"},
		{"@1.2.3.4/32 0.0.0.0/0 0 : 1 0 : 1 6/255x", "something after its last field"},
		{"@", "source is not an IPv4 prefix"},
		{"\x7f\x45\x4c\x46", "does not start with '@'"},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rules rules = {0};
		struct hpm_reason why;

		snprintf(text, sizeof(text), "# first\n" GOOD "%s\n" GOOD, rows[i].line);
		assert_int_equal(rules_load(&rules, file_of_text(text), &why), -EINVAL);
		assert_true(says(why.text, 3, rows[i].what));
		assert_null(rules.v);
	}
}

static void a_line_of_1023_bytes_is_read_and_one_more_is_an_error(void **state)
{
	struct hpm_reason why;
	struct rules rules;
	char text[1200];

	memset(text, ' ', sizeof(text));
	memcpy(text, GOOD, strlen(GOOD) - 1);
	strcpy(text + 1023, "\n");
	assert_int_equal(rules_load(&rules, file_of_text(text), &why), 0);
	rules_free(&rules);
	strcpy(text + 1023, " \n");
	assert_int_equal(rules_load(&rules, file_of_text(text), &why), -EINVAL);
	assert_true(says(why.text, 1, "is longer than 1023 bytes"));
	/* a comment is a line too */
	memset(text, '#', 1024);
	assert_int_equal(rules_load(&rules, file_of_text(text), &why), -EINVAL);
}

static void files_without_rules_text_or_access_are_errors(void **state)
{
	struct hpm_reason why;
	struct rules rules;

	assert_int_equal(rules_load(&rules, file_of_text(""), &why), -EINVAL);
	assert_true(says(why.text, 0, "ends without a rule"));
	assert_int_equal(rules_load(&rules, file_of_text("# none\n\n"), &why), -EINVAL);
	assert_true(says(why.text, 2, "ends without a rule"));
	assert_int_equal(rules_load(&rules, file_of(GOOD "\0", sizeof(GOOD)), &why), -EINVAL);
	assert_true(says(why.text, 2, "NUL byte"));
	assert_int_equal(rules_load(&rules, "/nonexistent/acl.rules", &why), -ENOENT);
	assert_true(says(why.text, 0, "'/nonexistent/acl.rules': No such file"));
	assert_int_equal(rules_load(&rules, files_dir, &why), -EISDIR);
}

static void rules_survive_writing_and_reading(void **state)
{
	struct rules rules, again;
	FILE *f;

	assert_int_equal(rules_open(&rules, "gen:ipc:3000", 5, NULL), 0);
	f = fopen(files_path, "w");
	assert_non_null(f);
	assert_int_equal(rules_write(&rules, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rules_open(&again, files_path, 0, NULL), 0);
	assert_int_equal(again.n, 3000);
	assert_memory_equal(again.v, rules.v, 3000 * sizeof(rules.v[0]));
	rules_free(&rules);
	rules_free(&again);
}

/* What a classifier relies on, whatever the file held. */
static void assert_usable(const struct rules *rules)
{
	assert_true(rules->n > 0);
	for (uint32_t i = 0; i < rules->n; i++) {
		const struct rule *r = &rules->v[i];

		assert_true(r->src_len <= 32 && r->dst_len <= 32);
		assert_true((r->src & ~prefix_mask(r->src_len)) == 0);
		assert_true((r->dst & ~prefix_mask(r->dst_len)) == 0);
		assert_true(r->sport_lo <= r->sport_hi && r->dport_lo <= r->dport_hi);
		assert_true((r->proto & ~r->proto_mask) == 0);
	}
}

static void twenty_thousand_damaged_files_are_read_or_refused_with_a_reason(void **state)
{
	static const char alphabet[] = "0123456789@/:.x \t\r\n#F-";
	static const char good[] = GOOD "# c\n" GOOD GOOD;
	struct rng rng;
	char text[sizeof(good)];
	unsigned read = 0;

	rng_seed(&rng, 42);
	for (int i = 0; i < 20000; i++) {
		size_t n = sizeof(good) - 1;
		struct hpm_reason why = {""};
		struct rules rules;

		memcpy(text, good, sizeof(good));
		for (uint32_t k = 1 + rng_below(&rng, 4); k > 0; k--) {
			char c = rng_below(&rng, 4) == 0 ? (char)rng_next(&rng)
							 : alphabet[rng_below(&rng, 22)];

			text[rng_below(&rng, (uint32_t)n)] = c;
		}
		if (rng_below(&rng, 8) == 0)
			n = rng_below(&rng, (uint32_t)n);
		if (rules_load(&rules, file_of(text, n), &why) == 0) {
			assert_usable(&rules);
			rules_free(&rules);
			read++;
		} else {
			assert_true(says(why.text, 0, "input' line "));
		}
	}
	assert_true(read > 1000 && read < 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_classbench_line_is_read_field_by_field),
		cmocka_unit_test(spaces_crlf_comments_and_missing_flags_are_fine),
		cmocka_unit_test(bad_rules_are_errors_with_file_and_line),
		cmocka_unit_test(a_line_of_1023_bytes_is_read_and_one_more_is_an_error),
		cmocka_unit_test(files_without_rules_text_or_access_are_errors),
		cmocka_unit_test(rules_survive_writing_and_reading),
		cmocka_unit_test(twenty_thousand_damaged_files_are_read_or_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, files_open, files_close);
}
