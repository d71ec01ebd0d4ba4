/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages of a train's router and its clients, as crates/mobile-router/src/wire.rs has them. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <linux/types.h>
#include <stddef.h>

#define MESSAGE_SIZE 36
#define MESSAGE_PORT 50007

enum message_kind { GOING_DOWN, GOING_UP, REQUEST, REPLY };

struct message {
	enum message_kind kind;
	__u32 prediction;
	__s64 start_us, until_us; /* from now */
	__u64 rtt_us;             /* 0: none known */
};

/* Returns whether these bytes are a message. */
int read_message(const unsigned char *bytes, size_t size, struct message *message);
/* The reply to a request. */
void write_reply(__u64 rtt_us, unsigned char bytes[MESSAGE_SIZE]);

#endif
