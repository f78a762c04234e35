/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text files of one record a line: reading them, and the fields rule and route files share.
 *
 * Blank lines and lines whose first visible byte is '#' are skipped; LF and CRLF end a line, the
 * last one may lack both. Contents are untrusted: a line of more than LINE_BYTES_MAX bytes and a
 * NUL byte are errors, and numbers are parsed strictly. Every error names file and line.
 *
 * Threads: set-up only, for all of it.
 */
#ifndef DEMO_LINES_H
#define DEMO_LINES_H

#include <hpm/base.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_BYTES_MAX 1023 /* without its end */

struct lines {
	FILE *file;
	const char *path;          /* borrowed from open to close */
	struct hpm_reason *reason; /* borrowed likewise; may be NULL */
	uint32_t number;           /* of the line in `text`, from 1 */
	char text[LINE_BYTES_MAX + 1];
};

/* An IPv4 prefix: host byte order, no bit set beyond `len`. */
struct prefix {
	uint32_t addr;
	uint8_t len; /* [0, 32] */
};

/* Opens a file for lines_next(); lines_close() releases it. -errno of opening. */
int lines_open(struct lines *l, const char *path, struct hpm_reason *reason);

void lines_close(struct lines *l);

/* Brings the next line that holds something into `text`. 1, 0 at the end of the file, -EINVAL
 * (over-long line, NUL byte), -errno of reading. */
int lines_next(struct lines *l);

/* Says what is wrong with the current line; returns -EINVAL. */
int lines_fail(struct lines *l, const char *fmt, ...) HPM_PRINTF(2, 3);

/*
 * The scanners read one thing at *p and move *p behind it; on failure *p stays.
 */

/* Spaces and tabs, if any; true when there was one. */
bool scan_blank(const char **p);

/* One given byte. */
bool scan_char(const char **p, char c);

/* Decimal digits, or hexadecimal ones after 0x; false when there are none or the value does not
 * fit 32 bits. */
bool scan_u32(const char **p, uint32_t *ret);

/* "10.1.0.0/16". `what` names the field in the error. 0, -EINVAL with the reason written: not four
 * octets, an octet above 255, no or too large a length, bits set beyond the length. */
int scan_prefix(struct lines *l, const char **p, const char *what, struct prefix *ret);

#endif
