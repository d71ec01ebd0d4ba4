// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads and writes messages. HMAC-SHA-256 (RFC 2104, FIPS 180-4) is that of OpenSSL's libcrypto. */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include "message.h"

/* What the hash covers: everything before it. */
#define COVERED 52
#define HASH_SIZE 32

static const unsigned char MAGIC[] = { 'C', 'G', 'T', 'F' };

static __u64 word(const unsigned char *bytes, int size)
{
	__u64 value = 0;

	while (size--)
		value = value << 8 | *bytes++;
	return value;
}

static void put_word(unsigned char *bytes, __u64 value)
{
	for (int at = 0; at < 8; at++)
		bytes[at] = value >> (56 - 8 * at);
}

static int hash(const unsigned char *bytes, const unsigned char *key, unsigned char *to)
{
	unsigned int size = 0;

	return HMAC(EVP_sha256(), key, KEY_SIZE, bytes, COVERED, to, &size) && size == HASH_SIZE;
}

enum sealing read_message(const unsigned char *bytes, size_t size, const unsigned char *key, struct message *message)
{
	unsigned char expected[HASH_SIZE];
	int version;

	if (size < MESSAGE_SIZE || memcmp(bytes, MAGIC, sizeof(MAGIC)) || bytes[5] > REPLY)
		return NO_MESSAGE;
	version = bytes[4];
	if (!(version == 1 && size == MESSAGE_SIZE) && !(version == 2 && size == SEALED_SIZE))
		return NO_MESSAGE;
	if (version == 1 && key)
		return FORGED;
	/* Nobody here can verify it. */
	if (version == 2 && !key)
		return NO_MESSAGE;
	/* In constant time: how long a refusal takes must not tell how much of a hash was right. */
	if (key && (!hash(bytes, key, expected) || CRYPTO_memcmp(expected, bytes + COVERED, HASH_SIZE)))
		return FORGED;
	*message = (struct message){
		.kind = bytes[5],
		.prediction = word(bytes + 8, 4),
		.start_us = word(bytes + 12, 8),
		.until_us = word(bytes + 20, 8),
		.rtt_us = word(bytes + 28, 8),
		.counter = key ? word(bytes + 36, 8) : 0,
		.sent_us = key ? word(bytes + 44, 8) : 0,
	};
	return GENUINE;
}

size_t write_reply(__u64 rtt_us, const struct message *request, __u64 sent_us, const unsigned char *key,
		   unsigned char bytes[SEALED_SIZE])
{
	memset(bytes, 0, SEALED_SIZE);
	memcpy(bytes, MAGIC, sizeof(MAGIC));
	bytes[4] = key ? 2 : 1;
	bytes[5] = REPLY;
	put_word(bytes + 28, rtt_us);
	if (!key)
		return MESSAGE_SIZE;
	put_word(bytes + 36, request->counter);
	put_word(bytes + 44, sent_us);
	return hash(bytes, key, bytes + COVERED) ? SEALED_SIZE : 0;
}
