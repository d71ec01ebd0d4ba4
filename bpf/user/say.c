// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is said to users. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "user.h"

int fail(int code, const char *format, ...)
{
	va_list given;

	va_start(given, format);
	vfprintf(stderr, format, given);
	va_end(given);
	fputc('\n', stderr);
	return code;
}

int refused(const char *what, int error)
{
	if (error == EPERM || error == EACCES)
		return fail(1, "%s needs root (%s)", what, CAPABILITIES);
	if (error == ENOSYS)
		return fail(1, "%s: this kernel was built without BPF (CONFIG_BPF_SYSCALL)", what);
	return fail(1, "%s: the kernel refuses: %s", what, strerror(error));
}
