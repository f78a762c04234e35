/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel calls a window is made of, behind a table so that tests can play a kernel that lacks
 * one of them. Functions return 0 or a negative errno.
 */
#ifndef ACCOUNT_WINDOW_KERNEL_H
#define ACCOUNT_WINDOW_KERNEL_H

#include "region/smaps.h"

#include <stddef.h>
#include <stdint.h>

struct window_kernel {
	/* The process's mappings, in the form smaps_next() reads; NULL with errno. */
	FILE *(*smaps_open)(void);
	/* A descriptor whose registered ranges share no page tables and have no fault-around. */
	int (*guard_open)(void);
	int (*guard)(int guard_fd, uintptr_t start, uint64_t bytes);
	void (*unguard)(int guard_fd, uintptr_t start, uint64_t bytes);
	/* Drops page-table entries, keeps the data. -EINVAL: this kernel cannot for this memory. */
	int (*zap)(uintptr_t start, uint64_t bytes);
	int (*pagemap_open)(void);
	/* Sets bit i of touched[] for every page i of [start, start + pages) that is mapped. */
	int (*look)(
		int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched);
};

extern const struct window_kernel window_kernel_live;

/* `look` without PAGEMAP_SCAN: reads pagemap entries. Works on every kernel; slower. */
int look_by_entries(
	int pagemap_fd, uintptr_t start, uint64_t pages, uint32_t shift, uint64_t *touched);

#endif
