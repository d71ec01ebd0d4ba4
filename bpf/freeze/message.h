/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages of a train's router and its clients, as crates/train/src/wire.rs and wire/sealed.rs have them. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <linux/types.h>
#include <stddef.h>

/* Version 1: not authenticated. */
#define MESSAGE_SIZE 36
/* Version 2: the same, a counter, the sending time and a keyed hash of all that precedes the hash. */
#define SEALED_SIZE 84
#define KEY_SIZE 32
#define MESSAGE_PORT 50007

enum message_kind { GOING_DOWN, GOING_UP, REQUEST, REPLY };

struct message {
	enum message_kind kind;
	__u32 prediction;
	__s64 start_us, until_us; /* from now */
	__u64 rtt_us;             /* 0: none known */
	/* Version 2. */
	__u64 counter;            /* greater in each message; a reply has the request's */
	__u64 sent_us;            /* since 1970 (CLOCK_REALTIME) */
};

enum sealing {
	NO_MESSAGE, /* neither version */
	FORGED,     /* not sealed with this key, or not sealed at all though there is a key */
	GENUINE,    /* sealed with this key; without a key: a message of version 1 */
};

/* Reads a message. `key` is KEY_SIZE bytes; NULL: messages are not authenticated. */
enum sealing read_message(const unsigned char *bytes, size_t size, const unsigned char *key, struct message *message);
/* Writes the reply to `request` and returns its size; with a key it is sealed. */
size_t write_reply(__u64 rtt_us, const struct message *request, __u64 sent_us, const unsigned char *key,
		   unsigned char bytes[SEALED_SIZE]);

#endif
