/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads text files a line at a time into a fixed buffer.
 *
 * Invariant: `text` is a NUL-terminated string of at most LINE_BYTES_MAX bytes whatever the file
 * holds, and `number` counts every line, skipped ones included, so that an editor finds it.
 */
#include "lines.h"

#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int lines_open(struct lines *l, const char *path, struct hpm_reason *reason)
{
	l->file = fopen(path, "re");
	if (l->file == NULL) {
		int rc = -errno;

		return demo_fail(rc, reason, "'%s': %s", path_tail(path), strerror(-rc));
	}
	l->path = path;
	l->reason = reason;
	l->number = 0;
	l->text[0] = '\0';
	return 0;
}

void lines_close(struct lines *l)
{
	fclose(l->file);
	l->file = NULL;
}

int lines_fail(struct lines *l, const char *fmt, ...)
{
	char what[sizeof(l->reason->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return demo_fail(
		-EINVAL, l->reason, "'%s' line %u: %s", path_tail(l->path), l->number, what);
}

/* One line without its end. 1, 0 when the file is at its end, negative as lines_next(). */
static int read_line(struct lines *l)
{
	size_t len = 0;
	int c;

	errno = 0;
	c = getc_unlocked(l->file);
	if (c == EOF && !ferror(l->file))
		return 0;
	l->number++;
	for (; c != EOF && c != '\n'; c = getc_unlocked(l->file)) {
		if (c == '\0')
			return lines_fail(l, "holds a NUL byte: this is not a text file");
		if (len == LINE_BYTES_MAX)
			return lines_fail(l, "is longer than %u bytes", LINE_BYTES_MAX);
		l->text[len++] = (char)c;
	}
	if (ferror(l->file)) {
		int rc = errno != 0 ? -errno : -EIO;

		return demo_fail(rc, l->reason, "'%s': %s", path_tail(l->path), strerror(-rc));
	}
	if (len > 0 && l->text[len - 1] == '\r')
		len--;
	l->text[len] = '\0';
	return 1;
}

int lines_next(struct lines *l)
{
	for (;;) {
		const char *p = l->text;
		int rc = read_line(l);

		if (rc <= 0)
			return rc;
		scan_blank(&p);
		if (*p != '\0' && *p != '#')
			return 1;
	}
}

bool scan_blank(const char **p)
{
	const char *start = *p;

	while (**p == ' ' || **p == '\t')
		(*p)++;
	return *p != start;
}

bool scan_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* Value of a digit, or 16 for what is none. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

bool scan_u32(const char **p, uint32_t *ret)
{
	bool hex = (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');
	const char *s = hex ? *p + 2 : *p;
	const char *first = s;
	unsigned base = hex ? 16 : 10;
	uint64_t n = 0;

	for (; digit_of(*s) < base; s++) {
		n = n * base + digit_of(*s);
		if (n > UINT32_MAX)
			return false;
	}
	if (s == first)
		return false;
	*ret = (uint32_t)n;
	*p = s;
	return true;
}

static int scan_octets(struct lines *l, const char **p, const char *what, uint32_t *ret)
{
	uint32_t addr = 0, octet;

	for (int i = 0; i < 4; i++) {
		if ((i > 0 && !scan_char(p, '.')) || !scan_u32(p, &octet))
			return lines_fail(l, "%s is not an IPv4 prefix like 10.1.0.0/16", what);
		if (octet > 255)
			return lines_fail(l, "%s has octet %u, the most is 255", what, octet);
		addr = addr << 8 | octet;
	}
	*ret = addr;
	return 0;
}

int scan_prefix(struct lines *l, const char **p, const char *what, struct prefix *ret)
{
	const char *s = *p;
	uint32_t addr = 0, len;
	int rc = scan_octets(l, &s, what, &addr);

	if (rc < 0)
		return rc;
	if (!scan_char(&s, '/') || !scan_u32(&s, &len))
		return lines_fail(l, "%s has no prefix length", what);
	if (len > 32)
		return lines_fail(l, "%s prefix length %u exceeds 32", what, len);
	if (len < 32 && (addr & (UINT32_MAX >> len)) != 0)
		return lines_fail(l, "%s has bits set beyond its prefix length %u", what, len);
	ret->addr = addr;
	ret->len = (uint8_t)len;
	*p = s;
	return 0;
}
