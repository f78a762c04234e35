/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data TLB of Intel's CPUs: leaf 0x18 describes each structure, older ones name theirs by the
 * byte codes of leaf 2. Either way a structure has a level, page sizes, ways and sets, and what
 * several structures give to one page size is added up here.
 *
 * Sources: Software Developer's Manual volume 2A, CPUID: leaf 18H; leaf 02H, table of descriptors,
 * of which the data TLBs of server cores from Nehalem on are here.
 */
#include "topo/tlb.h"

#include "base/units.h"

#include <stdbool.h>

#define ENTRIES_MAX (1 << 24) /* of one structure; real ones have thousands */

/* Page sizes, as the bits of leaf 0x18's ebx. */
#define SIZE_4K 1U
#define SIZE_2M 2U
#define SIZE_4M 4U
#define SIZE_1G 8U

struct structure {
	uint32_t level, sizes, ways, sets;
};

static const struct {
	uint8_t code;
	struct structure is;
} descriptors[] = {
	{0x03, {1, SIZE_4K, 4, 16}},
	{0x5a, {1, SIZE_2M | SIZE_4M, 4, 8}},
	{0x63, {1, SIZE_2M | SIZE_4M, 4, 8}}, /* and, a separate array: */
	{0x63, {1, SIZE_1G, 4, 1}},
	{0xc1, {2, SIZE_4K | SIZE_2M, 8, 128}},
	{0xc3, {2, SIZE_4K | SIZE_2M, 6, 256}}, /* and, a separate array: */
	{0xc3, {2, SIZE_1G, 4, 4}},
	{0xca, {2, SIZE_4K, 4, 128}},
};

/* The structures of one level that serve one page size, added up. */
struct sum {
	uint64_t entries, ways; /* ways 0: unlike each other */
	uint32_t sets;
	bool shared, impossible;
};

static uint32_t size_bit(uint32_t shift)
{
	return shift == 12   ? SIZE_4K
	       : shift == 21 ? SIZE_2M
	       : shift == 22 ? SIZE_4M
	       : shift == 30 ? SIZE_1G
			     : 0;
}

/* On Ice Lake 4 KiB pages live in the TLB of 2 MiB pages and in that of 1 GiB pages, of as many
 * sets: one of twice the ways. */
static void add(struct sum *sum, const struct structure *is, unsigned level, uint32_t bit)
{
	uint64_t entries = (uint64_t)is->ways * is->sets;

	if (is->level != level || (is->sizes & bit) == 0)
		return;
	if (entries == 0 || entries > ENTRIES_MAX) {
		sum->impossible = true;
		return;
	}
	if (sum->entries == 0 || (sum->ways != 0 && sum->sets == is->sets))
		sum->ways += is->ways;
	else
		sum->ways = 0;
	sum->entries += entries;
	sum->sets = is->sets;
	sum->shared |= (is->sizes & (bit - 1)) != 0;
}

/* Types of edx 4:0: 1 data, 3 unified, 4 loads only. Stores have their own on some CPUs; loads are
 * what a look-up waits for. Whether the leaf describes anything. */
static bool add_leaf_18(struct sum *sum, const struct hpm_topo *topo, unsigned level, uint32_t bit)
{
	const struct hpm_topo_cpuid *r = topo_cpuid(topo, 0x18, 0);
	bool any = false;

	for (uint32_t sub = 0; r != NULL; r = topo_cpuid(topo, 0x18, ++sub)) {
		uint32_t type = r->edx & 0x1f;
		struct structure is = {r->edx >> 5 & 7, r->ebx & 0xf, r->ebx >> 16, r->ecx};

		any |= type != 0;
		if (type == 1 || type == 3 || type == 4)
			add(sum, &is, level, bit);
	}
	return any;
}

/* Bytes are descriptors, but for the lowest of eax; a register with bit 31 set holds none. Whether
 * one of them is known here. */
static bool add_leaf_2(struct sum *sum, const struct hpm_topo *topo, unsigned level, uint32_t bit)
{
	const struct hpm_topo_cpuid *r = topo_cpuid(topo, 2, 0);
	bool any = false;

	if (r == NULL)
		return false;
	for (unsigned i = 1; i < 16; i++) {
		uint32_t reg = i < 4 ? r->eax : i < 8 ? r->ebx : i < 12 ? r->ecx : r->edx;
		uint8_t code = (reg & UINT32_C(1) << 31) != 0 ? 0 : reg >> i % 4 * 8 & 0xff;

		for (size_t d = 0; d < ARRAY_LEN(descriptors); d++)
			if (descriptors[d].code == code) {
				any = true;
				add(sum, &descriptors[d].is, level, bit);
			}
	}
	return any;
}

struct decoded tlb_intel(const struct hpm_topo *topo, unsigned level, uint32_t shift)
{
	uint32_t bit = size_bit(shift);
	const char *source = "cpuid 0x18";
	struct sum sum = {0};
	struct decoded d;

	if (bit == 0)
		return decoded_unknown("CPUID does not speak of this page size");
	if (!add_leaf_18(&sum, topo, level, bit)) {
		if (!add_leaf_2(&sum, topo, level, bit))
			return decoded_unknown("the CPU describes no TLB in cpuid 0x18 or 0x2");
		source = "cpuid 0x2";
	}
	if (sum.impossible)
		return decoded_unknown("cpuid 0x18 describes a TLB that cannot be");
	if (sum.entries == 0)
		return decoded_unknown("cpuid names no data TLB of this level and page size "
				       "that is known here");
	d.entries = datum_known(sum.entries, source);
	d.ways = sum.ways != 0 ? datum_known(sum.ways, source)
			       : datum_unknown("several TLBs of different shape serve these pages");
	d.shared = datum_known(sum.shared, source);
	return d;
}
