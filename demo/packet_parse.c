/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides whether a frame is one the tables can be asked about, and if not, why.
 *
 * Invariant: a byte is read only after its offset was compared with caplen; fields are copied out,
 * so that nothing depends on alignment.
 */
#include "packet.h"

#include <arpa/inet.h>
#include <string.h>

#define ETHER_BYTES    14
#define ETHER_TYPE_AT  12
#define VLAN_BYTES     4
#define VLAN_TAGS_MAX  2
#define IPV4_BYTES_MIN 20
#define PORTS_BYTES    4 /* TCP, UDP and SCTP begin with their two ports */

#define TYPE_IPV4 0x0800
#define TYPE_ARP  0x0806
#define TYPE_VLAN 0x8100 /* 802.1Q */
#define TYPE_IPV6 0x86dd
#define TYPE_QINQ 0x88a8 /* 802.1ad */

#define MORE_FRAGMENTS  0x2000
#define FRAGMENT_OFFSET 0x1fff

static const char *const names[DROP_REASONS] = {
	[DROP_NONE] = "none",
#define DROP_REASON(NAME, name, sentence) [DROP_##NAME] = #name,
#include "drop.def"
#undef DROP_REASON
};

static const char *const sentences[DROP_REASONS] = {
	[DROP_NONE] = "not dropped",
#define DROP_REASON(NAME, name, sentence) [DROP_##NAME] = sentence,
#include "drop.def"
#undef DROP_REASON
};

const char *drop_name(unsigned reason)
{
	return reason < DROP_REASONS ? names[reason] : "?";
}

const char *drop_sentence(unsigned reason)
{
	return reason < DROP_REASONS ? sentences[reason] : "?";
}

static uint16_t load16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint16_t load16_be(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t load32_be(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* What it means that bytes[0, need) are not all there. */
static int missing(uint32_t need, uint32_t wire_len)
{
	return need <= wire_len ? DROP_TRUNCATED : DROP_TOO_SHORT;
}

static int drop_of_type(uint16_t type)
{
	switch (type) {
	case TYPE_ARP:
		return DROP_ARP;
	case TYPE_IPV6:
		return DROP_IPV6;
	case TYPE_VLAN:
	case TYPE_QINQ:
		return DROP_VLAN_DEPTH;
	default:
		return DROP_OTHER_ETHERTYPE;
	}
}

/* Where the IPv4 header starts, or a negative drop reason. */
static int find_l3(const uint8_t *bytes, uint32_t caplen, uint32_t wire_len)
{
	uint32_t at = ETHER_BYTES;
	uint16_t type;

	if (caplen < at)
		return -missing(at, wire_len);
	type = load16(bytes + ETHER_TYPE_AT);
	for (int tags = 0; (type == TYPE_VLAN || type == TYPE_QINQ) && tags < VLAN_TAGS_MAX;
		tags++) {
		at += VLAN_BYTES;
		if (caplen < at)
			return -missing(at, wire_len);
		type = load16(bytes + at - 2);
	}
	return type == TYPE_IPV4 ? (int)at : -drop_of_type(type);
}

static int has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP;
}

/* `have` bytes are there from the IPv4 header on, `wire` were on the wire. */
static int parse_ipv4(struct packet *ret, const uint8_t *ip, uint32_t have, uint32_t wire)
{
	uint32_t header, total;
	uint16_t fragment;

	if (have < IPV4_BYTES_MIN)
		return missing(IPV4_BYTES_MIN, wire);
	header = (ip[0] & 0xfU) * 4;
	total = load16(ip + 2);
	if (ip[0] >> 4 != 4 || header < IPV4_BYTES_MIN || total < header)
		return DROP_BAD_IP_HEADER;
	if (have < total)
		return DROP_TRUNCATED;
	fragment = load16(ip + 6);
	if ((fragment & FRAGMENT_OFFSET) != 0)
		return DROP_FRAGMENT;
	*ret = (struct packet){
		.key = {.proto = ip[9], .src_be = load32_be(ip + 12), .dst_be = load32_be(ip + 16)},
		.l3_bytes = (uint16_t)total,
		.ttl = ip[8],
		.more_fragments = (fragment & MORE_FRAGMENTS) != 0};
	ret->l4_offset = (uint16_t)header;
	if (!has_ports(ip[9]))
		return DROP_NONE;
	if (total - header < PORTS_BYTES)
		return DROP_BAD_L4_HEADER;
	ret->key.sport_be = load16_be(ip + header);
	ret->key.dport_be = load16_be(ip + header + 2);
	return DROP_NONE;
}

int packet_parse(struct packet *ret, const uint8_t *bytes, uint32_t caplen, uint32_t wire_len)
{
	struct packet packet;
	int l3 = find_l3(bytes, caplen, wire_len), rc;

	if (l3 < 0)
		return -l3;
	rc = parse_ipv4(&packet, bytes + l3, caplen - (uint32_t)l3, wire_len - (uint32_t)l3);
	if (rc != DROP_NONE)
		return rc;
	packet.l3_offset = (uint16_t)l3;
	packet.l4_offset = (uint16_t)(packet.l4_offset + l3);
	*ret = packet;
	return DROP_NONE;
}
