/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of generated traffic: a template with the flow patched in.
 *
 * Invariant: every byte of the frame is written, so nothing of the buffer's past is sent, and both
 * checksums are right (RFC 1071; a UDP checksum of 0 is sent as 0xffff, RFC 768).
 */
#include "packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define L3_AT 14
#define L4_AT 34

/* Locally administered addresses; a receiver in promiscuous mode takes any. */
static const uint8_t template[L4_AT] = {
	0x02, 0, 0, 0, 0, 0x02, 0x02, 0, 0, 0, 0, 0x01, 0x08, 0x00, /* Ethernet II, IPv4 */
	0x45, 0, 0, 0, 0, 0, 0x40, 0,                               /* no options, may not be cut */
	64,                                                         /* time to live */
};

static void store16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Sum of 16-bit words in network order; n is even. */
static uint32_t sum_of(const uint8_t *p, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

/* Header and checksum of TCP or UDP; the payload is zeros, which add nothing to a sum. */
static void build_l4(uint8_t *ip, uint32_t l4_bytes, const struct packet_key *flow)
{
	uint8_t *l4 = ip + L4_AT - L3_AT;
	uint32_t pseudo = sum_of(ip + 12, 8) + flow->proto + l4_bytes;

	if (flow->proto != IPPROTO_TCP && flow->proto != IPPROTO_UDP)
		return;
	memcpy(l4, &flow->sport_be, 2);
	memcpy(l4 + 2, &flow->dport_be, 2);
	if (flow->proto == IPPROTO_TCP) {
		l4[12] = 5 << 4; /* header of five words */
		l4[13] = 0x10;   /* ACK */
		store16(l4 + 14, UINT16_MAX);
		store16(l4 + 16, fold(pseudo + sum_of(l4, 20)));
	} else {
		uint16_t sum;

		store16(l4 + 4, l4_bytes);
		sum = fold(pseudo + sum_of(l4, 8));
		store16(l4 + 6, sum == 0 ? UINT16_MAX : sum);
	}
}

int packet_build(uint8_t *buf, uint32_t bytes, const struct packet_key *flow)
{
	uint8_t *ip = buf + L3_AT;

	if (bytes < PACKET_BYTES_MIN || bytes > PACKET_BYTES_MAX)
		return -EINVAL;
	memcpy(buf, template, sizeof(template));
	memset(buf + L4_AT, 0, bytes - L4_AT);
	store16(ip + 2, bytes - L3_AT);
	ip[9] = flow->proto;
	memcpy(ip + 12, &flow->src_be, 4);
	memcpy(ip + 16, &flow->dst_be, 4);
	store16(ip + 10, fold(sum_of(ip, 20)));
	build_l4(ip, bytes - L4_AT, flow);
	return 0;
}
