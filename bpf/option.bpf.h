/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * N by the handshake, as in the simulator: the SYN of a socket with the control c2 carries an option (kind 253, RFC 6994),
 * and the receiving host answers on the SYN-ACK with the number of connections that asked before and are still open at
 * the same address. Here that host counts its own connections; the simulator counts the bottleneck's.
 */
#ifndef OPTION_BPF_H
#define OPTION_BPF_H

/* The option as the simulator's captures write it; the identifier is not registered. */
#define OPTION_KIND 253
#define OPTION_LENGTH 8
#define OPTION_EXPERIMENT_HIGH 0xc0
#define OPTION_EXPERIMENT_LOW 0x67
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_SAVE_SYN 27
#define TCP_FLAG_SYN_BIT 2
#define TCP_FLAG_ACK_BIT 16

/* Connections that asked, are open, and end at a local address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct c2_address);
	__type(value, __u32);
} c2_counts SEC(".maps");

/* At the sender: N. At the receiver: 1 for a connection that is counted. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} c2_answers SEC(".maps");

static __always_inline struct c2_address option_local(struct bpf_sock_ops *ops)
{
	__u32 ipv4 = ops->local_ip4, family = ops->family;
	struct c2_address address = { .word = { ops->local_ip6[0], ops->local_ip6[1], ops->local_ip6[2],
						ops->local_ip6[3] } };

	/* Both are read: the verifier refuses one load from either place. */
	barrier_var(ipv4);
	barrier_var(address.word[3]);
	return family == AF_INET ? mapped(ipv4) : address;
}

/* Reads the option of the packet at hand, or of the SYN. Returns whether it is there, and its number. */
static __always_inline int option_read(struct bpf_sock_ops *ops, __u64 from, __u32 *value)
{
	__u8 option[OPTION_LENGTH] = { OPTION_KIND, 4, OPTION_EXPERIMENT_HIGH, OPTION_EXPERIMENT_LOW };

	if (bpf_load_hdr_opt(ops, option, sizeof(option), from) != OPTION_LENGTH)
		return 0;
	*value = (__u32)option[4] << 24 | option[5] << 16 | option[6] << 8 | option[7];
	return 1;
}

static __always_inline void option_write(struct bpf_sock_ops *ops, __u32 value)
{
	__u8 option[OPTION_LENGTH] = { OPTION_KIND,  OPTION_LENGTH, OPTION_EXPERIMENT_HIGH, OPTION_EXPERIMENT_LOW,
				       value >> 24, value >> 16,   value >> 8,		   value };

	bpf_store_hdr_opt(ops, option, sizeof(option), 0);
}

static __always_inline void option_callbacks(struct bpf_sock_ops *ops, __u32 on, __u32 off)
{
	bpf_sock_ops_cb_flags_set(ops, (ops->bpf_sock_ops_cb_flags | on) & ~off);
}

/* Whether this packet is to carry the option: a SYN of ours, or a SYN-ACK to one that asks. */
static __always_inline int option_wanted(struct bpf_sock_ops *ops, __u32 flags)
{
	__u32 asked;

	if (!(flags & TCP_FLAG_SYN_BIT))
		return 0;
	return !(flags & TCP_FLAG_ACK_BIT) || option_read(ops, BPF_LOAD_HDR_OPT_TCP_SYN, &asked);
}

static __always_inline void option_count(const struct c2_address *local, int change)
{
	__u32 zero = 0, *count = bpf_map_lookup_elem(&c2_counts, local);

	if (!count) {
		bpf_map_update_elem(&c2_counts, local, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&c2_counts, local);
	}
	if (count)
		__sync_fetch_and_add(count, change);
}

static __always_inline __u32 *option_kept(struct bpf_sock_ops *ops, __u64 flags)
{
	struct bpf_sock *sk = ops->sk;

	return sk ? bpf_sk_storage_get(&c2_answers, sk, NULL, flags) : NULL;
}

SEC("sockops")
int c2_option(struct bpf_sock_ops *ops)
{
	struct c2_address local = option_local(ops);
	__u32 op = ops->op, flags = ops->skb_tcp_flags, state = ops->args[1];
	char control[16] = {};
	__u32 value = 0, *kept, *count;
	int one = 1;

	switch (op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		/* Of the two only one is loaded. */
		if (!bpf_getsockopt(ops, SOL_TCP, TCP_CONGESTION, control, sizeof(control)) && control[0] == 'c' &&
		    control[1] == '2' && (!control[2] || control[2] == '_'))
			option_callbacks(ops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		/* Whether a connection asked is looked up when it stands, by the SYN. */
		bpf_setsockopt(ops, SOL_TCP, TCP_SAVE_SYN, &one, sizeof(one));
		option_callbacks(ops, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		if (option_wanted(ops, flags))
			bpf_reserve_hdr_opt(ops, OPTION_LENGTH, 0);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		if (!option_wanted(ops, flags))
			break;
		if (flags & TCP_FLAG_ACK_BIT) {
			count = bpf_map_lookup_elem(&c2_counts, &local);
			value = count ? *count : 0;
		}
		option_write(ops, value);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		option_callbacks(ops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		if (!option_read(ops, 0, &value) || value >= C2_MOST_FLOWS)
			break;
		kept = option_kept(ops, BPF_SK_STORAGE_GET_F_CREATE);
		if (kept)
			*kept = value + 1;
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		option_callbacks(ops, 0, BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		if (!option_read(ops, BPF_LOAD_HDR_OPT_TCP_SYN, &value))
			break;
		kept = option_kept(ops, BPF_SK_STORAGE_GET_F_CREATE);
		if (!kept)
			break;
		*kept = 1;
		option_count(&local, 1);
		option_callbacks(ops, BPF_SOCK_OPS_STATE_CB_FLAG, 0);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (state != BPF_TCP_CLOSE)
			break;
		kept = option_kept(ops, 0);
		if (kept && *kept) {
			*kept = 0;
			option_count(&local, -1);
		}
		break;
	}
	return 1;
}

#endif
