//! The train: it drives the mobile router, carries its messages over the network and hands them to the
//! clients' connection managers. What the router decides is in `cogtcp-train`.

mod messages;
mod report;

use crate::event::Event;
use crate::options::RunError;
use crate::packet::{Body, Packet};
use crate::parts::{Ending, Part, Plan, World, codes};
use crate::plane::Plane;
use cogtcp_hosts::freeze::Beside;
use cogtcp_hosts::{RouterHost, rtt_tcp};
use cogtcp_link::Frame;
use cogtcp_network::{StreamCounters, StreamId, Tally, impossible};
use cogtcp_records::{EventKind, Table};
use cogtcp_train::RouterMessage;
use cogtcp_units::Time;
use std::ops::Range;

/// The mobile router and its clients.
#[derive(Debug)]
pub(crate) struct Train {
    host: RouterHost,
    /// The router's node.
    name: String,
    clients: Vec<Client>,
    /// When the next event of the train is in the queue; `Time::MAX`: none.
    armed: Time,
}

/// The router's timer, and the radio's measurement that its predictor wants.
const TIMER: Event = Event::Part(codes::TRAIN.start);
const MEASUREMENT: Event = Event::Part(codes::TRAIN.start + 1);
/// Something stands on the board of the router's node.
const BOARD: Event = Event::Part(codes::TRAIN.start + 2);

/// A node of the LAN.
#[derive(Debug)]
struct Client {
    node: usize,
    flows: Vec<usize>,
    /// The client is the router itself: what it is told needs no message.
    local: bool,
    /// The streams to the client and from it, and what the hosts counted of each.
    streams: [StreamId; 2],
    counters: [StreamCounters; 2],
}

impl Train {
    /// The train of `experiment`, and what it needs of the network: streams for its messages, managers in
    /// flows, a router that holds its queue. `None` without a train.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let (experiment, seed) = (plan.experiment, plan.seed);
        let Some(spec) = experiment.train.clone() else { return Ok(None) };
        let radio_spec = &experiment.radios[spec.radio];
        let wrong = |why: &str| RunError::radio(&radio_spec.name, why);
        if radio_spec.kind.gating().is_none() {
            return Err(wrong("a train's radio has a cycle (sensing), not [radio.cr]"));
        }
        let up = RouterHost::uplink(experiment, &spec);
        // Both directions of a link have neighbouring numbers.
        let down = up ^ 1;
        if spec.settings.buffer {
            plan.plane.network.hold(up);
        }
        let end = Time::ZERO + experiment.run.duration;
        let course = plan.plane.network.course(spec.radio).cloned();
        let mut clients: Vec<Client> = Vec::new();
        for (number, flow) in experiment.flows.iter().enumerate() {
            let crosses = |direction| {
                plan.plane.network.route(plan.flows[number].data()).any(|known| known == direction)
            };
            let (node, beside) = if crosses(down) {
                (flow.to, Beside::Receiver)
            } else if crosses(up) {
                (flow.from, Beside::Sender)
            } else {
                continue;
            };
            plan.flows[number].manage(beside);
            match clients.iter_mut().find(|client| client.node == node) {
                Some(client) => client.flows.push(number),
                None => clients.push(Client {
                    node,
                    flows: vec![number],
                    local: node == spec.router,
                    streams: [StreamId::NOWHERE; 2],
                    counters: [StreamCounters::default(); 2],
                }),
            }
        }
        for client in &mut clients {
            let ends = [(spec.router, client.node), (client.node, spec.router)];
            for (stream, (from, to)) in client.streams.iter_mut().zip(ends) {
                *stream = if client.local {
                    // A client on the router's own node is told without a network.
                    plan.add_local_stream(from)
                } else {
                    let name = &experiment.nodes[spec.router];
                    plan.add_stream(from, to, "warnings", name, || format!("warnings of {name}"))?
                };
            }
        }
        let host = RouterHost::new(experiment, course, clients.len(), seed, end);
        let mut host = host.ok_or_else(|| wrong("it has no journey, so silences cannot be predicted"))?;
        host.listen(plan.plane.network.boards(), BOARD.code());
        let name = experiment.nodes[spec.router].clone();
        Ok(Some(Box::new(Self { host, name, clients, armed: Time::MAX })))
    }

    /// The client beside an end of this flow.
    fn client_of(&self, flow: usize) -> Option<usize> {
        self.clients.iter().position(|client| client.flows.contains(&flow))
    }

    /// A message has reached its end.
    fn take(&mut self, now: Time, client: usize, message: RouterMessage, world: &mut World<'_>) {
        let managed =
            if self.host.spec.settings.connection_manager { &self.clients[client].flows[..] } else { &[] };
        match message {
            RouterMessage::GoingDown { until, .. } => {
                for &flow in managed {
                    world.flows[flow].freeze(now, until, world.plane);
                }
            }
            RouterMessage::GoingUp => {
                for &flow in managed {
                    world.flows[flow].thaw(now, world.plane);
                }
            }
            RouterMessage::Request => {
                let known =
                    self.clients[client].flows.iter().filter_map(|flow| world.flows[*flow].round_trips());
                let rtt = rtt_tcp(self.host.spec.settings.rtt, known);
                self.send(now, client, RouterMessage::Reply { rtt }, world);
            }
            RouterMessage::Reply { rtt } => self.host.machine.handle_reply(now, client, rtt),
        }
    }

    /// Sends what the router has to send, then sets its timer. To be called once before the run.
    fn send_messages(&mut self, now: Time, world: &mut World<'_>) {
        while let Some(out) = self.host.machine.poll_message() {
            match out.message {
                RouterMessage::GoingDown { start, .. } => {
                    let left = start.as_secs_f64() - now.as_secs_f64();
                    world.plane.recorder.trace.node_event(now, EventKind::TriggerDown, &self.name, left);
                }
                RouterMessage::GoingUp => {
                    world.plane.recorder.trace.node_event(now, EventKind::TriggerUp, &self.name, f64::NAN)
                }
                RouterMessage::Request | RouterMessage::Reply { .. } => {}
            }
            if out.lost {
                // It went out and got lost on the LAN: it costs what it costs.
                self.host.message_bytes += u64::from(messages::WIRE_SIZE);
            } else {
                self.send(now, out.client, out.message, world);
            }
        }
        let due = self.host.machine.poll_timeout();
        // An entry that is due sooner stays; when it comes, the timer is set again.
        if due < self.armed {
            self.armed = due;
            world.plane.schedule(due, TIMER);
        }
    }

    fn send(&mut self, now: Time, client: usize, message: RouterMessage, world: &mut World<'_>) {
        // It crosses no LAN, so it costs no bytes and takes no time.
        if self.clients[client].local {
            self.take(now, client, message, world);
            return;
        }
        self.host.message_bytes += u64::from(messages::WIRE_SIZE);
        let direction = usize::from(matches!(message, RouterMessage::Reply { .. }));
        self.clients[client].counters[direction].injected += 1;
        let stream = self.clients[client].streams[direction];
        world.plane.send(now, stream, Body::Control(messages::write(message)), messages::WIRE_SIZE);
    }
}

impl Part for Train {
    fn events(&self) -> Range<u32> {
        codes::TRAIN
    }

    fn begin(&mut self, world: &mut World<'_>) {
        self.send_messages(Time::ZERO, world);
        let first = self.host.next_measurement();
        if first < Time::MAX {
            world.plane.schedule(first, MEASUREMENT);
        }
    }

    fn handle_event(&mut self, now: Time, index: u32, world: &mut World<'_>) -> Tally {
        let event = Event::Part(codes::TRAIN.start + index);
        if event == BOARD {
            self.host.read_board(now, world.plane.network.boards());
            self.send_messages(now, world);
            // A call of the board is no entry of the agenda: nobody reads this answer.
            return Tally::Observation;
        }
        if event == MEASUREMENT {
            self.host.show_measurements(now);
            self.send_messages(now, world);
            let next = self.host.next_measurement();
            if next < Time::MAX {
                world.plane.schedule(next, MEASUREMENT);
            }
            // What the router makes of it are events of their own.
            return Tally::Observation;
        }
        // An entry that an earlier one has overtaken.
        if self.armed != now {
            return Tally::Stale;
        }
        self.armed = Time::MAX;
        // What is measured at the same instant comes first.
        self.host.show_measurements(now);
        self.host.machine.handle_timeout(now);
        self.send_messages(now, world);
        Tally::Event
    }

    fn receive(&mut self, now: Time, _place: u32, frame: &Frame<Packet>, world: &mut World<'_>) {
        let Body::Control(message) = frame.packet.body else {
            return impossible("another packet on a stream of messages");
        };
        let stream = frame.packet.transit.stream;
        let of = |client: &Client| client.streams.iter().position(|own| *own == stream);
        let found = self.clients.iter().enumerate().find_map(|(number, it)| Some((number, of(it)?)));
        let Some((client, direction)) = found else { return impossible("a message of no client") };
        self.clients[client].counters[direction].arrived += 1;
        match messages::read(message, self.host.machine.predicted()) {
            Some(message) => self.take(now, client, message, world),
            None => impossible("a message that nobody wrote"),
        }
        self.send_messages(now, world);
    }

    fn end_warmup(&mut self, now: Time, _plane: &Plane) {
        self.host.end_warmup(now);
    }

    fn streams(&self) -> Vec<StreamCounters> {
        self.clients.iter().flat_map(|client| client.counters).collect()
    }

    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        report::tables(self, ending.end, ending.experiment, ending.flows).into()
    }
}
