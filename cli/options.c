/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides what the words after a verb mean. A wrong one is answered with one line and the nearest
 * right one. Options are never abbreviated: what a script writes stays valid when options are
 * added.
 */
#include "cli.h"

#include <string.h>

#define NAME_LENGTH_MAX 32 /* longer words are near nothing */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to insert, remove or replace (Levenshtein), row by row. Both shorter than the maximum. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_LENGTH_MAX + 1], columns = strlen(b);

	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[columns];
}

const char *cli_nearest(const char *text, const char *const names[])
{
	const char *best = NULL;
	size_t fewest = NAME_LENGTH_MAX;

	if (strlen(text) >= NAME_LENGTH_MAX)
		return NULL;
	for (; *names != NULL; names++) {
		size_t d = distance(text, *names);

		if (d < fewest) {
			fewest = d;
			best = *names;
		}
	}
	/* more changes than half a word are another word */
	return best != NULL && fewest <= (strlen(best) + 1) / 2 ? best : NULL;
}

static enum status unknown_option(const struct cli *cli, const char *name)
{
	const char *names[CLI_OPTIONS_MAX + 2] = {"help"};
	size_t n = 1;
	const char *near;

	for (const struct cli_option *o = cli->verb->options; o->name != NULL; o++)
		names[n++] = o->name;
	near = cli_nearest(name, names);
	if (near == NULL)
		return cli_fail(STATUS_USAGE, "%s: no option '--%s'; 'hpmem %s --help' lists them",
			cli->verb->name, name, cli->verb->name);
	return cli_fail(STATUS_USAGE, "%s: no option '--%s'; the nearest is '--%s'",
		cli->verb->name, name, near);
}

/* One word that starts with dashes, and the value behind it. Words used: 1 or 2; 0 when wrong. */
static int take(struct cli *cli, const char *word, const char *next)
{
	const struct cli_option *options = cli->verb->options;
	const char *value = strchr(word + 2, '=');
	char name[NAME_LENGTH_MAX * 4];
	size_t length = value != NULL ? (size_t)(value - word - 2) : strlen(word + 2), i = 0;

	length = least(length, sizeof(name) - 1);
	memcpy(name, word + 2, length);
	name[length] = '\0';
	while (options[i].name != NULL && strcmp(options[i].name, name) != 0)
		i++;
	if (options[i].name == NULL) {
		(void)unknown_option(cli, name);
		return 0;
	}
	if (options[i].value == NULL) {
		cli->given[i] = "";
		if (value == NULL)
			return 1;
		(void)cli_fail(STATUS_USAGE, "%s: '--%s' takes no value", cli->verb->name, name);
		return 0;
	}
	cli->given[i] = value != NULL ? value + 1 : next;
	if (cli->given[i] != NULL && cli->given[i][0] != '\0')
		return value != NULL ? 1 : 2;
	(void)cli_fail(
		STATUS_USAGE, "%s: '--%s' takes %s", cli->verb->name, name, options[i].value);
	return 0;
}

enum status cli_parse(struct cli *cli, int argc, char **argv)
{
	for (int i = 0; i < argc;) {
		int used;

		if (strncmp(argv[i], "--", 2) != 0 || argv[i][2] == '\0')
			return cli_fail(STATUS_USAGE, "%s: does not know what to do with '%s'",
				cli->verb->name, argv[i]);
		used = take(cli, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
		if (used == 0)
			return STATUS_USAGE;
		i += used;
	}
	return STATUS_YES;
}

const char *cli_given(const struct cli *cli, const char *name)
{
	const struct cli_option *options = cli->verb->options;

	for (size_t i = 0; options[i].name != NULL; i++)
		if (strcmp(options[i].name, name) == 0)
			return cli->given[i];
	return NULL;
}
