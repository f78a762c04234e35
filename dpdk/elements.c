/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the blocks of DPDK's heaps out of its own dump, the only public list there is. The dump is
 * parsed line by line while DPDK prints it, so that a million blocks take no memory:
 *
 *   Heap id: 0
 *   ...
 *   Malloc element at 0x1040c8f00 (BUSY)
 *     len: 0x24080 pad: 0x0
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
	int rc; /* what fn answered */
	struct hpm_dpdk_element element;
	bool busy;             /* element.addr is that of a live block, and its length comes next */
	uint64_t heaps, sizes; /* lines understood */
	uint64_t elements;
	char line[LINE_BYTES];
	size_t length;
};

static void take_line(struct parser *p)
{
	unsigned long long bytes;
	unsigned heap;
	char state[16];
	void *addr;

	if (sscanf(p->line, "Heap id: %u", &heap) == 1) {
		p->element.heap = heap;
		p->element.external = heap >= rte_socket_count();
		p->heaps++;
	} else if (sscanf(p->line, "Malloc element at %p (%15[A-Z])", &addr, state) == 2) {
		p->element.addr = addr;
		p->busy = strcmp(state, "BUSY") == 0;
		p->elements++;
	} else if (sscanf(p->line, " len: 0x%llx pad:", &bytes) == 1) {
		p->element.bytes = bytes;
		p->sizes++;
		if (p->busy && p->rc == 0)
			p->rc = p->fn(p->arg, &p->element);
		p->busy = false;
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
	/* each heap says its number, each block its length */
	if (parser.heaps == 0 || parser.elements != parser.sizes)
		return -EPROTO;
	return parser.rc;
}
