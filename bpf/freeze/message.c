// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes messages. */
#include <string.h>
#include "message.h"

static const unsigned char BEGINNING[] = { 'C', 'G', 'T', 'F', 1 };

static __u64 word(const unsigned char *bytes, int size)
{
	__u64 value = 0;

	while (size--)
		value = value << 8 | *bytes++;
	return value;
}

int read_message(const unsigned char *bytes, size_t size, struct message *message)
{
	if (size != MESSAGE_SIZE || memcmp(bytes, BEGINNING, sizeof(BEGINNING)) || bytes[5] > REPLY)
		return 0;
	message->kind = bytes[5];
	message->prediction = word(bytes + 8, 4);
	message->start_us = word(bytes + 12, 8);
	message->until_us = word(bytes + 20, 8);
	message->rtt_us = word(bytes + 28, 8);
	return 1;
}

void write_reply(__u64 rtt_us, unsigned char bytes[MESSAGE_SIZE])
{
	memset(bytes, 0, MESSAGE_SIZE);
	memcpy(bytes, BEGINNING, sizeof(BEGINNING));
	bytes[5] = REPLY;
	for (int at = 0; at < 8; at++)
		bytes[28 + at] = rtt_us >> (56 - 8 * at);
}
