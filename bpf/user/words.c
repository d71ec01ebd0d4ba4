// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Numbers, addresses, files and time. */
#include <arpa/inet.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "user.h"

int read_number(const char *text, long least, long most, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return *text && !*end && !errno && *number >= least && *number <= most;
}

int read_seconds(const char *text, __u64 least, __u64 most, __u64 *nanoseconds)
{
	char *end;
	double seconds = strtod(text, &end);

	/* Not a number compares with nothing. */
	if (!*text || *end || !(seconds * 1e9 >= least && seconds * 1e9 <= most))
		return 0;
	*nanoseconds = seconds * 1e9;
	return 1;
}

int read_address(const char *text, __u32 address[4])
{
	struct in_addr ipv4;

	if (inet_pton(AF_INET6, text, address) == 1)
		return 1;
	if (inet_pton(AF_INET, text, &ipv4) != 1)
		return 0;
	address[0] = address[1] = 0;
	address[2] = htonl(0xffff);
	address[3] = ipv4.s_addr;
	return 1;
}

const char *address_text(const __u32 address[4], char *text)
{
	if (!address[0] && !address[1] && address[2] == htonl(0xffff))
		return inet_ntop(AF_INET, &address[3], text, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
}

const char *beside_program(const char *file)
{
	static char path[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

	if (length < 0)
		return file;
	path[length] = 0;
	dirname(path);
	length = strlen(path);
	snprintf(path + length, sizeof(path) - length, "/%s", file);
	return path;
}

__u64 now_ns(void)
{
	struct timespec clock;

	clock_gettime(CLOCK_MONOTONIC, &clock);
	return clock.tv_sec * 1000000000ULL + clock.tv_nsec;
}

__u64 wall_us(void)
{
	struct timespec clock;

	clock_gettime(CLOCK_REALTIME, &clock);
	return clock.tv_sec * 1000000ULL + clock.tv_nsec / 1000;
}
