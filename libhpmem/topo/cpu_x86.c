/* SPDX-License-Identifier: BSD-3-Clause */
/* x86: leaf 0 and 0x80000000 name the highest leaf of their range. */
#include "topo/cpu.h"

#include <cpuid.h>

bool cpu_ask(struct hpm_topo_cpuid *ret, uint32_t leaf, uint32_t subleaf)
{
	ret->leaf = leaf;
	ret->subleaf = subleaf;
	return __get_cpuid_count(leaf, subleaf, &ret->eax, &ret->ebx, &ret->ecx, &ret->edx) != 0;
}
