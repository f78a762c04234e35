/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which object moves where: from the top of what is taken to the lowest free place, until
 * the two meet. Old places stay taken until their readers are gone, so nothing is ever handed out
 * that somebody may still read.
 * Invariant: `cursor` only falls during a pass; what lies at or above it was moved or refused.
 */
#include <hpm/compact.h>

#include "alloc/pool.h"
#include "base/log.h"
#include "base/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hpm_compact {
	struct hpm_compact_opts opts;
	uint32_t cursor; /* taken bits below it are still to be looked at */
	uint64_t moved, refused;
	uint64_t token;   /* of the old places below */
	uint32_t waiting; /* old[0 .. waiting) */
	uint32_t old[HPM_COMPACT_SLICE_MAX];
};

int hpm_compact_create(struct hpm_compact **ret, const struct hpm_compact_opts *from)
{
	struct hpm_compact_opts opts;
	struct hpm_compact *compact;
	int rc = opts_copy(&opts, sizeof(opts), from, sizeof(opts));

	if (rc < 0)
		return rc;
	reason_clear(opts.reason);
	if (opts.pool == NULL || opts.move == NULL)
		return fail(-EINVAL, opts.reason, "a compaction takes a pool and a move function");
	if ((opts.start == NULL) != (opts.passed == NULL))
		return fail(-EINVAL, opts.reason,
			"start and passed of a compaction go together: give both or none");
	compact = calloc(1, sizeof(*compact));
	if (compact == NULL)
		return fail(-ENOMEM, opts.reason, "out of memory for a compaction");
	compact->opts = opts;
	compact->opts.reason = NULL; /* borrowed for this call only */
	compact->cursor = opts.pool->count;
	*ret = compact;
	return 0;
}

/* Whether no old place is left that a reader may hold. */
static bool free_old(struct hpm_compact *c)
{
	struct hpm_pool *pool = c->opts.pool;

	if (c->waiting == 0)
		return true;
	if (c->opts.passed != NULL && c->opts.passed(c->opts.arg, c->token) == 0)
		return false;
	pool_lock(pool);
	for (uint32_t i = 0; i < c->waiting;
		i++) /* free: the application put what is not its own */
		pool->double_puts += !give_index(pool, c->old[i]);
	pool_unlock(pool);
	c->waiting = 0;
	return true;
}

/* The next object and the place it goes to, which is taken then; false when there is none. */
static bool choose(struct hpm_compact *c, uint32_t *from, uint32_t *to)
{
	struct hpm_pool *pool = c->opts.pool;
	bool found = false;

	pool_lock(pool);
	*to = bitmap_lowest(&pool->free);
	*from = c->cursor == 0 ? BITMAP_NONE : bitmap_prev_taken(&pool->free, c->cursor - 1);
	if (*to != BITMAP_NONE && *from != BITMAP_NONE && *to < *from) {
		take_index(pool, *to);
		found = true;
	}
	pool_unlock(pool);
	return found;
}

static void move_one(struct hpm_compact *c, uint32_t from, uint32_t to)
{
	struct hpm_pool *pool = c->opts.pool;

	c->cursor = from;
	memcpy(object_at(pool, to), object_at(pool, from), pool->object_bytes);
	if (c->opts.move(c->opts.arg, object_at(pool, from), object_at(pool, to)) == 0) {
		c->old[c->waiting++] = from;
		c->moved++;
		return;
	}
	pool_lock(pool);
	pool->double_puts += !give_index(pool, to);
	pool_unlock(pool);
	c->refused++;
}

int hpm_compact_step(struct hpm_compact *c, uint32_t objects)
{
	uint32_t from, to;

	if (objects == 0 || objects > HPM_COMPACT_SLICE_MAX)
		return -EINVAL;
	if (!free_old(c))
		return 1;
	for (uint32_t i = 0; i < objects; i++) {
		if (!choose(c, &from, &to)) {
			c->cursor = c->opts.pool->count; /* the next step begins a new pass */
			break;
		}
		move_one(c, from, to);
	}
	if (c->waiting == 0)
		return c->cursor == c->opts.pool->count ? 0 : 1;
	c->token = c->opts.start != NULL ? c->opts.start(c->opts.arg) : 0;
	return 1;
}

int hpm_compact_info_read(const struct hpm_compact *c, struct hpm_compact_info *info)
{
	struct hpm_pool *pool = c->opts.pool;
	struct hpm_compact_info full = {
		.moved = c->moved, .refused = c->refused, .waiting = c->waiting};
	uint32_t last;

	pool_lock(pool);
	last = bitmap_prev_taken(&pool->free, pool->count - 1);
	pool_unlock(pool);
	full.end_bytes = last == BITMAP_NONE ? 0 : (last + UINT64_C(1)) * pool->stride;
	return opts_fill(info, &full, sizeof(full), sizeof(full));
}

int hpm_compact_destroy(struct hpm_compact *c)
{
	if (c == NULL)
		return 0;
	if (!free_old(c))
		return -EBUSY;
	free(c);
	return 0;
}
