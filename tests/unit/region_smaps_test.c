/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading smaps: what decides whether memory may be zapped must not be open to deception. */
#include "region/smaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static FILE *text_file(const char *text)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	assert_non_null(f);
	return f;
}

static void mappings_come_in_order_with_what_the_kernel_says(void **state)
{
	static const char text[] =
		"550000000000-550040000000 rw-s 00000000 00:0f 12 /memfd:arena (deleted)\n"
		"Size:            1048576 kB\n"
		"KernelPageSize:     2048 kB\n"
		"MMUPageSize:        2048 kB\n"
		"FilePmdMapped:         0 kB\n"
		"VmFlags: rd wr sh mr mw me ms de ht sd \n"
		"7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
		"KernelPageSize:        4 kB\n"
		"VmFlags: rd wr mr mw me lo ac sd \n"
		"7f0000200000-7f0000400000 rw-s 00000000 00:01 7 /dev/shm/x\n"
		"KernelPageSize:        4 kB\n"
		"ShmemPmdMapped:     2048 kB\n"
		"VmFlags: rd wr sh \n";
	FILE *f = text_file(text);
	struct smaps_entry m;

	assert_int_equal(smaps_next(&m, f), 1);
	assert_true(m.start == 0x550000000000 && m.end == 0x550040000000);
	assert_int_equal(m.page_shift, 21);
	assert_true(m.shared && m.hugetlb && !m.locked && !m.huge_mapped);
	assert_int_equal(smaps_next(&m, f), 1);
	assert_true(m.start == 0x7f0000000000 && m.end == 0x7f0000002000);
	assert_int_equal(m.page_shift, 12);
	assert_true(!m.shared && !m.hugetlb && m.locked && !m.huge_mapped);
	assert_int_equal(smaps_next(&m, f), 1);
	assert_true(m.shared && m.huge_mapped);
	assert_int_equal(smaps_next(&m, f), 0);
	fclose(f);
}

/* The tail of a name longer than the line buffer looks like a shared mapping. */
static void the_tail_of_a_long_name_is_no_mapping(void **state)
{
	static const char head[] = "7f0000000000-7f0000002000 rw-p 00000000 fd:01 7 /";
	static const char bait[] = "7f0000000000-7f0000002000 rw-s ";
	char text[8192];
	FILE *f;
	struct smaps_entry m;

	for (size_t cut = 4090; cut < 4100; cut++) {
		memset(text, 'a', cut);
		memcpy(text, head, sizeof(head) - 1);
		snprintf(text + cut, sizeof(text) - cut,
			"%s\nKernelPageSize: 4 kB\nVmFlags: rd wr \n", bait);
		f = text_file(text);
		assert_int_equal(smaps_next(&m, f), 1);
		assert_false(m.shared);
		assert_int_equal(m.page_shift, 12);
		assert_int_equal(smaps_next(&m, f), 0);
		fclose(f);
	}
}

static void a_page_size_that_cannot_be_is_unknown(void **state)
{
	static const char *const sizes[] = {"0", "3", "9223372036854775808", "274877906944"};
	char text[256];
	struct smaps_entry m;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		FILE *f;

		snprintf(text, sizeof(text),
			"1000-2000 rw-s 00000000 00:01 7 /x\nKernelPageSize: %s kB\nVmFlags: sh\n",
			sizes[i]);
		f = text_file(text);
		assert_int_equal(smaps_next(&m, f), 1);
		assert_int_equal(m.page_shift, 0);
		fclose(f);
	}
}

static void what_is_cut_off_or_malformed_is_no_shared_mapping(void **state)
{
	static const char *const texts[] = {"\n", "garbage\n",
		"KernelPageSize: 4 kB\nVmFlags: sh\n",
		"1000-2000 rw-s 0 00:01 7 /x\nKernelPageSize: 4 kB\n"};
	struct smaps_entry m;
	FILE *f;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		f = text_file(texts[i]);
		assert_int_equal(smaps_next(&m, f), 0);
		fclose(f);
	}
	f = text_file("1000-2000 s 0\nKernelPageSize: 4 kB\nVmFlags: rd\n");
	assert_int_equal(smaps_next(&m, f), 1);
	assert_false(m.shared);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_come_in_order_with_what_the_kernel_says),
		cmocka_unit_test(the_tail_of_a_long_name_is_no_mapping),
		cmocka_unit_test(a_page_size_that_cannot_be_is_unknown),
		cmocka_unit_test(what_is_cut_off_or_malformed_is_no_shared_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
