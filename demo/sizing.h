/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes DPDK's tables take: only building them tells, so a child builds them in memory of
 * its own and reports. A heap can then be made that holds them and little else.
 */
#ifndef DEMO_SIZING_H
#define DEMO_SIZING_H

#include "tables.h"

/*
 * Fills the needs of every table. Before rte_eal_init(): the child starts an EAL of its own.
 *
 * 0, -ENOMEM, -ECHILD (the child died: the reason says how), or what building answered.
 * Cost: as much as building the tables; for 64,000 rules 4 to 70 s and up to 6 GB, given back.
 */
int sizing_measure(
	struct need needs[TABLES], const struct tables_input *from, struct hpm_reason *reason);

#endif
