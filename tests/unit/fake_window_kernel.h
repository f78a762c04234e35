/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel for windows that is played: mappings are a table, page tables are a list of touched
 * addresses. It fails a test by itself when memory is zapped that is not mapped, private or locked.
 */
#ifndef TESTS_FAKE_WINDOW_KERNEL_H
#define TESTS_FAKE_WINDOW_KERNEL_H

#include "account/window_kernel.h"

#include <stdbool.h>

#define FAKE_MAX 16

struct fake_mapping {
	uintptr_t start, end;
	const char *perms; /* as smaps prints them: "rw-s" */
	uint32_t shift;
	const char *flags;    /* of VmFlags, besides "rd wr" */
	unsigned huge_mapped; /* KiB of ShmemPmdMapped */
};

/* What a mapping has is set by the test, ascending; a row of zeroes ends the table. */
extern struct fake_kernel {
	struct fake_mapping mappings[FAKE_MAX];

	/* Negative errnos, 0 for success. */
	int smaps_rc, guard_open_rc, pagemap_rc, look_rc;
	int guard_rc, zap_rc;
	uintptr_t guard_rc_at, zap_rc_at; /* only for a range that holds this address; 0: for any */

	uintptr_t touched[FAKE_MAX]; /* addresses; 0 ends the list */

	struct {
		uintptr_t start, end;
	} guarded[FAKE_MAX]; /* registered now, as long as `guarded_count` */
	unsigned guarded_count;
	unsigned zaps, looks;
} fake;

extern const struct window_kernel fake_window_kernel;

/* Back to a machine without mappings on which everything works. */
void fake_reset(void);

#endif
