//! RACK-TLP (RFC 8985), the part that is pure: what RACK knows of the latest delivery and of reordering, and
//! where the tail loss probe stands. The sender's side, which has scoreboard and timers, is in
//! `sender/rack.rs`.

use crate::micros;
use crate::scoreboard::{EVER_RETRANSMITTED, Sent};
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// DSACK-free recoveries after which the reordering window is small again (RFC 8985 section 6.2 step 4).
const PERSIST: u32 = 16;

/// One transmission of a segment, first or again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Transmission {
    pub(crate) start: u64,
    pub(crate) len: u32,
    pub(crate) at: Time,
}

/// RACK's per-connection state (RFC 8985 section 5.3).
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: of the delivered segments the one sent last. `None` before the first.
    latest: Option<(Time, u64)>,
    /// RACK.rtt: its round-trip time.
    rtt: Duration,
    /// RACK.fack: the highest offset delivered, and that before the ACK being handled.
    fack: u64,
    earlier_fack: u64,
    /// When the ACK being handled came, as times are compared.
    now: Time,
    /// It has given `rtt` already.
    measured: bool,
    /// Linux: `rtt` belongs to the last segment that the ACK acknowledges cumulatively; without such a
    /// segment, to the last segment that it SACKs, whichever was sent last (`tcp_rack_advance`). So a
    /// retransmission and originals acknowledged together do not make segments sent with the originals
    /// overdue at once.
    last_in_order: bool,
    acknowledged: bool,
    /// What is delivered is so cumulatively; else by SACK.
    pub(crate) cumulatively: bool,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// The lowest offset that the ACK being handled delivers out of order; [`u64::MAX`]: none.
    reordered_from: u64,
    /// Greatest extent of reordering, bytes (Linux: `tp->reordering`).
    extent: u64,
    /// RACK.reo_wnd_mult less one.
    more_windows: u32,
    persist: u32,
    /// RACK.dsack_round: SND.NXT when the latest D-SACK counted.
    dsack_round: Option<u64>,
    /// SND.NXT when the last retransmission was listed in `order`: what was sent since left in order. `None`:
    /// nothing outstanding was retransmitted, and the scoreboard is the list.
    pub(crate) listed_until: Option<u64>,
    /// The transmissions in the order in which they left; those at the front may be delivered, or
    /// retransmitted since.
    pub(crate) order: VecDeque<Transmission>,
    pub(crate) found_lost: FoundLost,
}

/// Linux: transmissions that RACK has found lost. It does not look at them again, though an undo says that nothing was
/// lost (`tcp_rack_detect_loss`).
#[derive(Debug, Default)]
pub(crate) struct FoundLost(Vec<Transmission>);

impl FoundLost {
    /// A transmission is lost. `una`: the oldest outstanding offset; `listed`: how many transmissions are listed.
    pub(crate) fn push(&mut self, sent: Transmission, una: u64, listed: usize) {
        if self.0.len() >= 2 * listed.max(8) {
            self.0.retain(|sent| sent.start >= una);
        }
        self.0.push(sent);
    }

    /// What was listed is delivered.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What an ACK says of the time at which the segment that caused it was sent (RFC 7323): the echo, and the
/// clock's tick.
pub(crate) type Echo = Option<(u32, Duration)>;

impl Rack {
    pub(crate) fn new(last_in_order: bool) -> Self {
        Self { last_in_order, ..Self::default() }
    }

    /// An ACK arrives. What it delivers may be told in any order: section 6.2 takes it by time (step 2) and
    /// by sequence number (step 3).
    #[inline]
    pub(crate) fn begin_ack(&mut self, now: Time) {
        self.now = self.stamp(now);
        self.earlier_fack = self.fack;
        (self.measured, self.acknowledged) = (false, false);
        self.reordered_from = u64::MAX;
    }

    /// Whether what is outstanding left once, in order, and nothing beyond `una` was ever delivered.
    #[inline]
    pub(crate) fn is_in_order(&self, una: u64) -> bool {
        self.listed_until.is_none() && self.fack <= una
    }

    /// A segment that ends at `end` was delivered, its state as it was (section 6.2, steps 2 and 3).
    #[inline]
    pub(crate) fn on_delivered(&mut self, sent: &Sent, end: u64, min_rtt: Duration, echo: Echo) {
        let retransmitted = sent.is(EVER_RETRANSMITTED);
        self.fack = self.fack.max(end);
        if end < self.earlier_fack && !retransmitted {
            self.reordering_seen = true;
            self.reordered_from = self.reordered_from.min(end - u64::from(sent.len()));
        }
        let sent_at = self.stamp(sent.sent_at);
        let rtt = self.now.saturating_since(sent_at);
        if retransmitted {
            // The ACK may answer an earlier transmission.
            let earlier = echo.is_some_and(|(echo, tick)| {
                let sent = (sent.sent_at.as_nanos() / tick.as_nanos().max(1)) as u32;
                (echo.wrapping_sub(sent) as i32) < 0
            });
            if earlier || rtt < min_rtt {
                return;
            }
        }
        if !self.last_in_order {
            // In ascending order of their transmissions the last is the latest sent, whose round-trip time is
            // the least.
            self.rtt = if self.measured { self.rtt.min(rtt) } else { rtt };
        } else if self.cumulatively || !self.acknowledged {
            self.rtt = rtt;
        }
        self.measured = true;
        self.acknowledged |= self.cumulatively;
        if self.latest.is_none_or(|latest| (sent_at, end) > latest) {
            self.latest = Some((sent_at, end));
        }
    }

    /// A time as it is compared: Linux's clock of TCP counts microseconds (`tcp_skb_timestamp_us`).
    #[inline]
    fn stamp(&self, at: Time) -> Time {
        if self.last_in_order { micros::clock(at) } else { at }
    }

    /// Enters all segments that an ACK delivers: how far the lowest segment delivered out of order lay below
    /// the highest delivered (`tcp_check_sack_reordering`).
    #[inline]
    pub(crate) fn end_ack(&mut self) {
        self.extent = self.extent.max(self.fack.saturating_sub(self.reordered_from));
    }

    /// Greatest extent of reordering, bytes.
    #[inline]
    pub(crate) const fn extent(&self) -> u64 {
        self.extent
    }

    /// A timeout: duplicate ACKs that brought no recovery came of losses, not of reordering
    /// (`tcp_enter_loss`).
    pub(crate) fn limit_extent(&mut self, most: u64) {
        self.extent = self.extent.min(most);
    }

    /// A D-SACK arrived: the reordering window was too small (step 4). Departure: not called for the D-SACK
    /// of a tail loss probe, which no reordering caused (Linux's rule). Linux heeds it only where it has seen
    /// reordering (`tcp_dsack_seen`).
    pub(crate) fn on_d_sack(&mut self, una: u64, nxt: u64) {
        if self.last_in_order && !self.reordering_seen {
            return;
        }
        // The window grows once per round trip: until SND.UNA passes `dsack_round`.
        self.dsack_round = self.dsack_round.filter(|round| una < *round);
        if self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.more_windows = self.more_windows.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Fast recovery, or a timeout's recovery, ended (step 4).
    pub(crate) fn on_recovery_exit(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more_windows = 0;
        }
    }

    /// RACK.reo_wnd (step 4). `certain`: in recovery, or DupThresh segments are SACKed. Departure: `min_rtt`
    /// is the connection's; step 1 recommends a recent window's.
    pub(crate) fn window(&self, certain: bool, min_rtt: Duration, srtt: Duration) -> Duration {
        if certain && !self.reordering_seen {
            return Duration::ZERO;
        }
        if min_rtt == Duration::MAX {
            return srtt;
        }
        (min_rtt * (u64::from(self.more_windows) + 1) / 4).min(srtt)
    }

    /// When a segment sent at `at` that ends at `end` counts as lost, with this reordering window; `None`: it
    /// was sent after the latest delivered one (step 5).
    pub(crate) fn due(&self, at: Time, end: u64, window: Duration) -> Option<Time> {
        self.is_older_than_latest(at, end).then(|| self.stamp(at + window) + self.rtt)
    }

    /// Whether a segment sent at `at` that ends at `end` left before the latest delivered one.
    #[inline]
    pub(crate) fn is_older_than_latest(&self, at: Time, end: u64) -> bool {
        // Of one instant, by sequence number: RACK_sent_after().
        self.latest.is_some_and(|latest| (self.stamp(at), end) < latest)
    }

    /// An undo: nothing is lost. RACK judges again all that is `outstanding`, in Linux without the transmissions that it
    /// has found lost.
    pub(crate) fn list(&mut self, outstanding: impl Iterator<Item = Transmission>) {
        let found = &mut self.found_lost.0;
        found.sort_unstable_by_key(|sent| (sent.start, sent.at));
        let is_known = |sent: &Transmission| {
            found.binary_search_by_key(&(sent.start, sent.at), |of| (of.start, of.at)).is_ok()
        };
        self.order.clear();
        self.order.extend(outstanding.filter(|sent| !is_known(sent)));
        // The scoreboard has them by offset; a retransmission left later than its offset suggests.
        self.order.make_contiguous().sort_by_key(|sent| (sent.at, sent.start));
    }

    /// How many of the transmissions in `order` left before the latest delivered one.
    pub(crate) fn older_than_latest(&self) -> usize {
        let Some(latest) = self.latest else { return 0 };
        self.order.partition_point(|sent| (self.stamp(sent.at), sent.start + u64::from(sent.len)) < latest)
    }

    /// Whether a segment sent at `at` is overdue at a timeout (section 6.3).
    pub(crate) fn is_overdue(&self, now: Time, at: Time, window: Duration) -> bool {
        self.stamp(at + window) + self.rtt <= now
    }
}

/// The tail loss probe (RFC 8985 section 7.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tlp {
    /// The probe timer has expired, the probe has not left yet.
    pub(crate) pending: bool,
    /// TLP.end_seq: SND.NXT after the outstanding probe.
    pub(crate) end: Option<u64>,
    /// TLP.is_retrans: the probe was sent before as something else.
    pub(crate) is_retransmission: bool,
    /// A probe has left, and no round-trip time was measured since.
    pub(crate) unmeasured: bool,
}

/// What an ACK says to an outstanding probe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ProbeVerdict {
    /// Nothing yet.
    Open,
    /// Nothing was lost.
    Harmless,
    /// The probe repaired a loss: the control is told.
    Repaired,
}

impl Tlp {
    /// Whether a probe may be planned: none is on its way, and one that was has given a round-trip time.
    pub(crate) fn is_idle(&self) -> bool {
        self.end.is_none() && !self.pending && !self.unmeasured
    }

    /// TLP_process_ack() of section 7.4.2, for an ACK of offset `ack`; `d_sack_end` is where a D-SACK in it
    /// ends, `bare` whether it is a duplicate ACK without SACK blocks.
    pub(crate) fn judge(&mut self, ack: u64, d_sack_end: Option<u64>, bare: bool) -> ProbeVerdict {
        let Some(end) = self.end.filter(|end| ack >= *end) else { return ProbeVerdict::Open };
        let verdict = if !self.is_retransmission || d_sack_end == Some(end) {
            ProbeVerdict::Harmless
        } else if ack > end {
            ProbeVerdict::Repaired
        } else if bare {
            ProbeVerdict::Harmless
        } else {
            ProbeVerdict::Open
        };
        if verdict != ProbeVerdict::Open {
            self.end = None;
        }
        verdict
    }
}

/// PTO without the bound of the RTO (section 7.2): 2 SRTT, 1 s before the first sample; with one segment in
/// flight the longest delay of an ACK more.
pub(crate) fn probe_timeout(srtt: Duration, one_in_flight: bool, max_ack_delay: Duration) -> Duration {
    let rtt = if srtt.is_zero() { Duration::from_secs(1) } else { srtt * 2 };
    if one_in_flight && !srtt.is_zero() { rtt + max_ack_delay } else { rtt }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn sent(millis: u64, flags: u8) -> Sent {
        let mut sent = Sent::at(at(millis));
        sent.set(flags);
        sent
    }

    /// After an undo everything is to be judged again; in Linux not the first, which was found lost, but the second,
    /// which has left again since.
    #[test]
    fn linux_forgets_what_it_found_lost() {
        let sent = |start, millis| Transmission { start, len: 1000, at: at(millis) };
        let listed = |found: &[Transmission]| {
            let mut rack = Rack::default();
            found.iter().for_each(|sent| rack.found_lost.push(*sent, 0, 3));
            rack.list([sent(0, 50), sent(1000, 90), sent(2000, 60)].into_iter());
            rack.order.iter().map(|sent| sent.start).collect::<Vec<_>>()
        };
        assert_eq!(listed(&[]), [0, 2000, 1000]);
        assert_eq!(listed(&[sent(0, 50), sent(1000, 50)]), [2000, 1000]);
    }

    /// A D-SACK widens the window by a quarter of the least round-trip time; in Linux only after reordering.
    #[test]
    fn linux_heeds_d_sacks_after_reordering_only() {
        for (linux, seen, quarters) in [(false, false, 2), (true, false, 1), (true, true, 2)] {
            let mut rack = Rack { last_in_order: linux, reordering_seen: seen, ..Rack::default() };
            rack.on_d_sack(1000, 2000);
            assert_eq!(rack.window(false, ms(40), ms(100)), ms(10) * quarters, "{linux} {seen}");
        }
    }

    /// Section 6.2 steps 2 and 5: the latest sent counts, ties go by sequence number.
    #[test]
    fn lost_is_what_was_sent_before_and_is_overdue() {
        let mut rack = Rack::default();
        assert_eq!(rack.due(at(0), 1000, ms(25)), None);
        rack.begin_ack(at(110));
        rack.on_delivered(&sent(10, 0), 3000, ms(100), None);
        assert_eq!(rack.due(at(10), 2000, ms(25)), Some(at(135)));
        assert_eq!(rack.due(at(10), 4000, ms(25)), None);
        assert_eq!(rack.due(at(11), 2000, ms(25)), None);
        // An older segment delivered later does not move RACK back, though its round-trip time counts.
        rack.begin_ack(at(120));
        rack.on_delivered(&sent(9, 0), 1000, ms(100), None);
        assert_eq!(rack.due(at(10), 2000, ms(25)), Some(at(146)));
    }

    /// Linux compares whole microseconds: what left 416 ns later, in the same one, is overdue with what was delivered.
    #[test]
    fn linux_compares_whole_microseconds() {
        let due = |last_in_order, at: u64| {
            let mut rack = Rack { last_in_order, cumulatively: true, ..Rack::default() };
            let mut delivered = Sent::at(Time::from_nanos(1_000_100));
            delivered.set(0);
            rack.begin_ack(Time::from_nanos(91_000_000));
            rack.on_delivered(&delivered, 1000, ms(100), None);
            rack.on_delivered(&Sent::at(Time::from_nanos(5_000_000)), 9000, ms(100), None);
            rack.rtt = ms(90);
            rack.due(Time::from_nanos(at), 2000, ms(0))
        };
        assert_eq!(due(false, 1_000_516), Some(Time::from_nanos(91_000_516)));
        assert_eq!(due(true, 1_000_516), Some(Time::from_nanos(91_000_000)));
        assert_eq!(due(true, 1_001_000), Some(Time::from_nanos(91_001_000)));
    }

    /// Section 6.2 steps 2 and 3, one ACK. The latest sent segment among those delivered gives the round-trip
    /// time. SACK blocks name the newest segments first, which is no reordering; segments older than at an
    /// earlier ACK are.
    #[test]
    fn the_order_within_an_ack_says_nothing() {
        let mut rack = Rack::default();
        rack.begin_ack(at(250));
        rack.on_delivered(&sent(150, EVER_RETRANSMITTED), 1000, ms(100), None);
        rack.on_delivered(&sent(10, 0), 2000, ms(100), None);
        // 100 ms of the retransmission, not 240 ms of the segment behind it.
        assert_eq!(rack.due(at(20), 3000, ms(0)), Some(at(120)));
        rack.begin_ack(at(260));
        rack.on_delivered(&sent(160, 0), 9000, ms(100), None);
        rack.on_delivered(&sent(155, 0), 5000, ms(100), None);
        assert!(!rack.reordering_seen);
        rack.begin_ack(at(261));
        rack.on_delivered(&sent(156, 0), 6000, ms(100), None);
        assert!(rack.reordering_seen);
    }

    /// Section 6.2 step 2: an ACK that comes too soon for a retransmission answers the original; so says its
    /// timestamp.
    #[test]
    fn ambiguous_retransmissions_are_left_out() {
        let mut rack = Rack { now: at(110), ..Rack::default() };
        rack.on_delivered(&sent(50, EVER_RETRANSMITTED), 1000, ms(100), None);
        rack.now = at(210);
        rack.on_delivered(&sent(50, EVER_RETRANSMITTED), 1000, ms(100), Some((49, ms(1))));
        assert_eq!(rack.due(at(0), 500, ms(0)), None);
        rack.on_delivered(&sent(50, EVER_RETRANSMITTED), 1000, ms(100), Some((50, ms(1))));
        assert_eq!(rack.due(at(0), 500, ms(0)), Some(at(160)));

        // Linux: the round-trip time of the segment last in order, 240 ms, though the retransmission before
        // it took 100.
        let mut rack = Rack { last_in_order: true, cumulatively: true, now: at(250), ..Rack::default() };
        rack.on_delivered(&sent(150, EVER_RETRANSMITTED), 1000, ms(100), None);
        rack.on_delivered(&sent(10, 0), 2000, ms(100), None);
        rack.cumulatively = false;
        rack.on_delivered(&sent(140, 0), 9000, ms(100), None);
        assert_eq!(rack.due(at(10), 3000, ms(25)), Some(at(275)));
    }

    /// Section 6.2 steps 3 and 4. Without reordering certainty needs no window. With reordering the window is
    /// a quarter of the minimum RTT, more after each round with a D-SACK, at most SRTT. It returns after 16
    /// recoveries without a D-SACK.
    #[test]
    fn the_reordering_window_adapts() {
        let mut rack = Rack::default();
        assert_eq!(
            (rack.window(false, ms(100), ms(120)), rack.window(true, ms(100), ms(120))),
            (ms(25), ms(0))
        );
        rack.now = at(100);
        rack.on_delivered(&sent(0, 0), 3000, ms(100), None);
        rack.begin_ack(at(101));
        rack.on_delivered(&sent(0, EVER_RETRANSMITTED), 1000, ms(100), None);
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(0), "a retransmission is no reordering");
        rack.on_delivered(&sent(0, 0), 2000, ms(100), None);
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(25));
        rack.on_d_sack(1000, 5000);
        rack.on_d_sack(4000, 9000);
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(50), "once per round");
        (0..5).for_each(|round| rack.on_d_sack(5000 * (round + 1), 5000 * (round + 2)));
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(120));
        (0..15).for_each(|_| rack.on_recovery_exit());
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(120));
        rack.on_recovery_exit();
        assert_eq!(rack.window(true, ms(100), ms(120)), ms(25));
    }

    /// Section 7.4.2, case by case.
    #[test]
    fn the_probe_is_judged() {
        let probe = |is_retransmission, ack, d_sack, bare| {
            let mut tlp = Tlp { end: Some(5000), is_retransmission, ..Tlp::default() };
            (tlp.judge(ack, d_sack, bare), tlp.end.is_none())
        };
        assert_eq!(probe(true, 4000, None, true), (ProbeVerdict::Open, false));
        assert_eq!(probe(false, 5000, None, false), (ProbeVerdict::Harmless, true));
        assert_eq!(probe(true, 5000, None, false), (ProbeVerdict::Open, false));
        assert_eq!(probe(true, 5000, Some(5000), false), (ProbeVerdict::Harmless, true));
        assert_eq!(probe(true, 5000, None, true), (ProbeVerdict::Harmless, true));
        assert_eq!(probe(true, 6000, None, false), (ProbeVerdict::Repaired, true));
    }

    /// Section 7.2.
    #[test]
    fn the_probe_timeout() {
        assert_eq!(probe_timeout(ms(100), false, ms(200)), ms(200));
        assert_eq!(probe_timeout(ms(100), true, ms(200)), ms(400));
        assert_eq!(probe_timeout(ms(0), true, ms(200)), ms(1000));
    }
}
