// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is loaded, as JSON; ending it; removing what is left of it. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "daemon.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static void print_seconds(const char *name, __u64 nanoseconds)
{
	if (nanoseconds)
		printf(", \"%s\": %.9f", name, nanoseconds / 1e9);
	else
		printf(", \"%s\": null", name);
}

/* The window field as TCP last wrote it, before scaling. */
static int window(const struct freeze_ack *ack, __u32 link_header)
{
	__u32 at = link_header + (ack->header[link_header] >> 4 == 4 ? 20 : 40) + 14;

	return ack->length > at + 1 ? ack->header[at] << 8 | ack->header[at + 1] : -1;
}

static void print_window(const char *name, int window)
{
	if (window < 0)
		printf(", \"%s\": null", name);
	else
		printf(", \"%s\": %d", name, window);
}

static int is_held(const struct freeze_state *state)
{
	return state->frozen && now_ns() < state->bound;
}

static void print_connection(const struct freeze_key *key, const struct freeze_connection *its,
			     const struct freeze_settings *settings, const struct freeze_state *state)
{
	char text[INET6_ADDRSTRLEN];

	printf("{\"local\": \"%s\", \"local_port\": %u", address_text(key->local, text), ntohs(key->local_port));
	printf(", \"remote\": \"%s\", \"remote_port\": %u", address_text(key->remote, text), ntohs(key->remote_port));
	printf(", \"frozen\": %s", is_held(state) && its->released != state->epoch ? "true" : "false");
	print_seconds("rtt_least_s", its->rtt_least);
	print_seconds("rtt_smoothed_s", its->rtt_smoothed);
	print_seconds("rtt_greatest_s", its->rtt_greatest);
	print_window("window", window(&its->out, settings->link_header));
	print_window("remote_window", window(&its->in, settings->link_header));
	printf(", \"closed_acks\": %llu, \"held_acks\": %llu, \"probes\": %llu}", (unsigned long long)its->closed_acks,
	       (unsigned long long)its->held_acks, (unsigned long long)its->probes);
}

static int lookup(__u32 id, void *value)
{
	__u32 zero = 0;
	int fd = bpf_map_get_fd_by_id(id), failed;

	if (fd < 0)
		return -1;
	failed = bpf_map_lookup_elem(fd, &zero, value);
	close(fd);
	return failed;
}

static int print_one(const struct found *found, void *data)
{
	const struct freeze_settings *its = &found->settings;
	struct freeze_state state = {};
	struct freeze_counts counts = {};
	struct freeze_key key, next, *from = NULL;
	struct freeze_connection connection;
	int *number = data, map, first = 1, frozen;
	__u64 now = now_ns();

	if (lookup(its->state_map, &state) || lookup(its->counts_map, &counts))
		return 0;
	frozen = is_held(&state);
	printf("%s{\"interface\": \"%s\", \"pid\": %u, \"alive\": %s, \"namespace\": %llu, \"this_namespace\": %s, \"port\": %u",
	       (*number)++ ? ", " : "", its->name, its->holder, found->alive ? "true" : "false",
	       (unsigned long long)its->namespace, its->namespace == this_namespace() ? "true" : "false", its->port);
	printf(", \"attached_by\": \"%s\", \"frozen\": %s", its->clsact ? "clsact" : "tcx", frozen ? "true" : "false");
	if (frozen)
		printf(", \"until_s\": %.6f, \"bound_s\": %.6f", state.until > now ? (state.until - now) / 1e9 : 0,
		       state.bound > now ? (state.bound - now) / 1e9 : 0);
	else
		printf(", \"until_s\": null, \"bound_s\": null");
	printf(", \"authenticated\": %s, \"longest_s\": %.6f, \"freshness_s\": %.6f", its->authenticated ? "true" : "false",
	       its->longest / 1e9, its->freshness / 1e9);
	printf(", \"warnings\": %llu, \"all_clears\": %llu, \"requests\": %llu, \"ignored\": %llu, \"injected_acks\": %llu",
	       (unsigned long long)counts.warnings, (unsigned long long)counts.all_clears,
	       (unsigned long long)counts.requests, (unsigned long long)counts.ignored,
	       (unsigned long long)counts.injected);
	printf(", \"forged\": %llu, \"replayed\": %llu, \"stale\": %llu, \"flooded\": %llu, \"bounded\": %llu",
	       (unsigned long long)counts.forged, (unsigned long long)counts.replayed, (unsigned long long)counts.stale,
	       (unsigned long long)counts.flooded, (unsigned long long)counts.bounded);
	printf(", \"let_go\": %llu, \"not_managed\": %llu, \"connections\": [", (unsigned long long)counts.let_go,
	       (unsigned long long)counts.refused);
	map = bpf_map_get_fd_by_id(its->connections_map);
	for (int step = 0; map >= 0 && step < FREEZE_MOST && !bpf_map_get_next_key(map, from, &next); step++) {
		key = next;
		from = &key;
		if (bpf_map_lookup_elem_flags(map, &key, &connection, BPF_F_LOCK))
			continue;
		printf("%s", first ? "" : ", ");
		first = 0;
		print_connection(&key, &connection, its, &state);
	}
	if (map >= 0)
		close(map);
	printf("]}");
	return 0;
}

int print_status(void)
{
	int number = 0, error;

	printf("{\"loaded\": [");
	error = find(print_one, &number);
	printf("]}\n");
	return error ? refused("cogtcp freeze status", -error) : 0;
}

struct ending {
	const char *interface;
	int ended, code;
};

static int end_one(const struct found *found, void *data)
{
	struct ending *ending = data;
	struct pollfd process = { .events = POLLIN };

	if (!found->alive || found->settings.namespace != this_namespace() ||
	    (ending->interface && strcmp(ending->interface, found->settings.name)))
		return 0;
	process.fd = syscall(SYS_pidfd_open, found->settings.holder, 0);
	if (process.fd < 0)
		return 0;
	if (kill(found->settings.holder, SIGTERM))
		return -errno;
	if (poll(&process, 1, 30000) != 1)
		ending->code = fail(1, "the process that holds %s (%u) does not end", found->settings.name, found->settings.holder);
	close(process.fd);
	ending->ended++;
	return 0;
}

int unload(const char *interface)
{
	struct ending ending = { .interface = interface };
	int error = find(end_one, &ending);

	if (error)
		return refused("cogtcp freeze unload", -error);
	if (!ending.ended)
		return interface ? fail(1, "nothing is loaded on %s in this network namespace", interface)
				 : fail(1, "nothing is loaded in this network namespace");
	if (!ending.code)
		printf("{\"unloaded\": %d}\n", ending.ended);
	return ending.code;
}

static int clean_one(const struct found *found, void *data)
{
	int *number = data;

	if (found->alive || !found->settings.clsact || found->settings.namespace != this_namespace())
		return 0;
	detach_leftover(&found->settings);
	printf("%s\"%s\"", (*number)++ ? ", " : "", found->settings.name);
	return 0;
}

int clean(void)
{
	int number = 0, error;

	printf("{\"cleaned\": [");
	error = find(clean_one, &number);
	printf("]}\n");
	return error ? refused("cogtcp freeze clean", -error) : 0;
}
