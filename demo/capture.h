/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks a capture through before a port reads it: net_pcap stops silently where the file is
 * damaged and takes every link type for Ethernet.
 *
 * What cannot be used at all is an error. Another link type than Ethernet and damage half-way are
 * not: the pipeline counts such packets as `link_type`, and the report quotes `ending`.
 */
#ifndef DEMO_CAPTURE_H
#define DEMO_CAPTURE_H

#include <hpm/base.h>

#include <stdbool.h>
#include <stdint.h>

struct capture {
	uint64_t packets;         /* that can be read */
	uint64_t bytes;           /* they hold, as captured */
	uint32_t longest;         /* bytes of the longest, as captured */
	uint64_t cut_packets;     /* fewer bytes captured than were on the wire */
	int link_type;            /* DLT_ number */
	char link_name[32];       /* e.g. "EN10MB" */
	bool ethernet;            /* false: every packet is dropped as `link_type` */
	bool damaged;             /* the file ends in an error after `packets` */
	struct hpm_reason ending; /* when damaged: file, packets and why; else "" */
};

/*
 * Reads a capture (pcap with micro- or nanoseconds, pcapng) from end to end.
 *
 * @return 0, -ENOENT, -EACCES or another -errno of opening, -EISDIR, -EINVAL (empty, no capture, a
 *         link type nobody knows, no packet readable because of damage). The reason names the file
 *         and says why. A capture without packets that ends well is fine.
 *
 * Threads: set-up only. Cost: reads the whole file.
 */
int capture_scan(struct capture *ret, const char *path, struct hpm_reason *reason);

#endif
