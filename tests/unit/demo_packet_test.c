/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: what is parsed, what is dropped and why, and that built ones are right. */
#include "packet.h"
#include "rng.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A TCP segment 192.0.2.1:1025 -> 198.51.100.9:80, 40 bytes of IP, written by hand. */
static const uint8_t tcp_ip[40] = {0x45, 0, 0, 40, 0x12, 0x34, 0x40, 0, 63, 6, 0xbe, 0xef, 192, 0,
	2, 1, 198, 51, 100, 9, 0x04, 0x01, 0x00, 0x50, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0x20,
	0x00, 0, 0, 0, 0};

/* A frame of MAC addresses, these 16-bit words and the IP bytes. Returns its length. */
static uint32_t frame_of(
	uint8_t *frame, const uint16_t *words, uint32_t n, const uint8_t *ip, uint32_t ip_bytes)
{
	memset(frame, 0x02, 12);
	for (uint32_t i = 0; i < n; i++) {
		frame[12 + 2 * i] = (uint8_t)(words[i] >> 8);
		frame[13 + 2 * i] = (uint8_t)words[i];
	}
	memcpy(frame + 12 + 2 * n, ip, ip_bytes);
	return 12 + 2 * n + ip_bytes;
}

/* From a heap block of exactly that size, so that a sanitizer sees the first byte too far. */
static int parse_exact(struct packet *ret, const uint8_t *bytes, uint32_t n, uint32_t wire)
{
	uint8_t *copy = malloc(n == 0 ? 1 : n);
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	rc = packet_parse(ret, copy, n, wire);
	free(copy);
	return rc;
}

static void assert_is_the_segment(const struct packet *p, unsigned l3)
{
	assert_int_equal(p->key.proto, 6);
	assert_int_equal(ntohl(p->key.src_be), 0xc0000201);
	assert_int_equal(ntohl(p->key.dst_be), 0xc6336409);
	assert_int_equal(ntohs(p->key.sport_be), 1025);
	assert_int_equal(ntohs(p->key.dport_be), 80);
	assert_true(p->key.pad[0] == 0 && p->key.pad[1] == 0 && p->key.pad[2] == 0);
	assert_int_equal(p->l3_offset, l3);
	assert_int_equal(p->l3_bytes, 40);
	assert_int_equal(p->ttl, 63);
}

static void plain_tagged_and_double_tagged_frames_are_parsed(void **state)
{
	static const struct {
		uint16_t words[5];
		uint32_t n;
	} rows[] = {{{0x0800}, 1}, {{0x8100, 7, 0x0800}, 3}, {{0x88a8, 7, 0x0800}, 3},
		{{0x88a8, 7, 0x8100, 9, 0x0800}, 5}, {{0x8100, 7, 0x8100, 9, 0x0800}, 5}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[128] = {0};
		struct packet p;
		uint32_t n = frame_of(frame, rows[i].words, rows[i].n, tcp_ip, sizeof(tcp_ip));

		assert_int_equal(parse_exact(&p, frame, n, n), DROP_NONE);
		assert_is_the_segment(&p, n - 40);
		assert_int_equal(p.l4_offset, n - 20);
		/* padding behind the datagram changes nothing */
		assert_int_equal(parse_exact(&p, frame, n + 6, n + 6), DROP_NONE);
		assert_is_the_segment(&p, n - 40);
	}
}

static void other_ethertypes_are_dropped_each_by_its_own_reason(void **state)
{
	static const struct {
		uint16_t words[7];
		uint32_t n;
		int reason;
	} rows[] = {
		{{0x0806}, 1, DROP_ARP},
		{{0x86dd}, 1, DROP_IPV6},
		{{0x8100, 7, 0x86dd}, 3, DROP_IPV6},
		{{0x88cc}, 1, DROP_OTHER_ETHERTYPE},
		{{0x0026}, 1, DROP_OTHER_ETHERTYPE}, /* an 802.3 length */
		{{0x8847}, 1, DROP_OTHER_ETHERTYPE}, /* MPLS */
		{{0x8100, 7, 0x8100, 8, 0x8100, 9, 0x0800}, 7, DROP_VLAN_DEPTH},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t frame[128];
		struct packet p;
		uint32_t n = frame_of(frame, rows[i].words, rows[i].n, tcp_ip, sizeof(tcp_ip));

		assert_int_equal(parse_exact(&p, frame, n, n), rows[i].reason);
	}
}

static void a_frame_cut_anywhere_is_dropped_and_never_read_beyond(void **state)
{
	static const uint16_t words[] = {0x88a8, 7, 0x8100, 9, 0x0800};
	uint8_t frame[128];
	uint32_t n = frame_of(frame, words, 5, tcp_ip, sizeof(tcp_ip));
	struct packet p;

	for (uint32_t cut = 0; cut < n; cut++) {
		/* cut by the capture, and sent like that: headers end at 22 + 20 */
		assert_int_equal(parse_exact(&p, frame, cut, n), DROP_TRUNCATED);
		assert_int_equal(parse_exact(&p, frame, cut, cut),
			cut < 42 ? DROP_TOO_SHORT : DROP_TRUNCATED);
	}
}

/* The segment with one byte of its IP header changed. */
static int parse_with(struct packet *p, unsigned at, uint8_t value)
{
	static const uint16_t ipv4 = 0x0800;
	uint8_t ip[sizeof(tcp_ip)], frame[64];
	uint32_t n;

	memcpy(ip, tcp_ip, sizeof(ip));
	ip[at] = value;
	n = frame_of(frame, &ipv4, 1, ip, sizeof(ip));
	return parse_exact(p, frame, n, n);
}

static void ip_headers_that_cannot_be_are_dropped(void **state)
{
	struct packet p;

	assert_int_equal(parse_with(&p, 0, 0x65), DROP_BAD_IP_HEADER); /* version 6 */
	assert_int_equal(parse_with(&p, 0, 0x44), DROP_BAD_IP_HEADER); /* header of 16 bytes */
	assert_int_equal(parse_with(&p, 0, 0x4f), DROP_BAD_IP_HEADER); /* of 60 in a total of 40 */
	assert_int_equal(parse_with(&p, 3, 19), DROP_BAD_IP_HEADER);   /* total below header */
	assert_int_equal(parse_with(&p, 3, 0), DROP_BAD_IP_HEADER);
	assert_int_equal(parse_with(&p, 3, 41), DROP_TRUNCATED); /* one byte more than there is */
	assert_int_equal(parse_with(&p, 2, 0xff), DROP_TRUNCATED);
	assert_int_equal(parse_with(&p, 3, 23), DROP_BAD_L4_HEADER); /* three bytes of TCP */
	assert_int_equal(parse_with(&p, 3, 24), DROP_NONE);
	assert_int_equal(parse_with(&p, 10, 0), DROP_NONE); /* checksums are not looked at */
}

static void options_move_the_ports(void **state)
{
	struct packet p;

	/* a header of 32 bytes: the ports are what was the sequence number's end and the next */
	assert_int_equal(parse_with(&p, 0, 0x48), DROP_NONE);
	assert_int_equal(ntohs(p.key.sport_be), 0x5002);
	assert_int_equal(ntohs(p.key.dport_be), 0x2000);
	assert_int_equal(p.l4_offset, 14 + 32);
}

static void later_fragments_are_dropped_and_first_ones_are_packets(void **state)
{
	struct packet p;

	assert_int_equal(parse_with(&p, 6, 0x20), DROP_NONE);
	assert_is_the_segment(&p, 14);
	assert_int_equal(p.more_fragments, 1);
	assert_int_equal(parse_with(&p, 7, 0x01), DROP_FRAGMENT);
	assert_int_equal(parse_with(&p, 6, 0x21), DROP_FRAGMENT);
	assert_int_equal(parse_with(&p, 6, 0x1f), DROP_FRAGMENT);
	assert_int_equal(parse_with(&p, 6, 0xc0), DROP_NONE); /* reserved bit, may not be cut */
	assert_int_equal(p.more_fragments, 0);
}

static void only_tcp_udp_and_sctp_have_ports(void **state)
{
	for (unsigned proto = 0; proto < 256; proto++) {
		struct packet p;
		int ports = proto == 6 || proto == 17 || proto == 132;

		assert_int_equal(parse_with(&p, 9, (uint8_t)proto), DROP_NONE);
		assert_int_equal(p.key.proto, proto);
		assert_int_equal(ntohs(p.key.sport_be), ports ? 1025 : 0);
		assert_int_equal(ntohs(p.key.dport_be), ports ? 80 : 0);
	}
}

/* One's complement sum, as RFC 1071 words it: over right data with its checksum it is 0xffff. */
static unsigned sum_with_checksum(const uint8_t *p, uint32_t n, unsigned sum)
{
	for (uint32_t i = 0; i < n; i++) {
		sum += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

static void built_frames_are_parsed_to_their_flow_and_have_right_checksums(void **state)
{
	static const uint8_t protos[] = {6, 17, 1, 47};
	uint8_t *frame = malloc(PACKET_BYTES_MAX);
	struct rng rng;

	assert_non_null(frame);
	rng_seed(&rng, 1);
	for (int i = 0; i < 20000; i++) {
		uint32_t bytes = i % 2 == 0 ? 60 : 60 + rng_below(&rng, 1455);
		struct packet_key flow = {.proto = protos[rng_below(&rng, 4)],
			.src_be = (uint32_t)rng_next(&rng),
			.dst_be = (uint32_t)rng_next(&rng)};
		struct packet p;
		unsigned pseudo;

		if (flow.proto == 6 || flow.proto == 17) {
			flow.sport_be = (uint16_t)rng_next(&rng);
			flow.dport_be = (uint16_t)rng_next(&rng);
		}
		memset(frame, 0xa5, PACKET_BYTES_MAX);
		assert_int_equal(packet_build(frame, bytes, &flow), 0);
		assert_int_equal(packet_parse(&p, frame, bytes, bytes), DROP_NONE);
		assert_memory_equal(&p.key, &flow, sizeof(flow));
		assert_int_equal(p.l3_bytes, bytes - 14);
		assert_int_equal(sum_with_checksum(frame + 14, 20, 0), 0xffff);
		if (flow.proto != 6 && flow.proto != 17)
			continue;
		pseudo = sum_with_checksum(frame + 26, 8, flow.proto + bytes - 34);
		assert_int_equal(sum_with_checksum(frame + 34, bytes - 34, pseudo), 0xffff);
		if (flow.proto == 17)
			assert_true(frame[40] != 0 || frame[41] != 0);
	}
	assert_int_equal(packet_build(frame, 59, &(struct packet_key){0}), -EINVAL);
	assert_int_equal(packet_build(frame, 1515, &(struct packet_key){0}), -EINVAL);
	free(frame);
}

static void a_million_frames_of_garbage_end_in_a_reason_or_a_packet(void **state)
{
	unsigned count[DROP_REASONS] = {0};
	struct rng rng;

	rng_seed(&rng, 2);
	for (int i = 0; i < 1000000; i++) {
		uint32_t n = rng_below(&rng, 96), wire;
		uint8_t *frame = malloc(n + 1);
		struct packet p;
		int rc;

		assert_non_null(frame);
		for (uint32_t k = 0; k < n; k++)
			frame[k] = (uint8_t)rng_next(&rng);
		/* most of it should come as far as the IPv4 header */
		if (n > 14 && i % 4 != 0)
			memcpy(frame + 12, "\x08\x00\x45", 3);
		if (n > 17 && i % 4 > 1)
			frame[16] = 0;
		if (n > 21 && i % 8 > 3)
			frame[20] = frame[21] = 0; /* no fragment */
		wire = n + rng_below(&rng, 2) * rng_below(&rng, 2000);
		frame = realloc(frame, n == 0 ? 1 : n); /* nothing readable behind it */
		assert_non_null(frame);
		rc = packet_parse(&p, frame, n, wire);
		assert_true(rc >= DROP_NONE && rc < DROP_LINK_TYPE);
		if (rc == DROP_NONE)
			assert_true((uint32_t)p.l3_offset + p.l3_bytes <= n &&
				    p.l4_offset <= p.l3_offset + p.l3_bytes);
		count[rc]++;
		free(frame);
	}
	assert_true(count[DROP_NONE] > 1000 && count[DROP_FRAGMENT] > 1000);
	assert_true(count[DROP_TRUNCATED] > 1000 && count[DROP_TOO_SHORT] > 1000);
}

static void every_reason_has_a_snake_case_name_and_a_sentence(void **state)
{
	assert_string_equal(drop_name(DROP_NONE), "none");
	assert_string_equal(drop_name(DROP_NO_ACL_MATCH), "no_acl_match");
	assert_string_equal(drop_name(DROP_REASONS), "?");
	assert_string_equal(drop_sentence(DROP_REASONS), "?");
	for (unsigned i = 1; i < DROP_REASONS; i++) {
		const char *name = drop_name(i);

		assert_int_equal(
			strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
		assert_true(strlen(drop_sentence(i)) >= 3);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(name, drop_name(k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_tagged_and_double_tagged_frames_are_parsed),
		cmocka_unit_test(other_ethertypes_are_dropped_each_by_its_own_reason),
		cmocka_unit_test(a_frame_cut_anywhere_is_dropped_and_never_read_beyond),
		cmocka_unit_test(ip_headers_that_cannot_be_are_dropped),
		cmocka_unit_test(options_move_the_ports),
		cmocka_unit_test(later_fragments_are_dropped_and_first_ones_are_packets),
		cmocka_unit_test(only_tcp_udp_and_sctp_have_ports),
		cmocka_unit_test(built_frames_are_parsed_to_their_flow_and_have_right_checksums),
		cmocka_unit_test(a_million_frames_of_garbage_end_in_a_reason_or_a_packet),
		cmocka_unit_test(every_reason_has_a_snake_case_name_and_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
