// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a key file, as python/cogtcp/cli/freeze_key.py does. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../user/user.h"
#include "key.h"

#define DIGITS (2 * KEY_SIZE)

static int digit(char text)
{
	if (text >= '0' && text <= '9')
		return text - '0';
	if (text >= 'a' && text <= 'f')
		return text - 'a' + 10;
	if (text >= 'A' && text <= 'F')
		return text - 'A' + 10;
	return -1;
}

/* 64 digits, and nothing after them but white space. */
static int read_digits(const char *text, ssize_t size, unsigned char *key)
{
	if (size < DIGITS)
		return 0;
	for (int at = 0; at < KEY_SIZE; at++) {
		int high = digit(text[2 * at]), low = digit(text[2 * at + 1]);

		if (high < 0 || low < 0)
			return 0;
		key[at] = high << 4 | low;
	}
	for (ssize_t at = DIGITS; at < size; at++)
		if (!strchr(" \t\r\n", text[at]) || !text[at])
			return 0;
	return 1;
}

int read_key(const char *path, unsigned char key[KEY_SIZE])
{
	char text[DIGITS + 8] = "";
	struct stat its;
	ssize_t size;
	int is_key;
	/* A FIFO must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return fail(2, "--key %s: %s; cogtcp freeze key %s makes one", path, strerror(errno), path);
	/* Of the file that is open, not of its name. */
	if (fstat(fd, &its) || !S_ISREG(its.st_mode)) {
		close(fd);
		return fail(2, "--key %s: it is not a regular file", path);
	}
	if (its.st_mode & 077 || (its.st_uid && its.st_uid != geteuid())) {
		close(fd);
		return its.st_mode & 077 ? fail(2, "--key %s: others may read it or write to it (mode %o); do: chmod 600 %s", path,
						its.st_mode & 07777, path)
					 : fail(2, "--key %s: it belongs to another user (uid %u); do: chown root %s", path,
						its.st_uid, path);
	}
	size = read(fd, text, sizeof(text));
	close(fd);
	is_key = read_digits(text, size, key);
	explicit_bzero(text, sizeof(text));
	return is_key ? 0 : fail(2, "--key %s: give %d hexadecimal digits and nothing else; cogtcp freeze key FILE makes a key", path,
				 DIGITS);
}
