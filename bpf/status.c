// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state as JSON: settings, N and link state per destination, and each socket. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "kernel.h"

static const char *const ZONES[] = { "slow start", "starvation", "ideal", "saturation", "competition" };
static const char *const SOURCES[] = { "setting", "destination", "syn-ack", "estimate" };
static const char *const STATES[] = { "up", "sensing", "handoff" };

/* Opens the iterator over the sockets; returns a descriptor to read from, or -errno. */
static int open_sockets(const struct kernel_c2 *c2)
{
	int program = bpf_prog_get_fd_by_id(c2->settings.iterator);
	int map = bpf_map_get_fd_by_id(c2->settings.sockets_map);
	union bpf_iter_link_info over = { .map.map_fd = map };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &over, .iter_info_len = sizeof(over));
	int link = -1, result = -1;

	if (program >= 0 && map >= 0)
		link = bpf_link_create(program, 0, BPF_TRACE_ITER, &options);
	if (link >= 0)
		result = bpf_iter_create(link);
	if (result < 0)
		result = -errno;
	/* The descriptor that is read from holds the others. */
	for (int *fd = (int[]){ program, map, link, -2 }; *fd != -2; fd++)
		if (*fd >= 0)
			close(*fd);
	return result;
}

/* Reads one report. Returns 1, 0 at the end, or -errno. */
static int next_socket(int fd, struct c2_report *report)
{
	size_t have = 0;

	while (have < sizeof(*report)) {
		ssize_t got = read(fd, (char *)report + have, sizeof(*report) - have);

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		have += got;
	}
	return 1;
}

int count_sockets(const struct kernel_c2 *c2)
{
	struct c2_report report;
	int fd = open_sockets(c2), count = 0, got;

	if (fd < 0)
		return fd;
	while ((got = next_socket(fd, &report)) > 0)
		count++;
	close(fd);
	return got < 0 ? got : count;
}

static void print_ns(const char *name, __u64 ns)
{
	if (ns)
		printf(", \"%s\": %llu.%09llu", name, ns / 1000000000, ns % 1000000000);
	else
		printf(", \"%s\": null", name);
}

static void print_socket(const struct c2_report *s)
{
	char text[INET6_ADDRSTRLEN];

	printf("{\"local\": \"%s\", \"local_port\": %u", address_text(s->local.word, text), s->local_port);
	printf(", \"remote\": \"%s\", \"remote_port\": %u", address_text(s->remote.word, text), s->remote_port);
	printf(", \"cwnd_segments\": %u, \"mss_bytes\": %u", s->cwnd, s->mss);
	if (s->ssthresh >= 0x7fffffff)
		printf(", \"ssthresh_segments\": null");
	else
		printf(", \"ssthresh_segments\": %u", s->ssthresh);
	printf(", \"n\": %u, \"n_from\": \"%s\"", s->n, SOURCES[s->n_source & 3]);
	printf(", \"n_told\": %u, \"n_told_from\": \"%s\"", s->n_told, SOURCES[s->n_told_source & 3]);
	if (s->n_estimate)
		printf(", \"n_estimate\": %u", s->n_estimate);
	else
		printf(", \"n_estimate\": null");
	if (s->bandwidth)
		printf(", \"bandwidth_bps\": %llu", 8 * s->bandwidth);
	else
		printf(", \"bandwidth_bps\": null");
	print_ns("dp_s", s->dp);
	print_ns("r_s", s->r);
	printf(", \"zone\": \"%s\"", s->zone < 5 ? ZONES[s->zone] : "?");
	printf(", \"frozen\": %s", s->frozen ? "true" : "false");
	if (s->frozen)
		printf(", \"frozen_cwnd_segments\": %u", s->frozen_cwnd);
	printf(", \"probes\": %u, \"handoffs\": %u}", s->probes, s->handoffs);
}

/* All zeros: any destination that has no entry of its own. */
static const char *entry_text(const struct c2_address *key, char *text)
{
	const __u32 *word = key->word;

	return word[0] | word[1] | word[2] | word[3] ? address_text(word, text) : "any";
}

static void print_flows(int map)
{
	struct c2_address key, *last = NULL;
	char text[INET6_ADDRSTRLEN];
	const char *comma = "";
	__u32 flows;

	for (; !bpf_map_get_next_key(map, last, &key); last = &key) {
		if (bpf_map_lookup_elem(map, &key, &flows))
			continue;
		printf("%s{\"address\": \"%s\", \"flows\": %u}", comma, entry_text(&key, text), flows);
		comma = ", ";
	}
}

static void print_links(int map)
{
	struct c2_route key, *last = NULL;
	char text[INET6_ADDRSTRLEN];
	const char *comma = "";
	struct c2_link link;
	__u64 ns = now_ns();

	for (; !bpf_map_get_next_key(map, last, &key); last = &key) {
		if (bpf_map_lookup_elem(map, &key, &link))
			continue;
		if (ns >= link.until)
			link.state = C2_UP;
		printf("%s{\"address\": \"%s\", \"namespace\": ", comma, entry_text(&key.to, text));
		printf(key.space ? "%u" : "null", key.space);
		printf(", \"state\": \"%s\", \"handoffs\": %u}", STATES[link.state % 3], link.handoffs);
		comma = ", ";
	}
}

int print_status(void)
{
	struct c2_report report;
	const char *comma = "";
	struct kernel_c2 c2;
	int error = find_c2(&c2), sockets, flows, links, got;

	if (error < 0)
		return refused("cogtcp c2 status", -error);
	if (error) {
		puts("{\"loaded\": false}");
		return 0;
	}
	sockets = open_sockets(&c2);
	flows = bpf_map_get_fd_by_id(c2.settings.flows_map);
	links = bpf_map_get_fd_by_id(c2.settings.links_map);
	if (sockets < 0 || flows < 0 || links < 0)
		return refused("cogtcp c2 status", sockets < 0 ? -sockets : errno);
	printf("{\"loaded\": true, \"pid\": %u, \"name\": \"%s\", \"flows\": %u, \"pacing\": %s, \"destinations\": [",
	       c2.settings.holder, c2.settings.author ? C2_AUTHOR_NAME : C2_NAME, c2.settings.flows,
	       c2.settings.pacing ? "true" : "false");
	print_flows(flows);
	printf("], \"links\": [");
	print_links(links);
	printf("], \"sockets\": [");
	while ((got = next_socket(sockets, &report)) > 0) {
		fputs(comma, stdout);
		print_socket(&report);
		comma = ", ";
	}
	puts("]}");
	return got < 0 ? refused("cogtcp c2 status", -got) : 0;
}

int watch(double seconds)
{
	__u64 interval = seconds * 1e9, next = now_ns();
	struct c2_report s;
	struct kernel_c2 c2;
	int error = find_c2(&c2), sockets;

	if (error < 0)
		return refused("cogtcp c2 watch", -error);
	if (error)
		return fail(1, "nothing is loaded; load it with: cogtcp c2 load");
	/* Not longer than whoever reads. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (;;) {
		struct timespec until;
		__u64 now;

		sockets = open_sockets(&c2);
		if (sockets < 0)
			return refused("cogtcp c2 watch", -sockets);
		now = now_ns();
		while (next_socket(sockets, &s) > 0)
			printf("%llu %llu %u %u %llu %llu %llu %u %u\n", now, s.cookie, s.n, s.n_estimate, s.bandwidth,
			       s.dp, s.r, s.zone, s.frozen);
		close(sockets);
		if (fflush(stdout))
			return 0;
		while (next <= now)
			next += interval;
		until = (struct timespec){ .tv_sec = next / 1000000000, .tv_nsec = next % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}
