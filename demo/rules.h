/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ACL rules: IPv4 5-tuples in order of priority, the earlier rule wins.
 *
 * The file format is ClassBench's, one rule a line, fields apart by spaces or tabs:
 *
 *   @10.1.0.0/16  192.168.0.7/32  0 : 65535  80 : 80  0x06/0xFF  0x0000/0x0200
 *   source        destination     sports     dports   protocol   flags (optional)
 *
 * Protocol and its mask may also be decimal. The flags are checked for form and then ignored: the
 * classifier looks at 5-tuples. Comments, line ends and limits are those of lines.h.
 *
 * Threads: set-up only, for all of it.
 */
#ifndef DEMO_RULES_H
#define DEMO_RULES_H

#include <hpm/base.h>

#include <stdint.h>
#include <stdio.h>

#define RULES_MAX (1U << 24) /* rules of a set */

/* Host byte order; a field matches when equal below its prefix length, within its range (both
 * ends included), equal under its mask. No padding: sets of rules compare bytes. */
struct rule {
	uint32_t src, dst; /* no bit set beyond the prefix length */
	uint16_t sport_lo, sport_hi;
	uint16_t dport_lo, dport_hi;
	uint8_t src_len, dst_len; /* [0, 32] */
	uint8_t proto, proto_mask;
};

_Static_assert(sizeof(struct rule) == 20, "compared as bytes");

/* v[n], from malloc; rules_free() releases. */
struct rules {
	struct rule *v;
	uint32_t n;
};

/* Network mask of a prefix length in [0, 32]. */
static inline uint32_t prefix_mask(uint8_t len)
{
	return len == 0 ? 0 : UINT32_MAX << (32 - len);
}

/*
 * Loads a rule file. 0, -EINVAL (what the file holds: the reason names file and line; also a file
 * without rules), -E2BIG (more than RULES_MAX), -ENOMEM, -errno of opening or reading.
 */
int rules_load(struct rules *ret, const char *path, struct hpm_reason *reason);

/* Writes rules as rules_load() reads them, flags 0x0000/0x0000. 0, -EIO. */
int rules_write(const struct rules *rules, FILE *to);

/* Releases v; a zeroed set is fine. */
void rules_free(struct rules *rules);

#endif
