/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what happens when caller and library were built from different releases of a header.
 * Invariant: no byte beyond the smaller of the two sizes is interpreted or written, except that
 * trailing bytes of a newer caller must be zero.
 */
#include "base/opts.h"

#include <errno.h>
#include <string.h>

static size_t size_of(const void *versioned)
{
	size_t size;

	memcpy(&size, versioned, sizeof(size));
	return size;
}

int opts_copy(void *dst, size_t dst_size, const void *src, size_t min_size)
{
	const unsigned char *bytes = src;
	size_t size;

	if (src == NULL || (size = size_of(src)) < min_size)
		return -EINVAL;
	for (size_t i = dst_size; i < size; i++)
		if (bytes[i] != 0)
			return -E2BIG;
	memset(dst, 0, dst_size);
	memcpy(dst, src, size < dst_size ? size : dst_size);
	memcpy(dst, &dst_size, sizeof(dst_size)); /* the copy is as large as we know it */
	return 0;
}

int opts_fill(void *dst, const void *src, size_t src_size, size_t min_size)
{
	size_t size;

	if (dst == NULL || (size = size_of(dst)) < min_size)
		return -EINVAL;
	if (size > src_size)
		memset((char *)dst + src_size, 0, size - src_size);
	memcpy(dst, src, size < src_size ? size : src_size);
	memcpy(dst, &size, sizeof(size));
	return 0;
}
