/* SPDX-License-Identifier: BSD-3-Clause */
/* How a module of the demo says no: a number for code and a sentence for people, in one statement.
 */
#ifndef DEMO_FAIL_H
#define DEMO_FAIL_H

#include <hpm/base.h>

/* Writes the sentence into `reason` (which may be NULL) and returns rc. */
int demo_fail(int rc, struct hpm_reason *reason, const char *fmt, ...) HPM_PRINTF(3, 4);

/* The end of a path, where the file's name is, so that a sentence in a reason never loses its
 * point to a long directory. Points into `path`. */
const char *path_tail(const char *path);

#endif
