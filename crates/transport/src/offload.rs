//! Packets of several segments: Linux hands them to the network whole ("generic segmentation offload", always
//! on since 4.17), and only the device cuts them (`tcp_output.c`).
//!
//! ```text
//! segments of a packet     what leaves in 1/1024 s (pacing rate >> 10), 2 at least       tcp_tso_autosize
//!                          more over less than 16 ms: 64 KiB / 2^(min RTT / 512 us)
//!                          no more than cwnd lets out, nor than half of cwnd              tcp_cwnd_test
//! the last of several      bears PSH                                                      __tcp_transmit_skb
//! pacing                   between packets, not within one
//! ```
//!
//! So at 10 Mbit/s segments leave in pairs, and a window that has grown by one lets a pair and a single
//! segment go. A Linux receiver acknowledges segments with PSH at once, so its ACKs fall out of step with the
//! pairs. Two growths of the window then come closer together than a round trip. A packet that cwnd would cut
//! short waits for the next ACK if that is less than 1 ms away (`tcp_tso_should_defer`). A single segment
//! then leaves as a pair with the segments that this ACK lets go. Under a pacer retransmissions of what was one
//! packet leave as one packet, as far as they are lost together.

use cogtcp_units::{Duration, Rate, Time};

/// `sk_pacing_shift`.
const SHIFT: u32 = 10;
/// `sk_gso_max_size`.
pub(crate) const LARGEST: u64 = 65_536;
/// The next ACK is waited for that long at most, and as long after the last segment.
const WAIT: Duration = Duration::from_millis(1);
/// `tcp_tso_win_divisor`: where that part of the window is free, nothing waits.
const WINDOW_PARTS: u64 = 3;
/// `tcp_tso_rtt_log`: in microseconds.
const RTT_LOG: u32 = 9;
/// `bbr_min_tso_rate`: below it a paced control sends single segments.
const LEAST_PACED: Rate = Rate::from_bits_per_second(1_200_000);

/// The packet that is leaving.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offload {
    /// Segments of it that are still to leave.
    left: u32,
    several: bool,
}

/// The packet under retransmission.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Again {
    /// Segments that may still follow, where they begin, and when they were last sent.
    left: u16,
    from: u64,
    sent_at: Time,
    /// Segments that the sender has sent, with the last retransmission.
    number: u64,
}

impl Offload {
    /// A segment leaves; `most` is how many go with it where it begins a packet. Whether it is the last of
    /// several.
    pub(crate) fn on_send(&mut self, most: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = most().clamp(1, u64::from(u32::MAX)) as u32;
            self.several = self.left > 1;
        }
        self.left -= 1;
        self.left == 0 && self.several
    }

    /// The next segment belongs to a packet that has left in part.
    pub(crate) const fn is_within(self) -> bool {
        self.left > 0
    }

    /// Nothing more goes with it.
    pub(crate) fn end(&mut self) {
        self.left = 0;
    }
}

impl Again {
    /// The segment at `offset`, last sent at `sent_at`, goes with the retransmission before. That was the last of
    /// `number` segments.
    pub(crate) fn continues(self, offset: u64, sent_at: Time, number: u64) -> bool {
        self.left > 0 && self.from == offset && self.sent_at == sent_at && self.number == number
    }

    /// The segment at an offset, of so many bytes, is retransmitted: with the one before if it is `within` its
    /// packet, else as the first of `most`. It was last sent at `sent_at`: segments of one packet leave at one
    /// time. It is the `number`th segment that the sender sends.
    pub(crate) fn on_send(&mut self, within: bool, at: (u64, u64), sent_at: Time, most: u64, number: u64) {
        // A packet has at most 64 KiB.
        let most = most.clamp(1, u64::from(u16::MAX)) as u16;
        let left = if within { self.left } else { most } - 1;
        *self = Self { left, from: at.0 + at.1, sent_at, number };
    }
}

/// What decides whether a packet waits for the next ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortened {
    /// Bytes that cwnd and the peer's window let go, of the `window` that the lesser of them is.
    pub(crate) limit: u64,
    pub(crate) window: u64,
    /// Bytes of a segment.
    pub(crate) mss: u64,
    /// Since the last segment left.
    pub(crate) idle: Duration,
    pub(crate) srtt: Duration,
    /// Since the oldest outstanding segment left.
    pub(crate) oldest: Duration,
}

impl Shortened {
    /// `tcp_tso_should_defer`, as far as it needs neither the rate nor a division: false decides.
    #[inline]
    pub(crate) fn may_wait(&self) -> bool {
        let expected = self.srtt.saturating_sub(self.oldest);
        self.idle <= WAIT && self.limit < self.window / WINDOW_PARTS && expected <= WAIT.min(self.srtt / 2)
    }

    /// `tcp_tso_should_defer`. A full packet has `full` bytes, the buffer `left` bytes; the last buffer may grow.
    pub(crate) fn waits(&self, full: u64, (left, is_last): (u64, bool)) -> bool {
        if !self.may_wait() || self.limit >= full {
            return false;
        }
        (self.limit < left || is_last) && left > self.mss
    }
}

/// Segments of `mss` bytes in a packet, at this pacing rate (`None`: not known yet), that the control set
/// itself if `paced`.
pub(crate) fn segments(rate: Option<Rate>, paced: bool, min_rtt: Duration, mss: u64) -> u64 {
    let Some(rate) = rate else { return (LARGEST / mss).max(2) };
    (bytes_of_packet(rate, min_rtt) / mss).max(least_segments(Some(rate).filter(|_| paced)))
}

/// Least segments of a packet, at the rate that the control set itself (`None`: it sets none).
pub(crate) fn least_segments(paced: Option<Rate>) -> u64 {
    if paced.is_some_and(|rate| rate < LEAST_PACED) { 1 } else { 2 }
}

/// Bytes of a packet at this rate, if these are more than the least number of segments.
pub(crate) fn bytes_of_packet(rate: Rate, min_rtt: Duration) -> u64 {
    let more = (min_rtt.as_nanos() / 1000) >> RTT_LOG;
    let more = if more < u64::from(u32::BITS) { LARGEST >> more } else { 0 };
    (queue_of_socket(rate) + more).min(LARGEST)
}

/// Bytes that a paced socket of Linux hands to the network below before they leave, if not two packets
/// (`tcp_small_queue_check`).
pub(crate) const fn queue_of_socket(rate: Rate) -> u64 {
    (rate.bits_per_second() / 8) >> SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_millisecond_and_two_at_least() {
        let of = |mbits: u64, paced, micros| {
            let rate = Rate::from_bits_per_second(mbits * 100_000);
            segments(Some(rate), paced, Duration::from_micros(micros), 1448)
        };
        assert_eq!((of(100, false, 50_000), of(11, true, 50_000), of(11, false, 50_000)), (2, 1, 2));
        // 100 Mbit/s: 12,207 bytes. Over 5 ms: 128 more. Over 500 us: all that a packet holds.
        assert_eq!((of(1000, false, 50_000), of(1000, true, 5_000), of(1000, true, 500)), (8, 8, 45));
        assert_eq!(segments(None, false, Duration::MAX, 1448), 45);
    }

    /// A window of 80 segments lets one go, and a pair is a full packet. The oldest segment left 59 ms ago
    /// and the round-trip time is 60: the next ACK is 1 ms away. Each condition alone lets the segment go at
    /// once.
    #[test]
    fn a_shortened_packet_waits_for_an_ack_that_is_near() {
        let micros = Duration::from_micros;
        let near = Shortened {
            limit: 1000,
            window: 80_000,
            mss: 1000,
            idle: Duration::ZERO,
            srtt: micros(60_000),
            oldest: micros(59_000),
        };
        let middle = (35_000, false);
        assert!(near.waits(2000, middle));
        assert!(Shortened { idle: micros(1000), ..near }.waits(2000, middle));
        assert!(Shortened { oldest: micros(70_000), ..near }.waits(2000, middle), "it is late");
        for (why, other) in [
            ("a full packet may go", Shortened { limit: 2000, ..near }),
            ("a third of the window is free", Shortened { limit: 1000, window: 3000, ..near }),
            ("the last segment left more than 1 ms ago", Shortened { idle: micros(1001), ..near }),
            ("the ACK is more than 1 ms away", Shortened { oldest: micros(58_999), ..near }),
            (
                "it is more than half of a round trip away",
                Shortened { srtt: micros(600), oldest: micros(299), ..near },
            ),
        ] {
            assert!(!other.waits(2000, middle), "{why}");
        }
        assert!(!near.waits(2000, (1000, true)), "one segment is left of the buffer");
        assert!(near.waits(2000, (2000, false)));
        // What cwnd lets go ends a buffer that gets no more, or one that may grow.
        let more = Shortened { limit: 2000, ..near };
        assert!(!more.waits(3000, (2000, false)) && more.waits(3000, (2000, true)));
    }

    #[test]
    fn the_last_of_several() {
        let mut offload = Offload::default();
        let sent = |offload: &mut Offload, most| offload.on_send(|| most);
        assert!(!sent(&mut offload, 2) && offload.is_within());
        assert!(sent(&mut offload, 9) && !offload.is_within());
        assert!(!sent(&mut offload, 1) && !sent(&mut offload, 3));
        offload.end();
        assert!(!sent(&mut offload, 1));
    }
}
