//! The sender of TP-CRAHN: NewReno's window, and what nodes on the route say of sensing and of changes of
//! channel.

use super::TpCrahnSettings;
use super::wire::{Ack, Data};
use crate::segments::take_arrived;
use crate::unsent::Unsent;
use crate::wire;
use cogtcp_crosslayer::{LinkEvent, Stamp};
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_units::{Duration, Rate, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A segment is lost once three that were sent after it have arrived (RFC 5681, section 3.2).
const LATER: u8 = 3;

/// Initial window in segments (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;

/// The first retransmission timeout, and the longest (RFC 6298, section 2).
const FIRST_RTO: Duration = Duration::from_secs(1);
const LONGEST_RTO: Duration = Duration::from_secs(60);

/// The states of the sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TpCrahnState {
    /// No packet is acknowledged yet.
    Establishment,
    /// NewReno.
    Normal,
    /// A node of the route senses.
    Sensing,
    /// A node of the route changes its channel or has lost its next hop: the sender is paused.
    SpectrumChange,
}

/// A segment that was sent and has not arrived.
#[derive(Clone, Copy, Debug)]
struct Sent {
    len: u32,
    number: u64,
    /// Later packets that have arrived.
    later: u8,
}

/// The sending end.
#[derive(Debug)]
pub struct TpCrahnSender {
    segment_size: u32,
    settings: TpCrahnSettings,
    is_open: bool,
    is_closing: bool,
    is_established: bool,
    unsent: Unsent,
    next_offset: u64,
    next_number: u64,
    outstanding: BTreeMap<u64, Sent>,
    /// The place of each segment in flight, by its number.
    by_number: BTreeMap<u64, u64>,
    lost: BTreeSet<u64>,
    /// Bytes sent that have neither arrived nor are lost.
    in_flight: u64,
    /// In segments.
    cwnd: f64,
    ssthresh: f64,
    /// The recovery ends when all data before this place has arrived.
    recover: Option<u64>,
    /// Packets before this number were sent before the reaction to the last mark.
    answered_marks: u64,
    srtt_s: f64,
    rttvar_s: f64,
    backoff: u32,
    rto_at: Time,
    /// Least free queue of the route in bytes.
    room: u64,
    /// Least rate of the route in bit/s; 0: unknown.
    route_rate: u64,
    /// When the last sensing of a node began and ends.
    sensing: (Time, Time),
    /// Until when the sender is paused at most.
    paused_until: Option<Time>,
    /// Rate that a node told at its last change of channel, in bit/s.
    told_rate: u64,
    /// Messages of nodes on their way, by arrival.
    news: BTreeMap<(Time, u64), LinkEvent>,
    heard: u64,
    pauses: u64,
    events: VecDeque<EndpointEvent>,
    progress: Progress,
}

impl TpCrahnSender {
    /// Returns a sender at rest. `segment_size`: bytes of application data in a packet.
    pub fn new(segment_size: u32, settings: TpCrahnSettings) -> Self {
        Self {
            segment_size,
            settings,
            is_open: false,
            is_closing: false,
            is_established: false,
            unsent: Unsent::default(),
            next_offset: 0,
            next_number: 0,
            outstanding: BTreeMap::new(),
            by_number: BTreeMap::new(),
            lost: BTreeSet::new(),
            in_flight: 0,
            cwnd: INITIAL_WINDOW,
            ssthresh: f64::INFINITY,
            recover: None,
            answered_marks: 0,
            srtt_s: 0.0,
            rttvar_s: 0.0,
            backoff: 0,
            rto_at: Time::MAX,
            room: u64::MAX,
            route_rate: 0,
            sensing: (Time::MAX, Time::ZERO),
            paused_until: None,
            told_rate: 0,
            news: BTreeMap::new(),
            heard: 0,
            pauses: 0,
            events: VecDeque::new(),
            progress: Progress::default(),
        }
    }

    /// Returns the state at `now`.
    pub fn state(&self, now: Time) -> TpCrahnState {
        match (self.paused_until, self.is_sensing(now), self.is_established) {
            (Some(_), ..) => TpCrahnState::SpectrumChange,
            (None, true, _) => TpCrahnState::Sensing,
            (None, false, true) => TpCrahnState::Normal,
            (None, false, false) => TpCrahnState::Establishment,
        }
    }

    /// Returns the congestion window in segments.
    pub fn congestion_window(&self) -> f64 {
        self.cwnd
    }

    fn is_sensing(&self, now: Time) -> bool {
        self.sensing.0 <= now && now < self.sensing.1
    }

    /// The effective window in bytes: while a node senses no more than the least free queue of the route
    /// takes, and always a segment.
    fn window(&self, now: Time) -> u64 {
        let window = (self.cwnd * f64::from(self.segment_size)) as u64;
        let room = if self.is_sensing(now) { self.room } else { u64::MAX };
        window.min(room).max(u64::from(self.segment_size))
    }

    fn has_data(&self) -> bool {
        !self.unsent.is_empty()
    }

    fn rto(&self) -> Duration {
        let base = match self.srtt_s > 0.0 {
            true => Duration::from_secs_f64(self.srtt_s + 4.0 * self.rttvar_s).max(self.settings.min_rto),
            false => FIRST_RTO.max(self.settings.min_rto),
        };
        base.mul_ratio(1 << self.backoff.min(6), 1).min(LONGEST_RTO)
    }

    fn restart_timer(&mut self, now: Time) {
        self.rto_at = if self.outstanding.is_empty() { Time::MAX } else { now + self.rto() };
    }

    /// Takes out what has arrived. Returns the bytes.
    fn acknowledge(&mut self, ack: &Ack) -> u64 {
        let mut bytes = 0;
        let Self { outstanding, by_number, in_flight, lost, .. } = self;
        take_arrived(
            outstanding,
            ack.cumulative,
            &ack.blocks,
            |sent| sent.len,
            |offset, sent| {
                bytes += u64::from(sent.len);
                if !lost.remove(&offset) {
                    by_number.remove(&sent.number);
                    *in_flight -= u64::from(sent.len);
                }
            },
        );
        bytes
    }

    /// Finds segments behind three that arrived, and halves the window once for each window of data.
    fn detect(&mut self, ack: &Ack) {
        let before = self.lost.len();
        // Those before the packet alone: as a rule none, or the few that wait for a third.
        let earlier: Vec<(u64, u64)> =
            self.by_number.range(..ack.number).map(|(number, offset)| (*number, *offset)).collect();
        for (number, offset) in earlier {
            let Some(sent) = self.outstanding.get_mut(&offset) else { continue };
            sent.later = sent.later.saturating_add(1);
            if sent.later >= LATER {
                self.by_number.remove(&number);
                self.lost.insert(offset);
                self.in_flight -= u64::from(sent.len);
                self.progress.lost_packets += 1;
            }
        }
        if self.lost.len() > before && self.recover.is_none() {
            self.halve();
            self.recover = Some(self.next_offset);
            self.events.push_back(EndpointEvent::Loss);
        }
    }

    fn halve(&mut self) {
        self.ssthresh = (self.cwnd / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
    }

    /// A queue marked a packet. A mark of a packet that was sent while a node sensed tells of that, not of
    /// congestion.
    fn handle_mark(&mut self, now: Time, ack: &Ack) {
        let (from, until) = self.sensing;
        let is_stale = from <= ack.answers && ack.answers < until || self.is_sensing(now);
        if !is_stale && ack.number >= self.answered_marks {
            self.halve();
            self.answered_marks = self.next_number;
        }
    }

    /// Slow start and congestion avoidance. While a node senses the window does not grow.
    fn grow(&mut self, now: Time, bytes: u64) {
        let is_limited = self.in_flight + 2 * u64::from(self.segment_size) + bytes < self.window(now);
        if self.is_sensing(now) || self.recover.is_some() || is_limited {
            return;
        }
        let segments = bytes as f64 / f64::from(self.segment_size);
        self.cwnd += if self.cwnd < self.ssthresh { segments } else { segments / self.cwnd };
    }

    fn sample(&mut self, now: Time, ack: &Ack) -> bool {
        let Some(sample) = wire::round_trip(now, ack.answers, ack.delay) else { return false };
        self.events.push_back(EndpointEvent::RoundTrip(sample));
        let sample = sample.as_secs_f64().max(1e-9);
        if self.srtt_s == 0.0 {
            (self.srtt_s, self.rttvar_s) = (sample, sample / 2.0);
        } else {
            self.rttvar_s = 0.75 * self.rttvar_s + 0.25 * (self.srtt_s - sample).abs();
            self.srtt_s = 0.875 * self.srtt_s + 0.125 * sample;
        }
        true
    }

    /// The timer expired. While a node senses this is no congestion, and the timer starts again.
    fn expire(&mut self, now: Time) {
        if !self.is_sensing(now) {
            self.progress.timeouts += 1;
            self.events.push_back(EndpointEvent::Timeout);
            self.ssthresh = (self.in_flight as f64 / f64::from(self.segment_size) / 2.0).max(2.0);
            (self.cwnd, self.recover) = (1.0, Some(self.next_offset));
            self.backoff = (self.backoff + 1).min(6);
            self.lost.extend(self.outstanding.keys());
            self.by_number.clear();
            self.in_flight = 0;
        }
        self.restart_timer(now);
    }

    /// A node changes its channel or has lost its next hop: nothing is sent, and the timer stands.
    fn pause(&mut self, now: Time) {
        if self.paused_until.is_none() && self.is_open {
            self.pauses += 1;
            self.paused_until = Some(now + self.settings.longest_pause);
        }
    }

    /// The node is back, on a channel of `rate` if it told one. The window is the share of the new
    /// bandwidth-delay product if the channel is the bottleneck now, or was it before.
    fn resume(&mut self, now: Time, rate: Option<Rate>) {
        if self.paused_until.take().is_some() {
            self.restart_timer(now);
        }
        let Some(new) = rate.map(Rate::bits_per_second).filter(|new| *new > 0) else { return };
        let old = self.route_rate;
        // Packets carry rates to 0.1 %.
        let was_bottleneck = self.told_rate.abs_diff(old) <= self.told_rate / 1000;
        let is_bottleneck = old > 0 && (new < old || was_bottleneck);
        self.told_rate = new;
        if is_bottleneck && new != old && self.srtt_s > 0.0 {
            let bits = 8.0 * f64::from(self.segment_size);
            let rtt = (self.srtt_s + bits / new as f64 - bits / old as f64).max(bits / new as f64);
            self.cwnd = (self.settings.utilisation * new as f64 * rtt / bits).max(1.0);
            self.ssthresh = self.cwnd.max(2.0);
            self.route_rate = new;
        }
    }

    fn has_work(&self) -> bool {
        self.has_data() || !self.lost.is_empty()
    }
}

impl Endpoint for TpCrahnSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        if !self.is_open {
            (self.is_open, self.is_closing, self.backoff) = (true, false, 0);
            self.restart_timer(now);
        }
    }

    fn supply(&mut self, _now: Time, what: Supply) {
        self.unsent.supply(what);
    }

    fn close(&mut self, _now: Time) {
        self.is_closing = true;
        self.unsent.close();
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let Some(ack) = Ack::decode(&received.packet.bytes) else { return };
        let is_sane = ack.cumulative <= self.next_offset && ack.number < self.next_number;
        if !self.is_open || !is_sane || !self.sample(now, &ack) {
            return;
        }
        if !std::mem::replace(&mut self.is_established, true) {
            self.events.push_back(EndpointEvent::Connected);
        }
        if ack.room != u64::MAX {
            self.room = ack.room;
        }
        if ack.rate > 0 {
            self.route_rate = ack.rate;
        }
        let bytes = self.acknowledge(&ack);
        if self.recover.is_some_and(|place| ack.cumulative >= place) {
            self.recover = None;
        }
        if bytes > 0 {
            self.backoff = 0;
            self.grow(now, bytes);
            self.restart_timer(now);
        }
        self.detect(&ack);
        if ack.is_marked {
            self.handle_mark(now, &ack);
        }
    }

    fn handle_route_event(&mut self, now: Time, arrives: Time, event: LinkEvent) {
        if arrives <= now {
            return self.handle_link_event(now, event);
        }
        if self.is_open {
            self.heard += 1;
            self.news.insert((arrives, self.heard), event);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.news.first_key_value().is_some_and(|((arrives, _), _)| *arrives <= now) {
            let Some((_, event)) = self.news.pop_first() else { break };
            self.handle_link_event(now, event);
        }
        if self.paused_until.is_some_and(|until| now >= until) {
            self.resume(now, None);
        }
        if self.paused_until.is_none() && now >= self.rto_at {
            self.expire(now);
        }
    }

    fn handle_link_event(&mut self, now: Time, event: LinkEvent) {
        match event {
            LinkEvent::SensingStart { until } => {
                self.sensing = (now, until.min(now + self.settings.longest_pause));
            }
            LinkEvent::SensingEnd { .. } => {
                self.sensing.1 = self.sensing.1.min(now);
                self.restart_timer(now);
            }
            LinkEvent::SwitchingStart { .. } | LinkEvent::SignalLost { .. } => self.pause(now),
            LinkEvent::Handoff { rate, .. } => self.resume(now, rate),
            LinkEvent::SwitchingEnd | LinkEvent::SignalBack | LinkEvent::LinkUp => self.resume(now, None),
            _ => {}
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if !self.is_open {
            return None;
        }
        if self.is_closing && !self.has_data() && self.outstanding.is_empty() {
            (self.is_open, self.rto_at, self.paused_until) = (false, Time::MAX, None);
            self.news.clear();
            self.events.push_back(EndpointEvent::Closed);
            return None;
        }
        if self.paused_until.is_some() || !self.has_work() {
            return None;
        }
        if self.in_flight > 0 && self.in_flight + u64::from(self.segment_size) > self.window(now) {
            return None;
        }
        let again = self.lost.pop_first();
        let (offset, len) = match again {
            Some(offset) => (offset, self.outstanding.get(&offset)?.len),
            None => (self.next_offset, self.unsent.take(self.segment_size)),
        };
        self.next_offset = self.next_offset.max(offset + u64::from(len));
        let number = self.next_number;
        self.next_number += 1;
        self.in_flight += u64::from(len);
        self.outstanding.insert(offset, Sent { len, number, later: 0 });
        self.by_number.insert(number, offset);
        if self.rto_at == Time::MAX {
            self.restart_timer(now);
        }
        self.progress.sent_packets += 1;
        self.progress.sent_bytes += u64::from(len);
        self.progress.resent_packets += u64::from(again.is_some());
        let bytes = Data { offset, number, sent: now }.encode();
        let packet = Datagram { bytes, filler: len, stamp: Stamp::WANTED, ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: true, data: len })
    }

    fn poll_timeout(&self) -> Time {
        let news = self.news.first_key_value().map_or(Time::MAX, |((arrives, _), _)| *arrives);
        match self.paused_until {
            _ if !self.is_open => Time::MAX,
            Some(until) => until.min(news),
            None => self.rto_at.min(news),
        }
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        let waiting = match (self.is_open, self.has_work(), self.paused_until) {
            (false, ..) => Waiting::Nothing,
            (true, _, Some(_)) => Waiting::Timeout,
            (true, false, None) => Waiting::Application,
            (true, true, None) => Waiting::Window,
        };
        Progress {
            in_flight_bytes: Some(self.in_flight),
            window_bytes: Some((self.cwnd * f64::from(self.segment_size)) as u64),
            smoothed_rtt: (self.srtt_s > 0.0).then(|| Duration::from_secs_f64(self.srtt_s)),
            waiting,
            ..self.progress
        }
    }

    fn count(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("pauses", self.pauses as f64);
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("ssthresh_segments", self.ssthresh);
        show("route_rate_bps", self.route_rate as f64);
        show("route_room_bytes", if self.room == u64::MAX { f64::NAN } else { self.room as f64 });
        show("smoothed_rtt_s", self.srtt_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A sender of 1000 B with data for ever.
    fn sender() -> TpCrahnSender {
        let mut sender = TpCrahnSender::new(1000, TpCrahnSettings::default());
        sender.open(at(0));
        sender.supply(at(0), Supply::Saturated(true));
        sender
    }

    fn send(sender: &mut TpCrahnSender, now: u64) -> usize {
        std::iter::from_fn(|| sender.poll_transmit(at(now))).count()
    }

    fn events(sender: &mut TpCrahnSender) -> Vec<EndpointEvent> {
        std::iter::from_fn(|| sender.poll_event()).collect()
    }

    /// Nodes mark its packets (ECT), and an open connection without data is not over.
    #[test]
    fn a_sender_without_data_waits() {
        let mut idle = TpCrahnSender::new(1000, TpCrahnSettings::default());
        idle.open(at(0));
        assert!(idle.poll_transmit(at(1)).is_none() && idle.poll_event().is_none());
        assert_eq!(idle.progress().waiting, Waiting::Application);
        idle.supply(at(1), Supply::Bytes(1500));
        let sent: Vec<_> = std::iter::from_fn(|| idle.poll_transmit(at(2))).collect();
        assert!(sent[0].ecn_capable && sent[0].packet.stamp == Stamp::WANTED);
        assert_eq!(sent[0].data, 1000);
    }

    /// An acknowledgement of all before `cumulative` and of a packet that was sent at 0.
    fn ack(cumulative: u64, number: u64) -> Ack {
        let (answers, delay, blocks) = (at(0), Duration::ZERO, Vec::new());
        Ack { cumulative, number, answers, delay, room: u64::MAX, rate: 0, is_marked: false, blocks }
    }

    fn take(sender: &mut TpCrahnSender, now: u64, ack: &Ack) {
        let packet = Datagram { bytes: ack.encode(), ..Datagram::default() };
        let path = PathId::default();
        sender.handle_packet(at(now), Received { packet: &packet, path, marked: false });
    }

    /// Samples of 250 and 750 ms (RFC 6298): 250 and 125; then 0.75 x 125 + 0.25 x 500 and 0.875 x 250 + 0.125 x
    /// 750. The timeout is SRTT + 4 RTTVAR, doubled six times at most, and a minute at most.
    #[test]
    fn the_timer_is_that_of_rfc_6298() {
        let mut sender = sender();
        assert_eq!((sender.rto(), sender.progress().smoothed_rtt), (Duration::from_secs(1), None));
        assert!(!sender.sample(at(9), &Ack { answers: at(10), ..ack(0, 0) }));
        assert!(sender.sample(at(250), &ack(0, 0)));
        assert_eq!((sender.srtt_s, sender.rttvar_s), (0.25, 0.125));
        assert!(sender.sample(at(750), &ack(0, 0)));
        assert_eq!((sender.srtt_s, sender.rttvar_s), (0.3125, 0.21875));
        sender.settings.min_rto = Duration::from_millis(1);
        assert_eq!(sender.rto(), Duration::from_micros(1_187_500));
        (sender.srtt_s, sender.rttvar_s) = (0.25, 0.0);
        let rto = |sender: &mut TpCrahnSender, backoff| {
            sender.backoff = backoff;
            sender.rto()
        };
        assert_eq!([0, 1, 6, 7].map(|n| rto(&mut sender, n).as_nanos() / MB), [250, 500, 16_000, 16_000]);
        sender.srtt_s = 1.0;
        assert_eq!(rto(&mut sender, 6), LONGEST_RTO);
        sender.settings.min_rto = Duration::from_secs(3);
        assert_eq!(rto(&mut sender, 0), Duration::from_secs(3));
        sender.srtt_s = 0.0;
        assert_eq!(rto(&mut sender, 0), Duration::from_secs(3));
    }

    /// Ten segments at first. In slow start each acknowledged segment adds one, beyond ssthresh 1 / cwnd; a
    /// window that is not used does not grow.
    #[test]
    fn the_window_is_newrenos() {
        let mut sender = sender();
        assert_eq!((send(&mut sender, 0), sender.in_flight, sender.rto_at), (10, 10_000, at(1000)));
        take(&mut sender, 50, &ack(1000, 0));
        let sample = EndpointEvent::RoundTrip(Duration::from_millis(50));
        assert_eq!(events(&mut sender), [sample, EndpointEvent::Connected]);
        assert_eq!((sender.cwnd, sender.in_flight, send(&mut sender, 50)), (11.0, 9000, 2));
        sender.ssthresh = 11.0;
        take(&mut sender, 60, &ack(2000, 1));
        assert_eq!((sender.cwnd, sender.is_established), (11.0 + 1.0 / 11.0, true));
        assert!(!events(&mut sender).contains(&EndpointEvent::Connected), "it is told once");
        // With 8000 B in flight before the ACK, two segments more fill ten, and not eleven.
        take(&mut sender, 70, &ack(4000, 3));
        sender.cwnd = 10.0;
        take(&mut sender, 70, &ack(5000, 4));
        assert_eq!(sender.cwnd, 11.0);
        take(&mut sender, 70, &ack(6000, 5));
        assert_eq!(sender.cwnd, 11.0);
        // What was never sent acknowledges nothing.
        let before = (sender.in_flight, sender.srtt_s);
        take(&mut sender, 80, &ack(12_001, 5));
        take(&mut sender, 80, &ack(5000, 12));
        assert_eq!((sender.in_flight, sender.srtt_s), before);
        take(&mut sender, 80, &ack(12_000, 11));
        assert_eq!((sender.in_flight, sender.rto_at), (0, Time::MAX));
    }

    /// Three later packets show a loss, once; the window is halved once for each window of data.
    #[test]
    fn three_later_packets_show_a_loss() {
        let mut sender = sender();
        send(&mut sender, 0);
        for (number, lost) in [(2, 0), (3, 0), (4, 2)] {
            let block = Ack { blocks: vec![(2000, 1000 * number + 1000)], ..ack(0, number) };
            take(&mut sender, 50, &block);
            assert_eq!(sender.progress.lost_packets, lost, "{number}");
        }
        // The first two of ten; three arrived, five are in flight. The window had grown by the first two ACKs.
        assert_eq!((sender.cwnd, sender.ssthresh, sender.in_flight), (6.0, 6.0, 5000));
        assert_eq!(events(&mut sender).iter().filter(|it| **it == EndpointEvent::Loss).count(), 1);
        take(&mut sender, 51, &Ack { blocks: vec![(2000, 6000)], ..ack(0, 5) });
        assert_eq!((sender.in_flight, send(&mut sender, 51), sender.progress().resent_packets), (4000, 2, 2));
        assert_eq!((sender.cwnd, sender.recover), (6.0, Some(10_000)), "no growth in the recovery");
        take(&mut sender, 99, &ack(10_000, 10));
        assert_eq!((sender.recover, sender.in_flight), (None, 0));
        sender.cwnd = 3.0;
        sender.halve();
        assert_eq!(sender.cwnd, 2.0);
    }

    /// A mark halves the window once for the packets in flight. One of a packet that was sent while a node
    /// sensed does not.
    #[test]
    fn a_mark_halves_once_and_not_for_sensing() {
        let mut sender = sender();
        send(&mut sender, 0);
        let mark = |number, answers| Ack { is_marked: true, answers: at(answers), ..ack(0, number) };
        sender.sensing = (at(10), at(20));
        for (answers, now, halves) in [(10, 30, false), (19, 30, false), (5, 15, false), (9, 30, true)] {
            let before = sender.cwnd;
            sender.handle_mark(at(now), &mark(5, answers));
            assert_eq!(sender.cwnd < before, halves, "{answers}");
        }
        sender.handle_mark(at(30), &mark(9, 20));
        assert_eq!((sender.cwnd, sender.answered_marks), (5.0, 10));
        sender.handle_mark(at(30), &mark(10, 20));
        assert_eq!(sender.cwnd, 2.5);
    }

    /// While a node senses, the window is the room of the route, and a timeout is no congestion.
    #[test]
    fn a_node_that_senses_bounds_the_window() {
        let mut sender = sender();
        let pause = sender.settings.longest_pause;
        sender.handle_link_event(at(10), LinkEvent::SensingStart { until: at(20) });
        sender.room = 3500;
        let windows = [9, 10, 19, 20].map(|now| sender.window(at(now)));
        assert_eq!(windows, [10_000, 3500, 3500, 10_000]);
        assert_eq!(
            (sender.state(at(10)), sender.state(at(20))),
            (TpCrahnState::Sensing, TpCrahnState::Establishment)
        );
        sender.room = 10;
        assert_eq!((sender.window(at(10)), send(&mut sender, 10)), (1000, 1));
        sender.expire(at(15));
        assert_eq!((sender.progress.timeouts, sender.in_flight, sender.rto_at), (0, 1000, at(1015)));
        sender.expire(at(20));
        assert_eq!((sender.progress.timeouts, sender.in_flight, sender.rto_at), (1, 0, at(2020)));
        assert_eq!((sender.cwnd, sender.ssthresh, sender.backoff), (1.0, 2.0, 1));
        assert_eq!(events(&mut sender), [EndpointEvent::Timeout]);
        sender.handle_link_event(at(30), LinkEvent::SensingStart { until: Time::MAX });
        assert_eq!(sender.sensing, (at(30), at(30) + pause));
    }

    /// A change of channel stops the sender; the end of it, or the longest pause, lets it go on.
    #[test]
    fn a_change_of_channel_pauses() {
        let mut sender = sender();
        let pause = sender.settings.longest_pause;
        sender.handle_route_event(at(5), at(9), LinkEvent::SwitchingStart { until: Time::MAX });
        assert_eq!(sender.poll_timeout(), at(9));
        sender.handle_timeout(at(9));
        assert_eq!((sender.state(at(9)), sender.pauses), (TpCrahnState::SpectrumChange, 1));
        assert_eq!((sender.progress().waiting, send(&mut sender, 9)), (Waiting::Timeout, 0));
        assert_eq!(sender.poll_timeout(), at(9) + pause);
        sender.handle_route_event(at(10), at(10), LinkEvent::SwitchingStart { until: Time::MAX });
        assert_eq!(sender.pauses, 1, "it is paused already");
        sender.handle_route_event(at(10), at(40), LinkEvent::SwitchingEnd);
        assert_eq!(sender.poll_timeout(), at(40));
        sender.handle_timeout(at(40));
        assert_eq!(
            (sender.state(at(40)), sender.progress().waiting),
            (TpCrahnState::Establishment, Waiting::Window)
        );
        assert_eq!((send(&mut sender, 40), sender.poll_timeout()), (10, at(1040)));
        sender.pause(at(50));
        sender.handle_timeout(Time::from_nanos((at(50) + pause).as_nanos() - 1));
        assert!(sender.paused_until.is_some());
        sender.handle_timeout(at(50) + pause);
        assert!(sender.paused_until.is_none());
        let mut closed = TpCrahnSender::new(1000, TpCrahnSettings::default());
        closed.handle_route_event(at(5), at(9), LinkEvent::SwitchingStart { until: Time::MAX });
        closed.pause(at(9));
        assert!(closed.news.is_empty(), "it hears nothing");
        assert_eq!(
            (closed.pauses, closed.poll_timeout(), closed.progress().waiting),
            (0, Time::MAX, Waiting::Nothing)
        );
    }

    /// 8000 bits take 8 ms at 1 Mbit/s and 4 at 2. From 2 to 1 Mbit/s the round-trip time of 100 ms grows by 4:
    /// the share of 1 Mbit/s x 104 ms / 8000 bits is 13 segments.
    #[test]
    fn the_window_follows_the_bottleneck() {
        let resumed = |old: u64, told: u64, new: u64, srtt_s: f64| {
            let mut sender = sender();
            (sender.route_rate, sender.told_rate, sender.srtt_s) = (old * MB, told, srtt_s);
            sender.resume(at(5), Some(Rate::from_bits_per_second(new * MB)));
            assert_eq!(sender.told_rate, if new > 0 { new * MB } else { told });
            // Slow start ends at the new window, at two segments at least.
            assert!(sender.ssthresh.is_infinite() || sender.ssthresh == sender.cwnd.max(2.0));
            (sender.cwnd / sender.settings.utilisation, sender.route_rate / MB)
        };
        let close = |(cwnd, rate): (f64, u64), expected: f64| (cwnd - expected).abs() < 1e-9 && rate > 0;
        assert!(close(resumed(2, 0, 1, 0.1), 13.0));
        // A faster channel counts where the node was the bottleneck, to 0.1 %: 2 Mbit/s x 96 ms.
        assert!(close(resumed(1, MB, 2, 0.1), 24.0) && close(resumed(1, MB + 1000, 2, 0.1), 24.0));
        let kept = 10.0 / TpCrahnSettings::default().utilisation;
        assert_eq!(resumed(1, MB + 1010, 2, 0.1), (kept, 1));
        assert_eq!(resumed(1, 0, 2, 0.1), (kept, 1));
        assert_eq!(resumed(0, 0, 2, 0.1), (kept, 0));
        assert_eq!(resumed(2, 0, 1, 0.0), (kept, 2));
        assert_eq!(resumed(2, 2 * MB, 2, 0.1), (kept, 2));
        assert_eq!(resumed(2, 0, 0, 0.1), (kept, 2));
        // A round-trip time is a transmission at least, and the window a segment.
        let (cwnd, rate) = resumed(1, MB, 100, 0.001);
        assert_eq!((cwnd * TpCrahnSettings::default().utilisation, rate), (1.0, 100));
    }

    /// The last acknowledgement closes; before it data is there or in flight.
    #[test]
    fn an_end_closes_when_all_has_arrived() {
        let mut sender = TpCrahnSender::new(1000, TpCrahnSettings::default());
        sender.supply(at(0), Supply::Bytes(1500));
        assert_eq!(send(&mut sender, 0), 0);
        sender.open(at(0));
        sender.close(at(0));
        assert_eq!((send(&mut sender, 0), sender.progress().sent_bytes), (2, 1500));
        assert_eq!(
            (sender.progress().waiting, sender.progress().in_flight_bytes),
            (Waiting::Application, Some(1500))
        );
        take(&mut sender, 20, &Ack { room: 7, rate: 9, ..ack(1500, 1) });
        assert_eq!((sender.room, sender.route_rate), (7, 9));
        take(&mut sender, 20, &ack(1500, 1));
        let mut shown = Vec::new();
        sender.observe(&mut |_, value| shown.push(value));
        assert_eq!(shown[1..], [9.0, 7.0, 0.02], "what no node tells stays");
        events(&mut sender);
        assert_eq!((send(&mut sender, 20), events(&mut sender)), (0, vec![EndpointEvent::Closed]));
        assert_eq!((sender.poll_timeout(), send(&mut sender, 21)), (Time::MAX, 0));
        assert!(events(&mut sender).is_empty());
    }
}
