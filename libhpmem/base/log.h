/* SPDX-License-Identifier: BSD-3-Clause */
/* The one way a message leaves the library, and the one way a reason is written. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <hpm/base.h>

/* Formats into the application's hook; nothing happens without one. */
void log_msg(int level, const char *where, const char *fmt, ...) HPM_PRINTF(3, 4);

/* Writes a reason (which may be NULL) and returns rc, so that a failure is one statement. */
int fail(int rc, struct hpm_reason *reason, const char *fmt, ...) HPM_PRINTF(3, 4);

/* Empties a reason that may be NULL. */
void reason_clear(struct hpm_reason *reason);

#endif
