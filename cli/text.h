/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for people: sizes, and words that came from files. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_SIZE_MAX 32 /* of a size, its NUL included */

/* "2 MiB", "15.6 GiB", "0 B": exact where it can be, else one decimal. Returns buf. */
const char *text_size(char buf[TEXT_SIZE_MAX], uint64_t bytes);

/* Writes text to stdout, what is no printable ASCII or UTF-8 lead or tail byte as '?': a file must
 * not drive the terminal it is shown on. */
void text_print(const char *text);

/* The same, broken after commas so that lines end before column `right`; lines after the first
 * start at column `left`, where the cursor is now. */
void text_print_list(const char *text, unsigned left, unsigned right);

#endif
