/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host as a whole. A kernel's abilities are judged by its release: a distribution may have more
 * (backports), never less.
 */
#include "topo/topo.h"

#include "base/kfile.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPUID_GUEST (UINT32_C(1) << 31) /* leaf 1, ecx: set by hypervisors (APM 3, E.3.2) */

#define PAGE_SIZE_MIN 4096 /* of Linux on any architecture */
#define PAGE_SIZE_MAX (UINT32_C(1) << 20)

/* man pages madvise(2), ioctl_userfaultfd(2) and Documentation/admin-guide/mm/pagemap.rst */
static const unsigned since[HPM_ABILITIES][2] = {
	[HPM_ABILITY_POPULATE_WRITE] = {5, 14},
	[HPM_ABILITY_HUGETLB_ZAP] = {5, 18},
	[HPM_ABILITY_UFFD_WP_SHARED] = {5, 19},
	[HPM_ABILITY_PAGEMAP_SCAN] = {6, 7},
};

/* The word in brackets of "always [madvise] never"; "" when there is none. */
static void read_choice(const struct hpm_topo *topo, const char *path, char *ret, size_t size)
{
	char text[256];
	const char *open, *close;

	if (kfile_read(topo->root, path, text, sizeof(text)) < 0)
		return;
	open = strchr(text, '[');
	close = open != NULL ? strchr(open, ']') : NULL;
	if (close != NULL && (size_t)(close - open - 1) < size)
		snprintf(ret, size, "%.*s", (int)(close - open - 1), open + 1);
}

static void judge_abilities(struct hpm_topo *topo)
{
	unsigned major, minor;
	const char *release = topo->host.kernel;
	bool known = release[0] >= '0' && release[0] <= '9' &&
		     sscanf(release, "%4u.%4u", &major, &minor) == 2;

	for (int i = 0; i < HPM_ABILITIES; i++) {
		if (known)
			topo->abilities[i] =
				datum_known(major > since[i][0] ||
						    (major == since[i][0] && minor >= since[i][1]),
					"kernel release");
		else
			topo->abilities[i] = datum_unknown("the kernel's release is unknown");
	}
}

/* Family and model as CPUID composes them (SDM 2A, CPUID, leaf 1; APM 3, E.3.2 is the same). */
static void read_cpu(struct hpm_topo *topo)
{
	const struct hpm_topo_cpuid *vendor = topo_cpuid(topo, 0, 0), *id = topo_cpuid(topo, 1, 0);
	struct hpm_topo_host *host = &topo->host;
	const char *why = "the CPU was not asked: no x86, or no hpm/cpuid.txt in the capture";
	uint32_t family;

	if (vendor != NULL) {
		memcpy(host->cpu_vendor, &vendor->ebx, 4);
		memcpy(host->cpu_vendor + 4, &vendor->edx, 4);
		memcpy(host->cpu_vendor + 8, &vendor->ecx, 4);
		for (int i = 0; i < 12; i++) /* a capture may hold anything */
			if (host->cpu_vendor[i] < ' ' || host->cpu_vendor[i] > '~')
				host->cpu_vendor[i] = '?';
	}
	if (id == NULL) {
		host->cpu_family = host->cpu_model = host->guest = datum_unknown(why);
		return;
	}
	family = id->eax >> 8 & 0xf;
	host->cpu_model = datum_known(
		(id->eax >> 4 & 0xf) | (family == 6 || family == 15 ? id->eax >> 12 & 0xf0 : 0),
		"cpuid 0x1");
	host->cpu_family =
		datum_known(family == 15 ? family + (id->eax >> 20 & 0xff) : family, "cpuid 0x1");
	host->guest = datum_known((id->ecx & CPUID_GUEST) != 0, "cpuid 0x1");
}

int topo_read_host(struct hpm_topo *topo)
{
	struct hpm_topo_host *host = &topo->host;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), captured;

	host->size = sizeof(*host);
	if (kfile_read(topo->root, "/proc/sys/kernel/osrelease", host->kernel,
		    sizeof(host->kernel)) < 0)
		host->kernel[0] = '\0';
	if (kfile_read_u64(topo->root, "/hpm/page_size", &captured) == 0 && is_pow2(captured) &&
		captured >= PAGE_SIZE_MIN && captured <= PAGE_SIZE_MAX)
		page = captured;
	host->base_page_shift = shift_of(page);
	host->default_huge_bytes = topo_meminfo(topo, "/proc/meminfo", "Hugepagesize:");
	read_choice(
		topo, "/sys/kernel/mm/transparent_hugepage/enabled", host->thp, sizeof(host->thp));
	read_choice(topo, "/sys/kernel/mm/transparent_hugepage/shmem_enabled", host->thp_shmem,
		sizeof(host->thp_shmem));
	read_cpu(topo);
	judge_abilities(topo);
	return 0;
}
