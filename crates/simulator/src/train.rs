//! The mobile router of a train: it foretells outages, asks its clients for their round-trip times and warns them, in
//! messages that are packets of the network like all others.

mod foresight;
mod messages;
mod report;

use crate::flow::Flow;
use crate::gated_links::GatedLinks;
use crate::network::{Network, StreamCounters};
use crate::options::RunError;
use crate::packet::{Body, ControlMessage};
use crate::queue::Event;
use crate::routes::Router;
use cogtcp_records::tables::EventKind;
use cogtcp_scenario::{Experiment, RttReport, TrainSpec};
use cogtcp_spectrum::prediction::{Outage, Prediction};
use cogtcp_transport::freeze::Beside;
use cogtcp_units::{Duration, RandomStream, Time};
use messages::Message;
use std::collections::{BTreeMap, VecDeque};

/// How soon the router asks again as long as a client has nothing to report.
const FIRST_POLLS: Duration = Duration::from_secs(1);
/// How long after the announced beginning of an outage of unknown end a segment from the source proves that there is no
/// outage (any more).
const GRACE: Duration = Duration::from_secs(1);

/// The mobile router and its clients.
#[derive(Debug)]
pub(crate) struct Train {
    spec: TrainSpec,
    /// The clients' first stream: to client `c` leads `streams + 2 c`, from it `streams + 2 c + 1`.
    streams: u32,
    clients: Vec<Client>,
    outages: Vec<Outage>,
    /// Why each outage is.
    causes: Vec<&'static str>,
    predictions: Vec<Prediction>,
    /// What was sent for each prediction.
    sent: Vec<Option<Warning>>,
    /// When the end of each prediction was announced.
    cleared: Vec<Option<Time>>,
    /// Predictions made and not yet announced, by their beginning.
    pending: VecDeque<usize>,
    /// The last prediction announced, and whether its end is still to be announced.
    announced: Option<(usize, bool)>,
    agenda: BTreeMap<(Time, u64), Action>,
    sequence: u64,
    /// When the next event of the train is in the queue; `Time::MAX`: none.
    armed: Time,
    loss: RandomStream,
    counts: Counts,
    warm_at: Time,
}

/// A node of the LAN.
#[derive(Debug)]
struct Client {
    node: usize,
    flows: Vec<usize>,
    /// The client is the router itself: what it is told needs no message.
    local: bool,
    counters: [StreamCounters; 2],
    asked_at: Time,
    rtt_local: Option<Duration>,
    rtt_tcp: Option<Duration>,
}

/// A "going down" that was sent.
#[derive(Clone, Copy, Debug)]
struct Warning {
    at: Time,
    /// RTT_TCP at that moment: how early it should have been.
    needed: Duration,
}

/// What is to be done at some time.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Ask every client.
    Poll,
    /// The predictor makes prediction number so.
    Predicted(usize),
    /// A warning may be due.
    Check,
    /// The end of a prediction is foretold, later than its beginning was.
    EndPredicted(usize),
    /// The foretold end of a prediction comes near.
    GoingUp(usize),
    /// The link is up again.
    LinkUp,
}

/// What is counted from the end of the warm-up on.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    down_messages: u64,
    up_messages: u64,
    lost_messages: u64,
    polls: u64,
    bytes: u64,
    tu_advance_s: f64,
    downs: u64,
}

impl Train {
    /// The train of `experiment`, and what it needs of the network: streams for its messages, managers in flows, a
    /// router that holds its queue. `None` without a train.
    pub(crate) fn new(
        experiment: &Experiment,
        seed: u64,
        network: &mut Network,
        flows: &mut [Flow],
        radios: &mut [GatedLinks],
        router: &mut Router<'_>,
    ) -> Result<Option<Self>, RunError> {
        let Some(spec) = experiment.train.clone() else { return Ok(None) };
        let radio = radios.iter_mut().find(|radio| radio.number == spec.radio);
        let radio = radio.ok_or_else(|| RunError::Radio {
            radio: experiment.radios[spec.radio].name.clone(),
            why: "a train's radio is a cycle, not a CR user in full".to_owned(),
        })?;
        let link = experiment.radios[spec.radio].links[0];
        // The pipe by which the router sends to the ground.
        let up = 2 * link as u32 + u32::from(experiment.links[link].from != spec.router);
        let down = up ^ 1;
        if spec.buffer {
            radio.hold(up);
        }
        let mut clients: Vec<Client> = Vec::new();
        for (number, flow) in experiment.flows.iter().enumerate() {
            let path = network.path(2 * number);
            let (node, beside) = if path.contains(&down) {
                (flow.to, Beside::Receiver)
            } else if path.contains(&up) {
                (flow.from, Beside::Sender)
            } else {
                continue;
            };
            flows[number].manage(beside);
            match clients.iter_mut().find(|client| client.node == node) {
                Some(client) => client.flows.push(number),
                None => clients.push(Client {
                    node,
                    flows: vec![number],
                    local: node == spec.router,
                    counters: [StreamCounters::default(); 2],
                    asked_at: Time::ZERO,
                    rtt_local: None,
                    rtt_tcp: None,
                }),
            }
        }
        for client in &clients {
            for (from, to) in [(spec.router, client.node), (client.node, spec.router)] {
                network.add_stream(
                    from,
                    to,
                    &router.path(from, to).ok_or_else(|| RunError::NoRoute {
                        flow: format!("warnings of {}", experiment.nodes[spec.router]),
                        from: experiment.nodes[from].clone(),
                        to: experiment.nodes[to].clone(),
                    })?,
                );
            }
        }
        let end = Time::ZERO + experiment.run.duration;
        let (outages, causes): (Vec<_>, Vec<_>) =
            radio.timetable(&experiment.radios[spec.radio], seed, end).into_iter().unzip();
        let predictions = foresight::predictions(experiment, &spec, radio, &outages, seed)?;
        let mut train = Self {
            streams: 2 * flows.len() as u32,
            clients,
            sent: vec![None; predictions.len()],
            cleared: vec![None; predictions.len()],
            pending: VecDeque::new(),
            announced: None,
            agenda: BTreeMap::new(),
            sequence: 0,
            armed: Time::MAX,
            loss: RandomStream::new(seed, "train/triggers", 0),
            counts: Counts::default(),
            warm_at: Time::ZERO,
            outages,
            causes,
            predictions,
            spec,
        };
        train.schedule(Time::ZERO, Action::Poll);
        for number in 0..train.predictions.len() {
            let Prediction { made, end, end_made, .. } = train.predictions[number];
            train.schedule(made, Action::Predicted(number));
            if end.is_some() && end_made > made {
                train.schedule(end_made, Action::EndPredicted(number));
            }
        }
        for number in 0..train.outages.len() {
            if train.outages[number].end < Time::MAX {
                train.schedule(train.outages[number].end, Action::LinkUp);
            }
        }
        Ok(Some(train))
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.counts = Counts::default();
        self.warm_at = now;
    }

    /// What the hosts counted of the messages, by stream.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamCounters> {
        self.clients.iter().flat_map(|client| client.counters)
    }

    /// Something of the train's own is due.
    pub(crate) fn wake(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        if self.armed == now {
            self.armed = Time::MAX;
        }
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Action::Poll => self.poll(now, network, flows),
                Action::Predicted(number) => {
                    let start = self.predictions[number].start;
                    let place = self.pending.partition_point(|other| self.predictions[*other].start <= start);
                    self.pending.insert(place, number);
                    self.announce(now, network, flows);
                }
                Action::EndPredicted(number) => self.expect_end(now, number),
                Action::Check => self.announce(now, network, flows),
                Action::GoingUp(number) => {
                    // A later outage was announced meanwhile: its own end will be.
                    if self.announced == Some((number, true)) {
                        self.all_clear(now, network, flows);
                    }
                }
                Action::LinkUp => {
                    let over = |(number, open): (usize, bool)| {
                        let announced = self.predictions[number];
                        open && announced.start <= now && announced.end_known(now).is_none()
                    };
                    if self.announced.is_some_and(over) {
                        self.all_clear(now, network, flows);
                    }
                }
            }
        }
        self.arm(network);
    }

    /// A message has arrived on `stream`.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        stream: u32,
        message: ControlMessage,
        network: &mut Network,
        flows: &mut [Flow],
    ) {
        let number = stream - self.streams;
        let client = number as usize / 2;
        self.clients[client].counters[number as usize % 2].arrived += 1;
        if let Some(message) = Message::read(message) {
            self.take(now, client, message, network, flows);
        }
        self.arm(network);
    }

    /// A message has reached its end.
    fn take(
        &mut self,
        now: Time,
        client: usize,
        message: Message,
        network: &mut Network,
        flows: &mut [Flow],
    ) {
        match message {
            Message::GoingDown { prediction } => {
                let Some(prediction) = self.predictions.get(prediction as usize) else { return };
                let until = prediction.end_known(now).unwrap_or(prediction.start + GRACE);
                if self.spec.connection_manager {
                    for &flow in &self.clients[client].flows {
                        flows[flow].freeze(now, until, network);
                    }
                }
            }
            Message::GoingUp => {
                if self.spec.connection_manager {
                    for &flow in &self.clients[client].flows {
                        flows[flow].thaw(now, network);
                    }
                }
            }
            Message::Request => {
                let report = self.spec.rtt;
                let rtt = self.clients[client]
                    .flows
                    .iter()
                    .filter_map(|flow| flows[*flow].round_trips())
                    .map(|known| match report {
                        RttReport::Least => known.least,
                        RttReport::Smoothed => known.smoothed,
                        RttReport::Greatest => known.greatest,
                    })
                    .max();
                self.send(now, client, Message::Reply { rtt }, network, flows);
            }
            Message::Reply { rtt } => {
                let known = &mut self.clients[client];
                known.rtt_local = Some(now.saturating_since(known.asked_at));
                known.rtt_tcp = rtt.or(known.rtt_tcp);
                self.announce(now, network, flows);
            }
        }
    }

    /// The greatest RTT_TCP of all clients; zero as long as none is known.
    fn rtt_tcp(&self) -> Duration {
        self.clients.iter().filter_map(|client| client.rtt_tcp).max().unwrap_or(Duration::ZERO)
    }

    /// The greatest RTT_local of all clients.
    fn rtt_local(&self) -> Duration {
        self.clients.iter().filter_map(|client| client.rtt_local).max().unwrap_or(Duration::ZERO)
    }

    fn tu_advance(&self) -> Duration {
        scaled(self.rtt_tcp(), self.spec.tu_advance)
    }

    fn poll(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        let unknown = self.clients.iter().any(|client| client.rtt_tcp.is_none());
        for client in 0..self.clients.len() {
            self.clients[client].asked_at = now;
            self.counts.polls += 1;
            self.send(now, client, Message::Request, network, flows);
        }
        let interval = self.spec.poll_interval;
        self.schedule(now + if unknown { interval.min(FIRST_POLLS) } else { interval }, Action::Poll);
    }

    /// Sends every warning that is due, and looks again when the next one is.
    fn announce(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        let advance = self.tu_advance();
        while let Some(&number) = self.pending.front() {
            let start = self.predictions[number].start;
            let due = Time::from_nanos(start.as_nanos().saturating_sub(advance.as_nanos()));
            if due > now {
                self.schedule(due, Action::Check);
                return;
            }
            self.pending.pop_front();
            self.sent[number] = Some(Warning { at: now, needed: self.rtt_tcp() });
            self.counts.downs += 1;
            self.counts.tu_advance_s += advance.as_secs_f64();
            self.announced = Some((number, true));
            for client in 0..self.clients.len() {
                self.counts.down_messages += 1;
                network.trace.train_event(
                    now,
                    EventKind::TriggerDown,
                    start.as_secs_f64() - now.as_secs_f64(),
                );
                self.warn(now, client, Message::GoingDown { prediction: number as u32 }, network, flows);
            }
            self.expect_end(now, number);
        }
    }

    /// The end of prediction `number` is known, if it is: "going up" is sent ahead of it.
    fn expect_end(&mut self, now: Time, number: usize) {
        let prediction = self.predictions[number];
        let Some(end) = prediction.end_known(now) else { return };
        if self.announced != Some((number, true)) {
            // Not announced yet: what is over before it is announced need not be. Or a later one was announced since.
            if end <= now {
                self.pending.retain(|pending| *pending != number);
            }
            return;
        }
        // RTT_local < TD_advance < RTT_local + D (section III.A).
        let outage = end.saturating_since(prediction.start);
        let advance = self.rtt_local() + scaled(outage, self.spec.td_advance);
        let at = Time::from_nanos(end.as_nanos().saturating_sub(advance.as_nanos()));
        self.schedule(at.max(now), Action::GoingUp(number));
    }

    fn all_clear(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        if let Some((number, _)) = self.announced.take() {
            self.cleared[number] = Some(now);
        }
        for client in 0..self.clients.len() {
            self.counts.up_messages += 1;
            network.trace.train_event(now, EventKind::TriggerUp, f64::NAN);
            self.warn(now, client, Message::GoingUp, network, flows);
        }
    }

    /// Sends a warning, unless chance loses it. One draw each, whatever the probability.
    fn warn(
        &mut self,
        now: Time,
        client: usize,
        message: Message,
        network: &mut Network,
        flows: &mut [Flow],
    ) {
        if self.loss.uniform() < self.spec.trigger_loss.get() {
            self.counts.lost_messages += 1;
            self.counts.bytes += u64::from(messages::WIRE_SIZE);
        } else {
            self.send(now, client, message, network, flows);
        }
    }

    fn send(
        &mut self,
        now: Time,
        client: usize,
        message: Message,
        network: &mut Network,
        flows: &mut [Flow],
    ) {
        if self.clients[client].local {
            self.take(now, client, message, network, flows);
            return;
        }
        self.counts.bytes += u64::from(messages::WIRE_SIZE);
        let direction = usize::from(matches!(message, Message::Reply { .. }));
        self.clients[client].counters[direction].injected += 1;
        let stream = self.streams + (2 * client + direction) as u32;
        network.send(now, stream, Body::Control(message.write()), messages::WIRE_SIZE);
    }

    fn schedule(&mut self, at: Time, action: Action) {
        self.agenda.insert((at, self.sequence), action);
        self.sequence += 1;
    }

    /// Makes sure that the queue holds an event for the next entry of the agenda. To be called once before the run.
    pub(crate) fn arm(&mut self, network: &mut Network) {
        if let Some(((at, _), _)) = self.agenda.first_key_value()
            && *at < self.armed
        {
            self.armed = *at;
            network.queue.push(*at, Event::Train);
        }
    }
}

fn scaled(span: Duration, factor: f64) -> Duration {
    Duration::from_nanos((span.as_nanos() as f64 * factor) as u64)
}
