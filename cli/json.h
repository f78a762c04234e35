/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON, indented, to a stream: commas and escapes are done here, so that callers only say
 * what there is. Shared by the command, the bench and the demo.
 *
 *     struct json j = json_start(stdout);
 *     json_object(&j, NULL);            {
 *     json_u64(&j, "packets", 7);         "packets": 7,
 *     json_array(&j, "tables");           "tables": [
 *     json_string(&j, NULL, "acl");         "acl"
 *     json_end(&j);                       ]
 *     json_end(&j);                     }
 *
 * A key is NULL inside an array and at the top. Stream errors stay in the stream: ferror().
 * Threads: one thread at a time per struct.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 16 /* deepest nesting */

struct json {
	FILE *to;
	unsigned depth;
	char closer[JSON_DEPTH]; /* '}' or ']' of each open level */
	bool empty[JSON_DEPTH];  /* nothing is in it yet */
};

struct json json_start(FILE *to);

/* Open an object or an array; json_end() closes the innermost, and ends the line at the top. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

/* text is UTF-8 or less: bytes that are not are replaced by U+FFFD. NULL writes null. */
void json_string(struct json *j, const char *key, const char *text);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* At least `decimals` digits are kept; JSON knows neither NaN nor infinity: they become null. */
void json_double(struct json *j, const char *key, double value, int decimals);

#endif
