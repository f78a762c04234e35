/* SPDX-License-Identifier: BSD-3-Clause */
/* How an arena gets its address range and the pages in it. */
#ifndef ARENA_PAGES_H
#define ARENA_PAGES_H

#include "arena/arena.h"

/* Reserves addresses and fills the front of them. The errors of hpm_arena_create(); on failure
 * nothing is held. */
int pages_first(struct hpm_arena *arena, const struct hpm_arena_opts *opts);

/* Gives back all pages, and the addresses. */
void pages_give_back(struct hpm_arena *arena);

#endif
