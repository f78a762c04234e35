/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes are binary (KiB, MiB) and carry their unit: a bare number is a count. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

const char *text_size(char buf[TEXT_SIZE_MAX], uint64_t bytes)
{
	unsigned unit = 0, shift;
	double value;

	while (unit < 6 && bytes >> (10 * unit) >= 1024)
		unit++;
	shift = 10 * unit;
	if ((bytes & ((UINT64_C(1) << shift) - 1)) == 0) {
		snprintf(buf, TEXT_SIZE_MAX, "%" PRIu64 " %s", bytes >> shift, units[unit]);
		return buf;
	}
	value = (double)bytes / (double)(UINT64_C(1) << shift);
	if (value >= 1023.95 && unit < 6) { /* would be printed as 1024.0 */
		value /= 1024;
		unit++;
	}
	snprintf(buf, TEXT_SIZE_MAX, "%.1f %s", value, units[unit]);
	return buf;
}

static void print_char(char c)
{
	unsigned char u = (unsigned char)c;

	putchar(u < 0x20 || u == 0x7f ? '?' : u);
}

void text_print(const char *text)
{
	for (; *text != '\0'; text++)
		print_char(*text);
}

void text_print_list(const char *text, unsigned left, unsigned right)
{
	unsigned column = left;

	while (*text != '\0') {
		size_t length = strcspn(text, ",");

		length += text[length] == ',';
		if (column > left && column + length >= right) {
			printf("\n%*s", (int)left, "");
			column = left;
		}
		column += (unsigned)length;
		for (; length > 0; length--)
			print_char(*text++);
	}
}
