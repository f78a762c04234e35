/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses smaps. A mapping's block starts with its address line and ends with VmFlags, the last line
 * the kernel prints for it since 3.8; unknown lines are passed over.
 */
#include "region/smaps.h"

#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SHIFT_MAX 47 /* a page is no larger than the user's address space */

/*
 * One line, cut to what fits. The rest of a longer one is passed over: it is part of a file's name,
 * which anybody can choose, and must not be taken for a line of its own.
 */
static bool next_line(char *line, int size, FILE *smaps)
{
	if (fgets(line, size, smaps) == NULL)
		return false;
	if (strchr(line, '\n') == NULL)
		for (int c = getc(smaps); c != '\n' && c != EOF;)
			c = getc(smaps);
	return true;
}

static uint32_t page_shift(uint64_t kib)
{
	uint32_t shift = is_pow2(kib) ? shift_of(kib) + 10 : 0;

	return shift <= SHIFT_MAX ? shift : 0;
}

static void read_flags(struct smaps_entry *entry, const char *flags)
{
	entry->locked = strstr(flags, " lo") != NULL;
	entry->hugetlb = strstr(flags, " ht") != NULL;
}

int smaps_next(struct smaps_entry *ret, FILE *smaps)
{
	char line[4096], perms[5] = "";
	uint64_t kib;
	bool inside = false;

	while (next_line(line, sizeof(line), smaps)) {
		struct smaps_entry head = {0};

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s ", &head.start, &head.end, perms) ==
			3) {
			head.shared = strlen(perms) == 4 && perms[3] == 's';
			*ret = head;
			inside = true;
		} else if (!inside) {
			continue;
		} else if (sscanf(line, "KernelPageSize: %" SCNu64, &kib) == 1) {
			ret->page_shift = page_shift(kib);
		} else if (sscanf(line, "ShmemPmdMapped: %" SCNu64, &kib) == 1 ||
			   sscanf(line, "FilePmdMapped: %" SCNu64, &kib) == 1) {
			ret->huge_mapped |= kib != 0;
		} else if (strncmp(line, "VmFlags:", 8) == 0) {
			read_flags(ret, line);
			return 1;
		}
	}
	return 0;
}

int smaps_find(struct smaps_entry *ret, uintptr_t addr)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	int rc = -ENOENT;

	if (smaps == NULL)
		return -errno;
	while (rc != 0 && smaps_next(ret, smaps))
		if (ret->end > addr)
			rc = 0;
	fclose(smaps);
	return rc;
}
