/* SPDX-License-Identifier: BSD-3-Clause */
#include <hpm/hpm.h>
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
	struct hpm_reason why = {""};
	struct hpm_arena_opts a = HPM_ARENA_OPTS_INIT;
	struct hpm_pool_opts p = HPM_POOL_OPTS_INIT;
	struct hpm_arena *arena;
	struct hpm_pool *sessions;
	struct hpm_window *window;
	struct hpm_touched pages;

	a.name = "tables", a.bytes = 256 << 20, a.reason = &why;
	a.page_shifts[0] = 21; /* 2 MiB pages or an error; more entries would be fallbacks */
	if (hpm_arena_create(&arena, &a) < 0)
		return fprintf(stderr, "%s\n", why.text), 77;
	p.arena = arena, p.tag = "session", p.count = 1000000, p.object_bytes = 128;
	if (hpm_pool_create(&sessions, &p) < 0 || hpm_window_create(&window, &why) < 0 ||
		hpm_window_watch_arena(window, arena, &why) < 0 || hpm_window_open(window) < 0)
		return fprintf(stderr, "%s\n", why.text), 1;
	for (uint32_t i = 0; i < 100000; i++) /* any code, also code that knows nothing of us */
		*(uint32_t *)hpm_pool_get(sessions) = i;
	if (hpm_window_close(window) < 0 || hpm_window_touched(&pages, 1, window, "session") != 1)
		return 1;
	printf("%" PRIu64 " of %" PRIu64 " pages touched\n", pages.pages, pages.held_pages);
	hpm_window_destroy(window), hpm_pool_destroy(sessions), hpm_arena_destroy(arena);
	return 0;
}
