/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the blocks of DPDK's heaps out of its own dump, the only public list there is. The dump is
 * parsed line by line while DPDK prints it, so that a million blocks take no memory:
 *
 *   Heap id: 0
 *   Heap size: 0x8000000
 *   Heap alloc count: 123
 *   Malloc element at 0x1040c8f00 (BUSY)
 *     len: 0x24080 pad: 0x0
 *     prev: 0x1040c8e00 next: 0x1040ecf80
 *
 * These lines are the same from 22.11 to 24.11. Should they change, the walk says so rather than
 * leave blocks out: in each heap as many must be found as DPDK counts.
 */
#include <hpm/dpdk.h>

#include <errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 256 /* of a line of the dump; what is longer is none that we read */

struct parser {
	int (*fn)(void *arg, const struct hpm_dpdk_element *element);
	void *arg;
	int rc; /* what fn answered, once it is not 0 */
	struct hpm_dpdk_element element;
	bool busy;       /* element.addr is that of a live block, and its length comes next */
	bool strange;    /* something was not as it is written above */
	unsigned heaps;  /* begun */
	unsigned counts; /* heaps that told how many blocks live in them */
	unsigned left;   /* live blocks of this heap still to come */
	char line[LINE_BYTES];
	size_t length;
};

static void end_heap(struct parser *p)
{
	if (p->busy || p->left != 0 || p->counts != p->heaps)
		p->strange = true;
}

static void take_size(struct parser *p, uint64_t bytes)
{
	if (!p->busy)
		return;
	p->busy = false;
	if (p->left == 0) {
		p->strange = true;
		return;
	}
	p->left--;
	p->element.bytes = bytes;
	if (p->rc == 0)
		p->rc = p->fn(p->arg, &p->element);
}

static void take_line(struct parser *p)
{
	unsigned long long bytes;
	unsigned number;
	char state[16];
	void *addr;

	if (sscanf(p->line, "Malloc element at %p (%15[A-Z])", &addr, state) == 2) {
		p->strange |= p->busy;
		p->element.addr = addr;
		p->busy = strcmp(state, "BUSY") == 0;
	} else if (sscanf(p->line, " len: 0x%llx pad:", &bytes) == 1) {
		take_size(p, bytes);
	} else if (sscanf(p->line, "Heap alloc count: %u", &number) == 1) {
		p->left = number;
		p->counts++;
	} else if (sscanf(p->line, "Heap id: %u", &number) == 1) {
		end_heap(p);
		p->element.heap = number;
		p->element.external = number >= rte_socket_count();
		p->heaps++;
	}
}

/* A stream's write: whatever stdio hands over, cut into lines. */
static ssize_t take(void *cookie, const char *text, size_t n)
{
	struct parser *p = cookie;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\n') {
			if (p->length < LINE_BYTES - 1)
				p->line[p->length++] = text[i];
			continue;
		}
		p->line[p->length] = '\0';
		take_line(p);
		p->length = 0;
	}
	return (ssize_t)n;
}

int hpm_dpdk_elements_walk(int (*fn)(void *arg, const struct hpm_dpdk_element *element), void *arg)
{
	struct parser parser = {.fn = fn, .arg = arg};
	FILE *stream = fopencookie(&parser, "w", (cookie_io_functions_t){.write = take});

	if (stream == NULL)
		return -ENOMEM;
	rte_malloc_dump_heaps(stream);
	if (fclose(stream) != 0)
		return -ENOMEM;
	end_heap(&parser);
	if (parser.rc != 0)
		return parser.rc;
	return parser.strange || parser.heaps == 0 ? -EPROTO : 0;
}
