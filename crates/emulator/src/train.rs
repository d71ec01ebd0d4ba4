//! The train under a real clock: the mobile router with its predictor, its messages over the LAN, and the
//! connection managers beside its clients. All of them are the simulator's own, which real packets go past
//! here.
//!
//! A manager stands between the kernel of a client and the network: it sees what leaves and what arrives,
//! rewrites windows, and says which ACKs are to be sent. Messages are UDP packets ([`wire`]) that cross the
//! LAN like all others and that no kernel sees.

use crate::event::{Entity, RecordedEvent};
use crate::host_routes::LinkDirection;
use crate::packet::{self, Family, Ports};
use crate::plan::Plan;
use crate::segments;
use cogtcp_headers::{self as headers, PacketEnds};
use cogtcp_hosts::freeze::{Beside, ConnectionManager};
use cogtcp_hosts::{RouterHost, rtt_tcp};
use cogtcp_network::{Boards, build};
use cogtcp_records::EventKind;
use cogtcp_train::{RouterMessage, wire};
use cogtcp_transport::{Flags, Segment};
use cogtcp_units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// A packet that the train sends by itself.
#[derive(Clone, Debug)]
pub(crate) enum Sent {
    /// Over the network, as if this host had.
    From(usize, Vec<u8>),
    /// To the kernel of this host, as if it had arrived.
    Into(usize, Vec<u8>),
}

/// The mobile router and its clients.
#[derive(Debug)]
pub(crate) struct Train {
    pub(crate) router: RouterHost,
    /// The host at which the router is.
    at: usize,
    /// The direction of the radio's link by which the router sends to the ground.
    up: LinkDirection,
    /// The clients' hosts.
    pub(crate) clients: Vec<usize>,
    /// By which ports the scenario's flows are known.
    ports: Ports,
    /// What messages go over.
    family: Family,
    connections: BTreeMap<PacketEnds, Connection>,
    /// How long a manager has held the source of each flow since the end of the warm-up; `None`: it has none.
    frozen: Vec<Option<(usize, Duration)>>,
    outbox: VecDeque<Sent>,
    pub(crate) events: Vec<RecordedEvent>,
}

/// A connection of a client, by its ends as the client's packets name them.
#[derive(Debug)]
struct Connection {
    client: usize,
    /// Of the scenario; `None`: of a program.
    flow: Option<usize>,
    /// One for a flow of the scenario, whose data go one way. A program's connection has one for either way.
    managers: Vec<ConnectionManager>,
    frozen_since: Option<Time>,
    /// Its FINs: the client's, the other's.
    finished: [bool; 2],
}

impl Train {
    /// The train of the scenario; `None`: it has none, or its predictor needs a journey that is not there.
    pub(crate) fn new(plan: &Plan, seed: u64, end: Time) -> Option<Self> {
        let experiment = &plan.experiment;
        let spec = experiment.train.as_ref()?;
        let up = RouterHost::uplink(experiment, spec) as LinkDirection;
        let course = build::course(&experiment.radios[spec.radio], end, seed);
        let mut clients: Vec<usize> = Vec::new();
        let mut client_of = |[from, to]: [usize; 2]| {
            let host = match beside(&plan.routes.directions(from, to), up)? {
                Beside::Receiver => to,
                Beside::Sender => from,
            };
            let known = clients.iter().position(|known| *known == host);
            Some(known.unwrap_or_else(|| {
                clients.push(host);
                clients.len() - 1
            }))
        };
        let flows = plan.flow_ends.iter().map(|ends| client_of(*ends));
        let frozen: Vec<_> = flows.map(|client| client.map(|client| (client, Duration::ZERO))).collect();
        if experiment.flows.is_empty() {
            client_of(plan.ends);
        }
        let router = RouterHost::new(experiment, course, clients.len(), seed, end)?;
        Some(Self {
            at: plan.router?,
            router,
            up,
            clients,
            ports: plan.ports(),
            family: plan.family,
            connections: BTreeMap::new(),
            frozen,
            outbox: VecDeque::new(),
            events: Vec::new(),
        })
    }

    /// The direction whose packets the router holds through a silence, if it does.
    pub(crate) fn holds(&self) -> Option<LinkDirection> {
        self.router.spec.settings.buffer.then_some(self.up)
    }

    /// When [`step`](Self::step) is to be called at the latest.
    pub(crate) fn next(&self) -> Time {
        self.router.machine.poll_timeout().min(self.router.next_measurement())
    }

    /// Lets the router do what is due.
    pub(crate) fn step(&mut self, now: Time) {
        self.router.show_measurements(now);
        if self.router.machine.poll_timeout() <= now {
            self.router.machine.handle_timeout(now);
        }
        self.send_messages(now);
    }

    /// The next packet that it sends.
    pub(crate) fn poll(&mut self) -> Option<Sent> {
        self.outbox.pop_front()
    }

    /// The warm-up is over.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.router.end_warmup(now);
        for (_, frozen) in self.frozen.iter_mut().flatten() {
            *frozen = Duration::ZERO;
        }
        for connection in self.connections.values_mut() {
            // A freeze that is under way counts from here on.
            connection.frozen_since = connection.frozen_since.map(|_| now);
        }
    }

    /// How long which manager held the source of a flow; `None`: there is none.
    pub(crate) fn frozen(&self, flow: usize, now: Time) -> Option<(usize, Duration)> {
        let (client, frozen) = (*self.frozen.get(flow)?)?;
        let own = self.connections.values().filter(|connection| connection.flow == Some(flow));
        let under_way = own.filter_map(|connection| Some(now.saturating_since(connection.frozen_since?)));
        Some((client, frozen + under_way.sum()))
    }

    /// Has the router hear what its node knows of the radio.
    pub(crate) fn listen(&mut self, boards: &mut Boards) {
        self.router.listen(boards, 0);
    }

    /// Something stands on the board of the router's node.
    pub(crate) fn read_board(&mut self, now: Time, boards: &mut Boards) {
        self.router.read_board(now, boards);
    }

    /// A packet leaves a host: it may be rewritten.
    pub(crate) fn outgoing(&mut self, now: Time, host: usize, bytes: &mut [u8]) {
        let Some(client) = self.client(host) else { return };
        let Some((ends, mut segment)) = segments::read(bytes) else { return };
        if segment.flags.contains(Flags::SYN) && !self.connections.contains_key(&ends) {
            self.begin(ends, client);
        }
        let Some(connection) = self.connections.get_mut(&ends) else { return };
        let before = segment;
        for manager in &mut connection.managers {
            manager.handle_outgoing(now, &mut segment);
        }
        rewrite(bytes, &before, &segment);
        self.record_end(now, ends, &segment, 0);
    }

    /// A packet reaches a host: it may be rewritten. Returns whether it is the train's own, and nothing for
    /// the kernel.
    pub(crate) fn incoming(&mut self, now: Time, host: usize, bytes: &mut [u8]) -> bool {
        if let Some((from, message)) = self.message_of(now, bytes) {
            self.hear(now, [from, host], message);
            return true;
        }
        let Some(client) = self.client(host) else { return false };
        let Some((ends, mut segment)) = segments::read(bytes) else { return false };
        let ends = ends.reversed();
        // A server on the train is called from the ground.
        if segment.flags.contains(Flags::SYN) && !self.connections.contains_key(&ends) {
            self.begin(ends, client);
        }
        let Some(connection) = self.connections.get_mut(&ends) else { return false };
        let before = segment;
        let mut is_over = false;
        for manager in &mut connection.managers {
            is_over |= manager.handle_incoming(now, &mut segment);
        }
        rewrite(bytes, &before, &segment);
        if is_over {
            self.record_thaw(now, ends);
        }
        self.record_end(now, ends, &segment, 1);
        false
    }

    fn client(&self, host: usize) -> Option<usize> {
        self.clients.iter().position(|known| *known == host)
    }

    /// A connection begins; the scenario's own are known by their ports.
    fn begin(&mut self, ends: PacketEnds, client: usize) {
        let (flow, kinds) = match self.ports.flow(ends.ports()) {
            Some((flow, false)) => (Some(flow), vec![Beside::Receiver]),
            Some((flow, true)) => (Some(flow), vec![Beside::Sender]),
            None => (None, vec![Beside::Receiver, Beside::Sender]),
        };
        let managers = kinds.into_iter().map(ConnectionManager::new).collect();
        let connection = Connection { client, flow, managers, frozen_since: None, finished: [false; 2] };
        self.connections.insert(ends, connection);
    }

    /// A connection that was reset or closed from both ends has no window any more.
    fn record_end(&mut self, now: Time, ends: PacketEnds, segment: &Segment, end: usize) {
        let Some(connection) = self.connections.get_mut(&ends) else { return };
        connection.finished[end] |= segment.flags.contains(Flags::FIN);
        // The last ACK of a close carries no data.
        let is_over = connection.finished == [true; 2] && segment.len == 0;
        if segment.flags.contains(Flags::RST) || is_over {
            self.record_thaw(now, ends);
            self.connections.remove(&ends);
        }
    }

    /// A message of the train's, if the packet is one, and the host that sent it.
    fn message_of(&self, now: Time, bytes: &[u8]) -> Option<(usize, RouterMessage)> {
        let (ends, payload) = headers::read_udp(bytes)?;
        let from = packet::host(ends.from.ip())?;
        // A packet for another port may hold the same bytes.
        let is_ours = ends.ports() == [wire::PORT; 2];
        Some((from, wire::decode(payload, now).filter(|_| is_ours)?))
    }

    /// A message has come from host to host.
    fn hear(&mut self, now: Time, [from, to]: [usize; 2], message: RouterMessage) {
        match message {
            RouterMessage::Reply { rtt } => {
                if let Some(client) = self.client(from) {
                    self.router.machine.handle_reply(now, client, rtt);
                }
            }
            _ => {
                if let Some(client) = self.client(to) {
                    self.obey(now, client, message);
                }
            }
        }
        self.send_messages(now);
    }

    /// What a client does on a message of the router's.
    fn obey(&mut self, now: Time, client: usize, message: RouterMessage) {
        let is_managed = self.router.spec.settings.connection_manager;
        match message {
            RouterMessage::GoingDown { until, .. } if is_managed => self.freeze(now, client, until),
            RouterMessage::GoingUp if is_managed => self.thaw(now, client),
            RouterMessage::Request => {
                let own = self.connections.values().filter(|connection| connection.client == client);
                let known = own.flat_map(|connection| &connection.managers).filter_map(|it| it.round_trips());
                let rtt = rtt_tcp(self.router.spec.settings.rtt, known);
                self.reply(now, client, rtt);
            }
            _ => {}
        }
    }

    fn freeze(&mut self, now: Time, client: usize, until: Time) {
        let own = self.connections.iter_mut().filter(|(_, connection)| connection.client == client);
        for (ends, connection) in own {
            for manager in &mut connection.managers {
                let beside = manager.beside();
                if let Some(ack) = manager.freeze(now, until) {
                    let host = self.clients[client];
                    tell(&mut self.outbox, host, *ends, beside, &ack, ConnectionManager::FREEZE_ACKS);
                }
            }
            let is_frozen = connection.managers.iter().any(ConnectionManager::is_frozen);
            if is_frozen && connection.frozen_since.is_none() {
                connection.frozen_since = Some(now);
                self.events.extend(event(now, EventKind::Freeze, connection.flow));
            }
        }
    }

    fn thaw(&mut self, now: Time, client: usize) {
        let own = self.connections.iter_mut().filter(|(_, connection)| connection.client == client);
        let mut thawed = Vec::new();
        for (ends, connection) in own {
            for manager in &mut connection.managers {
                let beside = manager.beside();
                if let Some(ack) = manager.thaw() {
                    let host = self.clients[client];
                    tell(&mut self.outbox, host, *ends, beside, &ack, ConnectionManager::THAW_ACKS);
                }
            }
            thawed.push(*ends);
        }
        thawed.into_iter().for_each(|ends| self.record_thaw(now, ends));
    }

    fn record_thaw(&mut self, now: Time, ends: PacketEnds) {
        let Some(connection) = self.connections.get_mut(&ends) else { return };
        let Some(since) = connection.frozen_since.take() else { return };
        if let Some((_, frozen)) = connection.flow.and_then(|flow| self.frozen[flow].as_mut()) {
            *frozen += now.saturating_since(since);
        }
        self.events.extend(event(now, EventKind::Thaw, connection.flow));
    }

    /// Sends what the router has to say. A client at the router itself is told without a message.
    fn send_messages(&mut self, now: Time) {
        while let Some(out) = self.router.machine.poll_message() {
            let (kind, value) = match out.message {
                RouterMessage::GoingDown { start, .. } => {
                    (Some(EventKind::TriggerDown), start.as_secs_f64() - now.as_secs_f64())
                }
                RouterMessage::GoingUp => (Some(EventKind::TriggerUp), f64::NAN),
                RouterMessage::Request | RouterMessage::Reply { .. } => (None, f64::NAN),
            };
            if let Some(kind) = kind {
                let entity = Entity::Node(self.router.spec.router);
                self.events.push(RecordedEvent { at: now, kind, entity, flow: None, detail: "", value });
            }
            let host = self.clients[out.client];
            if host == self.at {
                // A draw for each client, wherever it is: a lost message does not depend on the place.
                if !out.lost {
                    self.obey(now, out.client, out.message);
                }
                continue;
            }
            self.send(now, self.at, host, out.message, out.lost);
        }
    }

    fn reply(&mut self, now: Time, client: usize, rtt: Option<Duration>) {
        let host = self.clients[client];
        if host == self.at {
            return self.router.machine.handle_reply(now, client, rtt);
        }
        self.send(now, host, self.at, RouterMessage::Reply { rtt }, false);
    }

    fn send(&mut self, now: Time, from: usize, to: usize, message: RouterMessage, is_lost: bool) {
        let end = |host: usize| SocketAddr::new(self.family.address(host), wire::PORT);
        let bytes =
            headers::write_udp(PacketEnds { from: end(from), to: end(to) }, &wire::encode(message, now));
        // Lost messages count as sent.
        self.router.message_bytes += bytes.len() as u64;
        if !is_lost {
            self.outbox.push_back(Sent::From(from, bytes));
        }
    }
}

/// Beside which end of a flow a manager stands whose data take these directions; `None`: the flow does not
/// use the radio.
fn beside(directions: &[LinkDirection], up: LinkDirection) -> Option<Beside> {
    // The two directions of a link differ in the lowest bit.
    if directions.contains(&(up ^ 1)) {
        Some(Beside::Receiver)
    } else {
        directions.contains(&up).then_some(Beside::Sender)
    }
}

/// Gives the source an ACK of a manager's: `times` over the network, once beside it.
fn tell(
    outbox: &mut VecDeque<Sent>,
    host: usize,
    ends: PacketEnds,
    beside: Beside,
    ack: &Segment,
    times: usize,
) {
    match beside {
        Beside::Receiver => {
            let bytes = segments::acknowledgement(ends, ack);
            outbox.extend(std::iter::repeat_n(Sent::From(host, bytes), times));
        }
        Beside::Sender => {
            // Once: no network lies between in which it could be lost.
            outbox.push_back(Sent::Into(host, segments::acknowledgement(ends.reversed(), ack)));
        }
    }
}

fn rewrite(bytes: &mut [u8], before: &Segment, after: &Segment) {
    // Only a window that has changed costs a new checksum.
    if before.window != after.window {
        headers::set_window(bytes, after.window);
    }
}

/// Of a flow of the scenario; what happens to a program's connection has no name.
fn event(at: Time, kind: EventKind, flow: Option<usize>) -> Option<RecordedEvent> {
    let flow = flow?;
    Some(RecordedEvent {
        at,
        kind,
        entity: Entity::Flow(flow),
        flow: Some(flow),
        detail: "",
        value: f64::NAN,
    })
}

#[cfg(test)]
mod tests;
