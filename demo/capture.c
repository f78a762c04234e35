/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides by reading a capture to its end whether and how far it can be used.
 *
 * Invariant: `packets` is what any reader built on libpcap will see, because libpcap counts it.
 */
#include "capture.h"

#include "fail.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* libpcap names the file in some of its sentences; ours name it already. */
static const char *sentence_of(const char *error, const char *path)
{
	size_t n = strlen(path);

	if (strncmp(error, path, n) == 0 && strncmp(error + n, ": ", 2) == 0)
		return error + n + 2;
	return error;
}

/* The errors that have a number, before libpcap turns them into sentences. */
static int open_file(FILE **ret, const char *path, struct hpm_reason *reason)
{
	struct stat st;
	FILE *file;
	int rc = stat(path, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;

	if (rc < 0)
		return demo_fail(rc, reason, "'%s': %s", path_tail(path), strerror(-rc));
	/* opening a pipe would wait for its writer, and a port could not read it again */
	if (!S_ISREG(st.st_mode))
		return demo_fail(-EINVAL, reason, "'%s' is no regular file", path_tail(path));
	if (st.st_size == 0)
		return demo_fail(-EINVAL, reason, "'%s' is empty, not a capture", path_tail(path));
	file = fopen(path, "rbe");
	if (file == NULL) {
		rc = -errno;
		return demo_fail(rc, reason, "'%s': %s", path_tail(path), strerror(-rc));
	}
	*ret = file;
	return 0;
}

static int open_capture(pcap_t **ret, const char *path, struct hpm_reason *reason)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	FILE *file = NULL;
	int rc = open_file(&file, path, reason);

	if (rc < 0)
		return rc;
	*ret = pcap_fopen_offline(file, error);
	if (*ret == NULL) {
		fclose(file);
		return demo_fail(-EINVAL, reason, "'%s' is not a capture: %.100s", path_tail(path),
			sentence_of(error, path));
	}
	return 0;
}

/* Reads all packets; 0 at a clean end, else -1 with libpcap's error. */
static int read_all(pcap_t *pcap, struct capture *capture)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int rc;

	while ((rc = pcap_next_ex(pcap, &header, &bytes)) == 1) {
		capture->packets++;
		capture->bytes += header->caplen;
		capture->cut_packets += header->caplen < header->len;
		if (header->caplen > capture->longest)
			capture->longest = header->caplen;
	}
	return rc == PCAP_ERROR_BREAK ? 0 : -1;
}

static int scan(struct capture *capture, pcap_t *pcap, const char *path, struct hpm_reason *reason)
{
	const char *name;

	capture->link_type = pcap_datalink(pcap);
	name = pcap_datalink_val_to_name(capture->link_type);
	if (name == NULL)
		return demo_fail(-EINVAL, reason, "'%s' has link type %d, which nobody knows",
			path_tail(path), capture->link_type);
	snprintf(capture->link_name, sizeof(capture->link_name), "%s", name);
	capture->ethernet = capture->link_type == DLT_EN10MB;
	if (read_all(pcap, capture) == 0)
		return 0;
	if (capture->packets == 0)
		return demo_fail(-EINVAL, reason, "'%s' is damaged at its first packet: %.100s",
			path_tail(path), sentence_of(pcap_geterr(pcap), path));
	capture->damaged = true;
	return demo_fail(0, &capture->ending, "'%s' ends after %llu packets: %.80s",
		path_tail(path), (unsigned long long)capture->packets,
		sentence_of(pcap_geterr(pcap), path));
}

int capture_scan(struct capture *ret, const char *path, struct hpm_reason *reason)
{
	struct capture capture = {0};
	pcap_t *pcap;
	int rc = open_capture(&pcap, path, reason);

	if (rc < 0)
		return rc;
	rc = scan(&capture, pcap, path, reason);
	pcap_close(pcap);
	if (rc == 0)
		*ret = capture;
	return rc;
}
