/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ACKs that the daemon sends in the name of the two ends. */
#ifndef ACKS_H
#define ACKS_H

#include "freeze.h"

/* Sockets that put frames on an interface: one for what goes to the network, one for what comes back to this host. */
struct injector {
	int out, in;
	__u32 interface;
};

/* Returns 0 or -errno. */
int open_injector(__u32 interface, struct injector *injector);
void close_injector(struct injector *injector);

/* Send this ACK so many times, with its own window or with none. Returns how many were sent. */
int send_ack(const struct injector *injector, const struct freeze_ack *ack, __u32 link_header, int to_host, int closed,
	     int times);

/* Make of the headers of `ack` a pure ACK that stands after all that its sender has sent. Returns its length; 0: it is none. */
__u32 make_ack(const struct freeze_ack *ack, __u32 link_header, int closed, unsigned char *frame);

#endif
