//! Nodes that move, and an air between them: who is within range hears, after a random delay, or not at all.

use cogtcp_routing::{
    AfterFailure, DataPacket, Forwarding, HostUpdate, LostPacket, NodeAddress, NodeSite, PacketBuffer,
    Routing, RoutingEvent, RoutingPacket, RoutingSpec,
};
use cogtcp_units::{Duration, Position, Probability, RandomStream, Time};
use std::collections::BTreeMap;

/// What the world is like.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) routing: RoutingSpec,
    pub(crate) nodes: u32,
    /// Side of the area, m; the range is 250 m.
    pub(crate) side: f64,
    /// Longest delay of a frame.
    pub(crate) delay: Duration,
    pub(crate) loss: f64,
    /// Whether the MAC tells of its failures.
    pub(crate) feedback: bool,
    /// m/s.
    pub(crate) speed: f64,
    /// Whether nodes send to each other by themselves.
    pub(crate) traffic: bool,
}

const RANGE: f64 = 250.0;

#[derive(Debug)]
enum WorldEvent {
    Timeout(usize),
    Arrive(usize, RoutingPacket),
    Fail(usize, NodeAddress, RoutingPacket),
    Data(usize, DataPacket, u8),
    FailData(usize, NodeAddress, DataPacket, u8),
    Generate,
    Move,
}

pub(crate) struct World {
    pub(crate) setting: Setting,
    pub(crate) nodes: Vec<Box<dyn Routing>>,
    pub(crate) positions: Vec<Position>,
    headings: Vec<Position>,
    buffers: Vec<PacketBuffer<(DataPacket, u8)>>,
    events: BTreeMap<(Time, u64), WorldEvent>,
    /// When each node's timer is set to.
    timers: Vec<Time>,
    count: u64,
    pub(crate) now: Time,
    draw: RandomStream,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) ttl_drops: u64,
    pub(crate) happened: Vec<(usize, RoutingEvent)>,
    /// Checked after everything that happens, for every destination.
    pub(crate) check_loops: bool,
}

impl World {
    pub(crate) fn new(setting: Setting, seed: u64) -> Self {
        let mut draw = RandomStream::new(seed, "world", 0);
        let count = setting.nodes as usize;
        let node = |number| setting.routing.kind().build(NodeSite::new(NodeAddress::new(number), seed));
        let nodes = (0..setting.nodes).map(node).collect();
        let mut place =
            || Position::new(draw.uniform_in(0.0, setting.side), draw.uniform_in(0.0, setting.side));
        let positions = (0..count).map(|_| place()).collect();
        let headings = (0..count).map(|_| place()).collect();
        let mut world = Self {
            nodes,
            positions,
            headings,
            buffers: vec![PacketBuffer::default(); count],
            events: BTreeMap::new(),
            timers: vec![Time::MAX; count],
            count: 0,
            now: Time::ZERO,
            draw,
            sent: 0,
            delivered: 0,
            ttl_drops: 0,
            happened: Vec::new(),
            check_loops: true,
            setting,
        };
        for number in 0..count {
            let notice = HostUpdate::Position(world.positions[number]);
            world.nodes[number].handle_host_update(Time::ZERO, notice);
            world.nodes[number].start(Time::ZERO);
            world.settle(number);
        }
        if world.setting.traffic {
            world.at(Time::ZERO, WorldEvent::Generate);
        }
        world.at(Time::ZERO, WorldEvent::Move);
        world
    }

    fn at(&mut self, time: Time, event: WorldEvent) {
        self.events.insert((time, self.count), event);
        self.count += 1;
    }

    fn hears(&self, a: usize, b: usize) -> bool {
        self.positions[a].distance(self.positions[b]) <= RANGE
    }

    fn is_lost(&mut self) -> bool {
        self.draw.bernoulli(Probability::new(self.setting.loss).unwrap())
    }

    fn delay(&mut self) -> Duration {
        self.draw.uniform_duration(Duration::from_micros(100), self.setting.delay)
    }

    /// Runs until then.
    pub(crate) fn run(&mut self, until: Time) {
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 > until {
                break;
            }
            let ((time, _), event) = entry.remove_entry();
            self.now = time;
            self.handle(event);
            if self.check_loops {
                self.assert_no_loops();
            }
        }
        self.now = until;
    }

    fn handle(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::Timeout(node) => {
                // A timer that was set again has left its old entry behind.
                if self.timers[node] == self.now {
                    self.timers[node] = Time::MAX;
                    self.nodes[node].handle_timeout(self.now);
                    self.settle(node);
                }
            }
            WorldEvent::Arrive(node, packet) => {
                self.nodes[node].handle_message(self.now, &packet);
                self.settle(node);
            }
            WorldEvent::Fail(node, neighbor, packet) => {
                let lost = LostPacket::Routing(&packet);
                let _ = self.nodes[node].handle_link_failure(self.now, neighbor, lost);
                self.settle(node);
            }
            WorldEvent::FailData(node, neighbor, packet, ttl) => {
                let lost = LostPacket::Data(packet);
                let after = self.nodes[node].handle_link_failure(self.now, neighbor, lost);
                if after == AfterFailure::Hold {
                    self.buffers[node].push(self.now, packet.destination, (packet, ttl));
                }
                self.settle(node);
            }
            WorldEvent::Data(node, packet, ttl) => self.forward(node, packet, ttl),
            WorldEvent::Generate => self.generate(),
            WorldEvent::Move => self.step(),
        }
    }

    /// A packet of a random node to another, every 20 ms; half of them between a few pairs, so that routes
    /// stay in use.
    fn generate(&mut self) {
        let count = u64::from(self.setting.nodes);
        let few = if self.draw.below(2) == 0 { count.min(4) } else { count };
        let (source, destination) = (self.draw.below(few), self.draw.below(few));
        if source != destination {
            self.send(source as u32, destination as u32);
        }
        self.at(self.now + Duration::from_millis(20), WorldEvent::Generate);
    }

    /// A data packet begins.
    pub(crate) fn send(&mut self, source: u32, destination: u32) {
        self.sent += 1;
        let (source, destination) = (NodeAddress::new(source), NodeAddress::new(destination));
        let packet = DataPacket { source, destination, previous_hop: None, hops: 0 };
        self.forward(source.number() as usize, packet, 30);
    }

    fn forward(&mut self, node: usize, packet: DataPacket, ttl: u8) {
        match self.nodes[node].forward(self.now, packet) {
            Forwarding::Deliver => self.delivered += 1,
            Forwarding::Drop(_) => {}
            Forwarding::Hold => {
                self.buffers[node].push(self.now, packet.destination, (packet, ttl));
            }
            Forwarding::Send { next_hop, .. } => {
                let to = next_hop.number() as usize;
                let at = self.now + self.delay();
                if ttl == 0 {
                    self.ttl_drops += 1;
                } else if self.hears(node, to) && !self.is_lost() {
                    let previous_hop = Some(NodeAddress::new(node as u32));
                    self.at(
                        at,
                        WorldEvent::Data(
                            to,
                            DataPacket { previous_hop, hops: packet.hops + 1, ..packet },
                            ttl - 1,
                        ),
                    );
                } else if self.setting.feedback {
                    self.at(at, WorldEvent::FailData(node, next_hop, packet, ttl));
                }
            }
        }
        self.settle(node);
    }

    /// Does what a host does after each call.
    pub(crate) fn settle(&mut self, node: usize) {
        while let Some(packet) = self.nodes[node].poll_transmit(self.now) {
            self.transmit(node, packet);
        }
        let mut ready = Vec::new();
        while let Some(event) = self.nodes[node].poll_event() {
            match event {
                RoutingEvent::RouteFound { destination, .. } => {
                    ready.extend(self.buffers[node].take(destination))
                }
                RoutingEvent::DiscoveryFailed { destination } => drop(self.buffers[node].take(destination)),
                RoutingEvent::LocationWanted { node: other } => {
                    let position = self.positions[other.number() as usize];
                    self.nodes[node]
                        .handle_host_update(self.now, HostUpdate::Location { node: other, position });
                }
                _ => {}
            }
            self.happened.push((node, event));
        }
        // As events: `forward` would call this function again.
        for (packet, ttl) in ready {
            self.at(self.now, WorldEvent::Data(node, packet, ttl));
        }
        // The places told above may have released more.
        while let Some(packet) = self.nodes[node].poll_transmit(self.now) {
            self.transmit(node, packet);
        }
        let due = self.nodes[node].poll_timeout();
        if due != self.timers[node] {
            assert!(due > self.now, "node {node} asks for the past");
            self.timers[node] = due;
            if due != Time::MAX {
                self.at(due, WorldEvent::Timeout(node));
            }
        }
    }

    fn transmit(&mut self, node: usize, packet: RoutingPacket) {
        assert_eq!(packet.from.number() as usize, node);
        assert!(packet.bytes > 20 && packet.ttl > 0);
        if packet.to.is_broadcast() {
            for other in 0..self.nodes.len() {
                if other != node && self.hears(node, other) && !self.is_lost() {
                    let at = self.now + self.delay();
                    self.at(at, WorldEvent::Arrive(other, packet.clone()));
                }
            }
            return;
        }
        let to = packet.to.number() as usize;
        let at = self.now + self.delay();
        if self.hears(node, to) && !self.is_lost() {
            self.at(at, WorldEvent::Arrive(to, packet));
        } else if self.setting.feedback {
            self.at(at, WorldEvent::Fail(node, packet.to, packet));
        }
    }

    /// Everybody moves for 100 ms towards his next place.
    fn step(&mut self) {
        let length = self.setting.speed * 0.1;
        for node in 0..self.nodes.len() {
            if length == 0.0 {
                break;
            }
            let (from, to) = (self.positions[node], self.headings[node]);
            let way = from.distance(to);
            if way <= length {
                let side = self.setting.side;
                self.headings[node] =
                    Position::new(self.draw.uniform_in(0.0, side), self.draw.uniform_in(0.0, side));
            } else {
                let share = length / way;
                self.positions[node] =
                    Position::new(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share);
            }
            self.nodes[node].handle_host_update(self.now, HostUpdate::Position(self.positions[node]));
            self.settle(node);
        }
        self.at(self.now + Duration::from_millis(100), WorldEvent::Move);
    }

    /// Following the next hops to any destination comes back to no node.
    fn assert_no_loops(&self) {
        let count = self.nodes.len();
        for destination in 0..count {
            let target = NodeAddress::new(destination as u32);
            // 0: not looked at; else the number of the walk that came here.
            let mut walk = vec![0; count];
            for start in 0..count {
                let mut at = start;
                while at != destination && walk[at] == 0 {
                    walk[at] = start + 1;
                    match self.nodes[at].route(self.now, target) {
                        Some(route) => at = route.next_hop.number() as usize,
                        None => break,
                    }
                    assert!(
                        walk[at] != start + 1,
                        "a loop to {destination} at {at}, {:?}: {:?}",
                        self.now,
                        (0..count).map(|n| self.nodes[n].route(self.now, target)).collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}
