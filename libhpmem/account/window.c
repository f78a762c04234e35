/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens, closes and answers. Invariant: the answer counts a page if and only if a CPU of this
 * process touched it between the zap of its map and the look at it.
 */
#include "account/window.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHIFTS_MAX 64 /* page sizes a machine can have at all */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool window_is_foreign(const struct hpm_window *window)
{
	return window->pid != getpid();
}

static int no_pagemap(int rc, struct hpm_reason *reason)
{
	if (rc == -EACCES || rc == -EPERM)
		return fail(-EACCES, reason,
			"no window: /proc/self/pagemap is not permitted; a process that changed "
			"its user needs prctl(PR_SET_DUMPABLE, 1)");
	return fail(-ENOTSUP, reason,
		"no window: cannot open /proc/self/pagemap (errno %d); is /proc mounted and "
		"CONFIG_PROC_PAGE_MONITOR set?",
		-rc);
}

int window_create_on(
	struct hpm_window **ret, const struct window_kernel *kernel, struct hpm_reason *reason)
{
	struct hpm_window *window = calloc(1, sizeof(*window));

	reason_clear(reason);
	if (window == NULL)
		return fail(-ENOMEM, reason, "a window: out of memory");
	window->kernel = kernel;
	window->pid = getpid();
	window->pagemap_fd = kernel->pagemap_open();
	if (window->pagemap_fd < 0) {
		int rc = window->pagemap_fd;

		free(window);
		return no_pagemap(rc, reason);
	}
	window->guard_fd = kernel->guard_open();
	*ret = window;
	return 0;
}

int hpm_window_create(struct hpm_window **ret, struct hpm_reason *reason)
{
	return window_create_on(ret, &window_kernel_live, reason);
}

void hpm_window_destroy(struct hpm_window *window)
{
	if (window == NULL)
		return;
	close(window->pagemap_fd);
	if (window->guard_fd >= 0)
		close(window->guard_fd); /* ends every registration */
	for (size_t i = 0; i < window->count; i++) {
		holdings_free(&window->maps[i].holdings);
		free(window->maps[i].touched);
	}
	free(window->maps);
	free(window);
}

int hpm_window_open(struct hpm_window *window)
{
	uint64_t begin = now_ns();

	if (window_is_foreign(window))
		return -ECHILD;
	if (window->state == WINDOW_OPEN)
		return -EBUSY;
	for (size_t i = 0; i < window->count; i++) {
		const struct window_map *map = &window->maps[i];
		int rc = window->kernel->zap(map->start, map_bytes(map));

		if (rc < 0)
			return rc;
	}
	window->state = WINDOW_OPEN;
	window->opened_ns = now_ns();
	window->cost.zap_ns = window->opened_ns - begin;
	return 0;
}

int hpm_window_close(struct hpm_window *window)
{
	uint64_t begin = now_ns();
	uint64_t faults = 0;

	if (window_is_foreign(window))
		return -ECHILD;
	if (window->state != WINDOW_OPEN)
		return -EINVAL;
	window->state = WINDOW_NEW; /* no answer, unless all below succeeds */
	for (size_t i = 0; i < window->count; i++) {
		struct window_map *map = &window->maps[i];
		size_t words = bitmap_words(map->holdings.pages);
		int rc;

		memset(map->touched, 0, words * sizeof(*map->touched));
		rc = window->kernel->look(window->pagemap_fd, map->start, map->holdings.pages,
			map->shift, map->touched);
		if (rc < 0)
			return rc;
		for (size_t w = 0; w < words; w++)
			faults += (uint64_t)__builtin_popcountll(map->touched[w]);
	}
	window->state = WINDOW_CLOSED;
	window->cost.open_ns = begin - window->opened_ns;
	window->cost.look_ns = now_ns() - begin;
	window->cost.faults = faults;
	return 0;
}

int hpm_window_touched(
	struct hpm_touched *rows, unsigned n, const struct hpm_window *window, const char *tag)
{
	struct holdings_count by_shift[SHIFTS_MAX] = {0};
	uint8_t number = tag != NULL ? tag_find(tag) : TAG_NONE;
	unsigned row = 0;

	if (window->state != WINDOW_CLOSED)
		return -EINVAL;
	if (tag != NULL && number == TAG_NONE)
		return 0; /* a name nobody ever used holds nothing */
	for (size_t i = 0; i < window->count; i++) {
		const struct window_map *map = &window->maps[i];
		struct holdings_count c = holdings_count(&map->holdings, number, map->touched);

		by_shift[map->shift].held += c.held;
		by_shift[map->shift].touched += c.touched;
		by_shift[map->shift].shared += c.shared;
	}
	for (uint32_t shift = 0; shift < SHIFTS_MAX; shift++) {
		const struct holdings_count *c = &by_shift[shift];

		if (c->held == 0)
			continue;
		if (row < n)
			rows[row] = (struct hpm_touched){.pages = c->touched,
				.shared_pages = c->shared,
				.held_pages = c->held,
				.page_shift = shift};
		row++;
	}
	return (int)row;
}

int hpm_window_cost_read(const struct hpm_window *window, struct hpm_window_cost *ret)
{
	if (window->state != WINDOW_CLOSED)
		return -EINVAL;
	*ret = window->cost;
	return 0;
}
