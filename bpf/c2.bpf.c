// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP C2 (Zhou, Di Felice, Drozdenko and Chowdhury, "Towards Fast Flow Convergence in Cognitive Radio Cellular
 * Networks") as a congestion control of Linux. The rules are those of the simulator's preset `c2`, or, compiled with C2_AUTHOR,
 * of `c2-author`; the numbers in parentheses are those of the paper's ambiguities at the head of
 * crates/transport/src/congestion/c2.rs. What differs from it is marked "Here".
 *
 * Here: cwnd is in segments, so a change below one segment is kept as credit. Loss recovery is the kernel's (SACK, RACK,
 * PRR), not NewReno.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "maps.bpf.h"
#include "address.bpf.h"
#include "option.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The preset's parameters. */
#define SECOND 1000000000ULL
#define T_W SECOND
#define TP_WINDOW SECOND
#define SLOPE_WINDOWS 3
#ifdef C2_AUTHOR
#define AUTHOR 1
#define SETTLE (2 * SECOND) /* (13) */
#define JUMP_INTERVAL SECOND
#else
#define AUTHOR 0
#define SETTLE 0ULL
#endif
#define ONE (1LL << 20) /* a segment of credit */
#define TCP_CA_Disorder 1
#define TCP_CA_CWR 2
#define TCP_CA_Recovery 3
#define TCP_CA_Loss 4
#define TCP_INFINITE_SSTHRESH 0x7fffffff
/* tcp_congestion_ops.flags: users without privileges may select it. */
#define NON_RESTRICTED 1

static __always_inline struct c2_socket *state(struct sock *sk)
{
	return bpf_sk_storage_get(&c2_sockets, sk, 0, 0);
}

static __always_inline __u32 ca_state(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
}

static __always_inline __u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static __always_inline void set_cwnd(struct tcp_sock *tp, __u32 segments)
{
	if (segments > tp->snd_cwnd_clamp)
		segments = tp->snd_cwnd_clamp;
	tp->snd_cwnd = segments ? segments : 1;
}

/* BW * Dp / N, segments, at least two; zero before the probe's answer. */
static __always_inline __u32 share(const struct c2_socket *c, const struct tcp_sock *tp)
{
	__u64 bytes, mss = tp->mss_cache;

	if (!c->bandwidth || !c->dp || !c->n || !mss)
		return 0;
	bytes = c->bandwidth * (c->dp / 1000) / 1000000 / c->n;
	return bytes < 2 * mss ? 2 : bytes / mss;
}

static __always_inline void jump(struct c2_socket *c, struct tcp_sock *tp)
{
	__u32 segments = share(c, tp);

	if (!segments)
		return;
	set_cwnd(tp, segments);
	tp->snd_ssthresh = segments;
	c->credit = 0;
}

static __always_inline enum c2_zone zone(const struct c2_socket *c)
{
	/* alpha 0.2, beta 0.05 (1). */
	if (c->r * 10 >= c->dp * 12)
		return C2_SATURATION;
	return c->r * 100 <= c->dp * 105 ? C2_STARVATION : C2_IDEAL;
}

#ifdef C2_AUTHOR
/* The least N with TP/BW, rounded up to 0.01, no less than the middle of 1/N and 1/(N+1), rounded down, and 4 for all below (7). */
static __always_inline __u32 algorithm_1(__u64 throughput, __u64 bandwidth)
{
	__u64 hundredths = bandwidth ? (100 * throughput + bandwidth - 1) / bandwidth : 0;

	return hundredths >= 75 ? 1 : hundredths >= 41 ? 2 : hundredths >= 29 ? 3 : 4;
}
#else
/* Algorithm 1: the least N with TP/BW > (N + 1) / (N (N + 2)). With x = BW/TP that is N above the positive root of
 * N^2 + (2 - x) N - x, which lies above x - 1 and not above x: the whole part of x, or the number after it. */
static __always_inline __u32 algorithm_1(__u64 throughput, __u64 bandwidth)
{
	__u64 n = throughput ? bandwidth / throughput : C2_MOST_FLOWS;

	if (n >= C2_MOST_FLOWS)
		return C2_MOST_FLOWS;
	return n && throughput * n * (n + 2) > bandwidth * (n + 1) ? n : n + 1;
}
#endif

/* Pacing would space the packets of the probe: the control asks for it when slow start is over. The rate is the kernel's
 * (net.ipv4.tcp_pacing_ca_ratio of cwnd / SRTT, 120 %). */
static __always_inline void pace(struct c2_socket *c, struct sock *sk, int on)
{
	if (on && !c->paces && sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
		c->paces = 1;
	} else if (!on && c->paces) {
		sk->sk_pacing_status = SK_PACING_NONE;
		c->paces = 0;
	}
}

/* Slow start with a new probe. */
static __always_inline void restart(struct c2_socket *c, struct tcp_sock *tp)
{
	if (c->bandwidth) {
		c->prior_bandwidth = c->bandwidth;
		c->prior_n_estimate = c->n_estimate;
		c->bandwidth = 0;
		c->n_estimate = 0;
	}
	probe_begin(&c->probe, tp->snd_nxt);
	c->avoiding_since = 0;
	c->k = 0;
	c->competing = 0;
	c->steep_windows = 0;
#ifdef C2_AUTHOR
	c->probed_dp = 0;
	c->jumped_at = 0;
#endif
	pace(c, (struct sock *)tp, 0);
}

static __always_inline void on_rtt(struct c2_socket *c, __u64 now, __u64 rtt)
{
	__s64 slope;

	if (!c->dp || rtt < c->dp)
		c->dp = rtt;
	if (!c->r)
		c->r = c->last_rtt = rtt;
	c->r = (8 * c->r + rtt + c->last_rtt) / 10; /* 0.8 R + 0.2 (s_k + s_(k-1)) / 2 (5) */
	c->last_rtt = rtt;
	if (!c->avoiding_since || !slope_sample(&c->slope, now, c->r, &slope))
		return;
	/* sigma = 1 ms / (N R), R in s (11): slope, us per s, times N times R, ns, above 1e12. */
	if (slope > 0 && (__u64)slope * c->n > 1000 * SECOND / c->r)
		c->steep_windows++;
	else
		c->steep_windows = 0;
	c->competing = c->steep_windows >= SLOPE_WINDOWS;
}

static __always_inline void on_bytes(struct c2_socket *c, __u64 now, __u64 bytes)
{
	__u64 length = now - c->sample_start;

	c->sample_bytes += bytes;
	if (length < TP_WINDOW)
		return;
	if (c->bandwidth)
		c->n_estimate = algorithm_1(c->sample_bytes * 1000 / (length / 1000000), c->bandwidth);
	c->sample_start = now;
	c->sample_bytes = 0;
}

static __always_inline void measure_anew(struct c2_socket *c, __u64 now)
{
	c->sample_start = now;
	c->sample_bytes = 0;
	__builtin_memset(&c->slope, 0, sizeof(c->slope));
	c->steep_windows = 0;
	c->competing = 0;
	c->k = 0;
}

/* N that somebody set for the destination while the connection lasts takes effect as a jump does. */
static __always_inline void follow_map(struct c2_socket *c, struct tcp_sock *tp, const struct c2_address *remote)
{
	__u32 *flows = entry(&c2_flows, remote);

	if (!flows || *flows == c->map_n)
		return;
	c->map_n = *flows;
	if (!c->map_n || c->map_n > C2_MOST_FLOWS)
		return;
	c->n = c->n_told = c->map_n;
	c->n_source = c->n_told_source = C2_N_MAP;
	if (c->avoiding_since)
		jump(c, tp);
	else if (share(c, tp))
		tp->snd_ssthresh = share(c, tp);
}

/* Here: link events, which the simulator's C2 does not hear. While the link senses, or its radio moves to another channel,
 * the window is what is in flight and nothing is learned; after sensing everything is as it was; after a handoff Dp and
 * BW, which are never aged (16), are of another path: C2 starts over, with its N. Returns whether the link is silent. */
static __always_inline int follow_link(struct c2_socket *c, struct tcp_sock *tp, const struct c2_address *remote,
				       __u64 now)
{
	struct c2_link *link = link_to((struct sock *)tp, remote);
	__u32 flying;

	if (link && link->state != C2_UP && now < link->until) {
		if (!c->frozen) {
			c->frozen = link->state;
			c->frozen_cwnd = tp->snd_cwnd;
		}
		flying = in_flight(tp);
		if (flying < tp->snd_cwnd)
			set_cwnd(tp, flying);
		return 1;
	}
	if (link && link->up_at != c->up_at) {
		c->up_at = link->up_at;
		measure_anew(c, now);
		if (c->probe.active)
			probe_begin(&c->probe, tp->snd_nxt);
	}
	if (c->frozen) {
		if (ca_state(tp) < TCP_CA_Recovery)
			set_cwnd(tp, c->frozen_cwnd);
		/* Nobody said that it ended: from now on. */
		if (!link || link->state != C2_UP)
			c->up_at = now;
		c->frozen = 0;
		c->frozen_cwnd = 0;
	}
	if (link && link->handoffs != c->handoffs) {
		c->handoffs = link->handoffs;
		restart(c, tp);
		c->dp = c->r = 0;
		tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
		set_cwnd(tp, 1);
	}
	return 0;
}

SEC("struct_ops/c2_init")
void BPF_PROG(c2_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_settings *set = settings();
	struct c2_address remote = remote_address(sk);
	struct c2_link *link = link_to(sk, &remote);
	__u32 *flows = entry(&c2_flows, &remote), *answer = bpf_sk_storage_get(&c2_answers, sk, 0, 0);
	struct c2_socket *c = bpf_sk_storage_get(&c2_sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!c)
		return; /* no memory: the hooks below do as Reno does */
	__builtin_memset(c, 0, sizeof(*c));
	c->n = set && set->flows ? set->flows : 1;
	if (answer && *answer) {
		c->n = *answer;
		c->n_source = C2_N_SYN_ACK;
	}
	if (flows)
		c->map_n = *flows;
	if (c->map_n && c->map_n <= C2_MOST_FLOWS) {
		c->n = c->map_n;
		c->n_source = C2_N_MAP;
	}
	c->n_told = c->n;
	c->n_told_source = c->n_source;
	if (link) {
		c->handoffs = link->handoffs;
		c->up_at = link->up_at;
	}
	c->acked = tp->bytes_acked;
	probe_begin(&c->probe, tp->snd_nxt);
	/* The probe asks for a window of one segment, whatever the route's initial window is (4). */
	tp->snd_cwnd = 1;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* Left by a control before this one, as BBR does; a rate that the user set stays. */
	if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
		sk->sk_pacing_status = SK_PACING_NONE;
}

SEC("struct_ops/c2_release")
void BPF_PROG(c2_release, struct sock *sk)
{
	struct c2_socket *c = state(sk);

	if (!c)
		return;
	pace(c, sk, 0);
	bpf_sk_storage_delete(&c2_sockets, sk);
}

SEC("struct_ops/c2_pkts_acked")
void BPF_PROG(c2_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);
	struct c2_address remote;
	__u64 now, rtt, acked, rate;
	__s32 us = sample->rtt_us;
	int silent;

	if (!c)
		return;
	now = bpf_ktime_get_ns();
	remote = remote_address(sk);
	acked = tp->bytes_acked - c->acked;
	c->acked = tp->bytes_acked;
	silent = follow_link(c, tp, &remote, now);
	if (silent)
		return;
	follow_map(c, tp, &remote);
	rtt = us > 0 ? (__u64)us * 1000 : 0;
	/* A packet that left before the silence ended waited for it. */
	if (rtt && now - rtt >= c->up_at)
		on_rtt(c, now, rtt);
	if (!acked)
		return;
	/* An ACK counts its bytes, or one segment (6). */
	if (c->avoiding_since)
		on_bytes(c, now, AUTHOR ? tp->mss_cache : acked);
	if (c->probe.active && (ca_state(tp) == 0 || ca_state(tp) == TCP_CA_Loss)) {
		rate = probe_ack(&c->probe, now, tp->snd_una, tp->snd_nxt, acked, tp->mss_cache);
		if (rate) {
			c->probe.active = 0;
			c->bandwidth = rate;
			c->probes++;
#ifdef C2_AUTHOR
			c->probed_dp = c->dp;
#endif
			if (share(c, tp))
				tp->snd_ssthresh = share(c, tp);
		}
	}
}

/* cwnd changes by `segments` per round trip, of which `acked` of cwnd segments are acknowledged; it grows by at most
 * `acked` (18). */
static __always_inline void change(struct c2_socket *c, struct tcp_sock *tp, __s64 segments, __u32 acked)
{
	__u64 cwnd = tp->snd_cwnd ? tp->snd_cwnd : 1;
	__s64 most = (__s64)acked * ONE, step = divide(segments * most, cwnd);
	__s64 whole;

	c->credit += step < most ? step : most;
	whole = divide(c->credit, ONE);
	c->credit -= whole * ONE;
	whole += cwnd;
	set_cwnd(tp, whole < 1 ? 1 : whole);
}

static __always_inline void learn(struct c2_socket *c)
{
	c->n = c->n_estimate;
	c->n_source = C2_N_ESTIMATE;
}

#ifdef C2_AUTHOR
static __always_inline void saturate(struct c2_socket *c, struct tcp_sock *tp, __u64 now, __u32 acked)
{
	/* No estimate, or a smaller one: the window is held (8, 9). */
	if (!c->n_estimate || c->n_estimate < c->n)
		return;
	if (c->n_estimate > c->n) {
		/* A jump a second, and none before all has settled (13). */
		if (now - c->avoiding_since < SETTLE || (c->jumped_at && now - c->jumped_at < JUMP_INTERVAL))
			return;
		learn(c);
		c->jumped_at = now;
		jump(c, tp);
		return;
	}
	change(c, tp, -1, acked);
	if (tp->snd_ssthresh > tp->snd_cwnd) /* (15) */
		tp->snd_ssthresh = tp->snd_cwnd < 2 ? 2 : tp->snd_cwnd;
}

/* N falls in the ideal band, and the window is its share at least (8). */
static __always_inline void rest(struct c2_socket *c, struct tcp_sock *tp)
{
	__u32 segments;

	if (!c->n_estimate || c->n_estimate >= c->n)
		return;
	learn(c);
	segments = share(c, tp);
	if (!segments)
		return;
	tp->snd_ssthresh = segments;
	if (segments > tp->snd_cwnd)
		set_cwnd(tp, segments);
}

/* When slow start ends for the first time the window is set again if Dp fell since the probe. */
static __always_inline void refine(struct c2_socket *c, struct tcp_sock *tp)
{
	__u64 probed = c->probed_dp;

	c->probed_dp = 0;
	if (!probed || c->refined)
		return;
	c->refined = 1;
	if (c->dp < probed)
		jump(c, tp);
}
#else
static __always_inline void saturate(struct c2_socket *c, struct tcp_sock *tp, __u64 now, __u32 acked)
{
	if (c->n_estimate > c->n) {
		learn(c);
		jump(c, tp);
		return;
	}
	if (c->n_estimate && c->n_estimate < c->n) /* (8) */
		learn(c);
	change(c, tp, -1, acked);
	if (tp->snd_ssthresh > tp->snd_cwnd) /* (15) */
		tp->snd_ssthresh = tp->snd_cwnd < 2 ? 2 : tp->snd_cwnd;
}

static __always_inline void rest(struct c2_socket *c, struct tcp_sock *tp)
{
}

static __always_inline void refine(struct c2_socket *c, struct tcp_sock *tp)
{
}
#endif

static __always_inline void avoid(struct c2_socket *c, struct tcp_sock *tp, __u64 now, __u32 acked)
{
	struct c2_settings *set = settings();

	if (!c->avoiding_since) {
		c->avoiding_since = now;
		measure_anew(c, now);
		c->probe.active = 0;
		refine(c, tp);
		pace(c, (struct sock *)tp, set && set->pacing);
	}
	if (AUTHOR)
		acked = 1; /* of an ACK, whatever it acknowledges (6) */
	if (c->competing) { /* (12) */
		c->k = 0;
		if (c->n_estimate && c->n_estimate != c->n)
			learn(c);
		change(c, tp, AUTHOR && c->n > 1 ? c->n - 1 : c->n, acked);
		return;
	}
	switch (zone(c)) {
	case C2_STARVATION: /* Algorithm 2, once all has settled (13) */
		if (AUTHOR && now - c->avoiding_since < SETTLE)
			break;
		if (!c->k) {
			c->k = c->n;
			c->epoch = now;
		} else if (now - c->epoch > T_W) {
			/* More changes nothing: growth is bounded by slow start's. */
			if (c->k < 1 << 20)
				c->k *= 2;
			c->epoch = now;
		}
		change(c, tp, c->k, acked);
		break;
	case C2_SATURATION:
		c->k = 0;
		saturate(c, tp, now, acked);
		break;
	default:
		c->k = 0;
		rest(c, tp);
	}
}

/* tcp_is_cwnd_limited() of the kernel. */
static __always_inline int cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops/c2_cong_avoid")
void BPF_PROG(c2_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);

	if ((c && c->frozen) || !acked || !cwnd_limited(tp))
		return;
	/* RFC 5681: one segment per ACK. Without memory for its state it grows by one segment per window at most. */
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		set_cwnd(tp, tp->snd_cwnd + 1);
	} else if (c) {
		avoid(c, tp, bpf_ktime_get_ns(), acked);
	} else {
		tp->snd_cwnd_cnt += acked;
		if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {
			tp->snd_cwnd_cnt = 0;
			set_cwnd(tp, tp->snd_cwnd + 1);
		}
	}
}

/* RFC 5681 equation (4); half of FlightSize, and of the window that a silence stopped (14). */
SEC("struct_ops/c2_ssthresh")
__u32 BPF_PROG(c2_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);
	__u32 half = tp->packets_out / 2;

	/* Read by now: the verifier refuses one load of either a socket or a map. */
	barrier_var(half);
	if (c) {
		c->credit = 0;
		if (c->frozen)
			half = c->frozen_cwnd / 2;
	}
	return half < 2 ? 2 : half;
}

SEC("struct_ops/c2_set_state")
void BPF_PROG(c2_set_state, struct sock *sk, __u8 new_state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);

	if (!c)
		return;
	if (c->frozen) {
		/* What was lost before the silence: the window comes back halved. */
		if (new_state == TCP_CA_CWR || new_state == TCP_CA_Recovery)
			c->frozen_cwnd = tp->snd_ssthresh;
	} else if (new_state == TCP_CA_Loss) {
		restart(c, tp);
	} else if (new_state && c->probe.active) {
		/* A sequence that loses a packet comes back spaced by loss recovery, not by the bottleneck; so does one
		 * behind a reduced window. */
		probe_begin(&c->probe, tp->snd_nxt);
	}
}

SEC("struct_ops/c2_cwnd_event")
void BPF_PROG(c2_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);
	struct c2_address remote;
	struct c2_link *link;

	if (!c)
		return;
	if (event == CA_EVENT_LOSS) {
		/* A timer that ends in a silence tells of the silence: slow start back to the window before, no new probe. */
		remote = remote_address(sk);
		link = link_to(sk, &remote);
		if (link && link->state != C2_UP && bpf_ktime_get_ns() < link->until) {
			if (!c->frozen) {
				c->frozen = link->state;
				c->frozen_cwnd = tp->prior_cwnd;
			}
			tp->snd_ssthresh = c->frozen_cwnd < 2 ? 2 : c->frozen_cwnd;
			return;
		}
		/* The kernel asks for ssthresh before it says that a timer ended (14). */
		if (tp->snd_ssthresh < 10)
			tp->snd_ssthresh = 10;
		restart(c, tp);
	} else if (event == CA_EVENT_CWND_RESTART) {
		/* Slow start again: the probe too, and what was estimated serves until it answers. */
		probe_begin(&c->probe, tp->snd_nxt);
		c->avoiding_since = 0;
		pace(c, sk, 0);
	}
}

SEC("struct_ops/c2_undo_cwnd")
__u32 BPF_PROG(c2_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct c2_socket *c = state(sk);

	if (c && c->prior_bandwidth && !c->bandwidth) {
		c->bandwidth = c->prior_bandwidth;
		c->n_estimate = c->prior_n_estimate;
		c->probe.active = 0;
	}
	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

/* The object tells by the name of this which rules it has (hold.c). */
SEC(".struct_ops")
#ifdef C2_AUTHOR
struct tcp_congestion_ops c2_author = {
#else
struct tcp_congestion_ops c2 = {
#endif
	.init = (void *)c2_init,
	.release = (void *)c2_release,
	.pkts_acked = (void *)c2_pkts_acked,
	.cong_avoid = (void *)c2_cong_avoid,
	.ssthresh = (void *)c2_ssthresh,
	.set_state = (void *)c2_set_state,
	.cwnd_event = (void *)c2_cwnd_event,
	.undo_cwnd = (void *)c2_undo_cwnd,
	.flags = NON_RESTRICTED,
#ifdef C2_AUTHOR
	.name = C2_AUTHOR_NAME,
#else
	.name = C2_NAME,
#endif
};

/* Writes a struct c2_report for every socket that the control has. */
SEC("iter/bpf_sk_storage_map")
int c2_status(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct c2_socket *c = ctx->value;
	struct sock *sk = ctx->sk;
	struct tcp_sock *tp;
	struct c2_report report = {};

	if (!c || !sk)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	report.local = local_address(sk);
	report.remote = remote_address(sk);
	report.local_port = sk->__sk_common.skc_num;
	report.remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	report.cwnd = tp->snd_cwnd;
	report.ssthresh = tp->snd_ssthresh;
	report.mss = tp->mss_cache;
	report.n = c->n;
	report.n_source = c->n_source;
	report.n_estimate = c->n_estimate;
	report.n_told = c->n_told;
	report.n_told_source = c->n_told_source;
	report.probes = c->probes;
	report.zone = !c->avoiding_since || tp->snd_cwnd < tp->snd_ssthresh ? C2_SLOW_START
		    : c->competing ? C2_COMPETITION : zone(c);
	report.frozen = c->frozen;
	report.frozen_cwnd = c->frozen_cwnd;
	report.handoffs = c->handoffs;
	report.bandwidth = c->bandwidth;
	report.dp = c->dp;
	report.r = c->r;
	report.cookie = sk->__sk_common.skc_cookie.counter;
	bpf_seq_write(ctx->meta->seq, &report, sizeof(report));
	return 0;
}
