/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpmem: what a host offers for hugepages, and who uses it. Decides which verb runs and which exit
 * code ends it. A result that could not be written is no result: status 3.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define VERB(x) extern const struct verb verb_##x;
#include "verbs.def"
#undef VERB

static const struct verb *const verbs[] = {
#define VERB(x) &verb_##x,
#include "verbs.def"
#undef VERB
};

enum status cli_fail(enum status status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("hpmem: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	return status;
}

struct json cli_json(const struct cli *cli, enum status status)
{
	struct json j = json_start(stdout);

	json_object(&j, NULL);
	json_object(&j, "hpmem");
	json_string(&j, "version", hpm_version());
	json_u64(&j, "schema", 1);
	json_string(&j, "verb", cli->verb->name);
	json_u64(&j, "exit", status);
	json_end(&j);
	return j;
}

static void usage(void)
{
	fputs("usage: hpmem VERB [options]\n\n", stdout);
	for (size_t i = 0; i < COUNT(verbs); i++)
		printf("  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n"
	      "  hpmem VERB --help   the options of a verb\n"
	      "  hpmem --version     the version of the command and of the library\n"
	      "\n"
	      "exit status: 0 the answer is yes, 1 it is no, 2 wrong usage, 3 could not look\n",
		stdout);
}

static void verb_usage(const struct verb *verb)
{
	char left[40];

	printf("usage: hpmem %s [options]\n\n%s\n\n", verb->name, verb->summary);
	for (const struct cli_option *o = verb->options; o->name != NULL; o++) {
		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->value != NULL ? " " : "",
			o->value != NULL ? o->value : "");
		printf("  %-14s %s\n", left, o->help);
	}
	printf("  %-14s %s\n", "--help", "print this");
}

static const struct verb *find(const char *name)
{
	for (size_t i = 0; i < COUNT(verbs); i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

static enum status unknown_verb(const char *name)
{
	const char *names[COUNT(verbs) + 3] = {"--help", "--version"}, *near;

	for (size_t i = 0; i < COUNT(verbs); i++)
		names[i + 2] = verbs[i]->name;
	near = cli_nearest(name, names);
	if (near == NULL)
		return cli_fail(STATUS_USAGE, "no verb '%s'; 'hpmem --help' lists them", name);
	return cli_fail(STATUS_USAGE, "no %s '%s'; the nearest is '%s'",
		name[0] == '-' ? "option" : "verb", name, near);
}

static enum status run_verb(const struct verb *verb, int argc, char **argv)
{
	struct cli cli = {.verb = verb};
	enum status status;

	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			verb_usage(verb);
			return STATUS_YES;
		}
	status = cli_parse(&cli, argc, argv);
	return status == STATUS_YES ? verb->run(&cli) : status;
}

static enum status run(int argc, char **argv)
{
	const struct verb *verb;

	if (argc < 2)
		return cli_fail(STATUS_USAGE, "which verb? 'hpmem --help' lists them");
	if (strcmp(argv[1], "--help") == 0) {
		usage();
		return STATUS_YES;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("hpmem %s (libhpmem %s)\n", HPM_VERSION, hpm_version());
		return STATUS_YES;
	}
	verb = find(argv[1]);
	return verb != NULL ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
	enum status status = run(argc, argv);
	int failed = ferror(stdout);

	errno = 0;
	if (fclose(stdout) != 0 || failed)
		return cli_fail(STATUS_LOOK, "the result could not be written: %s",
			errno != 0 ? strerror(errno) : "stdout failed");
	return status;
}
