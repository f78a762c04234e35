/* SPDX-License-Identifier: BSD-3-Clause */
/* How the allocators hand a run back. An arena that no longer knows it is a fault nobody can mend
 * at that point: it is logged, and the run stays lent. */
#ifndef ALLOC_GIVE_RUN_H
#define ALLOC_GIVE_RUN_H

#include "base/log.h"

#include <hpm/run.h>

static inline void give_run(struct hpm_arena *arena, void *block, const char *whose)
{
	if (hpm_run_put(arena, block) < 0)
		log_msg(HPM_LOG_ERR, "alloc", "the arena of %s no longer knows its run %p", whose,
			block);
}

#endif
