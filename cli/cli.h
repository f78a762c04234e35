/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hpmem command: what a verb is, and what main gives it.
 *
 * A verb is one file verb_<x>.c that defines `const struct verb verb_<x>`, and one row in
 * verbs.def. Options are data, so that usage and the nearest right option come from one place.
 * Results go to stdout, remarks to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <hpm/base.h>

#include <stdbool.h>

#include "json.h"

/* Exit codes, the same for all verbs. */
enum status {
	STATUS_YES = 0,   /* the answer is yes, or simply given */
	STATUS_NO = 1,    /* the answer is no */
	STATUS_USAGE = 2, /* asked wrongly */
	STATUS_LOOK = 3,  /* could not look */
};

struct cli_option {
	const char *name;  /* without the dashes */
	const char *value; /* what it takes, "DIR"; NULL for a switch */
	const char *help;
};

#define CLI_OPTIONS_MAX 16 /* of one verb */

struct cli {
	const struct verb *verb;
	const char *given[CLI_OPTIONS_MAX]; /* parallel to verb->options: NULL, a value, or "" */
};

struct verb {
	const char *name;
	const char *summary;              /* one line of usage */
	const struct cli_option *options; /* ends with a NULL name, that is --help's place */
	enum status (*run)(const struct cli *cli);
};

/* Rows that verbs share. */
#define CLI_OPTION_JSON                                                                            \
	{                                                                                          \
		"json", NULL, "print JSON, sizes in bytes"                                         \
	}
#define CLI_OPTION_ROOT                                                                            \
	{                                                                                          \
		"root", "DIR", "look at a captured host below DIR, not at this one"                \
	}

/* The value of an option, "" for a switch; NULL when it was not given. */
const char *cli_given(const struct cli *cli, const char *name);

/* One line on stderr, "hpmem: ...". Returns status. */
enum status cli_fail(enum status status, const char *fmt, ...) HPM_PRINTF(2, 3);

/* The envelope around a verb's JSON: opens the outer object, which the verb fills and ends. */
struct json cli_json(const struct cli *cli, enum status status);

/* The name that differs least from text; NULL when none is near. names[] ends with NULL. */
const char *cli_nearest(const char *text, const char *const names[]);

/* Reads argv; STATUS_YES, or STATUS_USAGE after a line that says what is wrong. */
enum status cli_parse(struct cli *cli, int argc, char **argv);

#endif
