/* SPDX-License-Identifier: BSD-3-Clause */
/* What a decoder of CPUID finds out about one level of the data TLB and one page size. */
#ifndef TOPO_TLB_H
#define TOPO_TLB_H

#include "topo/topo.h"

struct decoded {
	struct hpm_datum entries, ways, shared;
};

static inline struct decoded decoded_unknown(const char *why)
{
	return (struct decoded){datum_unknown(why), datum_unknown(why), datum_unknown(why)};
}

/* Of a CPU by Intel; level is 1 or 2. */
struct decoded tlb_intel(const struct hpm_topo *topo, unsigned level, uint32_t shift);

#endif
