//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation).

use crate::micros;
use crate::scoreboard::{SACKED, Sent};
use cogtcp_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// The delivery rate seen between the sending of a segment and the ACK that delivered it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// Length of the sample: the longer of its send and its ACK phase; zero: no sample.
    pub interval: Duration,
    /// Connection's `delivered` when the sampled segment was sent.
    pub prior_delivered: u64,
    /// Connection's `delivered_at` when the sampled segment was sent.
    pub prior_time: Time,
    /// Bytes in flight just after the sampled segment was sent.
    pub tx_in_flight: u64,
    /// Bytes declared lost between its sending and its delivery.
    pub lost: u64,
    /// Whether the application limited the sample.
    pub app_limited: bool,
}

impl RateSample {
    /// The rate; `None` when this ACK gave no sample.
    pub fn rate(&self) -> Option<Rate> {
        if self.interval.is_zero() { None } else { Some(Rate::from_bytes_in(self.delivered, self.interval)) }
    }
}

/// The connection's side of the estimator: `C.` of the draft.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateEstimator {
    /// Bytes delivered.
    pub(crate) delivered: u64,
    /// When `delivered` last grew.
    pub(crate) delivered_at: Time,
    /// Bytes declared lost.
    pub(crate) lost: u64,
    /// `delivered` beyond which the application no longer limits; 0: it does not.
    app_limited: u64,
    /// Where a control reads the samples.
    sampling: Option<Box<Sampling>>,
}

/// What only samples need.
#[derive(Clone, Debug, Default)]
struct Sampling {
    /// Intervals are differences of Linux's clock of microseconds.
    micros: bool,
    /// Send time of the segment that began the current sampling flight.
    first_sent_at: Time,
    /// The state at the last sending of each outstanding segment, in the order of the scoreboard.
    flight: VecDeque<SendState>,
    /// The newest segment this ACK delivered: when it was sent, and the state then.
    newest: Option<(Time, SendState)>,
}

/// The connection's state when a segment was last sent (`P.` of the draft, section 3.2): 32 bytes.
#[derive(Clone, Copy, Debug)]
struct SendState {
    first_sent_at: Time,
    delivered_at: Time,
    /// Low halves of 64-bit counters: differences within a flight are what is used.
    delivered: u32,
    lost: u32,
    tx_in_flight: u32,
    app_limited: bool,
}

impl RateEstimator {
    /// Without samples it only counts what is delivered and lost. With `micros` it has Linux's clock.
    pub(crate) fn new(samples: bool, micros: bool) -> Self {
        let sampling = samples.then(|| Box::new(Sampling { micros, ..Sampling::default() }));
        Self { sampling, ..Self::default() }
    }

    /// The next segment of the scoreboard, of `len` bytes, is sent now, `in_flight` bytes being in the
    /// network before it; `is_new`: it begins a flight.
    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, is_new: bool, in_flight: u64, len: u32) -> Sent {
        self.begin_flight(now, is_new);
        if self.sampling.is_some() {
            let state = self.state(in_flight + u64::from(len));
            self.keep(|sampling| sampling.flight.push_back(state));
        }
        Sent::at(now)
    }

    /// Records that the segment at `index` is retransmitted.
    pub(crate) fn on_send_again(&mut self, now: Time, is_new: bool, in_flight: u64, index: usize) {
        self.begin_flight(now, is_new);
        let state = self.state(in_flight);
        self.keep(|sampling| {
            if let Some(kept) = sampling.flight.get_mut(index) {
                *kept = state;
            }
        });
    }

    #[inline]
    fn begin_flight(&mut self, now: Time, is_new: bool) {
        if is_new {
            // Section 3.2: a new flight after idle.
            self.delivered_at = now;
            self.keep(|sampling| sampling.first_sent_at = now);
        }
    }

    #[inline]
    fn keep(&mut self, change: impl FnOnce(&mut Sampling)) {
        if let Some(sampling) = self.sampling.as_deref_mut() {
            change(sampling);
        }
    }

    /// The state to keep with a segment that is sent now.
    fn state(&self, tx_in_flight: u64) -> SendState {
        SendState {
            first_sent_at: self.sampling.as_ref().map_or(Time::ZERO, |sampling| sampling.first_sent_at),
            delivered_at: self.delivered_at,
            delivered: self.delivered as u32,
            lost: self.lost as u32,
            tx_in_flight: tx_in_flight.min(u64::from(u32::MAX)) as u32,
            app_limited: self.app_limited != 0,
        }
    }

    /// The first segment of the scoreboard is acknowledged cumulatively and leaves it.
    #[inline]
    pub(crate) fn on_acked(&mut self, sent: &Sent) {
        self.keep(|sampling| {
            if let Some(state) = sampling.flight.pop_front()
                && !sent.is(SACKED)
            {
                sampling.deliver(sent, &state);
            }
        });
    }

    /// The segment at `index` is selectively acknowledged for the first time.
    #[inline]
    pub(crate) fn on_sacked(&mut self, index: usize, sent: &Sent) {
        self.keep(|sampling| {
            if let Some(&state) = sampling.flight.get(index) {
                sampling.deliver(sent, &state);
            }
        });
    }

    /// What was outstanding is not any more, though nothing was delivered.
    pub(crate) fn forget_flight(&mut self) {
        self.keep(|sampling| sampling.flight.clear());
    }

    /// Of how many segments it keeps the state; `None`: it keeps none.
    pub(crate) fn flight(&self) -> Option<usize> {
        self.sampling.as_ref().map(|sampling| sampling.flight.len())
    }

    /// `bytes` were delivered by the ACK being processed.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.delivered += bytes;
            self.delivered_at = now;
        }
    }

    /// The application has nothing to send although the window has room (section 3.4).
    pub(crate) fn set_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Whether the application limits the rate.
    pub(crate) const fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// The sample of the ACK being processed (GenerateRateSample of section 3.3). None if the ACK delivered
    /// nothing, or if the interval is under `min_rtt`: then the ACK answers an earlier transmission.
    #[inline]
    pub(crate) fn finish(&mut self, min_rtt: Duration) -> RateSample {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let Some(sampling) = self.sampling.as_deref_mut() else { return RateSample::default() };
        let Some((sent_at, sent)) = sampling.newest.take() else { return RateSample::default() };
        sampling.first_sent_at = sent_at;
        let between = |from, to: Time| {
            if sampling.micros { micros::between(from, to) } else { to.saturating_since(from) }
        };
        let send_elapsed = between(sent.first_sent_at, sent_at);
        let ack_elapsed = between(sent.delivered_at, self.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = u64::from((self.delivered as u32).wrapping_sub(sent.delivered));
        RateSample {
            delivered,
            interval: if min_rtt != Duration::MAX && interval < min_rtt { Duration::ZERO } else { interval },
            prior_delivered: self.delivered - delivered,
            prior_time: sent.delivered_at,
            tx_in_flight: u64::from(sent.tx_in_flight),
            lost: u64::from((self.lost as u32).wrapping_sub(sent.lost)),
            app_limited: sent.app_limited,
        }
    }
}

impl Sampling {
    /// A segment is newly known to be delivered (UpdateRateSample of section 3.3).
    #[inline]
    fn deliver(&mut self, sent: &Sent, state: &SendState) {
        // The most recently sent; of equals the later in sequence, which is the later of the calls.
        if self.newest.is_none_or(|(newest, _)| sent.sent_at >= newest) {
            self.newest = Some((sent.sent_at, *state));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// Four segments leave at 0, 1, 2, 3 ms and are delivered at 100, 110, 120, 130 ms. With or without ACK
    /// compression, the slower phase gives the rate (section 2.2).
    #[test]
    fn the_slower_phase_decides() {
        let mut c = RateEstimator::new(true, false);
        let flight: Vec<Sent> = (0..4).map(|k| c.on_send(at(k), k == 0, k * 1000, 1000)).collect();
        c.add(at(100), 1000);
        c.on_acked(&flight[0]);
        // First: 1000 bytes in 100 ms (nothing delivered before, sent at once).
        let first = c.finish(Duration::MAX);
        assert_eq!((first.delivered, first.interval), (1000, Duration::from_millis(100)));
        for (k, sent) in flight.iter().enumerate().skip(1) {
            c.add(at(100 + 10 * k as u64), 1000);
            c.on_acked(sent);
            let sample = c.finish(Duration::from_millis(100));
            assert_eq!(sample.delivered, 1000 * (k as u64 + 1));
            assert_eq!(sample.interval, Duration::from_millis(100 + 10 * k as u64));
        }
        // A second flight at 130 ms, acknowledged in one compressed ACK at 230 ms, after a send phase of 150
        // ms.
        let a = c.on_send(at(130), false, 1000, 1000);
        let b = c.on_send(at(280), false, 2000, 1000);
        c.add(at(290), 2000);
        c.on_acked(&a);
        c.on_acked(&b);
        let sample = c.finish(Duration::from_millis(100));
        // Send phase 280 - 3 = 277 ms, ACK phase 290 - 130 = 160 ms.
        assert_eq!((sample.delivered, sample.interval), (2000, Duration::from_millis(277)));
        assert_eq!(sample.rate().unwrap(), Rate::from_bytes_in(2000, Duration::from_millis(277)));
    }

    /// Section 3.4: samples stay app-limited until what was in flight at the time is delivered.
    #[test]
    fn app_limited_until_the_bubble_passed() {
        let mut c = RateEstimator::new(true, false);
        let a = c.on_send(at(0), true, 0, 1000);
        c.set_app_limited(1000);
        let b = c.on_send(at(50), false, 1000, 1000);
        c.add(at(100), 1000);
        c.on_acked(&a);
        assert!(!c.finish(Duration::MAX).app_limited && c.is_app_limited());
        c.add(at(150), 1000);
        c.on_acked(&b);
        assert!(c.finish(Duration::MAX).app_limited && !c.is_app_limited());
    }

    /// Without samples it counts the same and keeps nothing for each segment.
    #[test]
    fn counts_without_samples() {
        let mut c = RateEstimator::new(false, false);
        let a = c.on_send(at(0), true, 0, 1000);
        c.set_app_limited(1000);
        c.add(at(100), 2000);
        c.on_acked(&a);
        assert_eq!((c.finish(Duration::MAX), c.flight()), (RateSample::default(), None));
        assert_eq!((c.delivered, c.delivered_at, c.is_app_limited()), (2000, at(100), false));
    }

    /// A retransmitted segment has the state of its retransmission; a segment SACKed before its
    /// acknowledgement counts once.
    #[test]
    fn states_follow_the_scoreboard() {
        let mut c = RateEstimator::new(true, false);
        c.on_send(at(0), true, 0, 1000);
        let mut b = c.on_send(at(1), false, 1000, 1000);
        c.add(at(100), 1000);
        c.on_sacked(1, &b);
        assert_eq!((c.finish(Duration::MAX).prior_delivered, c.flight()), (0, Some(2)));
        c.on_send_again(at(101), true, 0, 0);
        b.set(SACKED);
        c.add(at(201), 1000);
        c.on_acked(&Sent::at(at(101)));
        c.on_acked(&b);
        let sample = c.finish(Duration::MAX);
        assert_eq!((sample.prior_delivered, sample.delivered, c.flight()), (1000, 1000, Some(0)));
        assert_eq!(sample.interval, Duration::from_millis(100));
    }

    /// Section 3.3: an interval under the least RTT is no sample; neither is an ACK that delivers nothing.
    #[test]
    fn no_sample() {
        let mut c = RateEstimator::new(true, false);
        let a = c.on_send(at(0), true, 0, 1000);
        c.add(at(10), 1000);
        c.on_acked(&a);
        assert_eq!(c.finish(Duration::from_millis(100)).rate(), None);
        assert_eq!(c.finish(Duration::MAX), RateSample::default());
    }
}
