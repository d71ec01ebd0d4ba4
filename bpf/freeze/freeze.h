/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs in the kernel and the daemon share. */
#ifndef FREEZE_H
#define FREEZE_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif

/* Most connections on an interface; of more, those beyond are not managed, which `freeze_counts.refused` counts. */
#define FREEZE_MOST 16384
/* Link, IPv6 and TCP headers with all options: 14 + 40 + 60, in whole words. */
#define FREEZE_HEADER 128
/* Marks (SO_MARK) of the daemon's own packets: to the network, and to this host. */
#define FREEZE_MARK_OUT 0x43475446
#define FREEZE_MARK_IN 0x43475447

/* What the daemon is; one entry, in the map freeze_settings. */
struct freeze_settings {
	__u32 holder;          /* process */
	__u32 interface;       /* its index */
	__u64 namespace;       /* inode of the network namespace */
	__u32 link_header;     /* bytes before the IP header: 14, or 0 of a TUN device */
	__u32 port;            /* UDP */
	__u32 clsact;          /* attached by a qdisc that outlives the process, not by links that do not */
	__u32 created_qdisc;   /* the qdisc was not there before */
	__u32 state_map, connections_map, counts_map; /* their ids */
	char name[16];         /* of the interface */
	__u64 longest;         /* ns for which connections are held at most */
	__u64 freshness;       /* ns by which the sending time of a message may be off */
	__u32 authenticated;   /* messages are: there is a key */
	__u32 pad;
};

/* Whether sources are held; one entry, in the map freeze_state. Times are CLOCK_MONOTONIC in ns. */
struct freeze_state {
	__u32 frozen;
	__u32 epoch;  /* of this freeze, from 1 */
	__u64 until;  /* a segment from the source that arrives later proves that the path works */
	__u64 bound;  /* nobody is held from here on, whoever has said what, and also where the daemon is gone */
};

struct freeze_counts {
	__u64 refused;       /* connections for which there was no room */
	__u64 let_go;        /* connections that were let go by such a segment */
	__u64 warnings;      /* messages: going down */
	__u64 all_clears;    /* going up */
	__u64 requests;      /* for the round-trip time */
	__u64 ignored;       /* what was no message, or of somebody else */
	__u64 forged, replayed, stale, flooded; /* messages that were refused: verdicts of guard.h */
	__u64 bounded;       /* holds that the bound ended, and warnings that it refused */
	__u64 injected;      /* ACKs of the daemon's */
};

/* IPv4 addresses are mapped into IPv6. */
struct freeze_key {
	__u32 local[4], remote[4];
	__u16 local_port, remote_port; /* in network order */
};

/* The headers of the last ACK in one direction, as TCP wrote it. */
struct freeze_ack {
	__u32 length; /* with all options; 0: there was none */
	__u32 next;   /* the sequence number after all that its sender has sent */
	__u8 header[FREEZE_HEADER];
};

/* Under the lock: both ACKs. The rest is written by one direction each, or may be torn without harm. */
struct freeze_connection {
	struct bpf_spin_lock lock;
	__u32 released;      /* the freeze that it was let go of by a segment */
	__u64 seen;
	__u64 stamp_at;      /* when the packet left whose echo is awaited; 0: none is */
	__u32 stamp;         /* its TSval */
	__u32 handshake;     /* it is a SYN or SYN-ACK, answered by any ACK */
	__u64 rtt_least, rtt_smoothed, rtt_greatest; /* ns; 0: none yet */
	__u64 closed_acks;   /* ACKs that left with their window rewritten to zero */
	__u64 held_acks;     /* ACKs that arrived likewise */
	__u64 probes;        /* window probes that arrived while frozen */
	__u32 acked;         /* the last acknowledgement number that left */
	__u32 pad;
	struct freeze_ack out, in;
};

#endif
