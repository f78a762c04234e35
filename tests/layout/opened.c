/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program and prints every file it opened, one a line: what a library does before main() is
 * told by the kernel, not by its documentation. Only opens that succeeded count. The program gets
 * an empty environment, so that what it opens is its own choice. Ends with the program's status,
 * with 77 where tracing is not permitted.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#define SKIP_STATUS 77

/* Copies a string out of the traced program; page by page, because it may end before an unmapped
 * one. */
static void copy_string(pid_t pid, uint64_t from, char *to, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), done = 0;

	memset(to, 0, size);
	while (done + 1 < size && memchr(to, '\0', done) == NULL) {
		size_t n = page - (from + done) % page;
		struct iovec mine, its;

		if (n > size - 1 - done)
			n = size - 1 - done;
		mine = (struct iovec){.iov_base = to + done, .iov_len = n};
		its = (struct iovec){.iov_base = (void *)(uintptr_t)(from + done), .iov_len = n};
		if (process_vm_readv(pid, &mine, 1, &its, 1, 0) != (ssize_t)n)
			return;
		done += n;
	}
}

/* The address of the path if this call opens a file, else 0. */
static uint64_t opens(const struct __ptrace_syscall_info *call)
{
#ifdef SYS_open
	if (call->entry.nr == SYS_open)
		return call->entry.args[0];
#endif
	if (call->entry.nr == SYS_openat || call->entry.nr == SYS_openat2)
		return call->entry.args[1];
	return 0;
}

static void at_syscall(pid_t pid, char path[PATH_MAX])
{
	struct __ptrace_syscall_info call;
	uint64_t from;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) < 0)
		return;
	if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
		path[0] = '\0';
		from = opens(&call);
		if (from != 0)
			copy_string(pid, from, path, PATH_MAX);
	} else if (call.op == PTRACE_SYSCALL_INFO_EXIT && path[0] != '\0' && !call.exit.is_error) {
		puts(path);
		path[0] = '\0';
	}
}

static int follow(pid_t pid)
{
	char path[PATH_MAX] = "";
	int status, deliver = 0;

	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return SKIP_STATUS;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return SKIP_STATUS;
	while (ptrace(PTRACE_SYSCALL, pid, NULL, deliver) == 0 && waitpid(pid, &status, 0) == pid) {
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		deliver = WSTOPSIG(status) & 0x7f;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			at_syscall(pid, path);
		if (deliver == SIGTRAP)
			deliver = 0;
	}
	fprintf(stderr, "lost the traced program: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	char *none[] = {NULL};
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: opened PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		return 1;
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(SKIP_STATUS);
		execve(argv[1], argv + 1, none);
		_exit(127);
	}
	return follow(pid);
}
