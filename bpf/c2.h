/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs in the kernel and cogtcp-c2 share: the entries of the maps. */
#ifndef C2_H
#define C2_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Name of the control: what setsockopt(TCP_CONGESTION) asks for. C2_AUTHOR is defined where the rules of the first author's code are
 * compiled, the simulator's preset c2-author. */
#define C2_NAME "c2"
#define C2_AUTHOR_NAME "c2_author" /* the kernel takes no hyphen */

/* Most flows that N can be, as in the simulator. */
#define C2_MOST_FLOWS 10000

/* An address: IPv6, or IPv4 mapped into it. All zeros: any destination that has no entry of its own. */
struct c2_address {
	__u32 word[4];
};

/* A key of c2_links: the route of a network namespace to a destination. */
struct c2_route {
	struct c2_address to;
	__u32 space;      /* inode of the namespace; 0: any that has no entry of its own */
};

/* The only entry of c2_settings. */
struct c2_settings {
	__u32 flows;      /* N where neither an answer nor c2_flows says another */
	__u32 pacing;     /* pace in congestion avoidance, at the kernel's rate */
	__u32 author;     /* the rules are those of the first author's code, and the name is C2_AUTHOR_NAME */
	/* Who holds the link, once the control is registered; zero before. */
	__u32 holder;     /* process id in the first namespace */
	__u32 link;       /* id of the link */
	/* Ids of the other maps and of the iterator. */
	__u32 flows_map, links_map, sockets_map, iterator, unused;
};

enum c2_link_state {
	C2_UP,
	C2_SENSING,
	C2_HANDOFF,
};

/* An entry of c2_links: what the radio of the link to a destination does. Times are CLOCK_MONOTONIC, ns. */
struct c2_link {
	__u32 state;      /* enum c2_link_state */
	__u32 handoffs;   /* handoffs that ended */
	__u64 until;      /* the silence ends here even if nobody says so: who said it began may have died */
	__u64 up_at;      /* when the last silence ended */
};

enum c2_zone {
	C2_SLOW_START,
	C2_STARVATION,
	C2_IDEAL,
	C2_SATURATION,
	C2_COMPETITION,
};

enum c2_n_source {
	C2_N_SETTING,
	C2_N_MAP,
	C2_N_SYN_ACK,
	C2_N_ESTIMATE,
};

/* What the iterator writes for each socket. */
struct c2_report {
	struct c2_address local, remote;
	__u32 local_port, remote_port;
	__u32 cwnd, ssthresh, mss;
	__u32 n, n_source, n_estimate; /* n_estimate 0: none yet */
	__u32 n_told, n_told_source;   /* what N was told to be last, which an estimate does not change */
	__u32 zone, frozen, frozen_cwnd, handoffs;
	__u32 probes, unused;          /* probes that have answered; unused: the numbers below are aligned */
	__u64 bandwidth;               /* BW, bytes per second; 0: the probe has not answered */
	__u64 dp, r;                   /* ns; 0: no sample yet */
	__u64 cookie;                  /* of the socket, by which ss -e names it; 0: nobody has asked for it yet */
};

#endif
