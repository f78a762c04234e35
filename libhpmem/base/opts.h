/* SPDX-License-Identifier: BSD-3-Clause */
/* Option and result structs that can grow without breaking a caller. */
#ifndef BASE_OPTS_H
#define BASE_OPTS_H

#include <stddef.h>

/*
 * Copies a caller's size-versioned struct (first field: size_t size) into ours.
 *
 *   caller older: his bytes, zeroes after them (a field appended later means "as before" at zero)
 *   caller newer: accepted only if the bytes we do not know are zero
 *
 * min_size is the size of the first published struct. -EINVAL, -E2BIG.
 */
int opts_copy(void *dst, size_t dst_size, const void *src, size_t min_size);

/*
 * Copies a result to a caller who knows `dst->size` bytes of it; dst->size stays as it was.
 * -EINVAL when that is less than min_size.
 */
int opts_fill(void *dst, const void *src, size_t src_size, size_t min_size);

#endif
