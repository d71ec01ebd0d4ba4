// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Standing, here or in the background: whoever starts it hears whether it has begun. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "user.h"

static int stand_here(const struct service *service)
{
	int code = service->begin(service->data);

	if (code)
		return code;
	puts("ready");
	fflush(stdout);
	service->hold(service->data);
	return 0;
}

int stand(const struct service *service, int foreground)
{
	int ready[2], null, code;
	char got;
	pid_t child;

	if (foreground)
		return stand_here(service);
	if (pipe2(ready, O_CLOEXEC))
		return fail(1, "no pipe can be made: %s", strerror(errno));
	child = fork();
	if (child < 0)
		return fail(1, "no process can be started: %s", strerror(errno));
	if (child) {
		close(ready[1]);
		/* Nothing comes from a process that was killed. */
		return read(ready[0], &got, 1) == 1 ? got : fail(1, "the process that loads ended before it was done");
	}
	close(ready[0]);
	setsid();
	/* The end of a terminal is not the end of this. Who started it may be gone before it hears. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	code = service->begin(service->data);
	fflush(stderr);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (!code && chdir("/"))
		code = 1;
	got = code;
	if (write(ready[1], &got, 1) != 1 && code)
		_exit(code);
	close(ready[1]);
	if (!code)
		service->hold(service->data);
	_exit(code);
}
