/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of TCP C2 the kernel has now. The kernel is asked each time: nothing of it is kept in files. */
#ifndef KERNEL_H
#define KERNEL_H

#include "c2.h"

struct kernel_c2 {
	int settings_fd;
	__u32 settings_map; /* its id */
	struct c2_settings settings;
};

/* Print a message for users on standard error and return `code`: 1 what was asked for failed, 2 it was asked wrongly. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a refusal by the kernel, `error` as in errno. */
int refused(const char *what, int error);

/* Find the C2 that is registered. Returns 0 and fills `found`; 1: there is none; else -errno. */
int find_c2(struct kernel_c2 *found);
/* Whether the map with this id exists. */
int map_exists(__u32 id);

/* Read an address, or "any". Returns whether it is one. */
int parse_address(const char *text, struct c2_address *address);
/* The text of an address; `any` where it is all zeros and that is what an entry means by it. */
const char *address_text(const struct c2_address *address, const char *any, char *text);

/* Print the state as one JSON document. */
int print_status(void);
/* Number of sockets that have the control, or -errno. */
int count_sockets(const struct kernel_c2 *c2);

/* Load, register, and hold until SIGTERM. */
struct load_options {
	const char *object; /* file of the BPF object */
	const char *cgroup; /* where the option of the SYN is exchanged; NULL: nowhere */
	struct c2_settings settings;
	int foreground;
};
int load(const struct load_options *options);
int unload(void);

#endif
