/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child's EAL takes no hugepages, files or devices, so the machine is as it was when it exits.
 */
#include "sizing.h"

#include "fail.h"
#include "pieces.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAP_SLACK (UINT64_C(64) << 10) /* for alignment gaps and DPDK's element at the end */

struct report {
	int rc;
	uint64_t bytes[TABLES];
	struct hpm_reason reason;
};

static int start_eal(struct hpm_reason *reason)
{
	/* -m: room for the largest trie known; pages are taken only as they are touched */
	char *argv[] = {"hpfwd", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m",
		"8192", "--log-level", "critical", NULL};

	if (rte_eal_init((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) < 0)
		return demo_fail(-rte_errno, reason, "EAL does not start to measure tables: %s",
			rte_strerror(rte_errno));
	return 0;
}

static int measure(struct report *report, const struct tables_input *from)
{
	struct need needs[TABLES] = {{0, 0}};
	struct pieces known = {NULL, 0, 0};
	struct place *place;
	struct tables tables;
	int rc = start_eal(&report->reason);

	tables_needs(needs, from);
	if (rc == 0)
		rc = place_dpdk_open(&place, needs, &report->reason);
	if (rc < 0)
		return rc;
	tables_init(&tables, from, place);
	rc = pieces_snapshot(&known, &report->reason);
	for (int i = 0; i < TABLES && rc == 0; i++) {
		if (table_info[i].kind != KIND_HEAP)
			continue;
		rc = tables_build(&tables, (enum table)i, &report->reason);
		if (rc == 0)
			rc = pieces_tag_new(&known, table_info[i].tag, &report->reason);
		report->bytes[i] = pieces_bytes(&known, table_info[i].tag);
	}
	pieces_free(&known);
	return rc; /* the rest goes with the process */
}

static void child(int to, const struct tables_input *from)
{
	struct report report;

	/* who waits for the answer may be killed: then nobody needs it */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() == 1)
		_exit(1);
	memset(&report, 0, sizeof(report));
	report.rc = measure(&report, from);
	_exit(write(to, &report, sizeof(report)) == (ssize_t)sizeof(report) ? 0 : 1);
}

/* The child's report, or what became of it. */
static int receive(struct report *ret, int from, pid_t pid, struct hpm_reason *reason)
{
	ssize_t n;
	int status = 0;

	do
		n = read(from, ret, sizeof(*ret));
	while (n < 0 && errno == EINTR);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n == (ssize_t)sizeof(*ret))
		return 0;
	if (WIFSIGNALED(status))
		return demo_fail(-ECHILD, reason,
			"building the tables to measure them died of signal %d (%s)%s",
			WTERMSIG(status), strsignal(WTERMSIG(status)),
			WTERMSIG(status) == SIGKILL ? ": too little memory, see dmesg" : "");
	return demo_fail(-ECHILD, reason,
		"building the tables to measure them ended with status %d", WEXITSTATUS(status));
}

int sizing_measure(
	struct need needs[TABLES], const struct tables_input *from, struct hpm_reason *reason)
{
	struct report report;
	int ends[2], rc;
	pid_t pid;

	if (pipe(ends) < 0)
		return demo_fail(-errno, reason, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(ends[1], from);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return demo_fail(-EAGAIN, reason, "no process to measure tables in");
	}
	rc = receive(&report, ends[0], pid, reason);
	close(ends[0]);
	if (rc < 0)
		return rc;
	if (report.rc < 0)
		return demo_fail(report.rc, reason, "%s", report.reason.text);
	tables_needs(needs, from);
	for (int i = 0; i < TABLES; i++)
		if (table_info[i].kind == KIND_HEAP)
			needs[i].bytes = report.bytes[i] + HEAP_SLACK;
	return 0;
}
