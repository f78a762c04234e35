/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what is watched and which bytes are whose. Sessions that appear inside a window are
 * marked when it is closed and before it is read: a mark needs no window of its own.
 */
#include "accounts.h"

#include "fail.h"

#include <hpm/dpdk.h>

#include <errno.h>
#include <rte_eal_memconfig.h>
#include <rte_memory.h>
#include <stdlib.h>
#include <string.h>

#define ROWS (TABLES + 5) /* hpm-meta, mbuf, rings, eal, total */

struct accounts {
	struct tables *tables;
	struct hpm_window *window;
	const struct session *marked; /* the newest session that is marked */
	struct account rows[ROWS];
	uint64_t packet_pages[ROWS]; /* sum over the one-packet windows */
	unsigned packets, n;
	bool kept;                   /* a long window was */
	struct hpm_window_cost cost; /* of the long window */

	/* while EAL's memory is walked: a stretch of neighbours with one page size */
	uint64_t at, end;
	struct hpm_reason refused; /* why some of it is not watched; "" when all is */
};

static const char *const others[] = {HPM_POOL_META_TAG, "mbuf", "rings", "eal", "total"};

static void watch_stretch(struct accounts *a)
{
	if (a->at != a->end && hpm_window_watch(a->window, (void *)(uintptr_t)a->at, a->end - a->at,
				       &a->refused) == 0)
		a->refused.text[0] = '\0';
}

static int watch_segment(
	const struct rte_memseg_list *list, const struct rte_memseg *segment, void *arg)
{
	struct accounts *a = arg;

	if (list->external)
		return 0; /* an arena: the place watches it */
	if (segment->addr_64 != a->end) {
		if (a->refused.text[0] == '\0')
			watch_stretch(a);
		a->at = segment->addr_64;
	}
	a->end = segment->addr_64 + segment->len;
	return 0;
}

/* Stops at the first refusal: all of EAL's memory is of one kind. */
static void watch_eal(struct accounts *a)
{
	rte_memseg_walk(watch_segment, a);
	if (a->refused.text[0] == '\0')
		watch_stretch(a);
}

static struct account *row_of(struct accounts *a, const char *tag)
{
	for (unsigned i = 0; i < a->n; i++)
		if (strcmp(a->rows[i].tag, tag) == 0)
			return &a->rows[i];
	return NULL;
}

static void refuse(struct account *row, const char *why)
{
	row->counted = row->per_packet_counted = false;
	snprintf(row->why, sizeof(row->why), "%.190s", why);
}

static void mark(struct accounts *a, const char *tag, uint64_t addr, uint64_t bytes)
{
	struct account *row = row_of(a, tag);
	int rc = hpm_window_mark(a->window, tag, (const void *)(uintptr_t)addr, bytes);

	row->bytes += bytes;
	if (rc == 0)
		return;
	refuse(row, a->refused.text[0] != '\0' ? a->refused.text
					       : "memory taken after the window was made");
	refuse(row_of(a, "total"), row->why);
}

static void mark_object(struct accounts *a, enum table table, void *object)
{
	struct place *place = a->tables->place;
	struct span span = place->span(place, object);

	mark(a, table_info[table].tag, (uint64_t)(uintptr_t)span.addr, span.bytes);
}

/* Marks the sessions made since the last call, where the arena does not know them already. */
static void mark_sessions(struct accounts *a)
{
	struct session *s = a->tables->newest;

	if (a->tables->place->span == NULL)
		return;
	for (; s != NULL && s != a->marked; s = s->older) {
		mark_object(a, TABLE_SESSION, s);
		mark_object(a, TABLE_METER, s->meter);
		mark_object(a, TABLE_STATS, s->stats);
	}
	a->marked = a->tables->newest;
}

/* What the arena's runs hold, which watching it has marked. */
static int add_arena(struct accounts *a, struct hpm_arena *arena)
{
	struct hpm_footprint rows[2 * ROWS];
	int n;

	if (arena == NULL)
		return 0;
	n = hpm_footprint_read(rows, 2 * ROWS, arena);
	for (int i = 0; i < n && i < 2 * ROWS; i++) {
		struct account *row = row_of(a, rows[i].tag);

		if (row != NULL)
			row->bytes += rows[i].asked_bytes;
	}
	return n < 0 ? n : 0;
}

static void name_rows(struct accounts *a)
{
	for (int i = 0; i < ROWS; i++) {
		const char *tag = i < TABLES ? table_info[i].tag : others[i - TABLES];

		if (strcmp(tag, HPM_POOL_META_TAG) == 0 && a->tables->place->span != NULL)
			continue; /* no pools, no bitmaps */
		snprintf(a->rows[a->n].tag, sizeof(a->rows[0].tag), "%s", tag);
		a->rows[a->n].counted = a->rows[a->n].per_packet_counted = true;
		a->n++;
	}
}

int accounts_create(struct accounts **ret, struct tables *tables, const struct pieces *pieces,
	struct hpm_reason *reason)
{
	struct accounts *a = calloc(1, sizeof(*a));
	int rc;

	if (a == NULL)
		return demo_fail(-ENOMEM, reason, "out of memory");
	a->tables = tables;
	name_rows(a);
	rc = hpm_window_create(&a->window, reason);
	if (rc == 0)
		rc = tables->place->watch(tables->place, a->window, reason);
	if (rc == 0)
		rc = add_arena(a, tables->place->arena);
	if (rc < 0) {
		accounts_destroy(a);
		return rc;
	}
	watch_eal(a);
	for (size_t i = 0; i < pieces->n; i++)
		mark(a, pieces->v[i].tag, pieces->v[i].addr, pieces->v[i].bytes);
	mark_sessions(a);
	*ret = a;
	return 0;
}

void accounts_destroy(struct accounts *a)
{
	if (a == NULL)
		return;
	hpm_window_destroy(a->window);
	free(a);
}

int accounts_open(struct accounts *a)
{
	return hpm_window_open(a->window);
}

int accounts_close(struct accounts *a)
{
	int rc = hpm_window_close(a->window);

	if (rc == 0)
		mark_sessions(a);
	return rc;
}

/* The window's answer for one row: NULL asks for every page once. */
static int ask(struct accounts *a, unsigned i, struct hpm_touched touched[PAGE_SIZES])
{
	const char *tag = strcmp(a->rows[i].tag, "total") == 0 ? NULL : a->rows[i].tag;
	int n = hpm_window_touched(touched, PAGE_SIZES, a->window, tag);

	return n < PAGE_SIZES ? n : PAGE_SIZES;
}

int accounts_keep_window(struct accounts *a)
{
	struct hpm_touched touched[PAGE_SIZES];

	for (unsigned i = 0; i < a->n; i++) {
		int n = ask(a, i, touched);

		if (n < 0)
			return n;
		a->rows[i].sizes = (unsigned)n;
		for (int k = 0; k < n; k++)
			a->rows[i].pages[k] = (struct page_count){.shift = touched[k].page_shift,
				.held = touched[k].held_pages,
				.touched = touched[k].pages};
	}
	a->kept = true;
	return hpm_window_cost_read(a->window, &a->cost);
}

int accounts_keep_packet(struct accounts *a)
{
	struct hpm_touched touched[PAGE_SIZES];

	for (unsigned i = 0; i < a->n; i++) {
		int n = ask(a, i, touched);

		if (n < 0)
			return n;
		for (int k = 0; k < n; k++)
			a->packet_pages[i] += touched[k].pages;
	}
	a->packets++;
	return 0;
}

unsigned accounts_packets(const struct accounts *a)
{
	return a->packets;
}

int accounts_cost(const struct accounts *a, struct hpm_window_cost *ret)
{
	if (!a->kept)
		return -EINVAL;
	*ret = a->cost;
	return 0;
}

const struct account *accounts_read(struct accounts *a, unsigned *n)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct account *row = &a->rows[i];

		if (row->counted && !a->kept)
			refuse(row, "no window was taken");
		if (row->per_packet_counted && a->packets < ONE_PACKET) {
			row->per_packet_counted = false;
			if (row->why[0] == '\0')
				snprintf(row->why, sizeof(row->why),
					"%u one-packet windows, a mean takes %d", a->packets,
					ONE_PACKET);
		}
		row->per_packet = a->packets ? (double)a->packet_pages[i] / a->packets : 0;
		if (strcmp(row->tag, "total") == 0) {
			row->bytes = 0;
			for (unsigned k = 0; k + 1 < a->n; k++)
				row->bytes += a->rows[k].bytes;
		}
	}
	*n = a->n;
	return a->rows;
}
