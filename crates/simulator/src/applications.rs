//! Applications that ask and are answered: their requests travel from the flow's receiver to its sender, the responses are the
//! flow's data.
//!
//! A request is one UDP packet on the shortest path to the server. One that is lost is sent again after a second, then two, four, ...
//! as a lost SYN is (RFC 6298 section 5.7); the server answers it once. The first opens the connection, so that it has four
//! one-way trips before its first byte of data comes, as where a client opens a connection and asks over it: there SYN, SYN-ACK,
//! request, data; here request, SYN, SYN-ACK, data. With new connections every request does so: what is left of the connection
//! before is forgotten at both ends at once, its ports being others (TIME-WAIT holds up nobody).

use crate::event::Event;
use crate::options::{ControlFactory, RunError, make_control};
use crate::packet::{Body, Datagram, Packet};
use crate::parts::{Ending, Part, Plan, World, codes};
use cogtcp_hosts::applications::{self, ApplicationAccount};
use cogtcp_link::Frame;
use cogtcp_network::{StreamCounters, StreamId, Tally};
use cogtcp_records::Table;
use cogtcp_scenario::{FlowSpec, Protocol};
use cogtcp_traffic::{self as traffic, Client, Request};
use cogtcp_transport::CongestionControl;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the headers of a request: IPv4 (RFC 791) and UDP (RFC 768).
const HEADERS: u32 = 28;
/// When a lost request is sent again for the first time (RFC 6298 section 2.1).
const FIRST_REPEAT: Duration = Duration::from_secs(1);
/// It doubles no further than this (RFC 6298 section 2.5).
const LONGEST_REPEAT: Duration = Duration::from_secs(60);

/// All applications of a run.
#[derive(Debug, Default)]
pub(crate) struct Applications {
    /// In the order of their flows.
    all: Vec<Application>,
    warm_at: Time,
}

/// One application.
#[derive(Debug)]
struct Application {
    flow: usize,
    /// The stream of its requests.
    stream: StreamId,
    client: traffic::Application,
    /// What makes the control of each new connection, where not all requests share one.
    renewal: Option<Renewal>,
    stop: Time,
    counters: StreamCounters,
    requests: Vec<Sent>,
    /// Requests that have not reached the server.
    waiting: Vec<usize>,
    /// Requests that the server answers, in that order, and where in the flow's data each one's response ends.
    answering: VecDeque<(usize, u64)>,
    /// When its next timer entry in the event queue is due; `Time::MAX`: none.
    armed: Time,
}

/// How a new connection gets its congestion control.
struct Renewal {
    spec: FlowSpec,
    controls: Option<Arc<dyn ControlFactory>>,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("flow", &self.spec.name).finish_non_exhaustive()
    }
}

impl Renewal {
    fn control(&self) -> Box<dyn CongestionControl> {
        let Protocol::Tcp(tcp) = &self.spec.protocol else { unreachable!("scenarios refuse it") };
        make_control(&self.spec.name, &tcp.control, self.controls.as_deref())
            .unwrap_or_else(|error| unreachable!("it was made for the first connection: {error}"))
    }
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    request: Request,
    /// How often it was sent, and when it is sent again.
    times: u32,
    again: Time,
    reached_server: bool,
}

impl Applications {
    /// The applications of the flows that have one.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let mut made = Self::default();
        for (flow, spec) in plan.experiment.flows.iter().enumerate() {
            let Some(client) = applications::client(spec, plan.seed) else { continue };
            let renewal =
                spec.opens_anew().then(|| Renewal { spec: spec.clone(), controls: plan.controls.clone() });
            let what = || format!("requests of {}", spec.name);
            let stream = plan.add_stream(spec.to, spec.from, "requests", &spec.name, what)?;
            made.all.push(Application {
                flow,
                stream,
                client,
                renewal,
                stop: spec.stop.unwrap_or(Time::MAX),
                counters: StreamCounters::default(),
                requests: Vec::new(),
                waiting: Vec::new(),
                answering: VecDeque::new(),
                armed: Time::MAX,
            });
        }
        Ok((!made.all.is_empty()).then(|| Box::new(made) as Box<dyn Part>))
    }

    fn timer(flow: usize) -> Event {
        Event::Part(codes::APPLICATIONS.start + 2 * flow as u32)
    }
}

impl Part for Applications {
    fn events(&self) -> Range<u32> {
        codes::APPLICATIONS
    }

    fn begin(&mut self, world: &mut World<'_>) {
        self.all.iter_mut().for_each(|it| it.arm(world));
    }

    fn handle_event(&mut self, now: Time, index: u32, world: &mut World<'_>) -> Tally {
        let (flow, delivered) = (index as usize / 2, index % 2 == 1);
        let Ok(place) = self.all.binary_search_by_key(&flow, |it| it.flow) else { return Tally::Stale };
        let application = &mut self.all[place];
        if delivered {
            application.handle_delivery(now, world);
        } else if application.armed == now {
            application.armed = Time::MAX;
            application.send_due(now, world);
        } else {
            return Tally::Stale;
        }
        application.arm(world);
        Tally::Event
    }

    /// A request has reached the server.
    fn receive(&mut self, now: Time, place: u32, frame: &Frame<Packet>, world: &mut World<'_>) {
        let Body::Udp(Datagram { number, .. }) = frame.packet.body else { return };
        self.all[place as usize].answer(now, number as usize, world);
    }

    fn end_warmup(&mut self, now: Time, _plane: &crate::plane::Plane) {
        self.warm_at = now;
    }

    fn streams(&self) -> Vec<StreamCounters> {
        self.all.iter().map(|it| it.counters).collect()
    }

    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        let accounts = self.all.iter().map(|it| ApplicationAccount {
            flow: &ending.experiment.flows[it.flow].name,
            client: &it.client,
            repeats: it.requests.iter().map(|sent| u64::from(sent.times.saturating_sub(1))).collect(),
            until: ending.end.min(it.stop),
        });
        applications::tables(&accounts.collect::<Vec<_>>(), self.warm_at)
    }
}

impl Application {
    /// Sends what is due: new requests, and lost ones again.
    fn send_due(&mut self, now: Time, world: &mut World<'_>) {
        while self.client.next_request() <= now.min(self.stop) && now < self.stop {
            let request = self.client.send(now);
            self.waiting.push(request.number);
            self.requests.push(Sent { request, times: 0, again: now, reached_server: false });
        }
        for place in 0..self.waiting.len() {
            let number = self.waiting[place];
            let sent = &mut self.requests[number];
            if sent.again <= now {
                let pause = (FIRST_REPEAT * (1u64 << sent.times.min(6))).min(LONGEST_REPEAT);
                sent.times += 1;
                sent.again = now + pause;
                self.counters.injected += 1;
                let len = sent.request.size;
                let body = Body::Udp(Datagram { number: number as u32, len });
                world.plane.send(now, self.stream, body, len + HEADERS);
            }
        }
    }

    /// Request `number` has come: the server answers it, unless it did before or its application has stopped.
    fn answer(&mut self, now: Time, number: usize, world: &mut World<'_>) {
        self.counters.arrived += 1;
        let sent = &mut self.requests[number];
        if std::mem::replace(&mut sent.reached_server, true) {
            return;
        }
        let response = sent.request.response;
        self.waiting.retain(|waiting| *waiting != number);
        let flow = &mut world.flows[self.flow];
        if let Some(renewal) = self.renewal.as_ref().filter(|_| number > 0) {
            flow.renew(now, renewal.control(), world.plane);
        }
        if let Some(end) = flow.respond(now, response, world.plane) {
            self.answering.push_back((number, end));
            self.wait_for_delivery(world);
        }
    }

    /// The end of a response has been delivered.
    fn handle_delivery(&mut self, now: Time, world: &mut World<'_>) {
        let delivered = world.flows[self.flow].delivered();
        while let Some((number, _)) = self.answering.pop_front_if(|(_, end)| *end <= delivered) {
            self.client.handle_response(now, number);
        }
        self.wait_for_delivery(world);
    }

    fn wait_for_delivery(&self, world: &mut World<'_>) {
        let end = self.answering.front().map_or(u64::MAX, |(_, end)| *end);
        world.flows[self.flow].wait_for_delivery(end);
    }

    /// Makes sure that a timer entry is due no later than the application has something to send.
    fn arm(&mut self, world: &mut World<'_>) {
        let next = self.client.next_request();
        let next = if next < self.stop { next } else { Time::MAX };
        let again = self.waiting.iter().map(|number| self.requests[*number].again).min();
        let due = again.map_or(next, |again| again.min(next));
        if due < self.armed {
            self.armed = due;
            world.plane.schedule(due, Applications::timer(self.flow));
        }
    }
}
