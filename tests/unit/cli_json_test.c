/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON writer, against texts written by hand from RFC 8259. */
#include "cli/json.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *text;
static size_t length;

static struct json start(void)
{
	FILE *to = open_memstream(&text, &length);

	assert_non_null(to);
	return json_start(to);
}

/* Ends the stream; what was written is `want`. */
static void assert_wrote(struct json *j, const char *want)
{
	assert_false(ferror(j->to));
	assert_int_equal(fclose(j->to), 0);
	assert_string_equal(text, want);
	free(text);
}

static void values_stand_in_order_with_commas_between(void **state)
{
	struct json j = start();

	json_object(&j, NULL);
	json_u64(&j, "packets", 7);
	json_array(&j, "tables");
	json_string(&j, NULL, "acl");
	json_i64(&j, NULL, -1);
	json_object(&j, NULL);
	json_bool(&j, "here", true);
	json_bool(&j, "there", false);
	json_end(&j);
	json_end(&j);
	json_null(&j, "why");
	json_end(&j);
	assert_wrote(&j, "{\n"
			 "  \"packets\": 7,\n"
			 "  \"tables\": [\n"
			 "    \"acl\",\n"
			 "    -1,\n"
			 "    {\n"
			 "      \"here\": true,\n"
			 "      \"there\": false\n"
			 "    }\n"
			 "  ],\n"
			 "  \"why\": null\n"
			 "}\n");
}

static void empty_things_stay_on_their_line(void **state)
{
	struct json j = start();

	json_array(&j, NULL);
	json_object(&j, NULL);
	json_end(&j);
	json_array(&j, NULL);
	json_end(&j);
	json_end(&j);
	assert_wrote(&j, "[\n  {},\n  []\n]\n");
}

static void second_text_starts_on_its_own_line(void **state)
{
	struct json j = start();

	json_object(&j, NULL);
	json_end(&j);
	json_object(&j, NULL);
	json_u64(&j, "a", 1);
	json_end(&j);
	assert_wrote(&j, "{}\n{\n  \"a\": 1\n}\n");
}

static void numbers_keep_every_digit(void **state)
{
	struct json j = start();

	json_array(&j, NULL);
	json_u64(&j, NULL, UINT64_MAX);
	json_i64(&j, NULL, INT64_MIN);
	json_double(&j, NULL, 1.0 / 3, 3);
	json_double(&j, NULL, -2.5, 0); /* half to even */
	json_double(&j, NULL, 1e21, 1);
	json_double(&j, NULL, 0, 2);
	json_end(&j);
	assert_wrote(&j, "[\n  18446744073709551615,\n  -9223372036854775808,\n  0.333,\n  -2,\n"
			 "  1000000000000000000000.0,\n  0.00\n]\n");
}

static void what_json_has_no_number_for_is_null(void **state)
{
	struct json j = start();

	json_array(&j, NULL);
	json_double(&j, NULL, (double)NAN, 1);
	json_double(&j, NULL, (double)INFINITY, 1);
	json_double(&j, NULL, -(double)INFINITY, 1);
	json_string(&j, NULL, NULL);
	json_end(&j);
	assert_wrote(&j, "[\n  null,\n  null,\n  null,\n  null\n]\n");
}

static void quotes_and_control_characters_are_escaped_in_keys_too(void **state)
{
	struct json j = start();

	json_object(&j, NULL);
	json_string(&j, "a\"b", "say \"\\\"\n\t\x01\x1f /");
	json_end(&j);
	assert_wrote(
		&j, "{\n  \"a\\\"b\": \"say \\\"\\\\\\\"\\u000a\\u0009\\u0001\\u001f /\"\n}\n");
}

static void utf8_passes_and_what_is_none_is_replaced_byte_by_byte(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"\xc3\xa9", "\xc3\xa9"},                             /* U+00E9 */
		{"\xe2\x82\xac", "\xe2\x82\xac"},                     /* U+20AC */
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},             /* U+1F600 */
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},             /* U+10FFFF, the last */
		{"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* beyond it */
		{"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},            /* half a surrogate pair */
		{"\xc0\xaf", "\\ufffd\\ufffd"},                       /* '/' in two bytes */
		{"\xe0\x80\xaf", "\\ufffd\\ufffd\\ufffd"},            /* in three */
		{"\xf0\x80\x80\xaf", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* in four */
		{"\x80", "\\ufffd"},                                  /* a tail alone */
		{"\xff\xfe", "\\ufffd\\ufffd"},                       /* never in UTF-8 */
		{"\xf0\x9f\x98", "\\ufffd\\ufffd\\ufffd"},            /* cut by the end */
		{"\xe2\x82z", "\\ufffd\\ufffdz"},                     /* cut by a letter */
	};
	char want[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json j = start();

		json_array(&j, NULL);
		json_string(&j, NULL, cases[i].in);
		json_end(&j);
		snprintf(want, sizeof(want), "[\n  \"%s\"\n]\n", cases[i].out);
		assert_wrote(&j, want);
	}
}

static void open_levels(unsigned levels)
{
	struct json j = json_start(stderr);

	for (unsigned i = 0; i < levels; i++)
		json_array(&j, NULL);
}

static void end_nothing(unsigned unused)
{
	struct json j = json_start(stderr);

	json_end(&j);
}

/* The signal that ends a child which calls fn; 0: none. */
static int signal_of(void (*fn)(unsigned), unsigned n)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit no_core = {0, 0};

		(void)setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(1);
		fn(n);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void caller_that_nests_too_deep_or_ends_too_often_is_stopped(void **state)
{
	assert_int_equal(signal_of(open_levels, JSON_DEPTH), 0);
	assert_int_equal(signal_of(open_levels, JSON_DEPTH + 1), SIGABRT);
	assert_int_equal(signal_of(end_nothing, 0), SIGABRT);
}

static void stream_keeps_its_error(void **state)
{
	FILE *full = fopen("/dev/full", "we");
	struct json j;

	if (full == NULL)
		return; /* no such device here: nothing fills up */
	j = json_start(full);
	json_array(&j, NULL);
	json_end(&j);
	assert_int_not_equal(fflush(full), 0);
	assert_true(ferror(full));
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stand_in_order_with_commas_between),
		cmocka_unit_test(empty_things_stay_on_their_line),
		cmocka_unit_test(second_text_starts_on_its_own_line),
		cmocka_unit_test(numbers_keep_every_digit),
		cmocka_unit_test(what_json_has_no_number_for_is_null),
		cmocka_unit_test(quotes_and_control_characters_are_escaped_in_keys_too),
		cmocka_unit_test(utf8_passes_and_what_is_none_is_replaced_byte_by_byte),
		cmocka_unit_test(caller_that_nests_too_deep_or_ends_too_often_is_stopped),
		cmocka_unit_test(stream_keeps_its_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
