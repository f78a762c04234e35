/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures as they come: whole, cut, empty, of other links, and no captures at all. */
#include "capture.h"
#include "demo_files.h"
#include "rng.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#define MAGIC_MICRO 0xa1b2c3d4U
#define MAGIC_NANO  0xa1b23c4dU

/* Bytes of a file being written; the formats are those of the pcap drafts of the IETF. */
struct bytes {
	uint8_t b[4096];
	size_t n;
};

static void put32(struct bytes *to, uint32_t v)
{
	memcpy(to->b + to->n, &v, 4);
	to->n += 4;
}

static void put_header(struct bytes *to, uint32_t magic, uint32_t link)
{
	to->n = 0;
	put32(to, magic);
	put32(to, 2 | 4U << 16); /* version 2.4 in the byte order of this machine */
	put32(to, 0);
	put32(to, 0);
	put32(to, 65535);
	put32(to, link);
}

static void put_packet(struct bytes *to, uint32_t caplen, uint32_t wire_len)
{
	put32(to, 1700000000);
	put32(to, 5);
	put32(to, caplen);
	put32(to, wire_len);
	memset(to->b + to->n, 0x5a, caplen);
	to->n += caplen;
}

static int scan_bytes(struct capture *ret, const struct bytes *b, struct hpm_reason *why)
{
	why->text[0] = '\0';
	return capture_scan(ret, file_of(b->b, b->n), why);
}

static void a_whole_capture_is_counted_in_micro_and_nanoseconds(void **state)
{
	static const uint32_t magics[] = {MAGIC_MICRO, MAGIC_NANO};

	for (size_t i = 0; i < 2; i++) {
		struct hpm_reason why;
		struct capture c;
		struct bytes b;

		put_header(&b, magics[i], 1);
		put_packet(&b, 60, 60);
		put_packet(&b, 96, 1514);
		put_packet(&b, 0, 60);
		assert_int_equal(scan_bytes(&c, &b, &why), 0);
		assert_true(c.packets == 3 && c.bytes == 156 && c.longest == 96);
		assert_true(c.cut_packets == 2);
		assert_true(c.ethernet && c.link_type == 1 && !c.damaged);
		assert_string_equal(c.link_name, "EN10MB");
		assert_string_equal(c.ending.text, "");
	}
}

static void a_capture_without_packets_is_one(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	put_header(&b, MAGIC_MICRO, 1);
	assert_int_equal(scan_bytes(&c, &b, &why), 0);
	assert_true(c.packets == 0 && !c.damaged && c.longest == 0);
}

static void a_capture_of_another_link_is_usable_but_no_ethernet(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	put_header(&b, MAGIC_MICRO, 101);
	put_packet(&b, 60, 60);
	assert_int_equal(scan_bytes(&c, &b, &why), 0);
	assert_true(c.packets == 1 && !c.ethernet);
	assert_string_equal(c.link_name, "RAW");
}

static void a_capture_of_an_unknown_link_is_an_error_with_its_number(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	put_header(&b, MAGIC_MICRO, 9999);
	put_packet(&b, 60, 60);
	assert_int_equal(scan_bytes(&c, &b, &why), -EINVAL);
	assert_true(says(why.text, 0, "input' has link type 9999, which nobody knows"));
}

static void what_comes_before_the_damage_is_usable_and_the_damage_is_told(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;
	size_t whole;

	put_header(&b, MAGIC_MICRO, 1);
	put_packet(&b, 60, 60);
	put_packet(&b, 60, 60);
	whole = b.n;
	put_packet(&b, 60, 60);
	for (size_t n = whole + 1; n < whole + 76; n++) {
		b.n = n;
		assert_int_equal(scan_bytes(&c, &b, &why), 0);
		assert_true(c.packets == 2 && c.damaged);
		assert_true(says(c.ending.text, 0, "input' ends after 2 packets: "));
	}
}

static void damage_at_the_first_packet_is_an_error(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	put_header(&b, MAGIC_MICRO, 1);
	put_packet(&b, 60, 60);
	b.n -= 10;
	assert_int_equal(scan_bytes(&c, &b, &why), -EINVAL);
	assert_true(says(why.text, 0, "input' is damaged at its first packet: "));
	/* a length no capture has */
	put_header(&b, MAGIC_MICRO, 1);
	put32(&b, 0);
	put32(&b, 0);
	put32(&b, UINT32_MAX);
	put32(&b, UINT32_MAX);
	assert_int_equal(scan_bytes(&c, &b, &why), -EINVAL);
}

static void what_is_no_capture_is_an_error_that_says_why(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	assert_int_equal(capture_scan(&c, file_of("", 0), &why), -EINVAL);
	assert_true(says(why.text, 0, "input' is empty, not a capture"));
	assert_int_equal(
		capture_scan(&c, file_of_text("hello, world, I am text\n"), &why), -EINVAL);
	assert_true(says(why.text, 0, "input' is not a capture: "));
	put_header(&b, MAGIC_MICRO, 1);
	for (b.n = 1; b.n < 24; b.n++) {
		assert_int_equal(scan_bytes(&c, &b, &why), -EINVAL);
		assert_true(says(why.text, 0, "input' is not a capture: "));
	}
	assert_int_equal(capture_scan(&c, "/nonexistent/a.pcap", &why), -ENOENT);
	assert_true(says(why.text, 0, "'/nonexistent/a.pcap': No such file"));
	assert_int_equal(capture_scan(&c, files_dir, &why), -EISDIR);
	assert_int_equal(capture_scan(&c, "/dev/null", &why), -EINVAL);
	assert_true(says(why.text, 0, "is no regular file"));
}

static void a_file_one_may_not_read_is_an_error(void **state)
{
	struct hpm_reason why;
	struct capture c;
	int rc;

	if (geteuid() == 0)
		skip(); /* root may read it */
	file_of_text("x");
	assert_int_equal(chmod(files_path, 0), 0);
	rc = capture_scan(&c, files_path, &why);
	chmod(files_path, 0600);
	assert_int_equal(rc, -EACCES);
}

/* Section header, interface of Ethernet, enhanced packets; block lengths are written twice. */
static void put_pcapng(struct bytes *to, unsigned packets)
{
	to->n = 0;
	for (const uint32_t *w = (const uint32_t[]){0x0a0d0d0a, 28, 0x1a2b3c4d, 1, ~0U, ~0U, 28, 1,
		     20, 1, 65535, 20, 0};
		*w != 0; w++)
		put32(to, *w);
	for (; packets > 0; packets--) {
		for (const uint32_t *w = (const uint32_t[]){6, 32 + 60, 9, 1, 1, 60, 60, 0};
			*w != 0; w++)
			put32(to, *w == 9 ? 0 : *w); /* interface 0 */
		memset(to->b + to->n, 0x5a, 60);
		to->n += 60;
		put32(to, 32 + 60);
	}
}

static void pcapng_is_read_too(void **state)
{
	struct hpm_reason why;
	struct capture c;
	struct bytes b;

	put_pcapng(&b, 4);
	assert_int_equal(scan_bytes(&c, &b, &why), 0);
	assert_true(c.packets == 4 && c.longest == 60 && c.ethernet && !c.damaged);
	b.n -= 70;
	assert_int_equal(scan_bytes(&c, &b, &why), 0);
	assert_true(c.packets == 3 && c.damaged);
}

static void ten_thousand_damaged_captures_are_counted_or_refused(void **state)
{
	struct rng rng;

	rng_seed(&rng, 3);
	for (int i = 0; i < 10000; i++) {
		struct hpm_reason why;
		struct capture c;
		struct bytes b;

		if (i % 2 == 0) {
			put_header(&b, MAGIC_MICRO, 1);
			put_packet(&b, 60, 60);
			put_packet(&b, 60, 60);
		} else {
			put_pcapng(&b, 2);
		}
		for (uint32_t k = rng_below(&rng, 4); k > 0; k--)
			b.b[rng_below(&rng, (uint32_t)b.n)] = (uint8_t)rng_next(&rng);
		if (scan_bytes(&c, &b, &why) < 0)
			assert_true(says(why.text, 0, "input"));
		else
			assert_true(c.packets <= 2 && c.damaged == (c.ending.text[0] != '\0'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_capture_is_counted_in_micro_and_nanoseconds),
		cmocka_unit_test(a_capture_without_packets_is_one),
		cmocka_unit_test(a_capture_of_another_link_is_usable_but_no_ethernet),
		cmocka_unit_test(a_capture_of_an_unknown_link_is_an_error_with_its_number),
		cmocka_unit_test(what_comes_before_the_damage_is_usable_and_the_damage_is_told),
		cmocka_unit_test(damage_at_the_first_packet_is_an_error),
		cmocka_unit_test(what_is_no_capture_is_an_error_that_says_why),
		cmocka_unit_test(a_file_one_may_not_read_is_an_error),
		cmocka_unit_test(pcapng_is_read_too),
		cmocka_unit_test(ten_thousand_damaged_captures_are_counted_or_refused),
	};

	return cmocka_run_group_tests(tests, files_open, files_close);
}
