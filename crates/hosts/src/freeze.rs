//! Freeze-TCP from outside TCP: the connection manager of Singh, Bonnin and Ros (ITST 2012, section III.B).
//!
//! A [`ConnectionManager`] sits between one end of a connection and the network of its host, and sees every
//! segment. On a warning it closes the window in acknowledgements to the TCP source. An unmodified source
//! enters persist mode and keeps cwnd, ssthresh and RTO (Goff et al., INFOCOM 2000). On the all-clear it
//! repeats the last acknowledgement with its real window. Beside the receiver it rewrites segments that leave
//! the host, beside the sender segments that enter. A source that asks for reports of outages (its SYN
//! carries [`WANTS_REPORTS`]) is not held: it gets the outage's length, in the custom option of that
//! acknowledgement. The manager also measures the connection's round-trip time, so that a router knows how
//! early to warn.

use cogtcp_transport::{Flags, Segment, SeqNumber, WANTS_REPORTS};
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// Acknowledgements whose timestamps are remembered: more than a window of a fast path holds.
const MOST_STAMPS: usize = 1 << 14;

/// Which end of the connection the manager sits beside. Data flow from sender to receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Beside {
    /// Downlink: it rewrites the acknowledgements that leave.
    Receiver,
    /// Uplink: it rewrites the acknowledgements that arrive.
    Sender,
}

/// What the manager knows of the round-trip time of its connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RoundTrips {
    /// The least sample.
    pub least: Duration,
    /// Samples smoothed with gain 1/8 (as RFC 6298 section 2).
    pub smoothed: Duration,
    /// The greatest sample.
    pub greatest: Duration,
}

/// The connection manager of one connection.
#[derive(Clone, Debug)]
pub struct ConnectionManager {
    beside: Beside,
    frozen: bool,
    /// The source wants reports.
    reports: bool,
    /// When an arriving segment proves that the outage is over, though nobody said so.
    until: Time,
    /// The last acknowledgement towards the source, as TCP wrote it.
    last: Option<Segment>,
    round_trips: Option<RoundTrips>,
    /// When the own SYN or SYN-ACK left; `None` when it was repeated or answered.
    syn_at: Option<Time>,
    syn_seen: bool,
    /// Own timestamps not echoed yet, with the first time each left.
    stamps: VecDeque<(u32, Time)>,
    /// The data being timed: the number after it, and when it left.
    timed: Option<(SeqNumber, Time)>,
    highest: Option<SeqNumber>,
}

impl ConnectionManager {
    /// Zero-window acknowledgements sent on a warning: the first may be lost (Mehani's implementation for
    /// Linux).
    pub const FREEZE_ACKS: usize = 2;
    /// Acknowledgements sent on the all-clear: the triplicate acknowledgements of Freeze-TCP.
    pub const THAW_ACKS: usize = 3;

    /// A manager beside one end of a connection that has not begun.
    pub fn new(beside: Beside) -> Self {
        Self {
            beside,
            frozen: false,
            reports: false,
            until: Time::MAX,
            last: None,
            round_trips: None,
            syn_at: None,
            syn_seen: false,
            stamps: VecDeque::new(),
            timed: None,
            highest: None,
        }
    }

    /// Which end it sits beside.
    pub fn beside(&self) -> Beside {
        self.beside
    }

    /// Whether the source is held.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Round-trip time of the connection so far; `None` before the first sample.
    ///
    /// Samples come from the handshake. Beside the receiver they also come from timestamps, if the connection
    /// uses them (the first echo of an own timestamp). Beside the sender they also come from data, one per
    /// flight, without retransmitted data (Karn). While frozen nothing is sampled: probes are answered late
    /// by design.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        self.round_trips
    }

    /// A warning came: from now on the source reads a window of zero. Returns the acknowledgement to give to
    /// the source at once: [`FREEZE_ACKS`](Self::FREEZE_ACKS) times over a network. `None`: nothing was
    /// acknowledged yet, or the source is held already.
    ///
    /// `until` is the announced end of the outage. A later segment from the source proves that the path
    /// works. The manager then releases the source, so a lost all-clear costs only the wait for a probe.
    ///
    /// A source that wants reports gets its real window and the milliseconds left until then.
    pub fn freeze(&mut self, now: Time, until: Time) -> Option<Segment> {
        if self.reports {
            // Rounded up: the outage is not over sooner.
            let left = until.saturating_since(now).as_nanos().div_ceil(1_000_000);
            let mut report = self.last?;
            report.set_custom(u32::try_from(left).unwrap_or(u32::MAX));
            return Some(report);
        }
        let already = std::mem::replace(&mut self.frozen, true);
        self.until = if already { self.until.max(until) } else { until };
        self.timed = None;
        // The first warning has closed the window already.
        self.last.filter(|_| !already).map(closed)
    }

    /// The all-clear came. Returns the acknowledgement, with its real window, to give to the source:
    /// [`THAW_ACKS`](Self::THAW_ACKS) times over a network, once beside the sender. `None`: nothing was
    /// acknowledged yet.
    ///
    /// A manager that was not frozen (the warning was lost) returns an acknowledgement too. The source that
    /// met the outage resumes at once, by three duplicates if no segment came meanwhile (Caceres and Iftode,
    /// JSAC 13(5), 1995). A source that wants reports gets none.
    pub fn thaw(&mut self) -> Option<Segment> {
        self.frozen = false;
        self.until = Time::MAX;
        self.last.filter(|_| !self.reports)
    }

    /// A segment leaves the host: it may be rewritten.
    #[inline]
    pub fn handle_outgoing(&mut self, now: Time, segment: &mut Segment) {
        if segment.flags.contains(Flags::SYN) {
            // The answer to a repeated SYN may be to either (Karn).
            self.syn_at = (!self.syn_seen).then_some(now);
            self.syn_seen = true;
            self.reports |= self.beside == Beside::Sender && segment.custom() == Some(WANTS_REPORTS);
            return;
        }
        match self.beside {
            Beside::Receiver => {
                if let Some(stamps) = segment.timestamps()
                    && !self.frozen
                    && self.stamps.back().is_none_or(|(value, _)| *value != stamps.value)
                    // A peer that echoes nothing must not fill the memory.
                    && self.stamps.len() < MOST_STAMPS
                {
                    self.stamps.push_back((stamps.value, now));
                }
                self.pass(segment);
            }
            Beside::Sender => {
                let end = segment.seq.plus(segment.sequence_len());
                let fresh = self.highest.is_none_or(|highest| highest.is_before(end));
                // A retransmission: the ACK may be to either (Karn).
                if !fresh {
                    self.timed = None;
                } else if segment.len > 0 {
                    self.highest = Some(end);
                    if !self.frozen && self.timed.is_none() {
                        self.timed = Some((end, now));
                    }
                }
            }
        }
    }

    /// A segment reaches the host: it may be rewritten. Returns whether this ended a freeze whose all-clear
    /// did not come; the end's own answer to the segment then carries the real window.
    #[inline]
    pub fn handle_incoming(&mut self, now: Time, segment: &mut Segment) -> bool {
        if let Some(sent) = self.syn_at.filter(|_| segment.flags.contains(Flags::ACK)) {
            self.syn_at = None;
            self.sample(now, sent);
        }
        let over = self.frozen && now >= self.until;
        // Before the segment goes on: what it carries to the source has the real window again.
        if over {
            self.thaw();
        }
        if segment.flags.contains(Flags::SYN) {
            self.reports |= self.beside == Beside::Receiver && segment.custom() == Some(WANTS_REPORTS);
            return over;
        }
        match self.beside {
            Beside::Receiver => {
                if let Some(stamps) = segment.timestamps() {
                    self.echoed(now, stamps.echo);
                }
            }
            Beside::Sender => {
                if let Some((end, sent)) = self.timed
                    && segment.flags.contains(Flags::ACK)
                    && !segment.ack.is_before(end)
                {
                    self.timed = None;
                    self.sample(now, sent);
                }
                self.pass(segment);
            }
        }
        over
    }

    /// An acknowledgement on its way to the source: remembered as TCP wrote it, closed while frozen.
    fn pass(&mut self, segment: &mut Segment) {
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) {
            return;
        }
        let mut plain = *segment;
        // After the data that it carries, if it does: a segment from before them the source would not accept.
        plain.seq = segment.seq.plus(segment.sequence_len());
        plain.flags = Flags::ACK;
        plain.len = 0;
        // It answers no particular segment.
        plain.tag = 0;
        self.last = Some(plain);
        if self.frozen {
            segment.window = 0;
        }
    }

    /// An own timestamp came back.
    fn echoed(&mut self, now: Time, echo: u32) {
        let Some(place) = self.stamps.iter().position(|(value, _)| *value == echo) else {
            // Echoed before, or not remembered (`handle_outgoing`).
            return;
        };
        let sent = self.stamps[place].1;
        // Echoes come in the order of the stamps: earlier ones come no more.
        self.stamps.drain(..=place);
        if !self.frozen {
            self.sample(now, sent);
        }
    }

    fn sample(&mut self, now: Time, sent: Time) {
        let rtt = now.saturating_since(sent);
        let known = self.round_trips.get_or_insert(RoundTrips { least: rtt, smoothed: rtt, greatest: rtt });
        known.least = known.least.min(rtt);
        known.greatest = known.greatest.max(rtt);
        known.smoothed = Duration::from_nanos(known.smoothed.as_nanos() / 8 * 7 + rtt.as_nanos() / 8);
    }
}

/// `segment` with its window closed. Window scaling does not matter to a zero.
fn closed(mut segment: Segment) -> Segment {
    segment.window = 0;
    segment
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod by_hand {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn n(number: u32) -> SeqNumber {
        SeqNumber::new(number)
    }

    /// An acknowledgement of `ack`, whose window is 500 and tag 9.
    fn answer(ack: u32) -> Segment {
        let mut segment = Segment::new(n(7), n(ack), 0, 500, Flags::ACK);
        segment.tag = 9;
        segment
    }

    fn stamped(value: u32, echo: u32) -> Segment {
        let mut segment = answer(1);
        segment.set_timestamps(value, echo);
        segment
    }

    /// Closed once on a warning, and again in each acknowledgement; the real window comes back with the all-clear.
    #[test]
    fn a_warning_closes_the_window() {
        let mut manager = ConnectionManager::new(Beside::Receiver);
        assert!(manager.freeze(at(0), at(50)).is_none() && manager.is_frozen(), "nothing was acknowledged");
        assert!(manager.thaw().is_none() && !manager.is_frozen());
        let mut data = Segment::new(n(7), n(3), 100, 500, Flags::ACK | Flags::PSH);
        data.tag = 9;
        manager.handle_outgoing(at(1), &mut data);
        assert_eq!(data.window, 500);
        // Without payload or flags of its own, behind the data, and an answer to no segment.
        let closed = manager.freeze(at(2), at(50)).unwrap();
        let expected = (n(107), n(3), 0, 0, Flags::ACK, 0);
        let told = (closed.seq, closed.ack, closed.len, closed.window, closed.flags, closed.tag);
        assert_eq!(told, expected);
        assert!(manager.freeze(at(3), at(40)).is_none(), "it is closed already");
        let mut again = answer(4);
        manager.handle_outgoing(at(4), &mut again);
        assert_eq!(again.window, 0);
        // A reset and what acknowledges nothing pass.
        for flags in [Flags::RST | Flags::ACK, Flags::PSH] {
            let mut other = Segment::new(n(7), n(9), 0, 500, flags);
            manager.handle_outgoing(at(5), &mut other);
            assert_eq!(other.window, 500);
        }
        let open = manager.thaw().unwrap();
        assert_eq!((open.ack, open.window, manager.is_frozen()), (n(4), 500, false));
    }

    /// A segment from the source before the announced end proves nothing, one at the end does. A second warning may
    /// move the end back, not forward.
    #[test]
    fn a_segment_after_the_outage_thaws() {
        for (second, end) in [(50, 50), (40, 50), (60, 60)] {
            let mut manager = ConnectionManager::new(Beside::Receiver);
            manager.handle_outgoing(at(1), &mut answer(3));
            manager.freeze(at(2), at(50));
            manager.freeze(at(3), at(second));
            assert!(!manager.handle_incoming(at(end - 1), &mut answer(1)) && manager.is_frozen());
            assert!(manager.handle_incoming(at(end), &mut answer(1)) && !manager.is_frozen(), "{second}");
            assert!(!manager.handle_incoming(at(end), &mut answer(1)));
            // The end of one outage is not of the next.
            manager.freeze(at(70), at(71));
            assert!(manager.handle_incoming(at(71), &mut answer(1)));
        }
    }

    /// A source that wants reports gets the milliseconds left, rounded up, and is never held.
    #[test]
    fn a_source_that_asks_gets_reports() {
        for beside in [Beside::Receiver, Beside::Sender] {
            let mut manager = ConnectionManager::new(beside);
            assert_eq!(manager.beside(), beside);
            let mut syn = Segment::new(n(0), n(0), 0, 500, Flags::SYN);
            syn.set_custom(WANTS_REPORTS);
            // The SYN of the other direction asks for nothing here.
            match beside {
                Beside::Receiver => manager.handle_outgoing(at(0), &mut syn),
                Beside::Sender => _ = manager.handle_incoming(at(0), &mut syn),
            }
            let mut other = manager.clone();
            match beside {
                Beside::Receiver => _ = manager.handle_incoming(at(0), &mut syn),
                Beside::Sender => manager.handle_outgoing(at(0), &mut syn),
            }
            assert!(manager.freeze(at(0), at(9)).is_none());
            for it in [&mut manager, &mut other] {
                match beside {
                    Beside::Receiver => it.handle_outgoing(at(1), &mut answer(3)),
                    Beside::Sender => _ = it.handle_incoming(at(1), &mut answer(3)),
                }
            }
            let until = Time::from_nanos(8_000_001);
            let report = manager.freeze(at(1), until).unwrap();
            assert_eq!((report.custom(), report.window, manager.is_frozen()), (Some(8), 500, false));
            assert!(manager.thaw().is_none());
            let held = other.freeze(at(1), until).unwrap();
            assert_eq!((held.custom(), held.window, other.is_frozen()), (None, 0, true));
        }
    }

    fn spans(manager: &ConnectionManager) -> Option<[u64; 3]> {
        let ms = |span: Duration| span.as_nanos() / 1_000_000;
        manager.round_trips().map(|it| [ms(it.least), ms(it.smoothed), ms(it.greatest)])
    }

    /// A SYN and its answer give a sample, unless the SYN was repeated (Karn). The gain is 1/8.
    #[test]
    fn the_handshake_gives_a_sample() {
        let mut manager = ConnectionManager::new(Beside::Sender);
        let mut syn = Segment::new(n(0), n(0), 0, 500, Flags::SYN);
        manager.handle_outgoing(at(0), &mut syn);
        let mut syn_ack = Segment::new(n(0), n(1), 0, 500, Flags::SYN | Flags::ACK);
        // A SYN without an acknowledgement answers nothing.
        manager.handle_incoming(at(30), &mut Segment::new(n(0), n(0), 0, 500, Flags::SYN));
        assert_eq!(spans(&manager), None);
        manager.handle_incoming(at(80), &mut syn_ack);
        manager.handle_incoming(at(90), &mut syn_ack);
        assert_eq!(spans(&manager), Some([80, 80, 80]));
        manager.sample(at(160), at(0));
        assert_eq!(spans(&manager), Some([80, 90, 160]));
        manager.sample(at(10), at(0));
        assert_eq!(spans(&manager), Some([10, 80, 160]));
        let mut repeated = ConnectionManager::new(Beside::Sender);
        repeated.handle_outgoing(at(0), &mut syn);
        repeated.handle_outgoing(at(50), &mut syn);
        repeated.handle_incoming(at(80), &mut syn_ack);
        assert_eq!(spans(&repeated), None);
    }

    /// Beside the receiver the first echo of a timestamp counts, from the first time that it left.
    #[test]
    fn echoes_give_samples() {
        let mut manager = ConnectionManager::new(Beside::Receiver);
        for (now, value) in [(0, 1), (10, 1), (20, 2), (30, 3)] {
            manager.handle_outgoing(at(now), &mut stamped(value, 0));
        }
        manager.handle_incoming(at(35), &mut stamped(9, 4));
        assert_eq!(spans(&manager), None);
        manager.handle_incoming(at(60), &mut stamped(9, 2));
        assert_eq!(spans(&manager), Some([40, 40, 40]));
        // It came before, and earlier ones come no more.
        manager.handle_incoming(at(70), &mut stamped(9, 2));
        manager.handle_incoming(at(70), &mut stamped(9, 1));
        assert_eq!(spans(&manager), Some([40, 40, 40]));
        // While frozen nothing is remembered or sampled.
        manager.freeze(at(70), at(200));
        manager.handle_outgoing(at(80), &mut stamped(4, 0));
        manager.handle_incoming(at(90), &mut stamped(9, 3));
        manager.thaw();
        manager.handle_incoming(at(95), &mut stamped(9, 4));
        manager.handle_incoming(at(95), &mut stamped(9, 3));
        assert_eq!(spans(&manager), Some([40, 40, 40]));
        // A peer that echoes nothing does not fill the memory.
        (0..MOST_STAMPS as u32 + 5)
            .for_each(|value| manager.handle_outgoing(at(99), &mut stamped(100 + value, 0)));
        assert_eq!(manager.stamps.len(), MOST_STAMPS);
    }

    /// Beside the sender data are timed, one segment of each flight, and none that was retransmitted (Karn).
    #[test]
    fn data_give_samples() {
        let data = |seq: u32| Segment::new(n(seq), n(1), 100, 500, Flags::ACK);
        let mut manager = ConnectionManager::new(Beside::Sender);
        manager.handle_outgoing(at(0), &mut answer(1));
        for (now, seq) in [(10, 1), (20, 101)] {
            manager.handle_outgoing(at(now), &mut data(seq));
        }
        manager.handle_incoming(at(30), &mut answer(100));
        assert_eq!(spans(&manager), None, "a byte of it is missing");
        manager.handle_incoming(at(50), &mut answer(101));
        assert_eq!(spans(&manager), Some([40, 40, 40]));
        manager.handle_incoming(at(60), &mut answer(201));
        assert_eq!(spans(&manager), Some([40, 40, 40]), "the second was not timed");
        manager.handle_outgoing(at(70), &mut data(201));
        manager.handle_outgoing(at(75), &mut data(201));
        manager.handle_incoming(at(170), &mut answer(301));
        assert_eq!(spans(&manager), Some([40, 40, 40]));
        // A warning ends the timing; while frozen none begins.
        manager.handle_outgoing(at(180), &mut data(301));
        manager.freeze(at(181), at(500));
        manager.handle_outgoing(at(182), &mut data(401));
        let mut closed = answer(501);
        manager.handle_incoming(at(300), &mut closed);
        assert_eq!((spans(&manager), closed.window), (Some([40, 40, 40]), 0));
    }
}
