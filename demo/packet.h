/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames: from bytes to the 5-tuple the tables are asked for, and back.
 *
 * Parsed are Ethernet II, up to two VLAN tags (802.1Q, 802.1ad) and IPv4 with options; anything
 * else is dropped, with a reason (drop.def). Decisions:
 *  - TCP, UDP and SCTP have ports, every other protocol has ports 0.
 *  - The first fragment of a datagram is a packet like any other; later ones, which hold no ports,
 *    are dropped as `fragment`: with ports 0 they would hit somebody else's rule and session.
 *  - Checksums are not verified: a port does that in hardware, and captures of packets sent by
 *    the capturing host show unfinished ones.
 *  - Bytes behind the IP total length (padding, FCS) are ignored.
 *
 * Threads: any thread; no function keeps state.
 */
#ifndef DEMO_PACKET_H
#define DEMO_PACKET_H

#include <stdint.h>

/* The 5-tuple, in network byte order: what rte_acl and rte_hash both look up. A flow is one. */
struct packet_key {
	uint8_t proto;
	uint8_t pad[3]; /* 0, because it is hashed and compared */
	uint32_t src_be, dst_be;
	uint16_t sport_be, dport_be; /* 0 for protocols without ports */
};

_Static_assert(sizeof(struct packet_key) == 16, "the field layout of rte_acl and the hash key");

enum drop_reason {
	DROP_NONE, /* not dropped */
#define DROP_REASON(NAME, name, sentence) DROP_##NAME,
#include "drop.def"
#undef DROP_REASON
	DROP_REASONS /* how many, DROP_NONE included */
};

struct packet {
	struct packet_key key;
	uint16_t l3_offset;     /* of the IPv4 header in the frame: 14, 18 or 22 */
	uint16_t l4_offset;     /* of what follows the IPv4 header */
	uint16_t l3_bytes;      /* IP total length */
	uint8_t ttl;            /* as received */
	uint8_t more_fragments; /* 1: the first fragment of a datagram */
};

/* Of a frame, packet_parse() reads no byte behind these: Ethernet, two tags, the longest IPv4
 * header, ports. */
#define PACKET_PARSED_MAX (14 + 2 * 4 + 60 + 4)

/*
 * Finds the 5-tuple of a frame. Reads no byte outside bytes[0, caplen), whatever they hold, and
 * needs no alignment.
 *
 * @param ret      written when 0 is returned.
 * @param caplen   bytes there are.
 * @param wire_len bytes the frame had on the wire, >= caplen; the same when nothing was cut off.
 *                 Headers cut by a capture are `truncated`, headers never sent `too_short`.
 * @return 0 or an enum drop_reason of the first block.
 *
 * Threads: fast path. Cost: a few ns once the first cache line is here.
 */
int packet_parse(struct packet *ret, const uint8_t *bytes, uint32_t caplen, uint32_t wire_len);

/* "too_short"; "none" for DROP_NONE; "?" for what is no drop reason. Static storage. */
const char *drop_name(unsigned reason);

/* Its sentence, e.g. "no rule matches"; likewise. */
const char *drop_sentence(unsigned reason);

#define PACKET_BYTES_MIN 60   /* of a frame, FCS not counted */
#define PACKET_BYTES_MAX 1514 /* likewise */

/*
 * Builds a frame of a flow: Ethernet, IPv4 without options, TTL 64, TCP or UDP header with right
 * checksums (other protocols: zeros after the IPv4 header), payload of zeros.
 *
 * @param buf   written: bytes[0, bytes).
 * @param bytes of the frame, [PACKET_BYTES_MIN, PACKET_BYTES_MAX].
 * @return 0, -EINVAL (bytes out of range)
 *
 * Threads: fast path. Cost: a copy of the headers and about 20 additions.
 */
int packet_build(uint8_t *buf, uint32_t bytes, const struct packet_key *flow);

#endif
