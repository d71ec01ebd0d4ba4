//! Packets and their ways: from a host into routing, the interface queue, over the air, and on.

use crate::config::{AdHocConfig, LinkFailure, Radios};
use crate::event::{DropCause, Event, SearchOutcome};
use crate::node::{Interfaces, Node, NodeCounters};
use crate::packet::{ANNOUNCEMENT_BYTES, CHANNEL_BYTES, Datagram, Load, Packet, Trip};
use crate::places::Places;
use crate::radios::Channels;
use crate::timers::Timers;
use cogtcp_crosslayer::ChannelId;
use cogtcp_mobility::{Mobility, NeighborGrid};
use cogtcp_routing::{
    Forwarding, LostPacket, NodeAddress, Notice, PacketBuffer, Routing, RoutingEvent, RoutingPacket, Topology,
};
use cogtcp_spectrum::CognitiveRadio;
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Position, RandomStream, Time};
use cogtcp_wireless::{
    Counters, Destination, Event as MediumEvent, InterfaceConfig, InterfaceId, Medium, Offer, Outgoing,
    Positions, Surroundings,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// An ad hoc network: `T` is what packets carry, `S` what else is in the air.
#[derive(Debug)]
pub struct AdHocNetwork<T, S = ()> {
    pub(crate) config: AdHocConfig,
    mobility: Arc<Mobility>,
    pub(crate) channels: Channels,
    pub(crate) medium: Medium<Load<T>, Places, S>,
    pub(crate) nodes: Vec<Node<T>>,
    /// By interface: its node.
    owners: Vec<u32>,
    pub(crate) timers: Timers,
    /// How far a frame can be received, m.
    pub(crate) range: f64,
    topology: Option<Arc<Topology>>,
    /// The ways that packets took, where they are recorded: by the hash of each, that of the way before its last node, and that node.
    ways: Option<BTreeMap<u64, (u64, u32)>>,
    pub(crate) events: VecDeque<Event<T>>,
    seed: u64,
    now: Time,
}

/// What a slot of the timers is for. Of what is due at one time the lower slots come first: radios before routing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slot {
    Radio(u32),
    Node(u32),
    /// Nodes have moved.
    Locations,
}

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// The network of `config` at time zero, in the run of `seed`. Its nodes are those of `mobility`; `air` has the channels and who
    /// has a licence for them.
    ///
    /// # Errors
    ///
    /// A text that says why a cognitive radio cannot be built.
    pub fn new(
        config: AdHocConfig,
        mobility: Arc<Mobility>,
        air: Option<&Arc<Air>>,
        surroundings: S,
        seed: u64,
    ) -> Result<Self, String> {
        let count = mobility.len() as u32;
        let channels = Channels::new(&config, air);
        let places = Places::new(Arc::clone(&mobility));
        let mut medium_config = config.medium.clone();
        channels.complete(&mut medium_config);
        let mut medium = Medium::new(medium_config, places, surroundings, seed);
        let routing = channels.within(config.routing.clone());
        let mut nodes = Vec::with_capacity(count as usize);
        let mut owners = Vec::new();
        for number in 0..count {
            let interfaces = add_interfaces(&mut medium, &config, &channels, number);
            owners.resize(medium.len(), number);
            nodes.push(Node {
                routing: routing.build(NodeAddress::new(number), seed),
                buffer: PacketBuffer::new(config.buffer_packets, config.buffer_time),
                interfaces,
                radio: channels.radio(&config, &mobility, air, number, seed)?,
                channel: channels.first(),
                heard_channels: BTreeMap::new(),
                reports: BTreeMap::new(),
                announces: Time::MAX,
                draw: RandomStream::new(seed, "adhoc/announcement", u64::from(number)),
                counters: NodeCounters::default(),
            });
        }
        let phy = &config.medium.phy;
        let range = phy.propagation.path_loss.range(phy.sensitivity.watts() / config.power.watts());
        let mut network = Self {
            timers: Timers::new(2 * count as usize + 1),
            channels,
            medium,
            nodes,
            owners,
            range,
            topology: None,
            ways: None,
            events: VecDeque::new(),
            seed,
            now: Time::ZERO,
            config,
            mobility,
        };
        network.begin();
        Ok(network)
    }

    fn begin(&mut self) {
        self.tell_locations(Time::ZERO);
        for number in 0..self.nodes.len() as u32 {
            let channel = self.channels.number(self.nodes[number as usize].channel);
            let node = &mut self.nodes[number as usize];
            node.routing.handle_notice(Time::ZERO, Notice::Handoff { channel });
            node.routing.start(Time::ZERO);
            self.begin_radio(number);
            self.settle(number, Time::ZERO);
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// When to call [`advance`](Self::advance) next; [`Time::MAX`]: when something has been put in. It may be that nothing
    /// happens then.
    pub fn next_change(&self) -> Time {
        self.medium.next_change().min(self.timers.next())
    }

    /// Does everything that is due up to `now`, each at its own time.
    pub fn advance(&mut self, now: Time) {
        loop {
            let (timer, medium) = (self.timers.next(), self.medium.next_change());
            let at = timer.min(medium);
            if at > now || at == Time::MAX {
                break;
            }
            debug_assert!(at >= self.now, "time runs forward");
            self.now = at;
            if timer <= medium {
                if let Some(slot) = self.timers.pop() {
                    self.handle_timer(slot, at);
                }
            } else {
                self.medium.step();
            }
            self.take_events();
        }
        self.now = self.now.max(now);
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<Event<T>> {
        self.events.pop_front()
    }

    /// A host sends a packet.
    ///
    /// # Panics
    ///
    /// If its source is no node.
    pub fn offer(&mut self, now: Time, packet: Packet<T>) {
        let node = packet.source;
        self.nodes[node as usize].counters.originated += 1;
        let data = Datagram::new(now, packet);
        self.note_way(Trip::START, node, data.trip.path);
        self.forward(node, data, now);
        self.settle(node, now);
        self.take_events();
    }

    /// From now on the ways of packets are kept, for [`way`](Self::way).
    pub fn record_ways(&mut self) {
        self.ways.get_or_insert_default();
    }

    #[inline]
    fn note_way(&mut self, before: u64, node: u32, path: u64) {
        if let Some(ways) = &mut self.ways {
            ways.entry(path).or_insert((before, node));
        }
    }

    /// The nodes of the way [`Trip::path`], if they are kept.
    pub fn way(&self, path: u64) -> Vec<u32> {
        let (mut way, mut at) = (Vec::new(), path);
        while let Some((before, node)) = self.ways.as_ref().and_then(|ways| ways.get(&at)) {
            way.push(*node);
            at = *before;
        }
        way.reverse();
        way
    }

    /// Routing says what becomes of a packet that is at `node`. To be followed by [`settle`](Self::settle).
    fn forward(&mut self, node: u32, mut data: Datagram<T>, now: Time) {
        match self.nodes[node as usize].routing.forward(now, data.seen()) {
            Forwarding::Send { next_hop, channel } => {
                let next = next_hop.number();
                let channel = channel.map_or_else(
                    || self.known_channel(node, next),
                    |channel| Some(self.channels.id(channel)),
                );
                data.since = now;
                let ends = (data.packet.source, data.packet.destination);
                self.events.push_back(Event::Forwarded { time: now, node, next, ends });
                self.enqueue(node, next, channel, data, now);
            }
            Forwarding::Hold => {
                data.since = now;
                let to = NodeAddress::new(data.packet.destination);
                if let Some(oldest) = self.nodes[node as usize].buffer.push(now, to, data) {
                    self.drop(node, oldest, DropCause::BufferFull, now);
                }
            }
            Forwarding::Deliver => self.deliver(node, data, now),
            Forwarding::Drop(cause) => {
                let cause = match cause {
                    cogtcp_routing::DropCause::NoRoute => DropCause::NoRoute,
                    cogtcp_routing::DropCause::Loop => DropCause::Loop,
                };
                self.drop(node, data, cause, now);
            }
        }
    }

    fn enqueue(&mut self, node: u32, next: u32, channel: Option<ChannelId>, data: Datagram<T>, now: Time) {
        let to = Destination::Interface(self.nodes[next as usize].interfaces.receiver);
        let at = self.nodes[node as usize].interfaces.transmitter;
        let bytes = data.packet.bytes;
        let outgoing = Outgoing { payload: Load::Data(data), bytes, to, channel, goes_first: false };
        self.put(node, at, outgoing, now);
    }

    /// Puts a packet into an interface queue. What finds no room is gone.
    pub(crate) fn put(&mut self, node: u32, at: InterfaceId, packet: Outgoing<Load<T>>, now: Time) {
        let (lost, cause) = match self.medium.enqueue(now, at, packet) {
            Offer::Queued => return,
            Offer::Refused(packet) => (packet, DropCause::QueueFull),
            Offer::Displaced(packet) => (packet, DropCause::Displaced),
        };
        self.lose(node, lost.payload, cause, now);
    }

    fn lose(&mut self, node: u32, load: Load<T>, cause: DropCause, now: Time) {
        match load {
            Load::Data(data) => self.drop(node, data, cause, now),
            Load::Routing(..) | Load::Channel(..) => self.nodes[node as usize].counters.routing_lost += 1,
        }
    }

    fn drop(&mut self, node: u32, data: Datagram<T>, cause: DropCause, now: Time) {
        self.nodes[node as usize].counters.dropped += 1;
        self.events.push_back(Event::Dropped { time: now, node, packet: data.packet, cause });
    }

    fn deliver(&mut self, node: u32, data: Datagram<T>, now: Time) {
        self.nodes[node as usize].counters.delivered += 1;
        self.events.push_back(Event::Delivered { time: now, packet: data.packet, trip: data.trip });
    }

    /// Follows up on what routing has said and done, until it has nothing more to say, and sets its timer.
    pub(crate) fn settle(&mut self, node: u32, now: Time) {
        let index = node as usize;
        loop {
            while let Some(packet) = self.nodes[index].routing.poll_transmit(now) {
                self.send_routing(node, packet, now);
            }
            let Some(event) = self.nodes[index].routing.poll_event() else { break };
            self.handle_routing_event(node, event, now);
        }
        let node_state = &self.nodes[index];
        let due = node_state.routing.poll_timeout().min(node_state.buffer.next_change());
        let due = due.min(node_state.announces);
        self.set_timer(Slot::Node(node), due);
    }

    fn handle_routing_event(&mut self, node: u32, event: RoutingEvent, now: Time) {
        let index = node as usize;
        let time = now;
        let ended = |destination: NodeAddress, outcome| Event::SearchEnded {
            time,
            node,
            destination: destination.number(),
            outcome,
        };
        match event {
            RoutingEvent::DiscoveryStarted { destination } => {
                let destination = destination.number();
                self.events.push_back(Event::SearchStarted { time, node, destination });
            }
            RoutingEvent::RequestSent { .. } => {}
            RoutingEvent::RouteFound { destination, hops, took } => {
                self.events.push_back(ended(destination, SearchOutcome::Found { hops, took }));
                for mut data in self.nodes[index].buffer.take(destination) {
                    data.trip.waited += now - data.since;
                    self.forward(node, data, now);
                }
            }
            RoutingEvent::DiscoveryFailed { destination } => {
                self.events.push_back(ended(destination, SearchOutcome::Failed));
                for data in self.nodes[index].buffer.take(destination) {
                    self.drop(node, data, DropCause::NotFound, now);
                }
            }
            RoutingEvent::RouteChanged { destination, to, .. } => {
                let (destination, next) = (destination.number(), to.number());
                self.events.push_back(Event::RouteChanged { time, node, destination, next });
            }
            RoutingEvent::RouteLost { destination, cause } => {
                let destination = destination.number();
                self.events.push_back(Event::RouteLost { time, node, destination, cause });
            }
            // A location service that knows every place and costs nothing.
            RoutingEvent::LocationWanted { node: wanted } => {
                if (wanted.number() as usize) < self.nodes.len() {
                    let position = self.medium.position(wanted.number(), now);
                    let notice = Notice::Location { node: wanted, position };
                    self.nodes[index].routing.handle_notice(now, notice);
                }
            }
            RoutingEvent::ChannelWanted { channel } => {
                let channel = self.channels.id(channel);
                self.want_channel(node, channel, now);
            }
        }
    }

    fn send_routing(&mut self, node: u32, packet: RoutingPacket, now: Time) {
        let interfaces = self.nodes[node as usize].interfaces;
        let (bytes, to) = (packet.bytes, packet.to);
        let said = packet.channel.map(|channel| self.channels.id(channel));
        let packet = Arc::new(packet);
        let single = self.config.radios == Radios::Single;
        if to.is_broadcast() {
            let listens = self.is_signalled().then_some(self.nodes[node as usize].channel);
            let bytes = if listens.is_some() { bytes + CHANNEL_BYTES } else { bytes };
            return self.broadcast(node, said, bytes, Load::Routing(packet, listens), now);
        }
        let load = Load::Routing(packet, None);
        let peer = self.nodes[to.number() as usize].interfaces;
        // Over the control channel, if there is one; else where the neighbour listens. A channel that the packet names (SEARCH's
        // requests) is one that it is about: a neighbour with one receiver would not hear it there.
        let (at, to_interface, channel) = if single {
            (interfaces.transmitter, peer.receiver, self.known_channel(node, to.number()))
        } else {
            (interfaces.control, peer.control, None)
        };
        let to = Destination::Interface(to_interface);
        self.count_routing(node, bytes);
        self.put(node, at, Outgoing { payload: load, bytes, to, channel, goes_first: true }, now);
    }

    /// To all who hear it: on the control channel; without one on the channel that is named, or on every one in turn.
    pub(crate) fn broadcast(
        &mut self,
        node: u32,
        said: Option<ChannelId>,
        bytes: u32,
        load: Load<T>,
        now: Time,
    ) {
        let interfaces = self.nodes[node as usize].interfaces;
        let single = self.config.radios == Radios::Single;
        let to = Destination::Broadcast;
        let said = said.filter(|channel| single || Some(*channel) != self.channels.control());
        if !single && said.is_none() {
            self.count_routing(node, bytes);
            let packet = Outgoing { payload: load, bytes, to, channel: None, goes_first: true };
            return self.put(node, interfaces.control, packet, now);
        }
        let targets: Vec<ChannelId> = match said {
            Some(channel) => vec![channel],
            None => self.channels.data().collect(),
        };
        for target in targets {
            self.count_routing(node, bytes);
            let packet =
                Outgoing { payload: load.clone(), bytes, to, channel: Some(target), goes_first: true };
            self.put(node, interfaces.transmitter, packet, now);
        }
    }

    fn count_routing(&mut self, node: u32, bytes: u32) {
        let counters = &mut self.nodes[node as usize].counters;
        counters.routing_sent += 1;
        counters.routing_bytes += u64::from(bytes);
    }

    /// A node says on which channel it listens, and will say so again.
    fn announce(&mut self, node: u32, now: Time) {
        self.nodes[node as usize].counters.announcements += 1;
        let channel = self.nodes[node as usize].channel;
        self.plan_announcement(node, now + Self::ANNOUNCEMENT_INTERVAL);
        self.broadcast(node, None, ANNOUNCEMENT_BYTES, Load::Channel(node, channel), now);
    }

    /// Takes in what the medium reports.
    fn take_events(&mut self) {
        while let Some(event) = self.medium.poll_event() {
            match event {
                MediumEvent::Received { time, at, from, first_in_line, payload, .. } => {
                    let (node, from) = (self.owners[at.0 as usize], self.owners[from.0 as usize]);
                    self.receive(node, from, payload, first_in_line, time);
                }
                MediumEvent::Sent { time, from, payload, service, .. } => {
                    if let Load::Data(_) = payload {
                        let node = self.owners[from.0 as usize];
                        self.events.push_back(Event::Served { time, node, service });
                    }
                }
                MediumEvent::Failed { time, from, to, payload, service, cause, arrived, .. } => {
                    let node = self.owners[from.0 as usize];
                    if let Load::Data(_) = payload {
                        self.events.push_back(Event::Served { time, node, service });
                    }
                    if let Destination::Interface(to) = to {
                        let cause = (!arrived).then_some(DropCause::of(cause));
                        self.link_failed(node, from, to, payload, cause, time);
                    }
                }
                MediumEvent::AttemptFailed { .. }
                | MediumEvent::QueueFree { .. }
                | MediumEvent::OnAir { .. } => {}
            }
        }
    }

    fn receive(&mut self, node: u32, from: u32, load: Load<T>, first_in_line: Time, now: Time) {
        match load {
            Load::Data(mut data) => {
                data.trip.hops = data.trip.hops.saturating_add(1);
                let before = data.trip.path;
                data.trip.visit(node);
                self.note_way(before, node, data.trip.path);
                data.trip.waited += first_in_line.saturating_since(data.since);
                data.previous = Some(from);
                if data.packet.destination == node {
                    return self.deliver(node, data, now);
                }
                // RFC 1812 section 5.3.1.
                if data.packet.time_to_live <= 1 {
                    return self.drop(node, data, DropCause::Expired, now);
                }
                data.packet.time_to_live -= 1;
                self.nodes[node as usize].counters.relayed += 1;
                self.forward(node, data, now);
            }
            Load::Routing(packet, listens) => {
                let there = &mut self.nodes[node as usize];
                if let Some(channel) = listens {
                    there.heard_channels.insert(from, channel);
                }
                there.counters.routing_received += 1;
                there.routing.handle_message(now, &packet);
            }
            Load::Channel(who, channel) => {
                let there = &mut self.nodes[node as usize];
                there.heard_channels.insert(who, channel);
                let (neighbor, channel) = (NodeAddress::new(who), self.channels.number(channel));
                there.routing.handle_notice(now, Notice::NeighborChannel { neighbor, channel });
            }
        }
        self.settle(node, now);
    }

    /// The MAC gave a packet up: routing hears of it, and says what becomes of the others for that neighbour.
    fn link_failed(
        &mut self,
        node: u32,
        at: InterfaceId,
        to: InterfaceId,
        load: Load<T>,
        cause: Option<DropCause>,
        now: Time,
    ) {
        let neighbor = NodeAddress::new(self.owners[to.0 as usize]);
        let there = &mut self.nodes[node as usize];
        there.counters.link_failures += 1;
        match &load {
            Load::Data(data) => {
                there.routing.handle_link_failure(now, neighbor, LostPacket::Data(data.seen()));
            }
            Load::Routing(packet, _) => {
                there.routing.handle_link_failure(now, neighbor, LostPacket::Routing(packet));
            }
            Load::Channel(..) => {}
        }
        if let Some(cause) = cause {
            self.lose(node, load, cause, now);
        }
        let waits = |packet: &Outgoing<Load<T>>| {
            packet.to == Destination::Interface(to) && matches!(packet.payload, Load::Data(_))
        };
        for packet in self.medium.remove_waiting(at, waits) {
            let Load::Data(mut data) = packet.payload else { continue };
            match self.config.on_link_failure {
                LinkFailure::Drop => self.drop(node, data, DropCause::LinkFailed, now),
                LinkFailure::Reroute => {
                    data.trip.waited += now.saturating_since(data.since);
                    self.forward(node, data, now);
                }
            }
        }
        self.settle(node, now);
    }

    fn handle_timer(&mut self, slot: u32, now: Time) {
        match self.slot(slot) {
            Slot::Radio(node) => self.play_radio(node, now),
            Slot::Node(node) => {
                for data in self.nodes[node as usize].buffer.expire(now) {
                    self.drop(node, data, DropCause::BufferTime, now);
                }
                if self.nodes[node as usize].announces <= now {
                    self.announce(node, now);
                }
                self.nodes[node as usize].routing.handle_timeout(now);
                self.settle(node, now);
            }
            Slot::Locations => {
                self.tell_locations(now);
                (0..self.nodes.len() as u32).for_each(|node| self.settle(node, now));
            }
        }
    }

    fn slot(&self, number: u32) -> Slot {
        let count = self.nodes.len() as u32;
        match number {
            number if number < count => Slot::Radio(number),
            number if number < 2 * count => Slot::Node(number - count),
            _ => Slot::Locations,
        }
    }

    fn set_timer(&mut self, slot: Slot, due: Time) {
        let count = self.nodes.len() as u32;
        let number = match slot {
            Slot::Radio(node) => node,
            Slot::Node(node) => count + node,
            Slot::Locations => 2 * count,
        };
        self.timers.set(number, due);
    }

    pub(crate) fn set_radio_timer(&mut self, node: u32, due: Time) {
        self.set_timer(Slot::Radio(node), due);
    }

    /// Tells routing where its node is and who reaches whom.
    fn tell_locations(&mut self, now: Time) {
        let mobility = Arc::clone(&self.mobility);
        let wants_topology = self.config.routing.name() == "static";
        if wants_topology {
            let topology = topology(&mobility, self.range, now);
            if self.topology.as_deref() != Some(&topology) {
                let topology = Arc::new(topology);
                for node in &mut self.nodes {
                    node.routing.handle_notice(now, Notice::Topology(Arc::clone(&topology)));
                }
                self.topology = Some(topology);
            }
        }
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let place = mobility.position(number, now);
            node.routing.handle_notice(now, Notice::Position(place));
        }
        if mobility.max_speed() > 0.0 && now < mobility.end() {
            self.set_timer(Slot::Locations, now + self.config.location_interval);
        }
    }

    /// Shows every packet of a host that is in the network: it waits for a route, in an interface queue, or is on the air.
    pub fn visit(&self, mut show: impl FnMut(&Packet<T>)) {
        self.nodes.iter().for_each(|node| node.buffer.visit(|data| show(&data.packet)));
        self.medium.visit(|load| {
            if let Load::Data(data) = load {
                show(&data.packet);
            }
        });
    }

    /// What a node counted.
    pub fn counters(&self, node: u32) -> NodeCounters {
        self.nodes[node as usize].counters
    }

    /// What the MACs of a node counted, each interface of it apart: one, or control, transmitter and receiver.
    pub fn mac_counters(&self, node: u32) -> impl Iterator<Item = Counters> {
        self.nodes[node as usize].interfaces.each().map(|interface| self.medium.counters(interface))
    }

    /// The routing protocol of a node, to look at.
    pub fn routing(&self, node: u32) -> &dyn Routing {
        &*self.nodes[node as usize].routing
    }

    /// The cognitive radio of a node.
    pub fn radio(&self, node: u32) -> Option<&CognitiveRadio> {
        self.nodes[node as usize].radio.as_deref()
    }

    /// The same, to be told that metrics begin.
    pub fn radio_mut(&mut self, node: u32) -> Option<&mut CognitiveRadio> {
        self.nodes[node as usize].radio.as_deref_mut()
    }

    /// The channel on which a node listens for data.
    pub fn channel(&self, node: u32) -> ChannelId {
        self.nodes[node as usize].channel
    }

    /// Where a node is.
    pub fn position(&self, node: u32, now: Time) -> Position {
        self.mobility.position(node as usize, now)
    }

    /// How far a frame can be received without shadowing, fading and interference, m.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// The way that a packet of `source` would take to `destination` now: the nodes after the source, as far as each knows a next
    /// hop. It ends at a node that comes twice.
    pub fn route(&self, now: Time, source: u32, destination: u32) -> Vec<u32> {
        let mut route = Vec::new();
        let mut at = source;
        while at != destination {
            let known = self.nodes[at as usize].routing.route(now, NodeAddress::new(destination));
            let Some(next) = known.map(|route| route.next_hop.number()) else { break };
            let again = next == source || route.contains(&next);
            route.push(next);
            if again {
                break;
            }
            at = next;
        }
        route
    }

    /// Whether no packet vanished in an interface queue.
    pub fn is_conserved(&self) -> bool {
        self.medium.is_conserved()
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

/// Who can receive whom, by distance alone.
fn topology(mobility: &Mobility, range: f64, now: Time) -> Topology {
    let mut grid = NeighborGrid::new(mobility, range);
    let mut topology = Topology::new(mobility.len());
    for node in 0..mobility.len() as u32 {
        for other in grid.neighbors(mobility, now, node).nodes {
            topology.link(NodeAddress::new(node), NodeAddress::new(other), 1);
        }
    }
    topology
}

/// The radios of a node on the medium.
fn add_interfaces<L: Clone, P: Positions, S: Surroundings>(
    medium: &mut Medium<L, P, S>,
    config: &AdHocConfig,
    channels: &Channels,
    node: u32,
) -> Interfaces {
    let base = InterfaceConfig {
        power: config.power,
        channel: channels.first(),
        tuning_delay: config.switching_delay,
        ..InterfaceConfig::new(node)
    };
    let Some(control) = channels.control().filter(|_| config.radios == Radios::Three) else {
        let several = channels.data().count() > 1;
        let interface =
            medium.add_interface(InterfaceConfig { follows_receiver: several, returns: several, ..base });
        return Interfaces { control: interface, transmitter: interface, receiver: interface };
    };
    let named = |part: &str| InterfaceConfig { name: format!("node {node}/{part}"), ..base.clone() };
    Interfaces {
        control: medium.add_interface(InterfaceConfig { channel: control, ..named("control") }),
        transmitter: medium.add_interface(InterfaceConfig { follows_receiver: true, ..named("transmitter") }),
        receiver: medium.add_interface(named("receiver")),
    }
}
