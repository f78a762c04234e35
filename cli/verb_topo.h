/* SPDX-License-Identifier: BSD-3-Clause */
/* What the text and the JSON of hpmem topo share. */
#ifndef CLI_VERB_TOPO_H
#define CLI_VERB_TOPO_H

#include <hpm/topo.h>

#include "cli.h"

/* What an ability is called; what[] says it to people. */
struct ability {
	const char *name;
	const char *what;
};

/* Why there are no mounts, not even none. */
extern const char topo_no_mounts[];

extern const struct ability topo_abilities[HPM_ABILITIES];

/* Bytes that the entries of a row cover; unknown where they are. */
struct hpm_datum topo_reach(const struct hpm_topo_tlb *tlb);

void topo_print_text(const struct hpm_topo *topo);
void topo_print_json(const struct cli *cli, const struct hpm_topo *topo);

#endif
