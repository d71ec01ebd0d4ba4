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
