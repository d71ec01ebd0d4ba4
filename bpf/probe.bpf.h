/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bandwidth probe: two packets or more sent back to back come back as ACKs spaced by the bottleneck. The rules are
 * those of the simulator's (crates/transport/src/congestion/c2/probe.rs). No hook of a control sees a packet leave, so
 * the sequence is what SND.NXT moved by between two ACKs: when an ACK is looked at, what it lets go has not left yet.
 */
#ifndef PROBE_BPF_H
#define PROBE_BPF_H

/* Most packets of a sequence. */
#define PROBE_LONGEST 8

struct c2_probe {
	__u64 first_at;          /* when the first ACK came, ns; 0: not yet */
	__u32 start, end;        /* sequence numbers; end counts once the sequence is closed */
	__u32 first_acked, left; /* bytes that the first ACK acknowledged, and bytes of the sequence that it left */
	__u8 active, closed;
};

static __always_inline void probe_begin(struct c2_probe *probe, __u32 next)
{
	__builtin_memset(probe, 0, sizeof(*probe));
	probe->active = 1;
	probe->start = next;
}

/* An ACK for `acked` more bytes up to `una`, with `next` sent. Returns the rate, bytes per second, when it completes a
 * sequence; else 0. */
static __always_inline __u64 probe_ack(struct c2_probe *probe, __u64 now, __u32 una, __u32 next, __u32 acked, __u32 mss)
{
	__u64 rate = 0;
	__u32 left;

	if (!probe->closed) {
		__u32 sent = next - probe->start;

		/* One packet tells nothing: the next sequence is tried. */
		if ((__s32)sent <= (__s32)mss) {
			probe_begin(probe, next);
			return 0;
		}
		if (sent > PROBE_LONGEST * mss)
			sent = PROBE_LONGEST * mss;
		probe->closed = 1;
		probe->end = probe->start + sent;
	}
	if ((__s32)(una - probe->end) < 0) {
		__u32 covered = una - probe->start;

		/* At least the first packet, and whole packets only. */
		if (!probe->first_at && (__s32)covered >= (__s32)mss) {
			left = probe->end - probe->start - covered / mss * mss;
			probe->first_at = now;
			probe->first_acked = acked;
			probe->left = left;
		}
		return 0;
	}
	/* Not where the last packet waited for the receiver's timer, or for a packet after it (ambiguity 17). */
	if (probe->first_at && una == probe->end && acked >= probe->first_acked && now > probe->first_at)
		rate = probe->left * 1000000000ULL / (now - probe->first_at);
	probe_begin(probe, next);
	return rate;
}

#endif
