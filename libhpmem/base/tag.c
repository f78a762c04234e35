/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process's list of tags. Names are only ever appended, so a number once read stays good
 * without the lock.
 */
#include "base/tag.h"

#include <hpm/base.h>

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char names[TAG_MAX + 1][HPM_NAME_MAX]; /* [0] stays empty */
static unsigned count;                        /* names[1..count] are set */

static uint8_t find_locked(const char *name)
{
	for (unsigned i = 1; i <= count; i++)
		if (strcmp(names[i], name) == 0)
			return (uint8_t)i;
	return TAG_NONE;
}

int tag_intern(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
	size_t length;
	int tag;

	if (name == NULL)
		return -EINVAL;
	length = strnlen(name, HPM_NAME_MAX);
	if (length == 0 || length == HPM_NAME_MAX || strspn(name, allowed) != length)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	tag = find_locked(name);
	if (tag == TAG_NONE && count == TAG_MAX) {
		tag = -ENOSPC;
	} else if (tag == TAG_NONE) {
		tag = (int)++count;
		memcpy(names[tag], name, length + 1);
	}
	pthread_mutex_unlock(&lock);
	return tag;
}

uint8_t tag_find(const char *name)
{
	uint8_t tag;

	pthread_mutex_lock(&lock);
	tag = find_locked(name);
	pthread_mutex_unlock(&lock);
	return tag;
}

const char *tag_name(uint8_t tag)
{
	const char *name;

	pthread_mutex_lock(&lock);
	name = tag != TAG_NONE && tag <= count ? names[tag] : NULL;
	pthread_mutex_unlock(&lock);
	return name;
}
