/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes reasons: cut, never overrun. At most PATH_SHOWN bytes of a path are shown, so that what
 * follows it always fits into a reason. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 120

int demo_fail(int rc, struct hpm_reason *reason, const char *fmt, ...)
{
	va_list ap;

	if (reason != NULL) {
		va_start(ap, fmt);
		vsnprintf(reason->text, sizeof(reason->text), fmt, ap);
		va_end(ap);
	}
	return rc;
}

const char *path_tail(const char *path)
{
	size_t len = strlen(path);

	return len > PATH_SHOWN ? path + len - PATH_SHOWN : path;
}
