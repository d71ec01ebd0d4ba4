//! NADA: a call whose rate follows queuing delay, loss and marks (RFC 8698).
//!
//! The receiver makes one congestion signal of the three, and reports it ten times a second. The sender moves
//! its rate so that the signal comes to `PRIO * XREF * RMAX / r_ref`: flows of one bottleneck share it by
//! their priorities, and the queue stays at a few milliseconds.
//!
//! Departures: the encoder follows the rate at once, so the shaping buffer of section 5.2.2 is not needed.
//! Packets have one size. Packets lost in a row are one loss event (RFC 5348 groups them by round-trip
//! times, which this receiver does not know).

use crate::tfrc::LossHistory;
use crate::unsent::Unsent;
use crate::wire;
use cogtcp_endpoint::{
    Connection, Datagram, Endpoint, EndpointEvent, Outgoing, Pair, PathId, Progress, Protocol, Received,
    Supply, Waiting,
};
use cogtcp_units::{Check, Duration, Named, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

// Parameters of RFC 8698, figures 3 and 4 (times in seconds).
/// XREF: reference congestion level.
const REFERENCE_SIGNAL: f64 = 0.010;
/// KAPPA and ETA: scaling of the gradual rate update.
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
/// TAU: bound of the round-trip time in the gradual rate update.
const TAU: f64 = 0.5;
/// DELTA: feedback interval.
const FEEDBACK: Duration = Duration::from_millis(100);
/// LOGWIN: observation window.
const WINDOW: Duration = Duration::from_millis(500);
/// QEPS: queuing delay below which no queue builds up.
const QUEUE_BUILDS_UP: f64 = 0.010;
/// DFILT: bound of the filtering delay. QBOUND: bound of the queue that ramping up makes.
const FILTERING_DELAY: f64 = 0.120;
const QUEUE_BOUND: f64 = 0.050;
/// GAMMA_MAX: bound of the rate increase while ramping up.
const LARGEST_INCREASE: f64 = 0.5;
/// QTH and LAMBDA: from which delay on, and how, large delays are warped.
const WARPED_FROM: f64 = 0.050;
const WARPING: f64 = 0.5;
/// MULTILOSS: loss intervals until losses are forgotten.
const LOSS_EXPIRES: f64 = 7.0;
/// DLOSS, DMARK: penalties of loss and marks. PLRREF, PMRREF: their reference ratios.
const LOSS_PENALTY: f64 = 0.010;
const MARK_PENALTY: f64 = 0.002;
const REFERENCE_RATIO: f64 = 0.01;
/// ALPHA: smoothing of loss and marking ratios.
const SMOOTHING: f64 = 0.1;
/// Taps of the minimum filter of queuing delays (section 5.1.1).
const TAPS: usize = 15;

/// Settings of NADA.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NadaSettings {
    /// RMIN: lowest rate of the encoder, headers left out; the call begins with it.
    pub min_rate: Rate,
    /// RMAX: highest rate of the encoder.
    pub max_rate: Rate,
    /// PRIO: weight of the call, 0.01 to 100. Calls that share a bottleneck have rates in this ratio.
    pub priority: f64,
}

impl Default for NadaSettings {
    fn default() -> Self {
        Self {
            min_rate: Rate::from_bits_per_second(150_000),
            max_rate: Rate::from_bits_per_second(1_500_000),
            priority: 1.0,
        }
    }
}

impl Named for NadaSettings {
    const NAME: &'static str = "nada";
    const SUMMARY: &'static str = "NADA: a call that adapts its rate to delay, loss and marks, over UDP";
    const REFERENCE: &'static str = "RFC 8698";

    fn check(&self, found: &mut dyn Check) {
        found.rate("min_rate", self.min_rate);
        found.rate("max_rate", self.max_rate);
        if self.max_rate < self.min_rate {
            let message = format!("\"{}\" is below min_rate (\"{}\")", self.max_rate, self.min_rate);
            found.error("max_rate", message, "write a rate of at least min_rate".into());
        }
        if !(0.01..=100.0).contains(&self.priority) {
            let message = format!("\"{}\" is out of range", self.priority);
            found.error("priority", message, "write 0.01 to 100".into());
        }
    }
}

impl Protocol for NadaSettings {
    fn is_reliable(&self) -> bool {
        false
    }

    fn build(&self, connection: Connection) -> Pair {
        let segment_size = connection.segment_size.max(1);
        Pair {
            sender: Box::new(NadaSender::new(segment_size, *self)),
            receiver: Box::new(NadaReceiver::default()),
            segment_size,
        }
    }
}

/// What a data packet tells: its number, and when it left.
const HEADER: usize = 16;

/// What the receiver reports (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
struct NadaReport {
    /// Send time of the packet that arrived last, and how long ago it arrived.
    answers: Time,
    delay: Duration,
    /// r_recv, in bits per second.
    receive_rate: u64,
    /// x_curr, in nanoseconds.
    signal: u64,
    /// rmode: true for accelerated ramp-up.
    ramps_up: bool,
    lost: u64,
}

impl NadaReport {
    const NUMBERS: usize = 6;

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * Self::NUMBERS);
        let times = [self.answers.as_nanos(), self.delay.as_nanos()];
        let rest = [self.receive_rate, self.signal, u64::from(self.ramps_up), self.lost];
        wire::write(&mut bytes, times.into_iter().chain(rest));
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> = wire::numbers(bytes).collect();
        let [answers, delay, receive_rate, signal, ramps_up, lost] = numbers[..] else { return None };
        let (answers, delay) = (Time::from_nanos(answers), Duration::from_nanos(delay));
        Some(Self { answers, delay, receive_rate, signal, ramps_up: ramps_up != 0, lost })
    }
}

/// The sending end: an encoder whose rate is r_ref.
#[derive(Debug)]
pub struct NadaSender {
    segment_size: u32,
    settings: NadaSettings,
    is_open: bool,
    /// The application has closed: the interval of the last packet ends the connection.
    is_closing: bool,
    is_connected: bool,
    unsent: Unsent,
    /// r_ref, in bits per second.
    rate: f64,
    rtt: Option<Duration>,
    /// x_prev, in seconds, and when the last report came.
    signal: f64,
    reported: Option<Time>,
    number: u64,
    next: Time,
    events: VecDeque<EndpointEvent>,
    progress: Progress,
}

impl NadaSender {
    /// Returns a sender at rest, of packets with `segment_size` bytes of media.
    pub fn new(segment_size: u32, settings: NadaSettings) -> Self {
        Self {
            segment_size,
            settings,
            is_open: false,
            is_closing: false,
            is_connected: false,
            unsent: Unsent::default(),
            rate: settings.min_rate.bits_per_second() as f64,
            rtt: None,
            signal: 0.0,
            reported: None,
            number: 0,
            next: Time::ZERO,
            events: VecDeque::new(),
            progress: Progress::default(),
        }
    }

    /// Section 4.3: the new reference rate.
    fn handle_report(&mut self, now: Time, report: &NadaReport) {
        let Some(sample) = wire::round_trip(now, report.answers, report.delay) else { return };
        if !std::mem::replace(&mut self.is_connected, true) {
            self.events.push_back(EndpointEvent::Connected);
        }
        self.events.push_back(EndpointEvent::RoundTrip(sample));
        if report.lost > self.progress.lost_packets {
            self.events.push_back(EndpointEvent::Loss);
        }
        self.progress.lost_packets = self.progress.lost_packets.max(report.lost);
        // The weight of RFC 6298.
        let rtt = self.rtt.map_or(sample, |old| old.mul_ratio(7, 8) + sample.mul_ratio(1, 8));
        self.rtt = Some(rtt);
        let interval = self.reported.map_or(FEEDBACK, |before| now - before).as_secs_f64();
        let signal = report.signal as f64 / 1e9;
        let most = self.settings.max_rate.bits_per_second() as f64;
        let least = self.settings.min_rate.bits_per_second() as f64;
        self.rate = if report.ramps_up {
            // Equations 3 and 4.
            let room = QUEUE_BOUND / (rtt.as_secs_f64() + FEEDBACK.as_secs_f64() + FILTERING_DELAY);
            let raised = (1.0 + room.min(LARGEST_INCREASE)) * report.receive_rate as f64;
            self.rate.max(raised)
        } else {
            // Equations 5 to 7.
            let offset = signal - self.settings.priority * REFERENCE_SIGNAL * most / self.rate;
            let change = signal - self.signal;
            self.rate
                - KAPPA * (interval / TAU) * (offset / TAU) * self.rate
                - KAPPA * ETA * (change / TAU) * self.rate
        };
        // Equation 8.
        self.rate = self.rate.clamp(least, most);
        self.signal = signal;
        self.reported = Some(now);
    }

    fn interval(&self) -> Duration {
        Duration::from_secs_f64(8.0 * f64::from(self.segment_size) / self.rate)
    }
}

impl Endpoint for NadaSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        (self.is_open, self.is_closing, self.next) = (true, false, now);
    }

    fn supply(&mut self, now: Time, what: Supply) {
        // An encoder that was idle does not catch up.
        if self.unsent.is_empty() {
            self.next = self.next.max(now);
        }
        self.unsent.supply(what);
    }

    fn close(&mut self, _now: Time) {
        self.is_closing = true;
        self.unsent.close();
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        if let Some(report) = NadaReport::decode(&received.packet.bytes) {
            self.handle_report(now, &report);
        }
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if !self.is_open || now < self.next {
            return None;
        }
        if self.unsent.is_empty() {
            if self.is_closing {
                self.is_open = false;
                self.events.push_back(EndpointEvent::Closed);
            }
            return None;
        }
        let data = self.unsent.take(self.segment_size);
        let mut bytes = Vec::with_capacity(HEADER);
        wire::write(&mut bytes, [self.number, now.as_nanos()]);
        self.number += 1;
        self.next = self.next.max(now) + self.interval();
        self.progress.sent_packets += 1;
        self.progress.sent_bytes += u64::from(data);
        let packet = Datagram { bytes, filler: data, ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: true, data })
    }

    fn poll_timeout(&self) -> Time {
        let is_pacing = self.is_open && (self.is_closing || !self.unsent.is_empty());
        if is_pacing { self.next } else { Time::MAX }
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        let waiting = match (self.is_open, self.unsent.is_empty()) {
            (false, _) => Waiting::Nothing,
            (true, true) => Waiting::Application,
            (true, false) => Waiting::Window,
        };
        let rate_bytes_per_s = Some((self.rate / 8.0) as u64);
        Progress { waiting, rate_bytes_per_s, smoothed_rtt: self.rtt, ..self.progress }
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("reference_rate_bps", self.rate);
        show("congestion_signal_s", self.signal);
    }
}

/// An arrival within the observation window.
#[derive(Clone, Copy, Debug)]
struct NadaArrival {
    at: Time,
    bytes: u32,
    /// Packets before this one that are missing.
    missing: u64,
    marked: bool,
    /// d_fwd - d_base, in seconds.
    queuing: f64,
}

/// The receiving end: delays, losses and marks (section 4.2).
#[derive(Debug, Default)]
pub struct NadaReceiver {
    /// d_base: least one-way delay, in nanoseconds by the clocks of both ends.
    least_delay: Option<i128>,
    taps: VecDeque<f64>,
    window: VecDeque<NadaArrival>,
    first: Option<Time>,
    /// Number of the packet that is next in order.
    expected: u64,
    losses: LossHistory,
    /// Number of the first packet of the last loss event.
    last_loss: Option<u64>,
    loss_ratio: f64,
    mark_ratio: f64,
    lost: u64,
    answers: Option<(Time, Time)>,
    due: Option<Time>,
    is_due: bool,
    is_opening: bool,
    progress: Progress,
}

impl NadaReceiver {
    /// The packets before `number` that have not arrived are lost; what is late stays lost.
    fn enter(&mut self, number: u64) -> u64 {
        let missing = number.saturating_sub(self.expected);
        if missing > 0 {
            let lost = self.expected;
            self.losses.push((lost - self.last_loss.unwrap_or(0)) as f64);
            self.last_loss = Some(lost);
            self.lost += missing;
        }
        self.expected = self.expected.max(number + 1);
        missing
    }

    /// True while the last loss is recent (section 4.2: MULTILOSS times the mean loss interval).
    ///
    /// It always is. The mean of RFC 5348 (section 5.4), which section 4.2 names, has the present interval too,
    /// with a sixth of the weights or more. The authors' ns3-rmcat computes the same.
    fn is_lossy(&self) -> bool {
        let Some(last) = self.last_loss else { return false };
        let since = (self.expected - last) as f64;
        let rate = self.losses.loss_event_rate(since);
        since * rate < LOSS_EXPIRES
    }

    /// d_tilde: the queuing delay, warped where it is large and packets are lost (equation 1).
    fn warped(&self) -> f64 {
        let queuing = self.taps.iter().copied().fold(f64::INFINITY, f64::min);
        let queuing = if queuing.is_finite() { queuing } else { 0.0 };
        if queuing < WARPED_FROM || !self.is_lossy() {
            return queuing;
        }
        WARPED_FROM * libm::exp(-WARPING * (queuing - WARPED_FROM) / WARPED_FROM)
    }

    fn report(&mut self, now: Time) -> Option<NadaReport> {
        let (answers, arrived) = self.answers?;
        let since = Time::from_nanos(now.as_nanos().saturating_sub(WINDOW.as_nanos()));
        while self.window.front().is_some_and(|it| it.at <= since) {
            self.window.pop_front();
        }
        let packets = self.window.len() as f64;
        let missing: u64 = self.window.iter().map(|it| it.missing).sum();
        let marked = self.window.iter().filter(|it| it.marked).count() as f64;
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let smooth = |old: f64, new: f64| SMOOTHING * new + (1.0 - SMOOTHING) * old;
        self.loss_ratio = smooth(self.loss_ratio, ratio(missing as f64, packets + missing as f64));
        self.mark_ratio = smooth(self.mark_ratio, ratio(marked, packets));
        let square = |ratio: f64| (ratio / REFERENCE_RATIO) * (ratio / REFERENCE_RATIO);
        // Equation 2.
        let signal =
            self.warped() + MARK_PENALTY * square(self.mark_ratio) + LOSS_PENALTY * square(self.loss_ratio);
        let ramps_up = missing == 0 && self.window.iter().all(|it| it.queuing < QUEUE_BUILDS_UP);
        let span = WINDOW.min(now - self.first.unwrap_or(now)).as_secs_f64().max(FEEDBACK.as_secs_f64());
        let bits = 8.0 * self.window.iter().map(|it| f64::from(it.bytes)).sum::<f64>();
        Some(NadaReport {
            answers,
            delay: now - arrived,
            receive_rate: (bits / span) as u64,
            signal: (signal * 1e9) as u64,
            ramps_up,
            lost: self.lost,
        })
    }
}

impl Endpoint for NadaReceiver {
    type Packet = Datagram;

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        let mut numbers = wire::numbers(&received.packet.bytes);
        let (Some(number), Some(sent)) = (numbers.next(), numbers.next()) else { return };
        let delay = i128::from(now.as_nanos()) - i128::from(sent);
        let least = self.least_delay.map_or(delay, |least| least.min(delay));
        self.least_delay = Some(least);
        let queuing = (delay - least) as f64 / 1e9;
        if self.taps.len() == TAPS {
            self.taps.pop_front();
        }
        self.taps.push_back(queuing);
        let bytes = received.packet.payload_size().saturating_sub(HEADER as u32);
        let missing = self.enter(number);
        self.window.push_back(NadaArrival { at: now, bytes, missing, marked: received.marked, queuing });
        self.answers = Some((Time::from_nanos(sent), now));
        self.progress.received_bytes += u64::from(bytes);
        self.progress.delivered_bytes = self.progress.received_bytes;
        if self.first.is_none() {
            (self.first, self.is_opening) = (Some(now), true);
        }
        if self.due.is_none() {
            self.due = Some(now + FEEDBACK);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            // Without packets there is nothing to report; the next packet starts the reports again.
            self.is_due = self.window.back().is_some_and(|last| last.at + FEEDBACK >= now);
            self.due = self.is_due.then_some(now + FEEDBACK);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let report = self.report(now)?;
        self.progress.sent_packets += 1;
        let packet = Datagram { bytes: report.encode(), ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data: 0 })
    }

    fn poll_timeout(&self) -> Time {
        self.due.unwrap_or(Time::MAX)
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        std::mem::take(&mut self.is_opening).then_some(EndpointEvent::Connected)
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("loss_ratio", self.loss_ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// The fields that are refused.
    fn wrong(settings: NadaSettings) -> Vec<String> {
        #[derive(Default)]
        struct Found(Vec<String>);
        impl Check for Found {
            fn error(&mut self, field: &str, _: String, _: String) {
                self.0.push(field.to_owned());
            }
        }
        let mut found = Found::default();
        settings.check(&mut found);
        found.0
    }

    #[test]
    fn rates_and_priorities_have_bounds() {
        let rate = Rate::from_bits_per_second;
        let right = NadaSettings { min_rate: rate(9), max_rate: rate(9), priority: 0.01 };
        let none: [&str; 0] = [];
        assert_eq!(wrong(right), none);
        assert_eq!(wrong(NadaSettings { priority: 100.0, ..right }), none);
        assert_eq!(wrong(NadaSettings { priority: 0.009, ..right }), ["priority"]);
        assert_eq!(wrong(NadaSettings { priority: 100.1, ..right }), ["priority"]);
        assert_eq!(wrong(NadaSettings { max_rate: rate(8), ..right }), ["max_rate"]);
        assert_eq!(wrong(NadaSettings { min_rate: rate(0), ..right }), ["min_rate"]);
        assert!(!right.is_reliable());
        let connection = Connection { segment_size: 0, paths: 1, seed: 0 };
        assert_eq!(right.build(connection).segment_size, 1, "no packet is empty");
    }

    fn report(answers: u64) -> NadaReport {
        let (delay, receive_rate, signal) = (Duration::ZERO, 300_000, 0);
        NadaReport { answers: at(answers), delay, receive_rate, signal, ramps_up: true, lost: 0 }
    }

    #[test]
    fn a_report_survives_its_way() {
        for ramps_up in [false, true] {
            let sent =
                NadaReport { delay: Duration::from_millis(3), signal: 7, lost: 2, ramps_up, ..report(5) };
            let bytes = sent.encode();
            assert_eq!(NadaReport::decode(&bytes), Some(sent));
            assert_eq!(NadaReport::decode(&bytes[8..]), None);
            assert_eq!(NadaReport::decode(&[bytes.as_slice(), &[0; 8]].concat()), None);
        }
    }

    /// At 80 ms the ramp-up raises by 50 / (80 + 100 + 120) = 1/6: from 300 to 350 kbit/s. The next signal is 20 ms
    /// after 0. The equilibrium at this rate is 10 ms x 1.5 / 0.35 = 42.857 ms. After 100 ms the offset adds
    /// 0.5 x 0.2 x (22.857 / 500) x 350 = 1.6 kbit/s. The change takes 0.5 x 2 x (20 / 500) x 350 = 14 kbit/s.
    #[test]
    fn the_rate_follows_equations_3_to_7() {
        let mut sender = NadaSender::new(200, NadaSettings::default());
        sender.handle_report(at(80), &report(0));
        assert!((sender.rate - 350_000.0).abs() < 1e-6, "{}", sender.rate);
        let later = NadaReport { signal: 20_000_000, ramps_up: false, ..report(100) };
        sender.handle_report(at(180), &later);
        assert!((sender.rate - 337_600.0).abs() < 1e-6, "{}", sender.rate);
        // Of the weights 7/8 and 1/8: 80 and 160 ms are 90 ms.
        sender.handle_report(at(260), &report(100));
        assert_eq!(sender.rtt, Some(Duration::from_millis(90)));
        // A ramp-up never lowers the rate; equation 8 bounds it from both sides.
        let before = sender.rate;
        sender.handle_report(at(300), &NadaReport { receive_rate: 1, ..report(220) });
        assert_eq!(sender.rate, before);
        sender.handle_report(at(300), &NadaReport { receive_rate: 9_000_000, ..report(220) });
        assert_eq!(sender.rate, 1_500_000.0);
        let full = NadaReport { signal: 9_000_000_000, ramps_up: false, ..report(220) };
        sender.handle_report(at(400), &full);
        assert_eq!((sender.rate, sender.signal), (150_000.0, 9.0));
    }

    /// The first report connects; a report of more losses than before is a loss; one from times to come is none.
    #[test]
    fn reports_make_events() {
        let mut sender = NadaSender::new(200, NadaSettings::default());
        sender.handle_report(at(10), &report(11));
        assert_eq!(sender.poll_event(), None);
        for (lost, is_loss) in [(0, false), (2, true), (2, false), (1, false), (3, true)] {
            sender.handle_report(at(30), &NadaReport { lost, ..report(10) });
            let events: Vec<_> = std::iter::from_fn(|| sender.poll_event()).collect();
            assert_eq!(events.contains(&EndpointEvent::Loss), is_loss, "{lost}");
            assert!(events.contains(&EndpointEvent::RoundTrip(Duration::from_millis(20))));
            assert_eq!(events.contains(&EndpointEvent::Connected), lost == 0);
        }
        assert_eq!(sender.progress().lost_packets, 3);
    }

    /// 1600 bits at 150 kbit/s: a packet each 10.667 ms. The end is told an interval after the last packet.
    #[test]
    fn packets_leave_at_the_rate() {
        let mut sender = NadaSender::new(200, NadaSettings::default());
        let interval = Duration::from_secs_f64(1600.0 / 150e3);
        sender.supply(at(1), Supply::Bytes(500));
        assert!(sender.poll_transmit(at(1)).is_none() && sender.poll_timeout() == Time::MAX);
        assert_eq!(sender.progress().waiting, Waiting::Nothing);
        sender.open(at(5));
        assert_eq!((sender.poll_timeout(), sender.progress().waiting), (at(5), Waiting::Window));
        let sizes: Vec<u32> = (0..3)
            .map(|number| {
                let due = at(5) + interval.mul_ratio(number, 1);
                assert_eq!(sender.poll_timeout(), due);
                assert!(sender.poll_transmit(Time::from_nanos(due.as_nanos() - 1)).is_none());
                let out = sender.poll_transmit(due).unwrap();
                assert!(out.ecn_capable && out.data == out.packet.filler);
                let numbers: Vec<u64> = wire::numbers(&out.packet.bytes).collect();
                assert_eq!(numbers, [number, due.as_nanos()]);
                out.data
            })
            .collect();
        assert_eq!(sizes, [200, 200, 100]);
        let progress = sender.progress();
        assert_eq!((progress.sent_packets, progress.sent_bytes), (3, 500));
        assert_eq!((progress.waiting, progress.rate_bytes_per_s), (Waiting::Application, Some(18_750)));
        assert_eq!(sender.poll_timeout(), Time::MAX);
        // An encoder that was idle does not catch up.
        sender.supply(at(90), Supply::Bytes(1));
        assert_eq!(sender.poll_timeout(), at(90));
        assert!(sender.poll_transmit(at(90)).is_some());
        sender.close(at(90));
        assert_eq!(sender.poll_timeout(), at(90) + interval);
        assert!(sender.poll_transmit(at(91)).is_none() && sender.poll_event().is_none());
        assert!(sender.poll_transmit(at(101)).is_none());
        assert_eq!(sender.poll_event(), Some(EndpointEvent::Closed));
        assert_eq!(sender.poll_timeout(), Time::MAX);
    }

    fn give(receiver: &mut NadaReceiver, now: u64, number: u64, sent: u64, marked: bool) {
        let mut bytes = Vec::new();
        wire::write(&mut bytes, [number, at(sent).as_nanos()]);
        let packet = Datagram { bytes, filler: 200, ..Datagram::default() };
        receiver.handle_packet(at(now), Received { packet: &packet, path: PathId::default(), marked });
    }

    fn reported(receiver: &mut NadaReceiver, now: u64) -> Option<NadaReport> {
        assert_eq!(receiver.poll_timeout(), at(now));
        receiver.handle_timeout(at(now));
        receiver.poll_transmit(at(now)).map(|out| NadaReport::decode(&out.packet.bytes).unwrap())
    }

    /// Five packets in 100 ms, each 20 ms on its way: 8000 bits in 0.1 s, no queue, no loss. Reports go out each
    /// 100 ms, until no packet has come for as long.
    #[test]
    fn a_path_without_a_queue_ramps_up() {
        let mut receiver = NadaReceiver::default();
        assert_eq!(receiver.poll_timeout(), Time::MAX);
        (0..5).for_each(|n| give(&mut receiver, 20 + 20 * n, n, 20 * n, false));
        assert_eq!(receiver.poll_event(), Some(EndpointEvent::Connected));
        assert_eq!((receiver.poll_event(), receiver.progress().delivered_bytes), (None, 1000));
        assert!(receiver.poll_transmit(at(110)).is_none());
        let expected = NadaReport {
            answers: at(80),
            delay: Duration::from_millis(20),
            receive_rate: 80_000,
            signal: 0,
            ramps_up: true,
            lost: 0,
        };
        assert_eq!(reported(&mut receiver, 120), Some(expected));
        assert!(receiver.poll_transmit(at(120)).is_none() && receiver.progress().sent_packets == 1);
        give(&mut receiver, 120, 5, 100, false);
        let report = reported(&mut receiver, 220).unwrap();
        assert_eq!((report.receive_rate, report.delay), (48_000, Duration::from_millis(100)));
        assert_eq!((reported(&mut receiver, 320), receiver.poll_timeout()), (None, Time::MAX));
        // Of 0.5 s: what came at 20 to 100 ms is forgotten at 600 ms, what came at 120 ms is not.
        give(&mut receiver, 500, 6, 480, false);
        assert_eq!(reported(&mut receiver, 600).map(|it| it.receive_rate), Some(2 * 1600 * 2));
    }

    /// A queue of 9 ms does not build up, one of 10 does; nor does the call ramp up after a loss.
    #[test]
    fn a_queue_or_a_loss_ends_the_ramp_up() {
        for (late, number, ramps_up) in [(9, 1, true), (10, 1, false), (9, 2, false)] {
            let mut receiver = NadaReceiver::default();
            give(&mut receiver, 20, 0, 0, false);
            give(&mut receiver, 60 + late, number, 40, false);
            let report = reported(&mut receiver, 120).unwrap();
            assert_eq!((report.ramps_up, report.lost), (ramps_up, number - 1), "{late}, {number}");
        }
    }

    /// One of two packets is marked: 0.1 x 0.5 after smoothing, five times the reference, and 2 ms x 25. One of
    /// three is lost: 0.1 / 3, and 10 ms x (10 / 3)^2.
    #[test]
    fn marks_and_losses_weigh_by_their_squares() {
        let mut receiver = NadaReceiver::default();
        give(&mut receiver, 20, 0, 0, true);
        give(&mut receiver, 40, 1, 20, false);
        let signal = reported(&mut receiver, 120).unwrap().signal;
        assert!(signal.abs_diff(50_000_000) < 10, "{signal}");
        let mut receiver = NadaReceiver::default();
        give(&mut receiver, 20, 0, 0, false);
        give(&mut receiver, 40, 2, 20, false);
        let signal = reported(&mut receiver, 120).unwrap().signal;
        assert!(signal.abs_diff(111_111_111) < 10, "{signal}");
        let mut shown = 0.0;
        receiver.observe(&mut |_, value| shown = value);
        assert!((shown - 0.1 / 3.0).abs() < 1e-12, "{shown}");
    }

    /// Nine losses 100 packets apart: after 10,000 packets without loss the mean is (10,000 + 5 x 100) / 6 = 1750.
    /// Seven of it are more than 10,000.
    #[test]
    fn a_loss_is_never_forgotten() {
        let mut receiver = NadaReceiver::default();
        assert!(!receiver.is_lossy());
        (0..10_900).filter(|number| number % 100 != 99 || *number > 900).for_each(|number| {
            receiver.enter(number);
        });
        assert_eq!((receiver.lost, receiver.last_loss), (9, Some(899)));
        assert!(receiver.is_lossy());
    }

    /// The minimum of 15 delays. From 50 ms on it is warped as long as losses are recent: 50 ms x
    /// exp(-0.5 x (100 - 50) / 50) = 30.3 ms.
    #[test]
    fn a_large_delay_is_warped_after_losses() {
        let mut receiver = NadaReceiver::default();
        assert_eq!((receiver.warped(), receiver.is_lossy()), (0.0, false));
        receiver.taps = [0.2, 0.1, 0.3].into();
        assert_eq!(receiver.warped(), 0.1);
        assert_eq!(
            [receiver.enter(0), receiver.enter(9), receiver.enter(3), receiver.enter(10)],
            [0, 8, 0, 0]
        );
        assert_eq!((receiver.lost, receiver.last_loss, receiver.expected), (8, Some(1), 11));
        let warped = receiver.warped();
        assert!((warped - 0.05 * libm::exp(-0.5)).abs() < 1e-12, "{warped}");
        receiver.taps = [0.05].into();
        assert!((receiver.warped() - 0.05).abs() < 1e-12);
        receiver.taps = [0.049].into();
        assert_eq!(receiver.warped(), 0.049);
        (0..20).for_each(|number| give(&mut receiver, 100 + number, 500 + number, 90, false));
        assert_eq!(receiver.taps.len(), 15);
    }

    /// An open sender without data waits for it; closed, it is over.
    #[test]
    fn a_sender_is_over_when_it_is_closed() {
        let mut sender = NadaSender::new(1000, NadaSettings::default());
        sender.open(Time::ZERO);
        let at = Time::from_millis(50);
        assert!(sender.poll_transmit(at).is_none() && sender.poll_event().is_none());
        assert_eq!(sender.progress().waiting, Waiting::Application);
        sender.close(at);
        assert!(sender.poll_transmit(at).is_none());
        assert_eq!(sender.poll_event(), Some(EndpointEvent::Closed));
        assert_eq!((sender.poll_timeout(), sender.progress().waiting), (Time::MAX, Waiting::Nothing));
    }
}
