/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run: warm-up, timed rounds, then windows of page counts, never both at once.
 *
 *   warm-up | round | round | ... | one packet | one packet | ... | long window | the rest
 *           <- ns per packet ->     <- pages per packet ->          <- touched ->
 */
#ifndef DEMO_MEASURE_H
#define DEMO_MEASURE_H

#include "forwarder.h"

/* Ends the run after the burst in flight; safe in a signal handler. */
void measure_stop(void);

/*
 * Runs and fills everything of the summary but its exit status; accounts are owned by `accounts`,
 * to be destroyed by the caller after use. 0, -errno with a reason.
 */
int measure_run(struct summary *ret, struct accounts **accounts, struct forwarder *f,
	struct hpm_reason *reason);

#endif
