/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU of which nothing is known (linked in place of this machine's): a live host still reads.
 */
#include <hpm/topo.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void cpu_that_says_nothing_leaves_the_tlb_unknown(void **state)
{
	struct hpm_topo_host host = {.size = sizeof(host)};
	const struct hpm_topo_tlb *tlbs;
	const char *source = NULL;
	struct hpm_topo *topo;
	uint64_t bytes;
	unsigned n;

	assert_int_equal(hpm_topo_create(&topo, NULL, NULL), 0);
	(void)hpm_topo_cpuids(topo, &n);
	assert_int_equal(n, 0);
	tlbs = hpm_topo_tlbs(topo, &n);
	assert_true(n >= 2);
	for (unsigned i = 0; i < n; i++) {
		assert_false(tlbs[i].entries.known);
		assert_true(strlen(tlbs[i].entries.source) > 0);
	}
	assert_int_equal(hpm_topo_host_read(topo, &host), 0);
	assert_true(host.kernel[0] != '\0');
	assert_false(host.cpu_family.known);
	assert_int_equal(hpm_topo_tlb_reach(&bytes, topo, host.base_page_shift, &source), -ENODATA);
	assert_true(strlen(source) > 0);
	hpm_topo_destroy(topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_that_says_nothing_leaves_the_tlb_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
