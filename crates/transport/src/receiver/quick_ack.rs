//! When a Linux receiver delays an acknowledgement, and when it does not (`tcp_input.c`: "quick ACKs";
//! Sarolahti and Kuznetsov: Congestion control in Linux TCP, USENIX 2002, section 4.5).
//!
//! ```text
//! at the start                                         16 ACKs at once
//! a segment of data after a pause of an RTO            16 more
//! a segment that lies outside the window                16 more
//! the window that is offered grows with a segment       this one; none of an even count left is used up
//! PSH on a segment that the application reads at once   this one
//! less than half of the tuned window's room is left     none, as soon as a window is worked out
//! ```
//!
//! A FIN in order ends that: its ACK is delayed, unless more than one full segment waits with it.
//!
//! Other segments are acknowledged when more than one full segment waits, or after a delay that follows their pace:
//!
//! ```text
//! m since the one before, at most 20 ms        delay / 2 + 20 ms
//! m below the delay                            delay / 2 + m
//! an ACK whose delay ran out                   twice the delay
//! ```
//!
//! The delay is at least 40 ms (`TCP_DELACK_MIN`), and at most the RTO, 200 ms, and the handshake's round trip if that is
//! above 40 ms. Not modelled: interactive mode ("pingpong"), and the ACK at once of a segment that is not full. What
//! becomes of ACKs of segments behind a gap: `sack_compression.rs`.

use crate::Wheel;
use cogtcp_units::{Duration, Time};

/// `TCP_DELACK_MIN`, `TCP_ATO_MIN`.
const LEAST_DELAY: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`.
const MOST_DELAY: Duration = Duration::from_millis(200);
/// `TCP_MAX_QUICKACKS`.
const MOST: u32 = 16;
/// The variation in an RTO is 200 ms at least (`TCP_RTO_MIN`).
const LEAST_VARIATION: Duration = Duration::from_millis(200);

/// Of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickAck {
    left: u32,
    /// On the host's clock.
    last_data: Option<Time>,
    /// Linux's ATO.
    delay: Duration,
    rtt: Duration,
    rto: Duration,
}

impl Default for QuickAck {
    fn default() -> Self {
        Self {
            left: MOST,
            last_data: None,
            delay: LEAST_DELAY,
            rtt: Duration::ZERO,
            rto: Duration::from_secs(1),
        }
    }
}

impl QuickAck {
    /// The handshake gave a round-trip time.
    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
        // RFC 6298 section 2.2: RTTVAR is half of the first sample, so 4 RTTVAR are two.
        self.rto = rtt + (rtt * 2).max(LEAST_VARIATION);
    }

    /// A segment with data arrived in order (`tcp_event_data_recv`), at `clock` of a host whose wheel is `wheel`.
    pub(super) fn on_data(&mut self, clock: Time, wheel: Wheel) {
        if let Some(last) = self.last_data.replace(clock) {
            let pause = clock.saturating_since(last);
            if pause <= LEAST_DELAY / 2 {
                self.delay = wheel.floor(self.delay / 2) + LEAST_DELAY / 2;
            } else if pause < self.delay {
                self.delay = (wheel.floor(self.delay / 2) + pause).min(self.rto).min(MOST_DELAY);
            } else if pause > self.rto {
                self.left = self.left.max(MOST);
            }
        }
    }

    /// How long the next ACK that is delayed may wait (`tcp_send_delayed_ack`).
    pub(super) fn delay(&self) -> Duration {
        let most = if self.rtt.is_zero() { MOST_DELAY } else { self.rtt.clamp(LEAST_DELAY, MOST_DELAY) };
        self.delay.min(most)
    }

    /// The delay ran out (`tcp_delack_timer_handler`).
    pub(super) fn on_delay_over(&mut self) {
        self.delay = (self.delay * 2).min(self.rto).min(MOST_DELAY);
    }

    /// The window grew with this segment: the lowest bit of the count is set (`tcp_grow_window`), so an even
    /// count outlasts the segment.
    pub(super) fn on_window_growth(&mut self) {
        self.left |= 1;
    }

    /// A segment arrived that lies outside the window (`tcp_enter_quickack_mode`). `free`: the ACK that answers it at once
    /// is not counted (`tcp_send_dupack`).
    pub(super) fn enter(&mut self, free: bool) {
        self.left = self.left.max(MOST) + u32::from(free);
        self.delay = LEAST_DELAY;
    }

    /// Little room is left (`__tcp_select_window`).
    pub(super) fn end(&mut self) {
        self.left = 0;
    }

    /// Whether the next ACK goes at once.
    pub(super) const fn is_due(&self) -> bool {
        self.left > 0
    }

    /// An ACK was sent. After the last quick one the delay is the least again (`tcp_dec_quickack_mode`).
    pub(super) fn on_ack(&mut self) {
        if self.left == 1 {
            self.delay = LEAST_DELAY;
        }
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_at_the_start_after_a_pause_and_after_a_duplicate() {
        let mut quick = QuickAck::default();
        quick.set_rtt(Duration::from_millis(50));
        let run = |quick: &mut QuickAck, from: u64| {
            (from..)
                .step_by(10)
                .take_while(|at| {
                    quick.on_data(Time::from_millis(*at), Wheel::default());
                    let due = quick.is_due();
                    quick.on_ack();
                    due
                })
                .count()
        };
        assert_eq!(run(&mut quick, 0), 16);
        quick.on_window_growth();
        assert_eq!(run(&mut quick, 170), 1);
        // The last came at 180 ms; an RTO is 50 + 200 ms.
        assert_eq!(run(&mut quick, 430), 0);
        assert_eq!(run(&mut quick, 681), 16);
        quick.enter(false);
        assert_eq!(run(&mut quick, 900), 16);
    }

    /// `tcp_enter_quickack_mode` and `tcp_dec_quickack_mode` bring the delay down to the least; the answer to a segment far
    /// outside the window is not one of the sixteen.
    #[test]
    fn quick_acks_end_with_the_least_delay() {
        let after = |end: fn(&mut QuickAck)| {
            let mut quick = QuickAck::default();
            quick.set_rtt(Duration::from_millis(200));
            for at in [0, 30, 62] {
                quick.on_data(Time::from_millis(at), Wheel::default());
            }
            assert_eq!(quick.delay().as_nanos(), 57_000_000);
            end(&mut quick);
            (quick.left, quick.delay().as_nanos() / 1_000_000)
        };
        assert_eq!(after(|quick| (0..15).for_each(|_| quick.on_ack())), (1, 57));
        assert_eq!(after(|quick| (0..16).for_each(|_| quick.on_ack())), (0, 40));
        assert_eq!(after(|quick| quick.enter(false)), (16, 40));
        assert_eq!(after(|quick| quick.enter(true)), (17, 40));
    }
}
