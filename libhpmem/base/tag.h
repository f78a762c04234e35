/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tags: the names tables go by in the accounts, as small numbers.
 *
 * A process knows at most 255 different ones; a name once known keeps its number and its storage
 * for the life of the process.
 */
#ifndef BASE_TAG_H
#define BASE_TAG_H

#include <stdint.h>

#define TAG_NONE 0 /* the number no name has */
#define TAG_MAX  255

/* Number of a name, known or new: [1, 255]; -EINVAL (not 1..31 of [a-z0-9_.-]), -ENOSPC. */
int tag_intern(const char *name);

/* Number of a name if it is known, else TAG_NONE. */
uint8_t tag_find(const char *name);

/* Name of a number; NULL for one nobody has. */
const char *tag_name(uint8_t tag);

#endif
