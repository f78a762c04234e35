/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes as people write them. Units are binary everywhere: "2M" is 2 MiB, as the kernel means it.
 */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char unit_letters[] = "KMGTPE";

const char *size_text(char buf[SIZE_TEXT_MAX], uint64_t bytes)
{
	int unit = 0;

	while (bytes != 0 && bytes % 1024 == 0 && unit < 6) {
		bytes /= 1024;
		unit++;
	}
	if (unit == 0)
		snprintf(buf, SIZE_TEXT_MAX, "%" PRIu64 " B", bytes);
	else
		snprintf(buf, SIZE_TEXT_MAX, "%" PRIu64 " %ciB", bytes, unit_letters[unit - 1]);
	return buf;
}

int size_parse(uint64_t *ret, const char *text)
{
	unsigned shift = 0;
	char *end;
	uint64_t n;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0)
		return -EOVERFLOW;
	if (*end != '\0') {
		const char *unit = strchr(unit_letters, toupper((unsigned char)*end));

		if (unit == NULL)
			return -EINVAL;
		shift = 10 * (unsigned)(unit - unit_letters + 1);
		end++;
		if (strcmp(end, "") != 0 && strcasecmp(end, "B") != 0 && strcasecmp(end, "iB") != 0)
			return -EINVAL;
	}
	if (n > (UINT64_MAX >> shift))
		return -EOVERFLOW;
	*ret = n << shift;
	return 0;
}
