//! The sender of ATP: quick start, the rate by reports, retransmissions by SACK.

use super::AtpSettings;
use super::wire::{Data, MOST_BLOCKS, Report};
use crate::segments::take_arrived;
use crate::unsent::Unsent;
use crate::wire;
use cogtcp_crosslayer::Stamp;
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_units::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Least rate in packets per second (a guess): a route that is slower than an epoch a packet still gets some.
const LEAST_RATE: f64 = 0.1;

/// Weight of the old mean round-trip time, which serves results alone (RFC 6298).
const RTT_FILTER: f64 = 0.875;

/// A segment that was sent and has not been reported.
#[derive(Clone, Copy, Debug)]
struct Sent {
    len: u32,
    at: Time,
}

/// What the sender goes by.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// Nothing is known of the route: a probe at this time, and then one in each epoch.
    Probe(Time),
    /// The rate.
    Rate,
}

/// The sending end.
#[derive(Debug)]
pub struct AtpSender {
    segment_size: u32,
    settings: AtpSettings,
    is_open: bool,
    is_closing: bool,
    was_connected: bool,
    unsent: Unsent,
    /// Place of the next new data.
    next_offset: u64,
    /// By place in the stream.
    outstanding: BTreeMap<u64, Sent>,
    in_flight: u64,
    lost: BTreeSet<u64>,
    pace: Pace,
    /// S, in packets per second.
    rate: f64,
    /// R of the last report, in packets per second.
    route_rate: f64,
    /// When the next packet may leave.
    next: Time,
    /// When a report is overdue.
    overdue: Time,
    /// Epochs without a report.
    missed: u32,
    /// Send time of the packet that the last report answers.
    answered: Time,
    rtt_s: f64,
    probes: u64,
    events: VecDeque<EndpointEvent>,
    progress: Progress,
}

impl AtpSender {
    /// Returns a sender at rest. `segment_size`: bytes of application data in a packet.
    pub fn new(segment_size: u32, settings: AtpSettings) -> Self {
        Self {
            segment_size,
            settings,
            is_open: false,
            is_closing: false,
            was_connected: false,
            unsent: Unsent::default(),
            next_offset: 0,
            outstanding: BTreeMap::new(),
            in_flight: 0,
            lost: BTreeSet::new(),
            pace: Pace::Probe(Time::MAX),
            rate: 0.0,
            route_rate: 0.0,
            next: Time::ZERO,
            overdue: Time::MAX,
            missed: 0,
            answered: Time::ZERO,
            rtt_s: 0.0,
            probes: 0,
            events: VecDeque::new(),
            progress: Progress::default(),
        }
    }

    /// Returns the allowed rate S in packets per second.
    pub fn packet_rate(&self) -> f64 {
        self.rate
    }

    /// True while the sender probes the route.
    pub fn is_probing(&self) -> bool {
        matches!(self.pace, Pace::Probe(_))
    }

    fn has_data(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// How long a report may take: an epoch, a round-trip time and a packet's interval, and half an epoch to
    /// spare (a guess).
    fn patience(&self) -> Duration {
        let interval = 1.0 / self.rate.max(LEAST_RATE);
        self.settings.epoch.mul_ratio(3, 2) + Duration::from_secs_f64(self.rtt_s + interval)
    }

    /// Data that arrived is not outstanding any more.
    fn acknowledge(&mut self, report: &Report) {
        let Self { outstanding, in_flight, lost, .. } = self;
        take_arrived(
            outstanding,
            report.cumulative,
            &report.blocks,
            |sent| sent.len,
            |offset, sent| {
                *in_flight -= u64::from(sent.len);
                lost.remove(&offset);
            },
        );
    }

    /// What was sent before the packet that the report answers, and has not arrived, is lost. A report whose
    /// blocks are full says nothing of data beyond them.
    fn detect(&mut self, report: &Report) {
        let known = match report.blocks.last() {
            Some((_, until)) if report.blocks.len() == MOST_BLOCKS => *until,
            _ => u64::MAX,
        };
        let old = self.outstanding.range(..known).filter(|(_, sent)| sent.at < report.answers);
        let lost: Vec<u64> =
            old.map(|(offset, _)| *offset).filter(|offset| !self.lost.contains(offset)).collect();
        if !lost.is_empty() {
            self.progress.lost_packets += lost.len() as u64;
            self.events.push_back(EndpointEvent::Loss);
            self.lost.extend(lost);
        }
    }

    /// The rate follows the route's: down at once, up by a k-th of a gap that is worth it.
    fn adapt(&mut self, now: Time, report: &Report) {
        let delay = report.hop_delay.as_secs_f64();
        if delay <= 0.0 {
            // No node told anything: the rate stays.
            return;
        }
        self.route_rate = 1.0 / delay.max(1e-9);
        let gap = self.route_rate - self.rate;
        if self.is_probing() || gap < 0.0 {
            self.rate = self.route_rate;
        } else if gap > self.settings.increase_threshold * self.rate {
            self.rate += gap / self.settings.increase_divisor;
        }
        self.rate = self.rate.max(LEAST_RATE);
        if self.is_probing() {
            (self.pace, self.next) = (Pace::Rate, now);
        }
        self.next = self.next.min(now + self.interval());
    }

    fn interval(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.rate.max(LEAST_RATE))
    }

    /// A report is overdue.
    fn miss(&mut self, now: Time) {
        self.progress.timeouts += 1;
        self.events.push_back(EndpointEvent::Timeout);
        self.missed += 1;
        self.rate = (self.rate / 2.0).max(LEAST_RATE);
        if self.missed >= self.settings.epochs_until_probe {
            self.pace = Pace::Probe(now);
        }
        self.overdue = now + self.settings.epoch;
    }

    /// Returns the next segment: retransmissions first, then new data. A probe takes the oldest.
    fn pick(&mut self) -> Option<(u64, u32, bool)> {
        let oldest = if self.is_probing() { self.outstanding.keys().next() } else { self.lost.first() };
        if let Some(offset) = oldest.copied() {
            self.lost.remove(&offset);
            return Some((offset, self.outstanding.get(&offset)?.len, true));
        }
        if !self.has_data() {
            return None;
        }
        let len = self.unsent.take(self.segment_size);
        let offset = self.next_offset;
        self.next_offset += u64::from(len);
        self.in_flight += u64::from(len);
        Some((offset, len, false))
    }

    fn has_work(&self) -> bool {
        self.has_data() || !self.lost.is_empty() || self.is_probing() && !self.outstanding.is_empty()
    }
}

impl Endpoint for AtpSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        if self.is_open {
            return;
        }
        (self.is_open, self.is_closing, self.missed) = (true, false, 0);
        self.pace = Pace::Probe(now);
    }

    fn supply(&mut self, _now: Time, what: Supply) {
        self.unsent.supply(what);
    }

    fn close(&mut self, _now: Time) {
        self.is_closing = true;
        self.unsent.close();
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some(report) = Report::decode(&received.packet.bytes).filter(|_| self.is_open) else { return };
        let sample = wire::round_trip(now, report.answers, report.delay);
        let Some(sample) = sample.filter(|_| report.cumulative <= self.next_offset) else { return };
        self.acknowledge(&report);
        // An older report that comes late knows less of the route, and of what is lost.
        if report.answers < self.answered {
            return;
        }
        self.answered = report.answers;
        if !std::mem::replace(&mut self.was_connected, true) {
            self.events.push_back(EndpointEvent::Connected);
        }
        self.events.push_back(EndpointEvent::RoundTrip(sample));
        let sample = sample.as_secs_f64();
        self.rtt_s =
            if self.rtt_s > 0.0 { RTT_FILTER * self.rtt_s + (1.0 - RTT_FILTER) * sample } else { sample };
        self.missed = 0;
        self.detect(&report);
        self.adapt(now, &report);
        self.overdue = if self.outstanding.is_empty() { Time::MAX } else { now + self.patience() };
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.overdue {
            self.miss(now);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if !self.is_open {
            return None;
        }
        if self.is_closing && !self.has_data() && self.outstanding.is_empty() {
            (self.is_open, self.overdue) = (false, Time::MAX);
            self.events.push_back(EndpointEvent::Closed);
            return None;
        }
        let at = if let Pace::Probe(at) = self.pace { at } else { self.next };
        if now < at {
            return None;
        }
        let (offset, data, is_again) = self.pick()?;
        let is_probe = self.is_probing();
        if is_probe {
            self.probes += 1;
            self.pace = Pace::Probe(now + self.settings.epoch);
        } else {
            // From the time at which the packet was due; after idle time, from now.
            let due = if now.saturating_since(self.next) > self.interval() { now } else { self.next };
            self.next = due + self.interval();
        }
        if self.overdue == Time::MAX {
            self.overdue = now + self.patience();
        }
        self.outstanding.insert(offset, Sent { len: data, at: now });
        self.progress.sent_packets += 1;
        self.progress.sent_bytes += u64::from(data);
        self.progress.resent_packets += u64::from(is_again);
        let bytes = Data { offset, sent: now, is_probe }.encode();
        let packet = Datagram { bytes, filler: data, stamp: Stamp::WANTED, ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data })
    }

    fn poll_timeout(&self) -> Time {
        if !self.is_open {
            return Time::MAX;
        }
        let at = if let Pace::Probe(at) = self.pace { at } else { self.next };
        if self.has_work() { at.min(self.overdue) } else { self.overdue }
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        let waiting = match (self.is_open, self.is_probing(), self.has_work()) {
            (false, ..) => Waiting::Nothing,
            (true, true, true) => Waiting::Timeout,
            (true, _, false) => Waiting::Application,
            (true, false, true) => Waiting::Window,
        };
        Progress {
            in_flight_bytes: Some(self.in_flight),
            rate_bytes_per_s: Some((self.rate * f64::from(self.segment_size)) as u64),
            smoothed_rtt: (self.rtt_s > 0.0).then(|| Duration::from_secs_f64(self.rtt_s)),
            waiting,
            ..self.progress
        }
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("probes", self.probes as f64);
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let bits = 8.0 * f64::from(self.segment_size);
        show("allowed_rate_bps", bits * self.rate);
        show("route_rate_bps", bits * self.route_rate);
        show("smoothed_rtt_s", self.rtt_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    fn report(answers: u64, blocks: Vec<(u64, u64)>) -> Report {
        let (delay, hop_delay) = (Duration::ZERO, Duration::ZERO);
        Report { cumulative: 0, answers: at(answers), delay, hop_delay, blocks }
    }

    /// Lost is what left before the packet that the report answers, and has not arrived: once. Where its blocks are
    /// full, what lies beyond the last is not known.
    #[test]
    fn what_left_before_the_answered_packet_is_lost() {
        let sender = || {
            let mut sender = AtpSender::new(1000, AtpSettings::default());
            for (offset, sent) in [(0, 5), (1000, 6), (2000, 7), (3000, 4)] {
                sender.outstanding.insert(offset, Sent { len: 1000, at: at(sent) });
            }
            sender
        };
        let lost = |sender: &AtpSender| sender.lost.iter().copied().collect::<Vec<u64>>();
        let mut some = sender();
        some.detect(&report(6, Vec::new()));
        assert_eq!((lost(&some), some.progress.lost_packets), (vec![0, 3000], 2));
        assert_eq!((some.poll_event(), some.poll_event()), (Some(EndpointEvent::Loss), None));
        some.detect(&report(6, Vec::new()));
        assert_eq!((some.poll_event(), some.progress.lost_packets), (None, 2));
        some.detect(&report(8, Vec::new()));
        assert_eq!((lost(&some), some.progress.lost_packets), (vec![0, 1000, 2000, 3000], 4));
        let blocks = |count: u64| (1..=count).map(|n| (3000 - 10 * n, 2000)).rev().collect();
        for (count, expected) in [(MOST_BLOCKS as u64, vec![0, 1000]), (19, vec![0, 1000, 2000, 3000])] {
            let mut full = sender();
            full.detect(&report(8, blocks(count)));
            assert_eq!(lost(&full), expected, "{count}");
        }
    }
}
