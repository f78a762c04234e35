/* SPDX-License-Identifier: BSD-3-Clause */
/* Any CPU: it says nothing of its TLB to ordinary programs, so that stays unknown. */
#include "topo/cpu.h"

bool cpu_ask(struct hpm_topo_cpuid *ret, uint32_t leaf, uint32_t subleaf)
{
	return false;
}
