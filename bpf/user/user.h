/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands of both folders do alike: messages, words of the command line, addresses, and standing in the background. */
#ifndef USER_H
#define USER_H

#include <linux/types.h>

/* What the command needs of root, for messages; each command says it. */
extern const char CAPABILITIES[];

/* Print a message for users on standard error and return `code`: 1 what was asked for failed, 2 it was asked wrongly. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a refusal by the kernel, `error` as in errno. */
int refused(const char *what, int error);

/* Keep what libbpf has to say, from here on. */
void hear_libbpf(void);
/* Say why the programs of `file` were not loaded, `error` as in errno: where the verifier refuses, the end of its log. Returns 1. */
int not_loaded(const char *what, const char *file, int error);

/* Read a whole number, and nothing after it. Returns whether it is one from `least` to `most`. */
int read_number(const char *text, long least, long most, long *number);
/* Read a time in seconds, as 0.5, and nothing after it. Returns whether it is one from `least` to `most` ns. */
int read_seconds(const char *text, __u64 least, __u64 most, __u64 *nanoseconds);
/* Read an address of IPv4, mapped into IPv6, or of IPv6. Returns whether it is one. */
int read_address(const char *text, __u32 address[4]);
/* The text of an address, written to `text` (INET6_ADDRSTRLEN). */
const char *address_text(const __u32 address[4], char *text);
/* The path of a file beside this program. */
const char *beside_program(const char *file);
/* CLOCK_MONOTONIC, ns. */
__u64 now_ns(void);
/* CLOCK_REALTIME: us since 1970. */
__u64 wall_us(void);

/* Something that stands: `begin` returns 0 or an exit code, having said why; `hold` returns when it is over. */
struct service {
	int (*begin)(void *data);
	void (*hold)(void *data);
	void *data;
};
/* Run it here, having said "ready"; or in a process of its own in the background, returning when it has begun. Returns an exit code. */
int stand(const struct service *service, int foreground);

#endif
