/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a window: the spans it watches, ascending and disjoint.
 *
 *   window -> map  [0x55..0000, 3 pages of 2 MiB]  touched 1 0 1  holdings: acl, session
 *             map  [0x7f..0000, 9 pages of 4 KiB]  touched ...    holdings: ...
 */
#ifndef ACCOUNT_WINDOW_H
#define ACCOUNT_WINDOW_H

#include "account/holdings.h"
#include "account/window_kernel.h"

#include <hpm/window.h>

#include <sys/types.h>

struct window_map {
	uintptr_t start;
	uint32_t shift;
	bool guarded;             /* registered with the window's guard_fd */
	uint64_t *touched;        /* [bitmap_words(pages)], as of the last close */
	struct holdings holdings; /* holdings.pages is the length */
};

enum window_state { WINDOW_NEW, WINDOW_OPEN, WINDOW_CLOSED };

struct hpm_window {
	const struct window_kernel *kernel;
	pid_t pid; /* whose address space both descriptors are about, also after fork(2) */
	int pagemap_fd;
	int guard_fd; /* negative errno: no userfaultfd here */
	enum window_state state;
	struct window_map *maps; /* [count], ascending, disjoint */
	size_t count;
	uint64_t opened_ns; /* CLOCK_MONOTONIC at the end of hpm_window_open() */
	struct hpm_window_cost cost;
};

static inline uint64_t map_bytes(const struct window_map *map)
{
	return map->holdings.pages << map->shift;
}

/* hpm_window_create() on a kernel of the caller's: the tests' fakes. */
int window_create_on(
	struct hpm_window **ret, const struct window_kernel *kernel, struct hpm_reason *reason);

/* Whether this process inherited the window: what it would look at is its parent's memory. */
bool window_is_foreign(const struct hpm_window *window);

#endif
