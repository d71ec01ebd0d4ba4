//! Receive buffer tuning: the window that is offered grows with what the application takes in a round trip (Fisk and Feng: Dynamic
//! right-sizing in TCP, LACSI 2001), by the rules of Linux 6.18 (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`, `tcp_grow_window`,
//! `tcp_data_queue_ofo`).
//!
//! ```text
//! at the start                   65535 bytes; bound = 81920
//! a round trip that took more    bound = 2 new (1 + 2 (new - old) / old), if that is more; 2 MiB of 4 MiB of buffer at most
//! a segment behind a gap         bound = 2 old + what lies between the gap and the last that came, if that is more
//! a segment in order, or SACKed  the window grows by two segments, up to the bound less what waits behind gaps
//! ```
//!
//! Linux counts memory, of which packets take more than their data; here half of the buffer is for data, as its
//! `tcp_adv_win_scale` had it up to Linux 6.6. The bound at the start is what packets of 1500 bytes leave of `tcp_rmem[1]` (128 KiB: 5/8, captured).

use cogtcp_units::{Duration, Time};

/// The window at the start.
const START: u64 = 65_535;
/// The bound at the start.
const FIRST_BOUND: u64 = 81_920;
/// Segments of a round trip that the start is right for (`TCP_INIT_CWND`).
const FIRST: u64 = 10;

/// Of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    window: u64,
    bound: u64,
    most: u64,
    mss: u64,
    /// What the application took in the fullest round trip.
    space: u64,
    rtt: Duration,
    round: Option<(Time, u64)>,
}

impl Tuning {
    pub(super) fn new(buffer: u64, mss: u64) -> Self {
        let start = START.min(buffer);
        let most = (buffer / 2).max(start);
        Self {
            window: start,
            bound: FIRST_BOUND.min(most),
            most,
            mss,
            space: FIRST * mss,
            rtt: Duration::ZERO,
            round: None,
        }
    }

    /// Most that may be offered.
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// A round-trip time, as the echo of a timestamp or the handshake gave it: a lower one counts at once, a higher one by an eighth.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = if self.rtt.is_zero() || rtt < self.rtt { rtt } else { (self.rtt * 7 + rtt) / 8 };
    }

    /// A segment came, in order or to be SACKed, and `queued` bytes wait behind gaps. Whether the window grows with it.
    pub(super) fn on_segment(&mut self, queued: u64) -> bool {
        let bound = self.bound.saturating_sub(queued);
        let grows = self.window < bound;
        self.window = (self.window + 2 * self.mss).min(bound).max(self.window);
        grows
    }

    /// A segment waits behind a gap; the last that does so ends `span` bytes behind what came in order.
    pub(super) fn on_gap(&mut self, span: u64) {
        self.bound = self.bound.max((2 * self.space + span).min(self.most));
    }

    /// The application has taken the stream up to `taken`.
    pub(super) fn on_read(&mut self, now: Time, taken: u64) {
        let Some((since, from)) = self.round else {
            self.round = Some((now, taken));
            return;
        };
        if self.rtt.is_zero() || now.saturating_since(since) < self.rtt {
            return;
        }
        let copied = taken - from;
        if copied > self.space {
            let grown = 2 * copied + 4 * copied * (copied - self.space) / self.space;
            self.bound = self.bound.max(grown.min(self.most));
            self.space = copied;
        }
        self.round = Some((now, taken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slow start by hand: 10, 20, 40 segments of 1000 bytes a round trip of 100 ms.
    #[test]
    fn grows_with_what_is_taken() {
        let mut tuning = Tuning::new(4 << 20, 1000);
        tuning.on_rtt(Duration::from_millis(100));
        let ms = Time::from_millis;
        tuning.on_read(ms(0), 0);
        tuning.on_read(ms(100), 10_000);
        assert_eq!(tuning.bound, 81_920, "ten segments are what the start is for");
        tuning.on_read(ms(150), 20_000);
        tuning.on_read(ms(200), 30_000);
        // 2 * 20 (1 + 2 * 10 / 10) = 120.
        assert_eq!((tuning.bound, tuning.window()), (120_000, 65_535));
        assert!(tuning.on_segment(0));
        assert_eq!(tuning.window(), 67_535);
        (0..100).for_each(|_| {
            tuning.on_segment(0);
        });
        assert_eq!((tuning.window(), tuning.on_segment(0)), (120_000, false));
        tuning.on_read(ms(300), 10_000_000);
        assert_eq!(tuning.bound, 2 << 20);
    }
    /// Behind a gap: two segments for each that is SACKed, but not what they take of the bound, which follows the last of them.
    #[test]
    fn grows_while_a_gap_is_open() {
        let mut tuning = Tuning::new(4 << 20, 1000);
        assert!(tuning.on_segment(10_000));
        assert_eq!(tuning.window(), 67_535);
        (0..10).for_each(|_| {
            tuning.on_segment(10_000);
        });
        assert_eq!((tuning.window(), tuning.on_segment(10_000)), (71_920, false));
        // 2 * 10 and what lies between.
        tuning.on_gap(61_000);
        assert_eq!(tuning.bound, 81_920);
        tuning.on_gap(70_000);
        assert_eq!(tuning.bound, 90_000);
        tuning.on_gap(u64::from(u32::MAX));
        assert_eq!(tuning.bound, 2 << 20);
    }
}
