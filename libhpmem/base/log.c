/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the hook and the version; formats messages and reasons. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static struct {
	hpm_log_fn *fn;
	void *arg;
	int max_level;
} hook;

void log_msg(int level, const char *where, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	if (hook.fn == NULL || level > hook.max_level)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	hook.fn(hook.arg, level, where, msg);
}

int fail(int rc, struct hpm_reason *reason, const char *fmt, ...)
{
	va_list ap;

	if (reason != NULL) {
		va_start(ap, fmt);
		vsnprintf(reason->text, sizeof(reason->text), fmt, ap);
		va_end(ap);
	}
	return rc;
}

void reason_clear(struct hpm_reason *reason)
{
	if (reason != NULL)
		reason->text[0] = '\0';
}

void hpm_log_set(hpm_log_fn *fn, void *arg, int max_level)
{
	hook.fn = fn;
	hook.arg = arg;
	hook.max_level = max_level;
}

const char *hpm_version(void)
{
	return HPM_VERSION;
}
