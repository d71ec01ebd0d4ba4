/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of TCP C2 the kernel has now. The kernel is asked each time: nothing of it is kept in files. */
#ifndef KERNEL_H
#define KERNEL_H

#include "c2.h"
#include "user/user.h"

struct kernel_c2 {
	int settings_fd;
	__u32 settings_map; /* its id */
	struct c2_settings settings;
};

/* Find the C2 that is registered. Returns 0 and fills `found`; 1: there is none; else -errno. */
int find_c2(struct kernel_c2 *found);
/* Whether the map with this id exists. */
int map_exists(__u32 id);

/* Read an address, or "any". Returns whether it is one. */
int parse_address(const char *text, struct c2_address *address);
/* Print the state as one JSON document. */
int print_status(void);
/* Print a line for each socket every `seconds`, until nobody reads it: when (ns), cookie, N, N^ (0: none yet), BW (bytes per second),
 * Dp and R (ns), zone, and whether it is frozen. */
int watch(double seconds);

/* links.c. Read what a link does: sensing, handoff or up. Returns whether it is one of them. */
int parse_state(const char *text, __u32 *state);
/* Say what a link does, for at most so many seconds. Returns 0, or -1 with errno. */
int set_link(const struct kernel_c2 *c2, const struct c2_route *route, __u32 state, double seconds);
/* Say what lines of standard input say, each the inode of a network namespace, an address, a state and seconds; forget all of it at
 * their end, or when one cannot be said. Returns an exit code. */
int follow(void);

/* Number of sockets that have the control, or -errno. */
int count_sockets(const struct kernel_c2 *c2);

/* Load, register, and hold until SIGTERM. */
struct load_options {
	const char *object; /* file of the BPF object */
	const char *cgroup; /* where the option of the SYN is exchanged; NULL: nowhere */
	struct c2_settings settings; /* which rules, the object tells */
	int foreground;
};
int load(struct load_options *options);
int unload(void);

#endif
