//! Packets of several segments: Linux hands them to the network whole ("generic segmentation offload", always on since 4.17), and
//! only the device cuts them (`tcp_output.c`).
//!
//! ```text
//! segments of a packet     what leaves in 1/1024 s (pacing rate >> 10), 2 at least          tcp_tso_autosize
//!                          more over less than 16 ms: 64 KiB / 2^(min RTT / 512 us)
//!                          no more than cwnd lets out, nor than half of cwnd                 tcp_cwnd_test
//! the last of several      bears PSH                                                         __tcp_transmit_skb
//! pacing                   between packets, not within one
//! ```
//!
//! So at 10 Mbit/s segments leave in pairs, and a window that has grown by one lets a pair and a single one go. A Linux receiver
//! acknowledges what bears PSH at once, so that its ACKs fall out of step with the pairs then: two growths of the window
//! come nearer to each other than a round trip. Not modelled: that a packet waits for the next ACK to become larger (`tcp_tso_should_defer`,
//! where that is less than 1 ms away), and packets of retransmissions.

use cogtcp_units::{Duration, Rate};

/// `sk_pacing_shift`.
const SHIFT: u32 = 10;
/// `sk_gso_max_size`.
const LARGEST: u64 = 65_536;
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

impl Offload {
    /// A segment leaves; `most` is how many go with it where it begins a packet. Whether it is the last of several.
    pub(crate) fn on_send(&mut self, most: impl FnOnce() -> u64) -> bool {
        if self.left == 0 {
            self.left = most().clamp(1, u64::from(u32::MAX)) as u32;
            self.several = self.left > 1;
        }
        self.left -= 1;
        self.left == 0 && self.several
    }

    /// The next segment belongs to a packet of which some have left.
    pub(crate) const fn is_within(self) -> bool {
        self.left > 0
    }

    /// Nothing more goes with it.
    pub(crate) fn end(&mut self) {
        self.left = 0;
    }
}

/// Segments of `mss` bytes in a packet, at this pacing rate (`None`: not known yet), that the control set itself if `paced`.
pub(crate) fn segments(rate: Option<Rate>, paced: bool, min_rtt: Duration, mss: u64) -> u64 {
    let Some(rate) = rate else { return LARGEST / mss };
    let more = (min_rtt.as_nanos() / 1000) >> RTT_LOG;
    let more = if more < u64::from(u32::BITS) { LARGEST >> more } else { 0 };
    let bytes = ((rate.bits_per_second() / 8) >> SHIFT) + more;
    let least = if paced && rate < LEAST_PACED { 1 } else { 2 };
    (bytes.min(LARGEST) / mss).max(least)
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
