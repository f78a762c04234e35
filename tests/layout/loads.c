/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least a program can do with libhpmem: whatever it opens besides, loading the library opened.
 */
#include <hpm/base.h>

#include <string.h>

int main(void)
{
	return strcmp(hpm_version(), HPM_VERSION) == 0 ? 0 : 1;
}
