/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps one invariant: whatever is called in whatever order, what is written up to a json_end() at
 * the top is one JSON text. Deeper than JSON_DEPTH is a mistake in the caller, and aborts. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct json json_start(FILE *to)
{
	return (struct json){.to = to};
}

/* Length of the UTF-8 sequence at s: [1, 4], or 0 when it is none (RFC 3629, section 4). */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void write_text(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', to);
	while (*s != '\0') {
		unsigned n = utf8_length(s);

		if (n == 0)
			fputs("\\ufffd", to);
		else if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(to, "\\u%04x", *s);
		else
			fwrite(s, 1, n, to);
		s += n != 0 ? n : 1;
	}
	fputc('"', to);
}

static void indent(struct json *j)
{
	fputc('\n', j->to);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->to);
}

/* Everything before a value: comma, line, key. */
static void begin(struct json *j, const char *key)
{
	if (j->depth > 0) {
		if (!j->empty[j->depth - 1])
			fputc(',', j->to);
		j->empty[j->depth - 1] = false;
		indent(j);
	}
	if (key != NULL) {
		write_text(j->to, key);
		fputs(": ", j->to);
	}
}

static void open_level(struct json *j, const char *key, char opener, char closer)
{
	begin(j, key);
	if (j->depth == JSON_DEPTH)
		abort();
	fputc(opener, j->to);
	j->closer[j->depth] = closer;
	j->empty[j->depth++] = true;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_end(struct json *j)
{
	if (j->depth == 0)
		abort();
	j->depth--;
	if (!j->empty[j->depth])
		indent(j);
	fputc(j->closer[j->depth], j->to);
	if (j->depth == 0)
		fputc('\n', j->to);
}

void json_string(struct json *j, const char *key, const char *text)
{
	if (text == NULL) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	write_text(j->to, text);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	fprintf(j->to, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin(j, key);
	fprintf(j->to, "%" PRId64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", j->to);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->to);
}

void json_double(struct json *j, const char *key, double value, int decimals)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	fprintf(j->to, "%.*f", decimals, value);
}
