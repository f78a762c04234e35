/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data TLB as CPUID describes it. What a CPU leaves out stays unknown: a zero would be a lie,
 * and guests often show zeroes for what their hypervisor hides.
 *
 * Source: AMD64 Architecture Programmer's Manual volume 3, appendix E.4.5, E.4.6 and E.4.15;
 * Intel's CPUs have a file of their own.
 */
#include "topo/tlb.h"

#include <errno.h>
#include <string.h>

#define PDPE1GB (UINT32_C(1) << 26) /* leaf 0x80000001, edx: the CPU has 1 GiB pages */

static const char no_cpuid[] = "the CPU was not asked: no x86, or no hpm/cpuid.txt in the capture";

static struct decoded known(uint32_t entries, uint32_t ways, const char *source)
{
	return (struct decoded){datum_known(entries, source),
		ways != 0 ? datum_known(ways, source)
			  : datum_unknown("the code of the associativity is reserved"),
		datum_unknown("this CPU does not say whether page sizes share entries")};
}

/* Ways of a code of leaves 0x80000006 and 0x80000019; 0: reserved. */
static uint32_t amd_ways(uint32_t code, uint32_t entries)
{
	static const uint32_t ways[16] = {[1] = 1,
		[2] = 2,
		[3] = 3,
		[4] = 4,
		[5] = 6,
		[6] = 8,
		[8] = 16,
		[10] = 32,
		[11] = 48,
		[12] = 64,
		[13] = 96,
		[14] = 128};

	return code == 15 ? entries : ways[code];
}

/* entries in bits 27:16, associativity code in 31:28 */
static struct decoded amd_coded(uint32_t reg, const char *source, const char *why)
{
	uint32_t entries = reg >> 16 & 0xfff;

	return entries == 0 ? decoded_unknown(why)
			    : known(entries, amd_ways(reg >> 28, entries), source);
}

/* entries in bits 23:16, ways in 31:24, 255 for all */
static struct decoded amd_plain(uint32_t reg, const char *source, const char *why)
{
	uint32_t entries = reg >> 16 & 0xff, ways = reg >> 24;

	return entries == 0 ? decoded_unknown(why)
			    : known(entries, ways == 255 ? entries : ways, source);
}

static struct decoded amd(const struct hpm_topo *topo, unsigned level, uint32_t shift)
{
	const struct hpm_topo_cpuid *r = topo_cpuid(topo,
		shift == 30  ? 0x80000019
		: level == 1 ? 0x80000005
			     : 0x80000006,
		0);
	const struct hpm_topo_cpuid *features = topo_cpuid(topo, 0x80000001, 0);

	if (r == NULL)
		return decoded_unknown("the CPU lacks the leaf of CPUID that would tell");
	if (shift == 30)
		return amd_coded(level == 1 ? r->eax : r->ebx, "cpuid 0x80000019",
			features != NULL && (features->edx & PDPE1GB) != 0
				? "cpuid 0x80000019 is zero although pdpe1gb is set"
				: "cpuid 0x80000019 is zero");
	if (level == 1)
		return amd_plain(shift == 21 ? r->eax : r->ebx, "cpuid 0x80000005",
			"cpuid 0x80000005 is zero");
	return amd_coded(
		shift == 21 ? r->eax : r->ebx, "cpuid 0x80000006", "cpuid 0x80000006 is zero");
}

static struct decoded decode(const struct hpm_topo *topo, unsigned level, uint32_t shift)
{
	const char *vendor = topo->host.cpu_vendor;

	if (topo->cpuid_count == 0)
		return decoded_unknown(no_cpuid);
	if (strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0)
		return shift == 12 || shift == 21 || shift == 30
			       ? amd(topo, level, shift)
			       : decoded_unknown("CPUID does not speak of this page size");
	if (strcmp(vendor, "GenuineIntel") == 0)
		return tlb_intel(topo, level, shift);
	return decoded_unknown("how this vendor's CPUID describes a TLB is not known here");
}

static int add(struct hpm_topo *topo, unsigned level, uint32_t shift)
{
	struct hpm_topo_tlb *tlb = topo_append(&topo->tlbs, &topo->tlb_count, sizeof(*tlb));
	struct decoded d = decode(topo, level, shift);

	if (tlb == NULL)
		return -ENOMEM;
	*tlb = (struct hpm_topo_tlb){.level = level,
		.page_shift = shift,
		.entries = d.entries,
		.ways = d.ways,
		.shared = d.shared};
	return 0;
}

/* The next larger page size the host offers; 0 when there is none. */
static uint32_t next_size(const struct hpm_topo *topo, uint32_t shift)
{
	uint32_t next = 0;

	for (unsigned i = 0; i < topo->pool_count; i++) {
		uint32_t s = topo->pools[i].page_shift;

		if (s > shift && (next == 0 || s < next))
			next = s;
	}
	return next;
}

int topo_read_tlbs(struct hpm_topo *topo)
{
	int rc = 0;

	for (unsigned level = 1; level <= 2; level++)
		for (uint32_t s = topo->host.base_page_shift; s != 0 && rc == 0;
			s = next_size(topo, s))
			rc = add(topo, level, s);
	return rc;
}

int hpm_topo_tlb_reach(
	uint64_t *ret, const struct hpm_topo *topo, uint32_t page_shift, const char **source)
{
	const struct hpm_topo_tlb *best = NULL;

	for (unsigned i = 0; i < topo->tlb_count; i++) {
		const struct hpm_topo_tlb *tlb = &topo->tlbs[i];

		if (tlb->page_shift != page_shift)
			continue;
		if (best == NULL ||
			(tlb->entries.known &&
				(!best->entries.known || tlb->entries.value > best->entries.value)))
			best = tlb;
	}
	if (source != NULL)
		*source = best != NULL ? best->entries.source : "no such page size here";
	if (best == NULL)
		return -EINVAL;
	if (!best->entries.known)
		return -ENODATA;
	*ret = best->entries.value
	       << page_shift; /* at most 2^32 entries of 2^30 bytes: see tlb_intel.c */
	return 0;
}
