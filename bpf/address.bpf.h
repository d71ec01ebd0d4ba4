/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The addresses of a socket, IPv4 mapped into IPv6. */
#ifndef ADDRESS_BPF_H
#define ADDRESS_BPF_H

#include <bpf/bpf_endian.h>

#define AF_INET 2

static __always_inline struct c2_address mapped(__u32 ipv4)
{
	struct c2_address address = { .word = { 0, 0, bpf_htonl(0xffff), ipv4 } };

	return address;
}

static __always_inline struct c2_address remote_address(const struct sock *sk)
{
	struct c2_address address;

	if (sk->__sk_common.skc_family == AF_INET)
		return mapped(sk->__sk_common.skc_daddr);
	address.word[0] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[0];
	address.word[1] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[1];
	address.word[2] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[2];
	address.word[3] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3];
	return address;
}

static __always_inline struct c2_address local_address(const struct sock *sk)
{
	struct c2_address address;

	if (sk->__sk_common.skc_family == AF_INET)
		return mapped(sk->__sk_common.skc_rcv_saddr);
	address.word[0] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[0];
	address.word[1] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[1];
	address.word[2] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[2];
	address.word[3] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[3];
	return address;
}

#endif
