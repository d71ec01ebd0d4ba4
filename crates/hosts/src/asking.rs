//! Applications that ask and are answered: their requests travel from the flow's receiver to its sender, the
//! responses are the flow's data.
//!
//! A request is one UDP packet on the shortest path to the server. A lost request is retransmitted after 1 s,
//! then 2 s, 4 s, ... as a lost SYN is (RFC 6298 section 5.7); the server answers it once. The first request
//! opens the connection. The first byte of data therefore takes four one-way trips: request, SYN, SYN-ACK,
//! data. A client that opens a connection and asks over it waits as long: SYN, SYN-ACK, request, data. With
//! new connections every request does so: both ends forget the connection before at once, as the ports are
//! others (TIME-WAIT holds up nobody).

use crate::applications::{self, ApplicationAccount};
use crate::{Flow, Plane, Wake};
use cogtcp_network::{StreamCounters, StreamId};
use cogtcp_scenario::FlowSpec;
use cogtcp_traffic::{Application, Request};
use cogtcp_transport::CongestionControl;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;

/// When a lost request is retransmitted for the first time (RFC 6298 section 2.1).
const FIRST_REPEAT: Duration = Duration::from_secs(1);
/// The time between repeats doubles no further than this (RFC 6298 section 2.5).
const LONGEST_REPEAT: Duration = Duration::from_secs(60);

/// The application of a flow at both ends: the client that asks, and the server that answers.
#[derive(Debug)]
pub struct Asking {
    flow: u32,
    stream: StreamId,
    client: Application,
    stop: Time,
    counters: StreamCounters,
    requests: Vec<Sent>,
    /// Requests that have not reached the server.
    waiting: Vec<usize>,
    /// Requests that the server answers, in that order, and where in the flow's data each response ends.
    answering: VecDeque<(usize, u64)>,
    /// When the next call of [`Asking::handle_timer`] was asked for; `Time::MAX`: none.
    armed: Time,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    request: Request,
    /// How often it was sent, and when it is retransmitted.
    times: u32,
    again: Time,
    reached_server: bool,
}

impl Asking {
    /// Builds the application of flow `flow` in the run of seed `seed`; `None`: the flow has none that asks.
    /// `stream` makes the stream of its requests.
    ///
    /// # Errors
    ///
    /// `stream` fails.
    pub fn new<E>(
        flow: u32,
        spec: &FlowSpec,
        seed: u64,
        stream: impl FnOnce() -> Result<StreamId, E>,
    ) -> Result<Option<Self>, E> {
        let Some(client) = applications::client(spec, seed) else { return Ok(None) };
        Ok(Some(Self {
            flow,
            stream: stream()?,
            client,
            stop: spec.stop.unwrap_or(Time::MAX),
            counters: StreamCounters::default(),
            requests: Vec::new(),
            waiting: Vec::new(),
            answering: VecDeque::new(),
            armed: Time::MAX,
        }))
    }

    /// Returns the number of the flow.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// Returns what the hosts counted of the requests.
    pub fn counters(&self) -> StreamCounters {
        self.counters
    }

    /// Returns what is known of the application at `end`. `flow` is the name of its flow.
    pub fn account<'a>(&'a self, flow: &'a str, end: Time) -> ApplicationAccount<'a> {
        ApplicationAccount {
            flow,
            client: &self.client,
            repeats: self.requests.iter().map(|sent| u64::from(sent.times.saturating_sub(1))).collect(),
            until: end.min(self.stop),
        }
    }

    /// The time has come that [`Wake::Ask`] was asked for. Sends what is due: new requests, and lost ones
    /// again. Returns false if the timer has moved on meanwhile.
    pub fn handle_timer(&mut self, now: Time, plane: &mut impl Plane) -> bool {
        // An entry that an earlier one has overtaken.
        if self.armed != now {
            return false;
        }
        self.armed = Time::MAX;
        while self.client.next_request() <= now.min(self.stop) && now < self.stop {
            let request = self.client.send(now);
            self.waiting.push(request.number);
            self.requests.push(Sent { request, times: 0, again: now, reached_server: false });
        }
        for number in &self.waiting {
            let sent = &mut self.requests[*number];
            if sent.again <= now {
                // 2^6 s exceeds the longest pause: more doublings change nothing, and none overflows.
                let pause = (FIRST_REPEAT * (1u64 << sent.times.min(6))).min(LONGEST_REPEAT);
                sent.times += 1;
                sent.again = now + pause;
                self.counters.injected += 1;
                plane.send_request(now, self.stream, *number as u32, sent.request.size);
            }
        }
        self.arm(plane);
        true
    }

    /// Request `number` has reached the server, which answers it, unless it did before or the application has
    /// stopped. `control` makes the congestion control of a new connection; `None`: all requests share one.
    pub fn handle_request(
        &mut self,
        now: Time,
        number: usize,
        control: Option<impl FnOnce() -> Box<dyn CongestionControl>>,
        flow: &mut Flow,
        plane: &mut impl Plane,
    ) {
        self.counters.arrived += 1;
        let sent = &mut self.requests[number];
        if std::mem::replace(&mut sent.reached_server, true) {
            return;
        }
        let response = sent.request.response;
        self.waiting.retain(|waiting| *waiting != number);
        // The first request finds a connection that nothing has used.
        if let Some(control) = control.filter(|_| number > 0) {
            flow.renew(now, control(), plane);
        }
        if let Some(end) = flow.respond(now, response, plane) {
            self.answering.push_back((number, end));
            self.wait_for_delivery(flow);
        }
    }

    /// The end of a response has been delivered ([`Wake::Delivered`]).
    pub fn handle_delivery(&mut self, now: Time, flow: &mut Flow, plane: &mut impl Plane) {
        let delivered = flow.delivered();
        while let Some((number, _)) = self.answering.pop_front_if(|(_, end)| *end <= delivered) {
            self.client.handle_response(now, number);
        }
        self.wait_for_delivery(flow);
        self.arm(plane);
    }

    fn wait_for_delivery(&self, flow: &mut Flow) {
        flow.wait_for_delivery(self.answering.front().map_or(u64::MAX, |(_, end)| *end));
    }

    /// Asks for a call no later than the application has something to send. To be called once before the run.
    pub fn arm(&mut self, plane: &mut impl Plane) {
        let next = self.client.next_request();
        let next = if next < self.stop { next } else { Time::MAX };
        let again = self.waiting.iter().map(|number| self.requests[*number].again).min();
        let due = again.map_or(next, |again| again.min(next));
        // A wake cannot be taken back. One that comes before its time finds nothing due, and arms again.
        if due < self.armed {
            self.armed = due;
            plane.wake(due, self.flow, Wake::Ask);
        }
    }
}
