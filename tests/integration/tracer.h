/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An oracle for windows that shares nothing with them: memory is made inaccessible, and each first
 * touch of a page raises SIGSEGV, whose handler records the page and opens it. About 17 us a touch.
 */
#ifndef TESTS_TRACER_H
#define TESTS_TRACER_H

#include <stddef.h>
#include <stdint.h>

/* Starts tracing whole pages of 2^shift bytes; one trace at a time. */
void tracer_start(void *base, uint64_t bytes, uint32_t shift);

/* Ends it; everything is accessible again. */
void tracer_stop(void);

/* Whether page i was touched while the trace ran; how many were in [first, first + n). */
int tracer_touched(uint64_t page);
uint64_t tracer_count(uint64_t first, uint64_t n);

#endif
