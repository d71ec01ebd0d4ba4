/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the command: who attaches, who holds, who finds and tells. */
#ifndef DAEMON_H
#define DAEMON_H

#include <netinet/in.h>
#include "freeze.h"
#include "../user/user.h"
#include "guard.h"

struct bpf_object;

struct load_options {
	const char *object;      /* file of the BPF object */
	const char *interface;
	struct sockaddr_in6 listen; /* IPv4 mapped */
	struct in6_addr router;  /* whose messages count; any: everybody's who has the key */
	const char *key;         /* file; NULL: messages are not authenticated */
	unsigned char secret[KEY_SIZE]; /* what it holds */
	__u64 longest, freshness; /* ns */
	int foreground, clsact;
};

/* The programs on an interface. */
struct attached {
	struct bpf_object *object;
	struct freeze_settings settings;
	int state_map, connections_map, counts_map, settings_map;
	int links[2];
};

/* attach.c. Both return 0 or an exit code, having said why. */
int attach(const struct load_options *options, struct attached *attached);
void detach(struct attached *attached);
/* Remove what a daemon left on its interface that was attached by a qdisc and did not end as it should. */
int detach_leftover(const struct freeze_settings *settings);
/* The inode of this network namespace. */
__u64 this_namespace(void);

/* hold.c: the daemon. */
int load(struct load_options *options);

/* find.c. Call `each` for what is loaded, or what is left of it; stops at the first that returns other than 0, and returns that. */
struct found {
	struct freeze_settings settings;
	int alive; /* its process is there */
};
typedef int visit(const struct found *found, void *data);
int find(visit *each, void *data);

/* status.c, unload.c: exit codes. */
int print_status(void);
int unload(const char *interface);
int clean(void);

#endif
