/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The slope of the RTT over time windows, by least squares in integers: BPF has no floating point. */
#ifndef SLOPE_BPF_H
#define SLOPE_BPF_H

#define SLOPE_WINDOW 500000000ULL /* ns */
/* Time within a window is counted in units of 100 us, R in us over the window's first sample. With these bounds no
 * product below leaves 63 bits. More samples than this in one window (40,000 ACKs a second) are not looked at. */
#define SLOPE_UNIT 100000ULL
#define SLOPE_SAMPLES 20000
#define SLOPE_LATEST 65535
#define SLOPE_HIGHEST 4000000

struct c2_slope {
	__u64 start;  /* ns; 0: no sample yet */
	__s64 origin; /* us */
	__s64 count, t, r, tt, tr;
};

/* Division towards zero: BPF divides unsigned numbers only. `by` is above zero. */
static __always_inline __s64 divide(__s64 value, __s64 by)
{
	return value < 0 ? -(__s64)((__u64)-value / (__u64)by) : (__s64)((__u64)value / (__u64)by);
}

/* Takes R, ns. Returns whether this sample ends a window, and then in `found` its slope, us of RTT per s; zero where the
 * window has too few samples to tell one. */
static __always_inline int slope_sample(struct c2_slope *slope, __u64 now, __u64 rtt, __s64 *found)
{
	__s64 us = rtt / 1000, t, r, spread;
	__u64 age;

	if (!slope->start) {
		slope->start = now;
		slope->origin = us;
	}
	age = now - slope->start;
	if (slope->count < SLOPE_SAMPLES) {
		t = age / SLOPE_UNIT;
		t = t > SLOPE_LATEST ? SLOPE_LATEST : t;
		r = us - slope->origin;
		r = r > SLOPE_HIGHEST ? SLOPE_HIGHEST : r < -SLOPE_HIGHEST ? -SLOPE_HIGHEST : r;
		slope->count += 1;
		slope->t += t;
		slope->r += r;
		slope->tt += t * t;
		slope->tr += t * r;
	}
	if (age < SLOPE_WINDOW)
		return 0;
	spread = slope->tt - divide(slope->t * slope->t, slope->count);
	*found = 0;
	/* One unit is 1e-4 s. */
	if (spread > 0)
		*found = divide((slope->tr - divide(slope->t * slope->r, slope->count)) * 10000, spread);
	__builtin_memset(slope, 0, sizeof(*slope));
	return 1;
}

#endif
