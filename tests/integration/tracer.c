/* SPDX-License-Identifier: BSD-3-Clause */
/* mprotect + SIGSEGV. The handler calls mprotect(2) only, which is async-signal-safe on Linux. */
#include "tracer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
	char *base;
	uint64_t bytes;
	uint32_t shift;
	unsigned char *touched; /* [bytes >> shift] */
	struct sigaction before;
} trace;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr, base = (uintptr_t)trace.base;
	uint64_t page = (at - base) >> trace.shift;

	if (at < base || at - base >= trace.bytes || trace.touched[page]) {
		static const char message[] = "tracer: a fault that is not ours\n";

		(void)!write(2, message, sizeof(message) - 1);
		_exit(99);
	}
	trace.touched[page] = 1;
	mprotect(trace.base + (page << trace.shift), (size_t)1 << trace.shift,
		PROT_READ | PROT_WRITE);
}

void tracer_start(void *base, uint64_t bytes, uint32_t shift)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	free(trace.touched);
	trace.base = base;
	trace.bytes = bytes;
	trace.shift = shift;
	trace.touched = calloc(bytes >> shift, 1);
	if (trace.touched == NULL)
		abort();
	sigaction(SIGSEGV, &action, &trace.before);
	if (mprotect(base, bytes, PROT_NONE) != 0)
		abort();
}

void tracer_stop(void)
{
	if (mprotect(trace.base, trace.bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
	sigaction(SIGSEGV, &trace.before, NULL);
}

int tracer_touched(uint64_t page)
{
	return trace.touched[page];
}

uint64_t tracer_count(uint64_t first, uint64_t n)
{
	uint64_t count = 0;

	for (uint64_t i = first; i < first + n; i++)
		count += trace.touched[i];
	return count;
}
