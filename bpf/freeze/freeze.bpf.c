// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The connection manager of Freeze-TCP on the interface of a client: what `ConnectionManager` of crates/train/src/freeze.rs
 * does with every segment. It is there for either end: towards a far source it closes the window of ACKs that leave, towards this
 * host's own source that of ACKs that arrive. The last ACK of each direction is kept as TCP wrote it, for the daemon to repeat.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "freeze.h"

#define PASS -1 /* TCX_NEXT and TC_ACT_UNSPEC: whoever comes next decides */
#define TCP 6
#define FIN 1
#define SYN 2
#define RST 4
#define ACK 16
/* An echo that took longer tells of an application that was silent, not of the path: a departure from the simulator's manager,
 * whose sources are never silent for so long. */
#define LONGEST_RTT 10000000000ULL

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct freeze_settings);
} freeze_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct freeze_state);
} freeze_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct freeze_counts);
} freeze_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FREEZE_MOST);
	__type(key, struct freeze_key);
	__type(value, struct freeze_connection);
} freeze_connections SEC(".maps");

/* Room for what is too large for the stack: a new entry, and the headers at hand. */
struct scratch {
	struct freeze_connection fresh;
	__u8 header[FREEZE_HEADER];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} freeze_scratch SEC(".maps");

/* A TCP segment. */
struct segment {
	__u32 transport;  /* where its TCP header begins */
	__u32 length;     /* of all headers */
	__u32 payload;
	__u32 seq, ack;
	__u16 window;     /* in network order */
	__u8 flags;
	__u32 source[4], destination[4];
	__u16 source_port, destination_port;
};

static __always_inline int after(__u32 a, __u32 b)
{
	return (__s32)(a - b) > 0;
}

/* Read the headers. Returns whether it is TCP, whole, with an IPv4 header without options or an IPv6 header without extensions. */
static __always_inline int read_segment(struct __sk_buff *skb, __u32 link, struct segment *it)
{
	struct tcphdr tcp;
	__u32 whole, header;
	__u8 version;

	if (bpf_skb_load_bytes(skb, link, &version, 1))
		return 0;
	if (version == 0x45) {
		struct iphdr ip;

		if (bpf_skb_load_bytes(skb, link, &ip, sizeof(ip)) || ip.protocol != TCP ||
		    (ip.frag_off & bpf_htons(0x3fff)))
			return 0;
		it->source[0] = it->source[1] = it->destination[0] = it->destination[1] = 0;
		it->source[2] = it->destination[2] = bpf_htonl(0xffff);
		it->source[3] = ip.saddr;
		it->destination[3] = ip.daddr;
		it->transport = link + sizeof(ip);
		whole = bpf_ntohs(ip.tot_len);
		whole = whole ? link + whole : skb->len;
	} else if (version >> 4 == 6) {
		struct ipv6hdr ip;

		if (bpf_skb_load_bytes(skb, link, &ip, sizeof(ip)) || ip.nexthdr != TCP)
			return 0;
		__builtin_memcpy(it->source, &ip.saddr, 16);
		__builtin_memcpy(it->destination, &ip.daddr, 16);
		it->transport = link + sizeof(ip);
		whole = bpf_ntohs(ip.payload_len);
		whole = whole ? it->transport + whole : skb->len;
	} else {
		return 0;
	}
	if (bpf_skb_load_bytes(skb, it->transport, &tcp, sizeof(tcp)))
		return 0;
	header = tcp.doff * 4;
	it->length = it->transport + header;
	if (header < sizeof(tcp) || whole < it->length)
		return 0;
	it->payload = whole - it->length;
	it->seq = bpf_ntohl(tcp.seq);
	it->ack = bpf_ntohl(tcp.ack_seq);
	it->window = tcp.window;
	it->flags = (tcp.fin ? FIN : 0) | (tcp.syn ? SYN : 0) | (tcp.rst ? RST : 0) | (tcp.ack ? ACK : 0);
	it->source_port = tcp.source;
	it->destination_port = tcp.dest;
	return 1;
}

static __always_inline void key_of(const struct segment *it, int leaves, struct freeze_key *key)
{
	__builtin_memcpy(key->local, leaves ? it->source : it->destination, 16);
	__builtin_memcpy(key->remote, leaves ? it->destination : it->source, 16);
	key->local_port = leaves ? it->source_port : it->destination_port;
	key->remote_port = leaves ? it->destination_port : it->source_port;
}

/* TSval and TSecr where all stacks have them but in the handshake: first, after two bytes of padding (RFC 7323 appendix A). */
static __always_inline int stamps(struct __sk_buff *skb, const struct segment *it, __u32 *value, __u32 *echo)
{
	__be32 option[3];

	if (it->length < it->transport + 32 || bpf_skb_load_bytes(skb, it->transport + 20, option, 12) ||
	    option[0] != bpf_htonl(0x0101080a))
		return 0;
	*value = bpf_ntohl(option[1]);
	*echo = bpf_ntohl(option[2]);
	return 1;
}

static __always_inline void sample(struct freeze_connection *its, __u64 now)
{
	__u64 rtt = now - its->stamp_at;

	its->stamp_at = 0;
	if (rtt > LONGEST_RTT)
		return;
	if (!its->rtt_least || rtt < its->rtt_least)
		its->rtt_least = rtt;
	if (rtt > its->rtt_greatest)
		its->rtt_greatest = rtt;
	its->rtt_smoothed = its->rtt_smoothed ? its->rtt_smoothed - its->rtt_smoothed / 8 + rtt / 8 : rtt;
}

/* Keep the headers of an ACK. */
static __always_inline void keep(struct __sk_buff *skb, const struct segment *it, struct scratch *scratch,
				 struct freeze_connection *its, struct freeze_ack *ack)
{
	__u32 next = it->seq + it->payload + (it->flags & FIN ? 1 : 0);
	/* 64 bits wide: what the verifier knows of a number is lost where it is widened. */
	__u64 length = it->length;

	/* For the verifier, and no more than there is room for. */
	asm volatile("" : "+r"(length));
	if (length < 40 || length > FREEZE_HEADER || bpf_skb_load_bytes(skb, 0, scratch->header, length))
		return;
	bpf_spin_lock(&its->lock);
	if (!ack->length || after(next, ack->next))
		ack->next = next;
	ack->length = length;
	__builtin_memcpy(ack->header, scratch->header, FREEZE_HEADER);
	bpf_spin_unlock(&its->lock);
}

/* The window is zero, and the checksum follows. One that the device will fill in is left to it. */
static __always_inline void close_window(struct __sk_buff *skb, const struct segment *it)
{
	__be16 zero = 0;

	if (!it->window)
		return;
	bpf_l4_csum_replace(skb, it->transport + 16, it->window, zero, sizeof(zero));
	bpf_skb_store_bytes(skb, it->transport + 14, &zero, sizeof(zero), 0);
}

static __always_inline struct freeze_connection *begin(const struct freeze_key *key, struct scratch *scratch)
{
	struct freeze_counts *counts;
	__u32 zero = 0;

	__builtin_memset(&scratch->fresh, 0, sizeof(scratch->fresh));
	if (bpf_map_update_elem(&freeze_connections, key, &scratch->fresh, BPF_NOEXIST)) {
		counts = bpf_map_lookup_elem(&freeze_counts, &zero);
		if (counts)
			__sync_fetch_and_add(&counts->refused, 1);
	}
	return bpf_map_lookup_elem(&freeze_connections, key);
}

/* Whether the sources of a connection are held. */
static __always_inline int is_held(const struct freeze_state *state, const struct freeze_connection *its, __u64 now)
{
	return state->frozen && now < state->bound && its->released != state->epoch;
}

/* A segment that is to be looked at, and what is needed for it. */
struct at_hand {
	struct freeze_state *state;
	struct scratch *scratch;
	struct segment it;
	struct freeze_key key;
};

/* Take a packet in hand; returns whether it is a segment of a connection that goes on: one that is reset is forgotten. */
static __always_inline int take(struct __sk_buff *skb, int leaves, struct at_hand *at)
{
	struct freeze_settings *settings;
	__u32 zero = 0;

	settings = bpf_map_lookup_elem(&freeze_settings, &zero);
	at->state = bpf_map_lookup_elem(&freeze_state, &zero);
	at->scratch = bpf_map_lookup_elem(&freeze_scratch, &zero);
	if (!settings || !at->state || !at->scratch || !read_segment(skb, settings->link_header ? 14 : 0, &at->it))
		return 0;
	key_of(&at->it, leaves, &at->key);
	if (at->it.flags & RST) {
		bpf_map_delete_elem(&freeze_connections, &at->key);
		return 0;
	}
	return 1;
}

SEC("tc")
int freeze_egress(struct __sk_buff *skb)
{
	struct freeze_connection *its;
	struct at_hand at = {};
	__u32 value, echo;
	int frozen;
	__u64 now;

	/* The daemon's own are right as they are. */
	if (skb->mark == FREEZE_MARK_OUT)
		return PASS;
	if (skb->mark == FREEZE_MARK_IN)
		return bpf_redirect(skb->ifindex, BPF_F_INGRESS);
	if (!take(skb, 1, &at))
		return PASS;
	now = bpf_ktime_get_ns();
	its = bpf_map_lookup_elem(&freeze_connections, &at.key);
	if (at.it.flags & SYN) {
		/* The same ends may be those of another connection now. */
		if (its && !its->handshake) {
			bpf_map_delete_elem(&freeze_connections, &at.key);
			its = NULL;
		}
		if (its) {
			/* It is repeated: which of them is answered nobody knows (Karn). */
			its->stamp_at = 0;
			return PASS;
		}
		its = begin(&at.key, at.scratch);
		if (its) {
			its->handshake = 1;
			its->stamp_at = its->seen = now;
		}
		return PASS;
	}
	if (!(at.it.flags & ACK))
		return PASS;
	if (!its)
		its = begin(&at.key, at.scratch);
	if (!its)
		return PASS;
	if (its->handshake)
		its->handshake = its->stamp_at = 0;
	its->seen = now;
	its->acked = at.it.ack;
	keep(skb, &at.it, at.scratch, its, &its->out);
	frozen = is_held(at.state, its, now);
	if (frozen) {
		its->stamp_at = 0;
		__sync_fetch_and_add(&its->closed_acks, 1);
		close_window(skb, &at.it);
	} else if (!its->stamp_at && stamps(skb, &at.it, &value, &echo) && value != its->stamp) {
		its->stamp = value;
		its->stamp_at = now;
	}
	return PASS;
}

SEC("tc")
int freeze_ingress(struct __sk_buff *skb)
{
	struct freeze_connection *its;
	struct freeze_counts *counts;
	struct at_hand at = {};
	__u32 zero = 0, value, echo;
	int frozen;
	__u64 now;

	if (skb->mark == FREEZE_MARK_IN) {
		skb->mark = 0;
		return PASS;
	}
	if (!take(skb, 0, &at))
		return PASS;
	its = bpf_map_lookup_elem(&freeze_connections, &at.key);
	if (!its)
		return PASS;
	now = bpf_ktime_get_ns();
	its->seen = now;
	frozen = is_held(at.state, its, now);
	if (frozen && now >= at.state->until) {
		/* The path works, though nobody said so: the own answer to this segment carries the real window. */
		its->released = at.state->epoch;
		frozen = 0;
		counts = bpf_map_lookup_elem(&freeze_counts, &zero);
		if (counts)
			__sync_fetch_and_add(&counts->let_go, 1);
	}
	if (its->stamp_at && (at.it.flags & ACK)) {
		if (its->handshake)
			sample(its, now);
		else if (!frozen && stamps(skb, &at.it, &value, &echo) && !after(its->stamp, echo))
			sample(its, now);
	}
	if ((at.it.flags & (SYN | ACK)) != ACK)
		return PASS;
	if (frozen && !at.it.payload && after(its->acked, at.it.seq))
		__sync_fetch_and_add(&its->probes, 1);
	keep(skb, &at.it, at.scratch, its, &its->in);
	if (frozen) {
		__sync_fetch_and_add(&its->held_acks, 1);
		close_window(skb, &at.it);
	}
	return PASS;
}
