/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpfwd: a forwarder whose tables live where --mem says, and an account of the pages it touches.
 *
 * Results go to stdout, remarks to stderr. Exit status: 0 done, 1 the input was damaged half-way,
 * 2 wrong usage, 3 it could not run.
 */
#include "forwarder.h"
#include "measure.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_DAMAGED = 1, EXIT_USAGE = 2, EXIT_CANNOT = 3 };

static void on_signal(int number)
{
	measure_stop();
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: --turns reads */

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Index of "--", which parts EAL's arguments from ours; argc when there is none. */
static int find_dashes(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

static int run(const struct options *options, int eal_argc, char **eal_argv)
{
	struct hpm_reason reason = {""};
	struct forwarder f;
	struct accounts *accounts = NULL;
	struct summary summary;
	int status = EXIT_CANNOT;
	int rc = forwarder_open(&f, options, eal_argc, eal_argv, &reason);

	if (rc == 0) {
		catch_signals();
		rc = measure_run(&summary, &accounts, &f, &reason);
	}
	if (rc == 0) {
		bool damaged = options->pcap_in != NULL && f.capture.damaged;

		status = damaged ? EXIT_DAMAGED : EXIT_DONE;
		summary.exit_status = status;
		if (damaged)
			summary.remark = f.capture.ending;
		(options->json ? summary_json : summary_text)(stdout, &summary);
		if (damaged)
			fprintf(stderr, "hpfwd: %s\n", summary.remark.text);
	} else {
		fprintf(stderr, "hpfwd: %s\n",
			reason.text[0] != '\0' ? reason.text : strerror(-rc));
	}
	accounts_destroy(accounts);
	forwarder_close(&f);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "hpfwd: the summary could not be written: %s\n", strerror(errno));
		status = EXIT_CANNOT;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct hpm_reason reason = {""};
	struct options options;
	int dashes = find_dashes(argc, argv);

	if (dashes == argc) {
		bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

		if (!help)
			fputs("hpfwd: '--' is missing between EAL's options and hpfwd's\n", stderr);
		options_usage(help ? stdout : stderr);
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	/* argv[dashes] takes the part of the program's name for getopt */
	if (options_parse(&options, argc - dashes, argv + dashes, &reason) < 0) {
		fprintf(stderr, "hpfwd: %s\n", reason.text);
		return EXIT_USAGE;
	}
	if (options.help) {
		options_usage(stdout);
		return EXIT_DONE;
	}
	return run(&options, dashes, argv);
}
