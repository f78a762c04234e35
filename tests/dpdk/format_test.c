/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk over dumps written here by hand: in the words of DPDK 22.11, and in others. DPDK's own
 * two functions that the walk calls are replaced below.
 */
#include <hpm/dpdk.h>

#include <errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *dump;
static bool trickles; /* a byte at a time */

void rte_malloc_dump_heaps(FILE *f)
{
	if (trickles)
		setvbuf(f, NULL, _IONBF, 0);
	for (const char *c = dump; *c != '\0'; c++)
		fputc(*c, f);
}

unsigned int rte_socket_count(void)
{
	return 1;
}

static struct hpm_dpdk_element seen[8];
static size_t count;

static int see(void *arg, const struct hpm_dpdk_element *element)
{
	assert_in_range(count, 0, 7);
	seen[count++] = *element;
	return 0;
}

static int walk(const char *text)
{
	dump = text;
	count = 0;
	return hpm_dpdk_elements_walk(see, NULL);
}

#define HEAP(id, blocks) "Heap id: " id "\nHeap size: 0x8000000\nHeap alloc count: " blocks "\n"
#define BLOCK(at, state, bytes)                                                                    \
	"Malloc element at " at " (" state ")\n  len: " bytes " pad: 0x0\n"                        \
	"  prev: (nil) next: 0x7f0000000100\n"

static const char usual[] = HEAP("0", "2") BLOCK("0x1000", "FREE", "0x80")
	BLOCK("0x1080", "BUSY", "0x180") BLOCK("0x1200", "BUSY", "0x7fffff00") HEAP("1", "1")
		BLOCK("0x200000000", "BUSY", "0xffffffffffff") HEAP("2", "0");

static void assert_usual(void)
{
	assert_int_equal(walk(usual), 0);
	assert_int_equal(count, 3);
	assert_ptr_equal(seen[0].addr, (void *)0x1080);
	assert_int_equal(seen[0].bytes, 0x180);
	assert_int_equal(seen[0].heap, 0);
	assert_int_equal(seen[0].external, 0);
	assert_int_equal(seen[1].bytes, 0x7fffff00);
	assert_ptr_equal(seen[2].addr, (void *)0x200000000);
	assert_int_equal(seen[2].bytes, 0xffffffffffff);
	assert_int_equal(seen[2].heap, 1);
	assert_int_equal(seen[2].external, 1);
}

static void live_blocks_are_found_and_free_ones_left_out(void **state)
{
	assert_usual();
}

static void lines_may_come_in_pieces(void **state)
{
	trickles = true;
	assert_usual();
	trickles = false;
}

static void lines_that_say_nothing_of_blocks_are_passed_over(void **state)
{
	static char text[2000];

	memset(text, 'x', 1000); /* longer than any line that is read */
	strcpy(text + 1000, "\n\nHeap name: hpm-acl-0\n" HEAP("0", "1")
				    BLOCK("0x1000", "BUSY", "0x80") "no newline at the end");
	assert_int_equal(walk(text), 0);
	assert_int_equal(count, 1);
}

static void a_dump_in_other_words_is_refused(void **state)
{
	static const char *const strange[] = {"", "Heaps: 0\n",
		/* blocks spelt in another way, or none of those that DPDK counts */
		HEAP("0", "1"), HEAP("0", "1") "Element 0x1000 (BUSY)\n  len: 0x80 pad: 0x0\n",
		HEAP("0", "1") BLOCK("0x1000", "TAKEN", "0x80"),
		HEAP("0", "1") "Malloc element at 0x1000 BUSY\n  len: 0x80 pad: 0x0\n",
		/* more blocks than DPDK counts */
		HEAP("0", "1") BLOCK("0x1000", "BUSY", "0x80") BLOCK("0x1080", "BUSY", "0x80"),
		HEAP("0", "0") BLOCK("0x1000", "BUSY", "0x80"),
		/* lengths missing, or spelt in another way */
		HEAP("0", "1") "Malloc element at 0x1000 (BUSY)\n",
		HEAP("0", "1") "Malloc element at 0x1000 (BUSY)\n" BLOCK("0x1080", "BUSY", "0x80"),
		HEAP("0", "1") "Malloc element at 0x1000 (BUSY)\n  length: 128\n",
		HEAP("0", "1") "Malloc element at 0x1000 (BUSY)\n  len: 128 pad: 0x0\n",
		/* no count of blocks */
		"Heap id: 0\n" HEAP("1", "0"), HEAP("0", "0") "Heap id: 1\n",
		"Heap alloc count: 1\n" BLOCK("0x1000", "BUSY", "0x80")};

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		if (walk(strange[i]) != -EPROTO)
			fail_msg("accepted: '%s'", strange[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_blocks_are_found_and_free_ones_left_out),
		cmocka_unit_test(lines_may_come_in_pieces),
		cmocka_unit_test(lines_that_say_nothing_of_blocks_are_passed_over),
		cmocka_unit_test(a_dump_in_other_words_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
