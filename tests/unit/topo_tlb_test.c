/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data TLB out of CPUID. The registers are composed here by hand, field by field, from the
 * tables of the AMD64 Architecture Programmer's Manual 3, E.4, and of the Intel Software
 * Developer's Manual 2A, CPUID, leaves 02H and 18H.
 */
#include "fake_host.h"

#include <hpm/topo.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* leaf 0: "Auth" "enti" "cAMD" in ebx, edx, ecx */
#define AMD   "0 0 10 68747541 444d4163 69746e65\n"
#define INTEL "0 0 1b 756e6547 6c65746e 49656e69\n"
/* leaf 1: family 15 + 10, model 1; a hypervisor */
#define ZEN3_GUEST "1 0 00a00f11 0 80000000 0\n"
/* leaf 0x80000001: pdpe1gb is bit 26 of edx */
#define PDPE1GB "80000001 0 0 0 0 04000000\n"

/* A host with pages of 4 KiB, 2 MiB and 1 GiB whose CPU answers so. */
static struct hpm_topo *ask(const struct fake_host *host, const char *rows)
{
	struct hpm_topo *topo = NULL;

	fake_host_file(host, "/hpm/cpuid.txt", rows);
	fake_host_file(host, "/hpm/page_size", "4096\n");
	fake_host_file(host, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
	fake_host_file(host, "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
	assert_int_equal(hpm_topo_create(&topo, host->root, NULL), 0);
	return topo;
}

static struct hpm_topo_tlb row(const struct hpm_topo *topo, unsigned level, uint32_t shift)
{
	unsigned n;
	const struct hpm_topo_tlb *tlbs = hpm_topo_tlbs(topo, &n);

	for (unsigned i = 0; i < n; i++)
		if (tlbs[i].level == level && tlbs[i].page_shift == shift)
			return tlbs[i];
	fail_msg("no row of level %u, 2^%u bytes", level, shift);
	abort();
}

/* 0 of ways or entries: unknown. */
static void assert_tlb(const struct hpm_topo *topo, unsigned level, uint32_t shift,
	uint64_t entries, uint64_t ways)
{
	struct hpm_topo_tlb tlb = row(topo, level, shift);

	assert_int_equal(tlb.entries.known, entries != 0);
	assert_int_equal(tlb.ways.known, ways != 0);
	if (entries != 0)
		assert_int_equal(tlb.entries.value, entries);
	if (ways != 0)
		assert_int_equal(tlb.ways.value, ways);
	assert_non_null(tlb.entries.source);
	assert_non_null(tlb.ways.source);
}

static void rows_stand_for_each_page_size_smallest_first(void **state)
{
	static const struct {
		unsigned level;
		uint32_t shift;
	} want[] = {{1, 12}, {1, 21}, {1, 30}, {2, 12}, {2, 21}, {2, 30}};
	struct hpm_topo *topo = ask(*state, "");
	const struct hpm_topo_tlb *tlbs;
	unsigned n;

	tlbs = hpm_topo_tlbs(topo, &n);
	assert_int_equal(n, 6);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(tlbs[i].level, want[i].level);
		assert_int_equal(tlbs[i].page_shift, want[i].shift);
		assert_false(tlbs[i].entries.known);
	}
	hpm_topo_destroy(topo);
}

/* 0x80000005: ways 31:24, entries 23:16; 0x80000006 and 0x80000019: code 31:28, entries 27:16.
 * eax of the first two tells of 2 MiB pages, ebx of 4 KiB pages; data in the upper half. */
static void amd_says_levels_and_sizes_in_three_leaves(void **state)
{
	struct hpm_topo *topo = ask(*state, AMD ZEN3_GUEST PDPE1GB
		"80000005 0 04201010 ff401010 0 0\n"   /* 32 of 4 ways; 64 fully associative */
		"80000006 0 48002200 88004200 0 0\n"   /* 2048 of 4 ways; 2048 of code 8: 16 ways */
		"80000019 0 f010f040 20080000 0 0\n"); /* 16, code 15: all; 8 of 2 ways */
	struct hpm_topo_host host = {.size = sizeof(host)};
	uint64_t bytes;

	assert_tlb(topo, 1, 21, 32, 4);
	assert_tlb(topo, 1, 12, 64, 64);
	assert_tlb(topo, 2, 21, 2048, 4);
	assert_tlb(topo, 2, 12, 2048, 16);
	assert_tlb(topo, 1, 30, 16, 16);
	assert_tlb(topo, 2, 30, 8, 2);
	assert_false(row(topo, 2, 21).shared.known);
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 12, NULL), 0);
	assert_int_equal(bytes, 8 << 20);
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 21, NULL), 0);
	assert_int_equal(bytes, UINT64_C(4) << 30);
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 30, NULL), 0);
	assert_int_equal(bytes, UINT64_C(16) << 30); /* the first level is larger */
	assert_int_equal(hpm_topo_host_read(topo, &host), 0);
	assert_string_equal(host.cpu_vendor, "AuthenticAMD");
	assert_int_equal(host.cpu_family.value, 25);
	assert_int_equal(host.cpu_model.value, 1);
	assert_int_equal(host.guest.value, 1);
	hpm_topo_destroy(topo);
}

/* Appendix E.4.6, table of L2 associativity encodings; 0: says nothing. */
static void amd_codes_of_associativity_are_those_of_the_manual(void **state)
{
	static const unsigned ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 1536};

	for (unsigned code = 0; code < 16; code++) {
		char rows[256];
		struct hpm_topo *topo;

		snprintf(rows, sizeof(rows), AMD "80000006 0 0 %x6000000 0 0\n", code);
		topo = ask(*state, rows);
		assert_tlb(topo, 2, 12, 1536, ways[code]);
		hpm_topo_destroy(topo);
	}
}

static void zero_is_unknown_and_names_the_leaf(void **state)
{
	struct hpm_topo *topo = ask(
		*state, AMD PDPE1GB "80000005 0 0 0 0 0\n80000006 0 0 0 0 0\n80000019 0 0 0 0 0\n");
	const char *source = NULL;
	uint64_t bytes = 77;

	for (unsigned level = 1; level <= 2; level++)
		for (uint32_t shift = 12; shift <= 30; shift += 9)
			assert_tlb(topo, level, shift, 0, 0);
	assert_string_equal(row(topo, 1, 30).entries.source,
		"cpuid 0x80000019 is zero although pdpe1gb is set");
	assert_string_equal(row(topo, 1, 12).entries.source, "cpuid 0x80000005 is zero");
	assert_string_equal(row(topo, 2, 21).entries.source, "cpuid 0x80000006 is zero");
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 30, &source), -ENODATA);
	assert_string_equal(source, "cpuid 0x80000019 is zero although pdpe1gb is set");
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 13, &source), -EINVAL);
	assert_int_equal(bytes, 77);
	hpm_topo_destroy(topo);
}

/* Leaf 18H: ebx 3:0 sizes (4K, 2M, 4M, 1G), 31:16 ways; ecx sets; edx 4:0 type, 7:5 level. */
static void intel_adds_up_the_structures_that_serve_a_size(void **state)
{
	struct hpm_topo *topo = ask(*state,
		INTEL "1 0 000606a6 0 0 0\n" /* family 6, model 6 + 16 * 6 */
		      "18 0 8 0 0 0\n"
		      "18 1 0 00080001 10 22\n"   /* instructions: not ours */
		      "18 2 0 0010000f 1 125\n"   /* stores only: not ours */
		      "18 3 0 00040001 10 24\n"   /* loads, level 1: 4 ways x 16 sets of 4K */
		      "18 4 0 00040006 8 24\n"    /* 4 x 8 of 2M and 4M */
		      "18 5 0 00080008 1 124\n"   /* 8 x 1 of 1G */
		      "18 6 0 00080007 80 43\n"   /* unified, level 2: 8 x 128 of 4K, 2M, 4M */
		      "18 7 0 00080009 80 43\n"   /* 8 x 128 of 4K, 1G */
		      "18 8 0 00040002 80 63\n"); /* level 3: not ours */
	struct hpm_topo_host host = {.size = sizeof(host)};
	uint64_t bytes;

	assert_tlb(topo, 1, 12, 64, 4);
	assert_tlb(topo, 1, 21, 32, 4);
	assert_tlb(topo, 1, 30, 8, 8);
	assert_tlb(topo, 2, 12, 2048, 16);
	assert_tlb(topo, 2, 21, 1024, 8);
	assert_tlb(topo, 2, 30, 1024, 8);
	assert_int_equal(row(topo, 1, 21).shared.value, 0);
	assert_int_equal(row(topo, 2, 12).shared.value, 0);
	assert_int_equal(row(topo, 2, 21).shared.value, 1);
	assert_int_equal(row(topo, 2, 30).shared.value, 1);
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, 30, NULL), 0);
	assert_int_equal(bytes, UINT64_C(1) << 40);
	assert_int_equal(hpm_topo_host_read(topo, &host), 0);
	assert_string_equal(host.cpu_vendor, "GenuineIntel");
	assert_int_equal(host.cpu_family.value, 6);
	assert_int_equal(host.cpu_model.value, 106);
	assert_int_equal(host.guest.value, 0);
	hpm_topo_destroy(topo);
}

/* Table of descriptors of leaf 02H: 03 64 of 4 ways (4K), 63 32 of 4 ways (2M, 4M) and 4 of 4 ways
 * (1G), C3 1536 of 6 ways (4K, 2M) and 16 of 4 ways (1G); 76 and B5 are of instructions, F0 is no
 * TLB, FF says that caches are in leaf 4. The lowest byte of eax is a count. */
static void intel_before_leaf_18_names_its_structures_by_codes(void **state)
{
	struct hpm_topo *topo = ask(*state, INTEL "2 0 76036301 00f0b5ff 0 00c30000\n");

	assert_tlb(topo, 1, 12, 64, 4);
	assert_tlb(topo, 1, 21, 32, 4);
	assert_tlb(topo, 1, 30, 4, 4);
	assert_tlb(topo, 2, 12, 1536, 6);
	assert_tlb(topo, 2, 21, 1536, 6);
	assert_tlb(topo, 2, 30, 16, 4);
	assert_int_equal(row(topo, 2, 21).shared.value, 1);
	assert_int_equal(row(topo, 2, 30).shared.value, 0);
	assert_string_equal(row(topo, 2, 12).entries.source, "cpuid 0x2");
	hpm_topo_destroy(topo);
}

/* 5A 32 of 4 ways (2M, 4M), CA 512 of 4 ways (4K): these CPUs keep no 2M pages in the second level
 * and have no TLB of 1G pages. */
static void code_in_a_register_that_is_not_valid_does_not_count(void **state)
{
	struct hpm_topo *topo = ask(*state, INTEL "2 0 00035a01 80c1c3c1 0 000000ca\n");

	assert_tlb(topo, 1, 12, 64, 4);
	assert_tlb(topo, 1, 21, 32, 4);
	assert_tlb(topo, 1, 30, 0, 0);
	assert_tlb(topo, 2, 12, 512, 4);
	assert_tlb(topo, 2, 21, 0, 0);
	hpm_topo_destroy(topo);
}

static void leaf_18_goes_before_codes_unless_it_is_empty(void **state)
{
	struct hpm_topo *topo = ask(*state,
		INTEL "2 0 00fe0301 0 0 0\n18 0 1 0 0 0\n18 1 0 00040001 8 21\n"); /* 4 x 8 */

	assert_tlb(topo, 1, 12, 32, 4);
	assert_string_equal(row(topo, 1, 12).entries.source, "cpuid 0x18");
	hpm_topo_destroy(topo);
	topo = ask(*state, INTEL "2 0 00000301 0 0 0\n18 0 0 0 0 0\n");
	assert_tlb(topo, 1, 12, 64, 4);
	hpm_topo_destroy(topo);
}

static void ways_of_unlike_structures_are_unknown(void **state)
{
	struct hpm_topo *topo = ask(*state, INTEL "18 0 2 0 0 0\n"
						  "18 1 0 00040001 10 21\n"   /* 4 x 16 */
						  "18 2 0 00080001 1 121\n"); /* 8 x 1 */

	assert_tlb(topo, 1, 12, 72, 0);
	hpm_topo_destroy(topo);
}

static void intel_without_the_leaf_or_with_an_impossible_one_is_unknown(void **state)
{
	struct hpm_topo *topo = ask(*state, INTEL);

	assert_tlb(topo, 1, 12, 0, 0);
	hpm_topo_destroy(topo);
	topo = ask(*state, INTEL "18 0 2 00000001 10 21\n" /* no ways */
				 "18 1 0 00040002 0 21\n"  /* no sets */
				 "18 2 0 ffff0008 ffffffff 21\n");
	assert_tlb(topo, 1, 12, 0, 0);
	assert_tlb(topo, 1, 21, 0, 0);
	assert_tlb(topo, 1, 30, 0, 0);
	assert_tlb(topo, 2, 12, 0, 0);
	hpm_topo_destroy(topo);
}

static void page_sizes_that_a_manual_does_not_know_are_unknown(void **state)
{
	struct hpm_topo *topo;

	fake_host_file(*state, "/sys/kernel/mm/hugepages/hugepages-16777216kB/nr_hugepages", "0\n");
	topo = ask(*state, AMD "80000005 0 ff40ff40 ff40ff40 0 0\n");
	assert_tlb(topo, 1, 34, 0, 0);
	assert_tlb(topo, 1, 21, 64, 64);
	hpm_topo_destroy(topo);
	topo = ask(*state, INTEL "18 0 0 0004000f 10 21\n");
	assert_tlb(topo, 1, 34, 0, 0);
	assert_tlb(topo, 1, 21, 64, 4);
	hpm_topo_destroy(topo);
}

static void vendor_that_is_not_known_is_not_guessed(void **state)
{
	struct hpm_topo_host host = {.size = sizeof(host)};
	struct hpm_topo *topo = ask(*state,
		"0 0 1 0a1b5b07 ffffffff 41414141\n" /* bytes that would drive a terminal */
		"80000005 0 ff40ff40 ff40ff40 0 0\n");

	assert_tlb(topo, 1, 12, 0, 0);
	assert_int_equal(hpm_topo_host_read(topo, &host), 0);
	for (const char *at = host.cpu_vendor; *at != '\0'; at++)
		assert_in_range(*at, ' ', '~');
	hpm_topo_destroy(topo);
}

static void captured_rows_that_are_none_are_skipped(void **state)
{
	struct hpm_topo *topo =
		ask(*state, "leaf subleaf eax ebx ecx edx\n\n" AMD "80000005 0 ff40ff40\n"
			    "80000005 0 xyz 0 0 0\n"
			    "80000005 0 ff40ff40 ff20ff20 0 0\r\n");
	unsigned n;

	(void)hpm_topo_cpuids(topo, &n);
	assert_int_equal(n, 2);
	assert_tlb(topo, 1, 12, 32, 32);
	hpm_topo_destroy(topo);
}

static void captured_rows_without_end_are_cut(void **state)
{
	size_t rows = 5000, length = strlen("18 0 0 0 0 0\n");
	char *text = malloc(rows * length + 1);
	struct hpm_topo *topo;
	unsigned n;

	assert_non_null(text);
	for (size_t i = 0; i < rows; i++)
		strcpy(text + i * length, "18 0 0 0 0 0\n");
	topo = ask(*state, text);
	free(text);
	(void)hpm_topo_cpuids(topo, &n);
	assert_in_range(n, 1, 1000);
	hpm_topo_destroy(topo);
}

#define ON_A_HOST(f) cmocka_unit_test_setup_teardown(f, fake_host_make, fake_host_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_HOST(rows_stand_for_each_page_size_smallest_first),
		ON_A_HOST(amd_says_levels_and_sizes_in_three_leaves),
		ON_A_HOST(amd_codes_of_associativity_are_those_of_the_manual),
		ON_A_HOST(zero_is_unknown_and_names_the_leaf),
		ON_A_HOST(intel_adds_up_the_structures_that_serve_a_size),
		ON_A_HOST(intel_before_leaf_18_names_its_structures_by_codes),
		ON_A_HOST(code_in_a_register_that_is_not_valid_does_not_count),
		ON_A_HOST(leaf_18_goes_before_codes_unless_it_is_empty),
		ON_A_HOST(ways_of_unlike_structures_are_unknown),
		ON_A_HOST(intel_without_the_leaf_or_with_an_impossible_one_is_unknown),
		ON_A_HOST(page_sizes_that_a_manual_does_not_know_are_unknown),
		ON_A_HOST(vendor_that_is_not_known_is_not_guessed),
		ON_A_HOST(captured_rows_that_are_none_are_skipped),
		ON_A_HOST(captured_rows_without_end_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
