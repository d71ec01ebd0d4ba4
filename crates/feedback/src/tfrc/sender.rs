//! The sender of TFRC: allowed rate, pacing, nofeedback timer (RFC 5348, section 4 and 8.2.1).
//!
//! Departure: bursts within a timer's granularity (section 4.6) are left out, since the driver's timers are
//! exact.

use super::wire::{Data, Feedback};
use crate::equation::throughput;
use crate::unsent::Unsent;
use crate::wire;
use cogtcp_endpoint::{
    Datagram, Endpoint, EndpointEvent, Outgoing, PathId, Progress, Received, Supply, Waiting,
};
use cogtcp_units::{Duration, Time};
use libm::sqrt;
use std::collections::VecDeque;

/// t_mbi: the sender sends at least one packet in this many seconds (section 4.3).
const MAXIMUM_BACKOFF_S: f64 = 64.0;

/// The nofeedback timer before the first feedback (section 4.2).
const INITIAL_TIMEOUT: Duration = Duration::from_secs(2);

/// q of the smoothed round-trip time (section 4.3).
const RTT_FILTER: f64 = 0.9;

/// Rounds in which a falling rate of TFRC-CR may be above twice the receive rate (released code,
/// maxHeavyRounds_).
const MOST_HEAVY_ROUNDS: u32 = 1;

/// The sending end.
#[derive(Debug, Default)]
pub struct TfrcSender {
    segment_size: u32,
    is_open: bool,
    is_closing: bool,
    unsent: Unsent,
    /// X, in bytes per second.
    rate: f64,
    /// X_Bps of the last feedback with losses, in bytes per second.
    equation_rate: f64,
    /// p.
    loss_event_rate: f64,
    /// R in seconds; 0: not measured.
    rtt_s: f64,
    /// R_sqmean over sqrt(R_sample): how much slower packets leave while the queue grows (section 4.5).
    easing: f64,
    /// R_sqmean: long-term mean of the square root of the round-trip time.
    root_mean: f64,
    /// X_recv_set: receive rates that were reported, and when. Starts with infinity.
    receive_rates: Vec<(Time, f64)>,
    /// tld: when the rate was last doubled.
    doubled: Option<Time>,
    nofeedback: Time,
    /// A packet was sent since the nofeedback timer was set.
    has_sent: bool,
    /// When the next packet may be sent.
    next: Time,
    number: u64,
    limits: Limits,
    events: VecDeque<EndpointEvent>,
    progress: Progress,
    /// TFRC-CR's differences; `None`: RFC 5348.
    cognitive: Option<Cognitive>,
}

/// What differs in TFRC-CR's released code.
#[derive(Clone, Copy, Debug, Default)]
struct Cognitive {
    /// Rounds in turn in which the rate fell and was above twice the receive rate.
    heavy_rounds: u32,
    /// Packets ask the receiver to restart.
    restarts: bool,
    /// The receiver has reported before.
    was_connected: bool,
}

/// Which intervals between two feedback packets were limited by the application (section 8.2.1).
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// NotLimited1, NotLimited2: when the sender last sent all that it was allowed to.
    not_limited: [Time; 2],
    /// t_new: send time of the packet that the last feedback answered. t_next: when that feedback arrived.
    new: Time,
    next: Time,
}

impl TfrcSender {
    /// Returns a sender at rest. `segment_size` is s: bytes of application data in a packet, without the
    /// headers of TFRC, UDP and IP.
    pub fn new(segment_size: u32) -> Self {
        Self {
            segment_size,
            // One packet per second before the first feedback (section 4.2).
            rate: f64::from(segment_size),
            equation_rate: f64::INFINITY,
            easing: 1.0,
            nofeedback: Time::MAX,
            ..Self::default()
        }
    }

    /// True from the opening to the end of the connection.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the allowed sending rate X in bytes per second of application data.
    pub fn allowed_rate(&self) -> f64 {
        self.rate
    }

    fn size(&self) -> f64 {
        f64::from(self.segment_size)
    }

    /// The rate of an initial window, W_init / R (section 4.2).
    fn initial_rate(&self) -> f64 {
        let window = (4.0 * self.size()).min((2.0 * self.size()).max(4380.0));
        window / self.rtt_s
    }

    fn least_rate(&self) -> f64 {
        self.size() / MAXIMUM_BACKOFF_S
    }

    fn greatest_receive_rate(&self) -> f64 {
        self.receive_rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    fn has_data(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// The receiver has reported at least once: from then on a round-trip time is known.
    fn has_feedback(&self) -> bool {
        self.rtt_s > 0.0
    }

    /// Feedback arrived (section 4.3).
    fn handle_feedback(&mut self, now: Time, feedback: &Feedback) {
        let Some(sample) = wire::round_trip(now, feedback.received_sent, feedback.delay) else { return };
        let is_first = !self.has_feedback();
        if is_first && !self.cognitive.is_some_and(|own| own.was_connected) {
            self.events.push_back(EndpointEvent::Connected);
        }
        self.events.push_back(EndpointEvent::RoundTrip(sample));
        let sample = sample.as_secs_f64().max(1e-9);
        let smooth = |mean, new| if is_first { new } else { RTT_FILTER * mean + (1.0 - RTT_FILTER) * new };
        self.rtt_s = smooth(self.rtt_s, sample);
        let root = sqrt(sample);
        self.root_mean = smooth(self.root_mean, root);
        self.easing = self.root_mean / root;
        // Step 3 comes before the new rate.
        let timeout = self.timeout();
        let rtt = Duration::from_secs_f64(self.rtt_s);
        // The first feedback reports no receive rate, and its interval was not limited.
        let was_limited = self.limits.covers(now, feedback.received_sent, rtt) && feedback.receive_rate > 0;
        let p = feedback.loss_event_rate;
        let has_loss = p > self.loss_event_rate;
        if has_loss {
            self.events.push_back(EndpointEvent::Loss);
        }
        self.loss_event_rate = p;
        self.progress.lost_packets = self.progress.lost_packets.max(feedback.lost);
        let receive_rate = feedback.receive_rate as f64;
        let factor = if was_limited && has_loss {
            self.receive_rates.iter_mut().for_each(|(_, rate)| *rate *= 0.5);
            self.maximize(now, 0.85 * receive_rate);
            1.0
        } else {
            match was_limited {
                true => self.maximize(now, receive_rate),
                false => self.update(now, receive_rate),
            }
            2.0
        };
        self.adapt(now, factor * self.greatest_receive_rate());
        self.restart(now, timeout);
        // A higher rate brings the next packet forward.
        self.next = self.next.min(now + self.interval());
    }

    /// Step 4 of section 4.3, with recv_limit in bytes per second.
    fn adapt(&mut self, now: Time, limit: f64) {
        if self.loss_event_rate > 0.0 {
            self.equation_rate = throughput(self.size(), self.rtt_s, self.loss_event_rate);
            self.rate = match self.cognitive {
                None => self.equation_rate.min(limit),
                Some(_) => self.equation_or_heavy(limit),
            }
            .max(self.least_rate());
        } else if self.doubled.is_none_or(|doubled| now.saturating_since(doubled).as_secs_f64() >= self.rtt_s)
        {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial_rate());
            self.doubled = Some(now);
        }
    }

    /// Maximize X_recv_set (section 4.3): the greatest rate remains, dated now.
    fn maximize(&mut self, now: Time, rate: f64) {
        let known = self.receive_rates.iter().map(|(_, rate)| *rate).filter(|rate| rate.is_finite());
        let greatest = known.fold(rate, f64::max);
        self.receive_rates = vec![(now, greatest)];
    }

    /// Update X_recv_set (section 4.3): rates of the last two round-trip times remain.
    fn update(&mut self, now: Time, rate: f64) {
        let span = 2.0 * self.rtt_s;
        self.receive_rates.push((now, rate));
        self.receive_rates.retain(|(at, _)| now.saturating_since(*at).as_secs_f64() <= span);
    }

    /// The nofeedback timer expired (section 4.4).
    fn expire(&mut self, now: Time) {
        self.progress.timeouts += 1;
        let received = self.greatest_receive_rate();
        let was_idle = !self.has_sent;
        let p = self.loss_event_rate;
        let half = (self.rate / 2.0).max(self.least_rate());
        if !self.has_feedback() {
            if !was_idle {
                self.rate = half;
            }
        } else {
            let recover = self.initial_rate();
            let is_slow = if p > 0.0 { received < recover } else { self.rate < 2.0 * recover };
            if was_idle && is_slow {
                // An idle sender keeps the rate of an initial window.
            } else if p == 0.0 {
                self.rate = half;
            } else if self.equation_rate > 2.0 * received {
                self.limit_to(now, received);
            } else {
                self.limit_to(now, self.equation_rate / 2.0);
            }
        }
        self.events.push_back(EndpointEvent::Timeout);
        self.restart(now, self.timeout());
    }

    /// Update_Limits (section 4.4).
    fn limit_to(&mut self, now: Time, rate: f64) {
        let limit = rate.max(self.least_rate());
        self.receive_rates = vec![(now, limit / 2.0)];
        self.adapt(now, limit);
    }

    /// RTO = max(4 R, 2 s / X) (section 4.3).
    fn timeout(&self) -> Duration {
        Duration::from_secs_f64((4.0 * self.rtt_s).max(2.0 * self.size() / self.rate))
    }

    /// Sets the nofeedback timer.
    fn restart(&mut self, now: Time, timeout: Duration) {
        self.nofeedback = now + timeout;
        self.has_sent = false;
    }

    /// Time between two packets.
    fn interval(&self) -> Duration {
        Duration::from_secs_f64(self.size() / (self.rate * self.easing).max(self.least_rate()))
    }
}

/// What TFRC-CR needs of its base.
impl TfrcSender {
    /// Returns a sender at rest with the rules of TFRC-CR.
    pub(crate) fn cognitive(segment_size: u32) -> Self {
        Self { cognitive: Some(Cognitive::default()), ..Self::new(segment_size) }
    }

    /// The rate of the equation at once, without the limit of twice the receive rate. Only a rate that falls
    /// and was above the limit in the round before is limited.
    fn equation_or_heavy(&mut self, limit: f64) -> f64 {
        let (wanted, limit) = (self.equation_rate, limit.max(self.size() / self.rtt_s));
        let is_heavy = wanted <= self.rate && wanted > limit;
        let Some(own) = &mut self.cognitive else { return wanted };
        own.heavy_rounds = if is_heavy { own.heavy_rounds + 1 } else { 0 };
        if own.heavy_rounds > MOST_HEAVY_ROUNDS { limit } else { wanted }
    }

    /// Returns when the nofeedback timer is due.
    pub(crate) fn feedback_due(&self) -> Time {
        self.nofeedback
    }

    /// The nofeedback timer expired: TFRC-CR halves the rate if `halves`, and sets the timer to `timeout`, or
    /// by its own rule.
    pub(crate) fn expire_cognitive(&mut self, now: Time, halves: bool, timeout: Option<Duration>) {
        self.progress.timeouts += 1;
        self.events.push_back(EndpointEvent::Timeout);
        let floor =
            if self.has_feedback() && !self.has_sent { self.initial_rate() } else { self.least_rate() };
        if halves && self.rate > floor {
            self.rate = (self.rate / 2.0).max(floor);
        }
        self.restart(now, timeout.unwrap_or_else(|| self.timeout()));
    }

    /// Sets the rate to `rate` bytes per second. The next packet leaves by the new rate.
    pub(crate) fn force_rate(&mut self, now: Time, rate: f64) {
        self.rate = rate.max(self.least_rate());
        self.next = self.next.min(now + self.interval());
    }

    /// The next packet may leave at once.
    pub(crate) fn hurry(&mut self, now: Time) {
        self.next = self.next.min(now);
    }

    /// Starts again at `rate` bytes per second, and asks the receiver to do the same. A packet may leave at
    /// once.
    pub(crate) fn start_again(&mut self, now: Time, rate: f64, timeout: Option<Duration>) {
        let fresh = Self::cognitive(self.segment_size);
        let was_connected = self.has_feedback() || self.cognitive.is_some_and(|own| own.was_connected);
        *self = Self {
            is_open: self.is_open,
            is_closing: self.is_closing,
            unsent: self.unsent,
            receive_rates: vec![(now, f64::INFINITY)],
            rate,
            next: now,
            number: self.number,
            events: std::mem::take(&mut self.events),
            progress: self.progress,
            cognitive: Some(Cognitive { restarts: true, was_connected, heavy_rounds: 0 }),
            ..fresh
        };
        self.restart(now, timeout.unwrap_or_else(|| self.timeout()));
    }

    /// The receiver has started again, too.
    pub(crate) fn end_restart(&mut self) {
        if let Some(own) = &mut self.cognitive {
            own.restarts = false;
        }
    }

    /// True if packets ask the receiver to restart.
    pub(crate) fn is_restarting(&self) -> bool {
        self.cognitive.is_some_and(|own| own.restarts)
    }
}

impl Limits {
    /// The sender sent all that it was allowed to.
    fn use_all(&mut self, now: Time) {
        if self.not_limited[0] <= self.new {
            self.not_limited[0] = now;
        } else if self.not_limited[1] <= self.next {
            self.not_limited[1] = now;
        }
    }

    /// Feedback arrived at `now` about a packet sent at `sent`. Returns whether the application limited the
    /// sender throughout the interval that the feedback covers.
    fn covers(&mut self, now: Time, sent: Time, rtt: Duration) -> bool {
        let old = Time::from_nanos(sent.as_nanos().saturating_sub(rtt.as_nanos()));
        (self.new, self.next) = (sent, now);
        let was_used = self.not_limited.iter().any(|at| old < *at && *at <= sent);
        if self.not_limited[0] <= self.new && self.not_limited[1] > self.new {
            self.not_limited[0] = self.not_limited[1];
        }
        !was_used
    }
}

impl Endpoint for TfrcSender {
    type Packet = Datagram;

    fn open(&mut self, now: Time) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        self.is_closing = false;
        self.next = now;
        self.receive_rates = vec![(now, f64::INFINITY)];
        self.nofeedback = now + INITIAL_TIMEOUT;
    }

    fn supply(&mut self, _now: Time, what: Supply) {
        self.unsent.supply(what);
    }

    fn close(&mut self, _now: Time) {
        self.is_closing = true;
        self.unsent.close();
    }

    fn handle_packet(&mut self, now: Time, received: Received<'_, Datagram>) {
        match Feedback::decode(&received.packet.bytes) {
            Some(feedback) if self.is_open => self.handle_feedback(now, &feedback),
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.nofeedback {
            self.expire(now);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<Datagram>> {
        if !self.is_open || now < self.next {
            if self.is_open && self.has_data() {
                self.limits.use_all(now);
            }
            return None;
        }
        if !self.has_data() {
            if self.is_closing {
                self.is_open = false;
                self.nofeedback = Time::MAX;
                self.events.push_back(EndpointEvent::Closed);
            }
            return None;
        }
        let data = self.unsent.take(self.segment_size);
        let restarts = self.cognitive.is_some_and(|own| own.restarts);
        let header =
            Data { number: self.number, sent: now, rtt: Duration::from_secs_f64(self.rtt_s), restarts }
                .encode();
        self.number += 1;
        self.has_sent = true;
        self.progress.sent_packets += 1;
        self.progress.sent_bytes += u64::from(data);
        // From the time at which the packet was due: a late driver does not lower the rate. After idle time, from now.
        let due = if now.saturating_since(self.next) > self.interval() { now } else { self.next };
        self.next = due + self.interval();
        let packet = Datagram { bytes: header, filler: data, ..Datagram::default() };
        Some(Outgoing { packet, path: PathId::default(), ecn_capable: false, data })
    }

    fn poll_timeout(&self) -> Time {
        // The last packet's interval ends the connection.
        let is_pacing = self.is_open && (self.has_data() || self.is_closing);
        if is_pacing { self.next.min(self.nofeedback) } else { self.nofeedback }
    }

    fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    fn progress(&self) -> Progress {
        let waiting = match (self.is_open, self.has_data()) {
            (false, _) => Waiting::Nothing,
            (true, false) => Waiting::Application,
            (true, true) => Waiting::Window,
        };
        Progress {
            rate_bytes_per_s: Some(self.rate as u64),
            smoothed_rtt: (self.rtt_s > 0.0).then(|| Duration::from_secs_f64(self.rtt_s)),
            waiting,
            ..self.progress
        }
    }

    fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("allowed_rate_bps", 8.0 * self.rate);
        show("equation_rate_bps", 8.0 * self.equation_rate);
        show("receive_limit_bps", 16.0 * self.greatest_receive_rate());
        show("loss_event_rate", self.loss_event_rate);
        show("smoothed_rtt_s", self.rtt_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A sender of 1000 B at 100 ms, of this rate and loss event rate, that has sent since its timer was set.
    /// An initial window is 40 kB/s, and the least rate a packet in 64 s.
    fn sender(rate: f64, loss_event_rate: f64) -> TfrcSender {
        let mut sender = TfrcSender::new(1000);
        (sender.rtt_s, sender.rate, sender.loss_event_rate, sender.has_sent) =
            (0.1, rate, loss_event_rate, true);
        sender
    }

    fn events(sender: &mut TfrcSender) -> Vec<EndpointEvent> {
        std::iter::from_fn(|| sender.poll_event()).collect()
    }

    /// min(4 s, max(2 s, 4380)) in a round-trip time.
    #[test]
    fn an_initial_window_is_that_of_section_4_2() {
        for (size, window) in [(1000, 4000.0), (1460, 4380.0), (2190, 4380.0), (2500, 5000.0)] {
            let sender = TfrcSender { rtt_s: 0.5, ..TfrcSender::new(size) };
            assert_eq!((sender.initial_rate(), sender.allowed_rate()), (2.0 * window, f64::from(size)));
        }
        assert_eq!(sender(1.0, 0.0).least_rate(), 1000.0 / 64.0);
        // max(4 R, 2 s / X).
        assert_eq!(sender(1000.0, 0.0).timeout(), Duration::from_secs(2));
        assert_eq!(sender(10_000.0, 0.0).timeout(), Duration::from_millis(400));
    }

    /// Section 4.4 without a loss: rates before and after, of senders that sent, and that were idle.
    #[test]
    fn the_timer_halves_the_rate() {
        let after = |mut sender: TfrcSender, is_idle: bool| {
            sender.has_sent = !is_idle;
            sender.expire(at(1000));
            assert_eq!((events(&mut sender), sender.progress.timeouts), (vec![EndpointEvent::Timeout], 1));
            assert_eq!((sender.nofeedback, sender.has_sent), (at(1000) + sender.timeout(), false));
            sender.rate
        };
        let unknown = |rate| TfrcSender { rate, ..TfrcSender::new(1000) };
        assert_eq!((after(unknown(1000.0), false), after(unknown(1000.0), true)), (500.0, 1000.0));
        assert_eq!(after(unknown(20.0), false), 1000.0 / 64.0);
        assert_eq!((after(sender(70e3, 0.0), false), after(sender(70e3, 0.0), true)), (35e3, 70e3));
        assert_eq!((after(sender(79e3, 0.0), true), after(sender(80e3, 0.0), true)), (79e3, 40e3));
        // With losses: twice what was received, or half of the equation's rate.
        let lossy = |received, equation_rate| TfrcSender {
            receive_rates: vec![(at(990), received)],
            equation_rate,
            ..sender(50e3, 1e-4)
        };
        assert_eq!(after(lossy(10e3, 21e3), false), 10e3);
        assert_eq!(after(lossy(10e3, 16e3), false), 8e3);
        assert_eq!(after(lossy(1.0, 900.0), false), 1000.0 / 64.0);
        assert_eq!((after(lossy(39e3, 90e3), true), after(lossy(40e3, 90e3), true)), (50e3, 40e3));
    }

    /// Rates of two round-trip times remain; a limited sender keeps the greatest only.
    #[test]
    fn receive_rates_are_of_two_round_trips() {
        let mut sender = sender(1000.0, 0.0);
        sender.receive_rates = vec![(at(0), f64::INFINITY)];
        sender.update(at(100), 5.0);
        sender.update(at(200), 4.0);
        sender.update(at(300), 3.0);
        assert_eq!(sender.receive_rates, [(at(100), 5.0), (at(200), 4.0), (at(300), 3.0)]);
        assert_eq!(sender.greatest_receive_rate(), 5.0);
        sender.update(at(301), 2.0);
        assert_eq!(sender.greatest_receive_rate(), 4.0);
        sender.maximize(at(302), 1.0);
        assert_eq!(sender.receive_rates, [(at(302), 4.0)]);
        sender.receive_rates = vec![(at(0), f64::INFINITY)];
        sender.maximize(at(303), 6.0);
        assert_eq!(sender.receive_rates, [(at(303), 6.0)]);
    }

    /// Section 4.3, step 4: once a round-trip time the rate doubles, from an initial window on and up to the limit.
    /// After a loss it is the equation's, within the limit.
    #[test]
    fn the_rate_doubles_until_a_loss() {
        let mut sender = sender(1000.0, 0.0);
        let mut rate = |now, limit| {
            sender.adapt(at(now), limit);
            sender.rate
        };
        assert_eq!([rate(0, 9e9), rate(99, 9e9), rate(100, 9e9)], [40e3, 40e3, 80e3]);
        assert_eq!([rate(200, 90e3), rate(300, 10.0)], [90e3, 40e3]);
        sender.loss_event_rate = 0.01;
        let equation = throughput(1000.0, 0.1, 0.01);
        sender.adapt(at(301), 9e9);
        assert_eq!((sender.rate, sender.equation_rate), (equation, equation));
        sender.adapt(at(302), 5e3);
        assert_eq!(sender.rate, 5e3);
        sender.adapt(at(303), 0.0);
        assert_eq!(sender.rate, 1000.0 / 64.0);
    }

    /// A sender that is not open waits for no rate, and the least round-trip time is a nanosecond.
    #[test]
    fn a_closed_sender_is_not_held_back() {
        let mut sender = TfrcSender::new(1000);
        sender.supply(at(1), Supply::Bytes(5000));
        assert!(sender.poll_transmit(at(2)).is_none());
        assert_eq!(sender.limits.not_limited, Limits::default().not_limited);
        for (nanos, rtt) in [(0, 1e-9), (1, 1e-9), (2, 2e-9)] {
            let mut sender = TfrcSender::new(1000);
            sender.open(Time::ZERO);
            let feedback = Feedback {
                received_sent: at(100),
                delay: Duration::from_millis(10),
                receive_rate: 1000,
                loss_event_rate: 0.0,
                lost: 0,
                restarts: false,
            };
            sender.handle_feedback(at(110) + Duration::from_nanos(nanos), &feedback);
            assert_eq!(sender.rtt_s, rtt);
        }
    }

    /// The series that the page names. Rates are in bit/s; the limit is twice the receive rate.
    #[test]
    fn a_sender_shows_its_rates() {
        let mut sender = TfrcSender::new(1000);
        (sender.rate, sender.equation_rate, sender.loss_event_rate, sender.rtt_s) = (10.0, 20.0, 0.25, 0.5);
        sender.receive_rates = vec![(at(1), 30.0), (at(2), 5.0)];
        let mut shown = Vec::new();
        sender.observe(&mut |name, value| shown.push((name, value)));
        let expected = [
            ("allowed_rate_bps", 80.0),
            ("equation_rate_bps", 160.0),
            ("receive_limit_bps", 480.0),
            ("loss_event_rate", 0.25),
            ("smoothed_rtt_s", 0.5),
        ];
        assert_eq!(shown, expected);
        // An open sender without data is not over.
        let mut idle = TfrcSender::new(1000);
        idle.open(at(0));
        assert!(idle.poll_transmit(at(1)).is_none() && idle.poll_event().is_none());
    }

    /// TFRC-CR takes the equation's rate at once. A rate that does not rise and is above the limit is limited
    /// in the second round.
    #[test]
    fn a_heavy_sender_is_limited_in_its_second_round() {
        let mut sender = TfrcSender { rtt_s: 0.1, rate: 50e3, ..TfrcSender::cognitive(1000) };
        sender.equation_rate = 50e3;
        assert_eq!([0.0; 3].map(|_| sender.equation_or_heavy(20e3)), [50e3, 20e3, 20e3]);
        // A rate that rises, or one at the limit, ends that.
        sender.equation_rate = 51e3;
        assert_eq!(sender.equation_or_heavy(20e3), 51e3);
        sender.equation_rate = 20e3;
        assert_eq!([0.0; 2].map(|_| sender.equation_or_heavy(20e3)), [20e3, 20e3]);
        // The limit is a packet in a round-trip time at least.
        sender.equation_rate = 11e3;
        assert_eq!([0.0; 2].map(|_| sender.equation_or_heavy(1.0)), [11e3, 10e3]);
    }

    /// TFRC-CR's timer: down to an initial window where nothing was sent, else to the least rate.
    #[test]
    fn the_timer_of_tfrc_cr_halves_down_to_a_floor() {
        let expire = |rate, has_sent, halves, rtt_s| {
            let mut sender = TfrcSender { rtt_s, rate, has_sent, ..TfrcSender::cognitive(1000) };
            sender.expire_cognitive(at(5), halves, Some(Duration::from_millis(7)));
            assert_eq!((events(&mut sender), sender.progress.timeouts), (vec![EndpointEvent::Timeout], 1));
            assert_eq!(sender.feedback_due(), at(12));
            sender.rate
        };
        assert_eq!((expire(90e3, false, true, 0.1), expire(90e3, false, false, 0.1)), (45e3, 90e3));
        assert_eq!((expire(70e3, false, true, 0.1), expire(30e3, false, true, 0.1)), (40e3, 30e3));
        assert_eq!((expire(70e3, true, true, 0.1), expire(70e3, false, true, 0.0)), (35e3, 35e3));
        assert_eq!(expire(20.0, true, true, 0.1), 1000.0 / 64.0);
    }

    /// The first feedback connects, and its sample is taken whole; the second at 200 ms weighs 0.1. A loss is
    /// told where the loss event rate rises; lost packets never come back.
    #[test]
    fn feedback_moves_the_average_and_tells_of_losses() {
        let mut sender = TfrcSender::new(1000);
        sender.open(at(0));
        let feedback = |sent, loss_event_rate, lost| Feedback {
            received_sent: at(sent),
            delay: Duration::from_millis(10),
            receive_rate: 1000,
            loss_event_rate,
            lost,
            restarts: false,
        };
        sender.handle_feedback(at(9), &feedback(0, 0.0, 0));
        assert!(events(&mut sender).is_empty(), "it names a time to come");
        sender.handle_feedback(at(110), &feedback(0, 0.0, 0));
        let sample = |ms| EndpointEvent::RoundTrip(Duration::from_millis(ms));
        assert_eq!(events(&mut sender), [EndpointEvent::Connected, sample(100)]);
        assert_eq!((sender.rtt_s, sender.easing, sender.rate), (0.1, 1.0, 40e3));
        sender.handle_feedback(at(310), &feedback(100, 0.01, 3));
        assert_eq!(events(&mut sender), [sample(200), EndpointEvent::Loss]);
        assert!((sender.rtt_s - 0.11).abs() < 1e-12, "{}", sender.rtt_s);
        let mean = 0.9 * 0.1_f64.sqrt() + 0.1 * 0.2_f64.sqrt();
        assert!((sender.easing - mean / 0.2_f64.sqrt()).abs() < 1e-12, "{}", sender.easing);
        sender.handle_feedback(at(320), &feedback(210, 0.01, 2));
        assert_eq!((events(&mut sender), sender.progress.lost_packets), (vec![sample(100)], 3));
        let progress = sender.progress();
        assert_eq!(progress.waiting, Waiting::Application);
        assert!(progress.smoothed_rtt.is_some() && TfrcSender::new(1).progress().smoothed_rtt.is_none());
    }

    /// Section 8.2.1: the interval from 0 to 100 ms was used if the sender was held back in it.
    #[test]
    fn an_interval_without_a_wait_is_limited_by_the_application() {
        let rtt = Duration::from_millis(50);
        for (held, sent, is_limited) in
            [(50, 100, true), (51, 100, false), (100, 100, false), (101, 100, true)]
        {
            let mut limits = Limits::default();
            limits.use_all(at(held));
            assert_eq!(limits.covers(at(150), at(sent), rtt), is_limited, "{held}");
        }
        let mut limits = Limits::default();
        [10, 20, 30].into_iter().for_each(|now| limits.use_all(at(now)));
        assert_eq!(limits.not_limited, [at(10), at(20)]);
        limits.covers(at(60), at(15), rtt);
        assert_eq!((limits.new, limits.next, limits.not_limited), (at(15), at(60), [at(20), at(20)]));
        // The first wait after what was answered is known; the second place is for those after the feedback.
        limits.use_all(at(61));
        assert_eq!(limits.not_limited, [at(20), at(61)]);
        limits.use_all(at(62));
        assert_eq!(limits.not_limited, [at(20), at(61)]);
        limits.covers(at(90), at(61), rtt);
        limits.use_all(at(91));
        assert_eq!(limits.not_limited, [at(91), at(61)]);
    }
}
