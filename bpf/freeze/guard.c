// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which messages are obeyed: first what costs least. */
#include "guard.h"

#define SECOND 1000000000ULL

static int is_fresh(const struct guard *guard, __u64 sent_us, __u64 now_us)
{
	__u64 apart = now_us > sent_us ? now_us - sent_us : sent_us - now_us;

	return apart <= guard->freshness_us && sent_us >= guard->begun_us;
}

/* A leaky bucket that holds one second's worth. */
static int is_flood(struct guard *guard, __u64 now_ns)
{
	__u64 gone = now_ns - guard->counted_ns;

	guard->counted_ns = now_ns;
	guard->obeyed_ns = guard->obeyed_ns > gone ? guard->obeyed_ns - gone : 0;
	if (guard->obeyed_ns + SECOND / OBEYED_PER_S > SECOND)
		return 1;
	guard->obeyed_ns += SECOND / OBEYED_PER_S;
	return 0;
}

enum verdict judge(struct guard *guard, const unsigned char *bytes, size_t size, const struct in6_addr *from, __u64 now_us,
		   __u64 now_ns, struct message *message)
{
	enum sealing sealing;

	if (!IN6_IS_ADDR_UNSPECIFIED(&guard->router) && !IN6_ARE_ADDR_EQUAL(&guard->router, from))
		return IGNORED;
	sealing = read_message(bytes, size, guard->has_key ? guard->key : NULL, message);
	if (sealing == FORGED)
		return UNSEALED;
	if (sealing == NO_MESSAGE || message->kind == REPLY)
		return IGNORED;
	if (guard->has_key) {
		if (!is_fresh(guard, message->sent_us, now_us))
			return STALE;
		if (message->counter <= guard->counter)
			return REPLAYED;
	}
	if (is_flood(guard, now_ns))
		return FLOODED;
	guard->counter = message->counter;
	return OBEYED;
}

__u64 begin_hold(struct allowance *allowance, __u64 now)
{
	if (!allowance->is_held) {
		__u64 regained = allowance->credit + (now - allowance->since);

		allowance->credit = regained < allowance->longest ? regained : allowance->longest;
		allowance->since = now;
		/* Else a warning on the heels of another would hold for an instant, and cost its ACKs. */
		if (allowance->credit < allowance->longest / 10)
			return 0;
		allowance->is_held = 1;
	}
	return allowance->since + allowance->credit;
}

void end_hold(struct allowance *allowance, __u64 now)
{
	__u64 used = now - allowance->since;

	if (!allowance->is_held)
		return;
	allowance->credit -= used < allowance->credit ? used : allowance->credit;
	allowance->since = now;
	allowance->is_held = 0;
}
