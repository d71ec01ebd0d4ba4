// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The daemon: hears the router's messages, says to the programs whether sources are held, and sends the ACKs of both moments.
 * What `ConnectionManager` of crates/train/src/freeze.rs does on a warning and on the all-clear.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include "acks.h"
#include "daemon.h"
#include "message.h"

/* As many as the simulator's manager sends: FREEZE_ACKS and THAW_ACKS of freeze.rs. */
#define FREEZE_ACKS 2
#define THAW_ACKS 3
/* A connection that was silent for longer is forgotten until it is heard of again. */
#define FORGOTTEN_AFTER_S 600
#define SWEEP_EVERY 60000000000ULL
/* Messages between two looks at the clock and at the signals: a flood holds up neither. */
#define BATCH 64
/* Room for a burst of some thousand messages while the daemon is at work. */
#define RECEIVE_BUFFER (4 << 20)

struct daemon {
	struct attached attached;
	struct injector injector;
	struct guard guard;
	struct allowance allowance;
	__u64 bound; /* when the hold that there is ends at the latest; 0: none is */
	int messages;
	int ending; /* tells of the signals that end it */
	const struct load_options *options;
};

/* Counters of the daemon's own, which nobody else writes. */
static void count(const struct daemon *its, size_t offset, __u64 by)
{
	struct freeze_counts counts;
	__u32 zero = 0;

	if (bpf_map_lookup_elem(its->attached.counts_map, &zero, &counts))
		return;
	*(__u64 *)((char *)&counts + offset) += by;
	bpf_map_update_elem(its->attached.counts_map, &zero, &counts, BPF_ANY);
}

#define COUNT(its, field, by) count(its, offsetof(struct freeze_counts, field), by)

/* What is done with every connection. A connection that goes away meanwhile may hide others until the next time. */
typedef void act(const struct daemon *its, const struct freeze_key *key, const struct freeze_connection *connection, void *data);

static void each_connection(const struct daemon *its, act *act, void *data)
{
	struct freeze_key key, next, *from = NULL;
	struct freeze_connection connection;
	int map = its->attached.connections_map;

	for (int number = 0; number < FREEZE_MOST && !bpf_map_get_next_key(map, from, &next); number++) {
		key = next;
		from = &key;
		/* Under the lock, so that no ACK is half of one and half of the next. */
		if (!bpf_map_lookup_elem_flags(map, &key, &connection, BPF_F_LOCK))
			act(its, &key, &connection, data);
	}
}

struct telling {
	int closed;       /* with a window of zero */
	__u32 only_released; /* only to who was let go in this freeze; 0: to everybody */
	__u64 sent;
};

static void tell(const struct daemon *its, const struct freeze_key *key, const struct freeze_connection *connection, void *data)
{
	struct telling *telling = data;
	__u32 header = its->attached.settings.link_header;
	int times = telling->closed ? FREEZE_ACKS : THAW_ACKS;

	if (telling->only_released && connection->released != telling->only_released)
		return;
	telling->sent += send_ack(&its->injector, &connection->out, header, 0, telling->closed, times);
	/* Beside the source once is enough: there is no way on which it could be lost. */
	telling->sent += send_ack(&its->injector, &connection->in, header, 1, telling->closed, 1);
}

static void tell_all(struct daemon *its, int closed, __u32 only_released)
{
	struct telling telling = { .closed = closed, .only_released = only_released };

	each_connection(its, tell, &telling);
	COUNT(its, injected, telling.sent);
}

static void freeze(struct daemon *its, __s64 until_us)
{
	__u64 now = now_ns(), bound, until;
	struct freeze_state state;
	__u32 zero = 0, before;
	int already;

	if (bpf_map_lookup_elem(its->attached.state_map, &zero, &state))
		return;
	bound = begin_hold(&its->allowance, now);
	if (!bound || bound <= now) {
		COUNT(its, bounded, 1);
		return;
	}
	/* Compared before it is multiplied: a message may name any time. */
	until = until_us <= 0 ? now : (__u64)until_us > (bound - now) / 1000 ? bound : now + (__u64)until_us * 1000;
	its->bound = state.bound = bound;
	already = state.frozen;
	before = state.epoch;
	state.frozen = 1;
	/* A second warning before the all-clear prolongs the freeze, and holds again who was let go. */
	state.until = already && state.until > until ? state.until : until;
	state.epoch = before + 1 ? before + 1 : 1;
	bpf_map_update_elem(its->attached.state_map, &zero, &state, BPF_ANY);
	tell_all(its, 1, already ? before : 0);
}

static void thaw(struct daemon *its)
{
	struct freeze_state state;
	__u32 zero = 0;

	end_hold(&its->allowance, now_ns());
	its->bound = 0;
	if (bpf_map_lookup_elem(its->attached.state_map, &zero, &state))
		return;
	state.frozen = 0;
	bpf_map_update_elem(its->attached.state_map, &zero, &state, BPF_ANY);
	/* Also where no warning came: who ran into the outage hears that it may go on (Caceres and Iftode). */
	tell_all(its, 0, 0);
}

static void greatest(const struct daemon *its, const struct freeze_key *key, const struct freeze_connection *connection, void *data)
{
	__u64 *rtt = data;

	if (connection->rtt_smoothed > *rtt)
		*rtt = connection->rtt_smoothed;
}

static void sweep(const struct daemon *its, const struct freeze_key *key, const struct freeze_connection *connection, void *data)
{
	const __u64 *now = data;

	if (*now - connection->seen > FORGOTTEN_AFTER_S * 1000000000ULL && connection->seen < *now)
		bpf_map_delete_elem(its->attached.connections_map, key);
}

static void obey(struct daemon *its, const struct message *message, const struct sockaddr_in6 *from)
{
	unsigned char reply[SEALED_SIZE];
	__u64 rtt = 0;
	size_t size;

	switch (message->kind) {
	case GOING_DOWN:
		freeze(its, message->until_us);
		COUNT(its, warnings, 1);
		break;
	case GOING_UP:
		thaw(its);
		COUNT(its, all_clears, 1);
		break;
	case REQUEST:
		each_connection(its, greatest, &rtt);
		size = write_reply(rtt / 1000, message, wall_us(), its->guard.has_key ? its->guard.key : NULL, reply);
		sendto(its->messages, reply, size, MSG_DONTWAIT, (const struct sockaddr *)from, sizeof(*from));
		COUNT(its, requests, 1);
		break;
	case REPLY:
		break;
	}
}

/* Takes the messages that wait, but no more than a batch. */
static void hear(struct daemon *its)
{
	/* Larger than any message: what is longer than a message must not pass as one. */
	unsigned char bytes[SEALED_SIZE + 1];
	__u64 refused[FLOODED + 1] = {};

	for (int number = 0; number < BATCH; number++) {
		struct sockaddr_in6 from;
		socklen_t length = sizeof(from);
		struct message message;
		enum verdict verdict;
		ssize_t size = recvfrom(its->messages, bytes, sizeof(bytes), MSG_DONTWAIT, (struct sockaddr *)&from, &length);

		if (size < 0)
			break;
		verdict = judge(&its->guard, bytes, size, &from.sin6_addr, wall_us(), now_ns(), &message);
		if (verdict == OBEYED)
			obey(its, &message, &from);
		else
			refused[verdict]++;
	}
	/* Each costs two calls of the kernel. */
	if (refused[IGNORED])
		COUNT(its, ignored, refused[IGNORED]);
	if (refused[UNSEALED])
		COUNT(its, forged, refused[UNSEALED]);
	if (refused[REPLAYED])
		COUNT(its, replayed, refused[REPLAYED]);
	if (refused[STALE])
		COUNT(its, stale, refused[STALE]);
	if (refused[FLOODED])
		COUNT(its, flooded, refused[FLOODED]);
}

static int listen_for(const struct load_options *options, struct daemon *its)
{
	int off = 0, room = RECEIVE_BUFFER;

	its->messages = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (its->messages < 0)
		return fail(1, "no UDP socket can be made: %s", strerror(errno));
	setsockopt(its->messages, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	setsockopt(its->messages, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (bind(its->messages, (const struct sockaddr *)&options->listen, sizeof(options->listen)))
		return fail(1, "UDP port %u cannot be listened on: %s", ntohs(options->listen.sin6_port), strerror(errno));
	return 0;
}

/* The signals that end it, as a descriptor: blocked before anything is attached, so that none comes in between. */
static int await_end(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return signalfd(-1, &ends, SFD_CLOEXEC);
}

static int begin(void *data)
{
	struct daemon *its = data;
	const struct load_options *options = its->options;
	int error, code;

	/* No core dump has the key. */
	prctl(PR_SET_DUMPABLE, 0);
	its->ending = await_end();
	code = listen_for(options, its);
	if (code)
		return code;
	its->guard = (struct guard){
		.has_key = options->key != NULL,
		.router = options->router,
		.freshness_us = options->freshness / 1000,
		.begun_us = wall_us(),
	};
	memcpy(its->guard.key, options->secret, KEY_SIZE);
	its->allowance = (struct allowance){ .longest = options->longest, .credit = options->longest, .since = now_ns() };
	error = open_injector(if_nametoindex(options->interface), &its->injector);
	if (error)
		return refused("cogtcp freeze load", -error);
	return attach(options, &its->attached);
}

/* Milliseconds until `then`, rounded up. */
static int ms_until(__u64 then, __u64 now)
{
	return then > now ? (then - now + 999999) / 1000000 : 0;
}

/* Until SIGTERM or SIGINT; SIGHUP is the end of a terminal, not of this. */
static void hold(void *data)
{
	struct daemon *its = data;
	struct pollfd watched[] = {
		{ .fd = its->messages, .events = POLLIN },
		{ .fd = its->ending, .events = POLLIN },
	};
	__u64 sweep_at = now_ns() + SWEEP_EVERY;
	struct freeze_state state;
	__u32 zero = 0;

	for (;;) {
		__u64 now = now_ns(), due = its->bound && its->bound < sweep_at ? its->bound : sweep_at;
		int ready = poll(watched, 2, ms_until(due, now));

		now = now_ns();
		if (its->bound && now >= its->bound) {
			COUNT(its, bounded, 1);
			thaw(its);
		}
		if (now >= sweep_at) {
			each_connection(its, sweep, &now);
			sweep_at = now + SWEEP_EVERY;
		}
		if (ready > 0 && watched[0].revents)
			hear(its);
		if (ready > 0 && watched[1].revents)
			break;
	}
	/* Nobody stays held by what is gone. */
	if (!bpf_map_lookup_elem(its->attached.state_map, &zero, &state) && state.frozen)
		thaw(its);
	detach(&its->attached);
	close_injector(&its->injector);
}

int load(struct load_options *options)
{
	struct daemon its = { .options = options };
	const struct service service = { .begin = begin, .hold = hold, .data = &its };

	return stand(&service, options->foreground);
}
