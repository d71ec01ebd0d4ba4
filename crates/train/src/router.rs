//! The router as a state machine.

use crate::journey::Measurement;
use crate::prediction::{Forecast, Prediction, Predictor};
use crate::{OutgoingMessage, RouterMessage};
use cogtcp_crosslayer::LinkEvent;
use cogtcp_units::{Duration, Probability, RandomStream, Time};
use std::collections::{BTreeMap, VecDeque};

/// How soon the router asks again as long as a client has nothing to report.
const FIRST_POLLS: Duration = Duration::from_secs(1);
/// How long after the announced beginning of an outage of unknown end a segment from the source proves that
/// there is no outage (any more).
const GRACE: Duration = Duration::from_secs(1);

/// How the router warns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterConfig {
    /// TU_advance in multiples of the greatest RTT_TCP of all clients: how long before the outage "going
    /// down" is sent.
    pub tu_advance: f64,
    /// TD_advance beyond the greatest RTT_local, as a share of the outage: how long before its end "going up"
    /// is sent.
    pub td_advance: f64,
    /// How often the router asks its clients.
    pub poll_interval: Duration,
    /// Probability that a warning is lost on the LAN, beyond what its links lose.
    pub trigger_loss: Probability,
}

/// A "going down" that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Warning {
    /// When.
    pub at: Time,
    /// RTT_TCP at that moment: how early it should have been.
    pub needed: Duration,
    /// Until when clients were told to believe in the outage.
    pub until: Time,
}

/// A prediction and its outcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Predicted {
    /// What the predictor said.
    pub prediction: Prediction,
    /// The warning; `None`: it was not announced.
    pub warned: Option<Warning>,
    /// When the end was announced.
    pub cleared: Option<Time>,
}

/// What the router counted since it was last asked to start over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouterCounts {
    /// "Going down" messages, one for each client.
    pub down_messages: u64,
    /// "Going up" messages.
    pub up_messages: u64,
    /// Of both those that chance lost.
    pub lost_messages: u64,
    /// Requests.
    pub polls: u64,
    /// Predictions announced, and the sum of TU_advance over them, s.
    pub downs: u64,
    /// See [`downs`](Self::downs).
    pub tu_advance_s: f64,
}

/// The mobile router. See the crate.
#[derive(Debug)]
pub struct MobileRouter {
    config: RouterConfig,
    clients: Vec<Client>,
    predictor: Box<dyn Predictor>,
    predicted: Vec<Predicted>,
    /// Predictions not yet announced, by their beginning.
    pending: VecDeque<usize>,
    /// The last prediction announced, as long as its end is still to be announced.
    announced: Option<usize>,
    agenda: BTreeMap<(Time, u64), Action>,
    sequence: u64,
    loss: RandomStream,
    outbox: VecDeque<OutgoingMessage>,
    counts: RouterCounts,
}

/// What the router knows of a client.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    asked_at: Time,
    rtt_local: Option<Duration>,
    rtt_tcp: Option<Duration>,
}

/// What is to be done at some time.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Ask every client.
    Poll,
    /// Ask the predictor for what it knows from the beginning.
    Begin,
    /// A warning may be due.
    Check,
    /// The predicted end of this prediction comes near.
    GoingUp(usize),
}

impl MobileRouter {
    /// The router of so many `clients`, which begins its work at `start`. Warnings are lost by draws from
    /// `loss`.
    pub fn new(
        config: RouterConfig,
        clients: usize,
        predictor: Box<dyn Predictor>,
        start: Time,
        loss: RandomStream,
    ) -> Self {
        let mut router = Self {
            config,
            clients: vec![Client::default(); clients],
            predictor,
            predicted: Vec::new(),
            pending: VecDeque::new(),
            announced: None,
            agenda: BTreeMap::new(),
            sequence: 0,
            loss,
            outbox: VecDeque::new(),
            counts: RouterCounts::default(),
        };
        router.schedule(start, Action::Poll);
        router.schedule(start, Action::Begin);
        router
    }

    /// The time returned by [`poll_timeout`](Self::poll_timeout) has come. Calling early is harmless.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Action::Poll => self.poll_clients(now),
                Action::Begin => self.take_forecasts(now),
                Action::Check => self.announce(now),
                // Unless a later outage was announced meanwhile: its own end will be.
                Action::GoingUp(number) if self.announced == Some(number) => self.all_clear(now),
                Action::GoingUp(_) => {}
            }
        }
    }

    /// The radio measured something.
    pub fn handle_measurement(&mut self, now: Time, measured: &Measurement) {
        self.predictor.observe(now, measured);
        self.take_forecasts(now);
    }

    /// Something stands on the board of the router's node.
    pub fn handle_link_event(&mut self, now: Time, event: LinkEvent) {
        let LinkEvent::LinkUp = event else { return };
        // The end of an outage that nobody predicted: it is over when the link is back.
        let is_over = |number: usize| {
            let prediction = &self.predicted[number].prediction;
            prediction.start <= now && prediction.end.is_none()
        };
        if self.announced.is_some_and(is_over) {
            self.all_clear(now);
        }
    }

    /// A client has replied.
    pub fn handle_reply(&mut self, now: Time, client: usize, rtt: Option<Duration>) {
        let Some(known) = self.clients.get_mut(client) else { return };
        known.rtt_local = Some(now.saturating_since(known.asked_at));
        known.rtt_tcp = rtt.or(known.rtt_tcp);
        // A greater RTT_TCP makes warnings due earlier.
        self.announce(now);
    }

    /// The next message to send.
    pub fn poll_message(&mut self) -> Option<OutgoingMessage> {
        self.outbox.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    pub fn poll_timeout(&self) -> Time {
        self.agenda.first_key_value().map_or(Time::MAX, |((at, _), _)| *at)
    }

    /// Whether the predictor wants to be shown what the radio measures.
    pub fn wants_measurements(&self) -> bool {
        self.predictor.observes()
    }

    /// What was predicted so far, in the order in which it was.
    pub fn predicted(&self) -> &[Predicted] {
        &self.predicted
    }

    /// The greatest RTT_TCP of all clients; zero as long as none is known.
    pub fn rtt_tcp(&self) -> Duration {
        self.clients.iter().filter_map(|client| client.rtt_tcp).max().unwrap_or(Duration::ZERO)
    }

    /// The greatest RTT_local of all clients; zero as long as none is known.
    pub fn rtt_local(&self) -> Duration {
        self.clients.iter().filter_map(|client| client.rtt_local).max().unwrap_or(Duration::ZERO)
    }

    /// What was counted.
    pub fn counts(&self) -> &RouterCounts {
        &self.counts
    }

    /// Counts again from here on.
    pub fn restart_counts(&mut self) {
        self.counts = RouterCounts::default();
    }

    fn poll_clients(&mut self, now: Time) {
        let unknown = self.clients.iter().any(|client| client.rtt_tcp.is_none());
        for (client, known) in self.clients.iter_mut().enumerate() {
            known.asked_at = now;
            self.counts.polls += 1;
            self.outbox.push_back(OutgoingMessage { client, message: RouterMessage::Request, lost: false });
        }
        let interval = self.config.poll_interval;
        self.schedule(now + if unknown { interval.min(FIRST_POLLS) } else { interval }, Action::Poll);
    }

    fn take_forecasts(&mut self, now: Time) {
        while let Some(forecast) = self.predictor.poll(now) {
            match forecast {
                Forecast::Outage { start, end } => {
                    let number = self.predicted.len();
                    let prediction = Prediction { made: now, start, end };
                    self.predicted.push(Predicted { prediction, warned: None, cleared: None });
                    let before = |other: &usize| self.predicted[*other].prediction.start <= start;
                    let place = self.pending.partition_point(before);
                    self.pending.insert(place, number);
                    self.announce(now);
                }
                Forecast::End { end } => {
                    let Some(last) = self.predicted.last_mut() else { continue };
                    last.prediction.end = Some(end);
                    self.expect_end(now, self.predicted.len() - 1);
                }
            }
        }
    }

    /// Sends every warning that is due, and looks again when the next one is.
    fn announce(&mut self, now: Time) {
        let (needed, advance) = (self.rtt_tcp(), scaled(self.rtt_tcp(), self.config.tu_advance));
        while let Some(&number) = self.pending.front() {
            let Prediction { start, end, .. } = self.predicted[number].prediction;
            let due = before(start, advance);
            if due > now {
                self.schedule(due, Action::Check);
                return;
            }
            self.pending.pop_front();
            let until = end.unwrap_or(start + GRACE);
            self.predicted[number].warned = Some(Warning { at: now, needed, until });
            self.counts.downs += 1;
            self.counts.tu_advance_s += advance.as_secs_f64();
            // Its own end will be announced, and not that of the one before.
            self.announced = Some(number);
            self.counts.down_messages += self.clients.len() as u64;
            self.warn(RouterMessage::GoingDown { prediction: number as u32, start, until });
            self.expect_end(now, number);
        }
    }

    /// The end of prediction `number` is known, if it is: "going up" is sent ahead of it.
    fn expect_end(&mut self, now: Time, number: usize) {
        let prediction = self.predicted[number].prediction;
        let Some(end) = prediction.end else { return };
        if self.announced != Some(number) {
            // Not announced yet: what is over before it is announced need not be. Or a later one was
            // announced since.
            if end <= now {
                self.pending.retain(|pending| *pending != number);
            }
            return;
        }
        // RTT_local < TD_advance < RTT_local + D (section III.A).
        let outage = end.saturating_since(prediction.start);
        let advance = self.rtt_local() + scaled(outage, self.config.td_advance);
        // An end that is known late is announced at once.
        self.schedule(before(end, advance).max(now), Action::GoingUp(number));
    }

    fn all_clear(&mut self, now: Time) {
        if let Some(number) = self.announced.take() {
            self.predicted[number].cleared = Some(now);
        }
        self.counts.up_messages += self.clients.len() as u64;
        self.warn(RouterMessage::GoingUp);
    }

    /// Sends a warning to every client, unless chance loses it. One draw each, whatever the probability.
    fn warn(&mut self, message: RouterMessage) {
        for client in 0..self.clients.len() {
            let lost = self.loss.uniform() < self.config.trigger_loss.get();
            self.counts.lost_messages += u64::from(lost);
            self.outbox.push_back(OutgoingMessage { client, message, lost });
        }
    }

    fn schedule(&mut self, at: Time, action: Action) {
        // The number keeps what is due at one time in the order in which it was planned.
        self.agenda.insert((at, self.sequence), action);
        self.sequence += 1;
    }
}

/// `time` less `span`, not before zero.
fn before(time: Time, span: Duration) -> Time {
    Time::from_nanos(time.as_nanos().saturating_sub(span.as_nanos()))
}

fn scaled(span: Duration, factor: f64) -> Duration {
    Duration::from_nanos((span.as_nanos() as f64 * factor) as u64)
}
