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
    fn is_lossy(&self) -> bool {
        let Some(last) = self.last_loss else { return false };
        let since = (self.expected - last) as f64;
        let rate = self.losses.loss_event_rate(since);
        rate > 0.0 && since * rate < LOSS_EXPIRES
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
