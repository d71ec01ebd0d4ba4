/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps, and what each socket keeps. */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "c2.h"
#include "probe.bpf.h"
#include "slope.bpf.h"

/* The state of one connection: `C2` of crates/transport/src/congestion/c2.rs. Times are CLOCK_MONOTONIC in ns, zero
 * means none. */
struct c2_socket {
	__u32 n, n_source, map_n;
	__u32 n_told, n_told_source;         /* N as a setting, a map or the SYN-ACK gave it last */
	__u32 probes;                        /* that have answered */
	__u32 n_estimate, prior_n_estimate;  /* N^ */
	__u64 bandwidth, prior_bandwidth;    /* BW, bytes per second */
	__u64 dp, r, last_rtt;
	__u64 avoiding_since;                /* when congestion avoidance began; zero in slow start */
	__u64 acked;                         /* bytes_acked at the last ACK */
	__u64 sample_start, sample_bytes;    /* the throughput sample in progress */
	__u64 k, epoch;                      /* of Algorithm 2, while starvation lasts */
	__s64 credit;                        /* change of cwnd below one segment, 2^-20 segments */
	__u32 steep_windows, competing;
	__u32 frozen, frozen_cwnd, handoffs;
	__u64 up_at;
#ifdef C2_AUTHOR
	__u64 probed_dp, jumped_at;          /* Dp when the probe answered, until slow start ends; when N jumped last */
	__u32 refined, unused;
#endif
	__u32 paces;                         /* whether the control, not the user, asked for pacing */
	struct c2_slope slope;
	struct c2_probe probe;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct c2_settings);
} c2_settings SEC(".maps");

/* N to each destination. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct c2_address);
	__type(value, __u32);
} c2_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct c2_route);
	__type(value, struct c2_link);
} c2_links SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct c2_socket);
} c2_sockets SEC(".maps");

static __always_inline struct c2_settings *settings(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&c2_settings, &zero);
}

/* The entry of `map` for an address, or else the entry for any. */
static __always_inline void *entry(void *map, const struct c2_address *address)
{
	struct c2_address any = {};
	void *found = bpf_map_lookup_elem(map, address);

	return found ? found : bpf_map_lookup_elem(map, &any);
}

/* What the link of a socket to this address does, as far as somebody says it. */
static __always_inline struct c2_link *link_to(const struct sock *sk, const struct c2_address *remote)
{
	struct c2_route route = { .to = *remote, .space = sk->__sk_common.skc_net.net->ns.inum };
	struct c2_link *found = bpf_map_lookup_elem(&c2_links, &route);

	if (found)
		return found;
	route.space = 0;
	found = bpf_map_lookup_elem(&c2_links, &route);
	if (found)
		return found;
	__builtin_memset(&route, 0, sizeof(route));
	return bpf_map_lookup_elem(&c2_links, &route);
}

#endif
