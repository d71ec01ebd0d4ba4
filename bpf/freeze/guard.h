/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which messages the daemon obeys, and for how long they may hold connections. No clock and no socket: times are passed in. */
#ifndef GUARD_H
#define GUARD_H

#include <netinet/in.h>
#include "message.h"

/* More than this many genuine messages a second are not obeyed: one message costs some ACKs for every connection. */
#define OBEYED_PER_S 20

enum verdict {
	OBEYED,
	IGNORED,  /* no message, a reply, or not from the router's address */
	UNSEALED, /* the hash is wrong or missing */
	REPLAYED, /* its counter is not greater than that of the last one obeyed */
	STALE,    /* sent too long ago, before the daemon began, or in the future */
	FLOODED,  /* beyond OBEYED_PER_S */
};

struct guard {
	unsigned char key[KEY_SIZE];
	int has_key;
	struct in6_addr router;  /* any: every address */
	__u64 freshness_us;      /* how far the sending time may be from now */
	__u64 begun_us;          /* CLOCK_REALTIME when the daemon began: what was sent before may have been obeyed before */
	__u64 counter;           /* of the last message obeyed */
	__u64 counted_ns;        /* when `obeyed` was last reduced */
	__u64 obeyed_ns;         /* leaky bucket: 1/OBEYED_PER_S for each message, less the time that went by */
};

/* Returns what is to be done with a datagram, and reads its message. `now_us` is CLOCK_REALTIME, `now_ns` CLOCK_MONOTONIC. */
enum verdict judge(struct guard *guard, const unsigned char *bytes, size_t size, const struct in6_addr *from, __u64 now_us,
		   __u64 now_ns, struct message *message);

/* How long connections may be held: `longest` at a time, and half of the time in the long run, whoever asks for it. Holding uses
 * the credit up, not holding regains it. Times are ns. */
struct allowance {
	__u64 longest, credit, since;
	int is_held;
};

/* Begins a hold, or goes on with the one there is. Returns when it ends at the latest; 0: less than a tenth has been regained. */
__u64 begin_hold(struct allowance *allowance, __u64 now);
void end_hold(struct allowance *allowance, __u64 now);

#endif
