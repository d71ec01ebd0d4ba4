//! The train: it drives the mobile router, carries its messages over the network and hands them to the clients' connection
//! managers. What the router decides is in `cogtcp-mobile-router`.

mod messages;
mod report;

use crate::flow::Flow;
use crate::gated_links::GatedLinks;
use crate::network::{Network, StreamCounters};
use crate::options::RunError;
use crate::packet::{Body, ControlMessage};
use crate::queue::Event;
use crate::routes::Router;
use cogtcp_crosslayer::ReaderId;
use cogtcp_mobile_router::{Message, MobileRouter, RouterConfig};
use cogtcp_records::EventKind;
use cogtcp_scenario::{Experiment, RttReport, TrainSpec};
use cogtcp_spectrum::journey::{self, Course};
use cogtcp_spectrum::prediction::{Known, Outage};
use cogtcp_transport::freeze::Beside;
use cogtcp_units::{RandomStream, Time};
use std::sync::Arc;

/// The mobile router and its clients.
#[derive(Debug)]
pub(crate) struct Train {
    spec: TrainSpec,
    router: MobileRouter,
    /// Its place on the board of its node.
    reader: Option<ReaderId>,
    /// The clients' first stream: to client `c` leads `streams + 2 c`, from it `streams + 2 c + 1`.
    streams: u32,
    clients: Vec<Client>,
    /// The journey whose measurements the router is shown, and how many it has seen; `None`: it wants none.
    course: Option<(Arc<Course>, usize)>,
    /// What came, and why: for the results alone.
    outages: Vec<Outage>,
    causes: Vec<&'static str>,
    /// When the next event of the train is in the queue; `Time::MAX`: none.
    armed: Time,
    /// Bytes of messages on the LAN.
    bytes: u64,
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
        let radio_spec = &experiment.radios[spec.radio];
        let wrong = |why: &str| RunError::Radio { radio: radio_spec.name.clone(), why: why.to_owned() };
        let radio = radios.iter_mut().find(|radio| radio.number == spec.radio);
        let radio = radio.ok_or_else(|| wrong("a train's radio is a cycle, not a CR user in full"))?;
        let link = radio_spec.links[0];
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
                }),
            }
        }
        for client in &clients {
            for (from, to) in [(spec.router, client.node), (client.node, spec.router)] {
                let path = router.path(from, to).ok_or_else(|| RunError::NoRoute {
                    flow: format!("warnings of {}", experiment.nodes[spec.router]),
                    from: experiment.nodes[from].clone(),
                    to: experiment.nodes[to].clone(),
                })?;
                network.add_stream(from, to, &path);
            }
        }
        let end = Time::ZERO + experiment.run.duration;
        // The truth, for the results and for the predictors that are allowed to know it.
        let (outages, causes): (Vec<_>, Vec<_>) = radio.timetable(radio_spec, seed, end).into_iter().unzip();
        let part = journey::streams_of(&radio_spec.name);
        let journey = radio_spec.kind.journey().map(|journey| (&*journey.line, &*part));
        let predictor =
            spec.prediction.kind().build(&Known { outages: &outages, journey, horizon: end, seed });
        let predictor = predictor
            .ok_or_else(|| wrong("it is on no journey, by which its silences could be predicted"))?;
        let config = RouterConfig {
            tu_advance: spec.tu_advance,
            td_advance: spec.td_advance,
            poll_interval: spec.poll_interval,
            trigger_loss: spec.trigger_loss,
        };
        let loss = RandomStream::new(seed, "train/triggers", 0);
        let machine = MobileRouter::new(config, clients.len(), predictor, Time::ZERO, loss);
        let course = radio.course().filter(|_| machine.wants_measurements());
        Ok(Some(Self {
            course: course.map(|course| (Arc::clone(course), 0)),
            router: machine,
            reader: network.boards.subscribe(spec.router),
            streams: 2 * flows.len() as u32,
            clients,
            outages,
            causes,
            armed: Time::MAX,
            bytes: 0,
            warm_at: Time::ZERO,
            spec,
        }))
    }

    /// Metrics count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.router.restart_counts();
        self.bytes = 0;
        self.warm_at = now;
    }

    /// What the hosts counted of the messages, by stream.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamCounters> {
        self.clients.iter().flat_map(|client| client.counters)
    }

    /// The router's timer is due. Returns whether it was, or had moved on meanwhile.
    pub(crate) fn wake(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) -> bool {
        if self.armed != now {
            return false;
        }
        self.armed = Time::MAX;
        // What is measured at the same instant comes first.
        self.show_measurements(now);
        self.router.handle_timeout(now);
        self.send_messages(now, network, flows);
        true
    }

    /// The radio measures.
    pub(crate) fn measure(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        self.show_measurements(now);
        self.send_messages(now, network, flows);
    }

    /// When the radio measures next; `Time::MAX`: never, or nobody wants to know.
    pub(crate) fn next_measurement(&self) -> Time {
        let next = self.course.as_ref().and_then(|(course, seen)| course.measurements().get(*seen));
        next.map_or(Time::MAX, |measured| measured.time)
    }

    fn show_measurements(&mut self, now: Time) {
        while let Some((course, seen)) = &mut self.course
            && let Some(measured) = course.measurements().get(*seen).filter(|it| it.time <= now)
        {
            *seen += 1;
            self.router.handle_measurement(now, measured);
        }
    }

    /// The router reads the board of its node.
    pub(crate) fn read_board(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        let Some(reader) = self.reader else { return };
        while let Some(notice) = network.boards.take(self.spec.router, reader) {
            self.router.handle_link_event(now, notice.event);
        }
        self.send_messages(now, network, flows);
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
        if let Some(message) = messages::read(message, self.router.predicted()) {
            self.take(now, client, message, network, flows);
        }
        self.send_messages(now, network, flows);
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
        let managed = if self.spec.connection_manager { &self.clients[client].flows[..] } else { &[] };
        match message {
            Message::GoingDown { until, .. } => {
                for &flow in managed {
                    flows[flow].freeze(now, until, network);
                }
            }
            Message::GoingUp => {
                for &flow in managed {
                    flows[flow].thaw(now, network);
                }
            }
            Message::Request => {
                let report = self.spec.rtt;
                let known = self.clients[client].flows.iter().filter_map(|flow| flows[*flow].round_trips());
                let rtt = known.map(|known| match report {
                    RttReport::Least => known.least,
                    RttReport::Smoothed => known.smoothed,
                    RttReport::Greatest => known.greatest,
                });
                let rtt = rtt.max();
                self.send(now, client, Message::Reply { rtt }, network, flows);
            }
            Message::Reply { rtt } => self.router.handle_reply(now, client, rtt),
        }
    }

    /// Sends what the router has to send, then sets its timer. To be called once before the run.
    pub(crate) fn send_messages(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        while let Some(out) = self.router.poll_message() {
            match out.message {
                Message::GoingDown { start, .. } => {
                    let left = start.as_secs_f64() - now.as_secs_f64();
                    network.trace.train_event(now, EventKind::TriggerDown, left);
                }
                Message::GoingUp => network.trace.train_event(now, EventKind::TriggerUp, f64::NAN),
                Message::Request | Message::Reply { .. } => {}
            }
            if out.lost {
                // It went out and got lost on the LAN: it costs what it costs.
                self.bytes += u64::from(messages::WIRE_SIZE);
            } else {
                self.send(now, out.client, out.message, network, flows);
            }
        }
        let due = self.router.poll_timeout();
        // An entry that is due sooner stays; when it comes, the timer is set anew.
        if due < self.armed {
            self.armed = due;
            network.queue.push(due, Event::Train);
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
        self.bytes += u64::from(messages::WIRE_SIZE);
        let direction = usize::from(matches!(message, Message::Reply { .. }));
        self.clients[client].counters[direction].injected += 1;
        let stream = self.streams + (2 * client + direction) as u32;
        network.send(now, stream, Body::Control(messages::write(message)), messages::WIRE_SIZE);
    }
}
