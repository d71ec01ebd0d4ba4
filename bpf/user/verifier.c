// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why the kernel did not take a program. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "user.h"

/* The last lines that libbpf had to say: where the verifier refuses, they hold its reason. */
static char said[16384];

static int hear(enum libbpf_print_level level, const char *format, va_list given)
{
	size_t have = strlen(said), length, drop;
	char *text, *line;

	if (level == LIBBPF_DEBUG || vasprintf(&text, format, given) < 0)
		return 0;
	/* A verifier's log comes in one piece, and its end tells more than its beginning. */
	length = strlen(text);
	line = length < sizeof(said) / 2 ? text : text + length - sizeof(said) / 2;
	length = strlen(line);
	if (have + length >= sizeof(said)) {
		drop = have + length - sizeof(said) + 1;
		memmove(said, said + drop, have - drop + 1);
	}
	strcat(said, line);
	free(text);
	return 0;
}

void hear_libbpf(void)
{
	libbpf_set_print(hear);
}

int not_loaded(const char *what, const char *file, int error)
{
	char *end = strstr(said, "-- END PROG LOAD LOG --"), *start;
	int lines = 0;

	if (!end)
		return error == EPERM || error == EACCES ? refused(what, error)
			: fail(1, "%s cannot be loaded: %s\n%s", file, strerror(error), said);
	*end = 0;
	for (start = end; start > said && lines < 6; start--)
		lines += start[-1] == '\n';
	if (lines == 6)
		start++;
	return fail(1, "the kernel's verifier refuses a program of %s:\n%s", file, start);
}
