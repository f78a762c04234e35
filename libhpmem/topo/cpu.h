/* SPDX-License-Identifier: BSD-3-Clause */
/* The seam to the CPU: one implementation per architecture, chosen in meson.build. */
#ifndef TOPO_CPU_H
#define TOPO_CPU_H

#include <hpm/topo.h>

#include <stdbool.h>

/* Asks this CPU for a leaf of CPUID; false when it has none, or is no x86. Any thread. */
bool cpu_ask(struct hpm_topo_cpuid *ret, uint32_t leaf, uint32_t subleaf);

#endif
