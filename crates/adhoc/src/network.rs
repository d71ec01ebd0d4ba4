//! The network: what it is made of, and what is due when.
//!
//! `host_packets` (a packet from its source into a queue), `reception` (reports of the medium), `routing`
//! (orders of routing), `frames` (records of the air). `resolution` (from a next hop to an address),
//! `locations` (positions for routing), `sharing` (the repositories of the nodes), `view` (the network from outside).

mod frames;
mod host_packets;
mod locations;
mod reception;
mod resolution;
mod routing;
mod sharing;
mod view;

pub(crate) use resolution::Waiting;

use crate::arp::ArpTable;
use crate::config::AdHocConfig;
use crate::event::{AdHocDropCause, AdHocEvent};
use crate::frame::AirEvent;
use crate::node::{Interfaces, Node, NodeCounters};
use crate::node_positions::NodePositions;
use crate::packet::Load;
use crate::radios::Channels;
use crate::timers::Timers;
use cogtcp_crosslayer::{Repository, StampingHop};
use cogtcp_mobility::{Mobility, NeighborGrid};
use cogtcp_routing::{HostUpdate, NodeAddress, NodeSite, PacketBuffer, RoutingGraph};
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, RandomStream, Rate, Time, prefetch};
use cogtcp_wireless::{Medium, Surroundings};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// An ad hoc network: `T` is what packets carry, `S` what else is in the air.
#[derive(Debug)]
pub struct AdHocNetwork<T, S = ()> {
    pub(crate) config: AdHocConfig,
    pub(crate) mobility: Arc<Mobility>,
    pub(crate) channels: Channels,
    pub(crate) medium: Medium<Load<T>, NodePositions, S>,
    pub(crate) nodes: Vec<Node<T>>,
    /// By interface: its node.
    owners: Vec<u32>,
    pub(crate) timers: Timers,
    /// How far a frame can be received, of the greatest power, m.
    pub(crate) range: f64,
    /// Who is within that range.
    pub(crate) near: NeighborGrid,
    topology: Option<Arc<RoutingGraph>>,
    /// The routes that packets took, if recorded: by the hash of each, the hash of the route before its last
    /// node, and that node.
    recorded: Option<BTreeMap<u64, (u64, u32)>>,
    pub(crate) events: VecDeque<AdHocEvent<T>>,
    /// Frames, where they are recorded.
    air: VecDeque<AirEvent<T>>,
    /// How nodes write into packets, and what each knows of its next hop; empty: they do not.
    pub(crate) stamping: Option<(Stamper<T>, Vec<StampingHop>)>,
    /// Changes of power that are done.
    powers_set: usize,
    seed: u64,
    now: Time,
}

/// Writes into a packet that has spent some time at a node: the payload, now, the time, the hop.
pub(crate) type Stamper<T> = fn(&mut T, Time, Duration, &mut StampingHop);

/// What a slot of the timers is for. Of what is due at one time the lower slots come first: radios before
/// routing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slot {
    Radio(u32),
    Node(u32),
    /// Nodes have moved.
    Locations,
    /// Nodes change their power.
    Power,
}

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// True if `node` has passed a stamped packet on since `since`.
    pub fn has_stamped(&self, node: u32, since: Time) -> bool {
        let hop = self.stamping.as_ref().and_then(|(_, hops)| hops.get(node as usize));
        hop.and_then(StampingHop::last).is_some_and(|last| last >= since)
    }

    /// From now on `stamper` writes into each packet of a host that has passed a hop.
    pub fn stamp(&mut self, stamper: fn(&mut T, Time, Duration, &mut StampingHop)) {
        let hop = |_: &Node<T>| StampingHop::new(Rate::ZERO, Duration::ZERO, true);
        self.stamping = Some((stamper, self.nodes.iter().map(hop).collect()));
    }

    /// Returns the network of `config` at time zero, in the run of `seed`. `mobility` has its nodes, `air`
    /// the channels and their licensed users.
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
        let places = NodePositions::new(Arc::clone(&mobility));
        let mut medium_config = config.medium.clone();
        channels.complete(&mut medium_config);
        let mut medium = Medium::new(medium_config, places, surroundings, seed);
        let data_channels = channels.data().count() as u32;
        let mut nodes = Vec::with_capacity(count as usize);
        let mut owners = Vec::new();
        for number in 0..count {
            let interfaces = Interfaces::add(&mut medium, &config, &channels, number);
            let mut repository = Repository::new(config.power, channels.first());
            let routing_reads = repository.subscribe();
            // All interfaces that were just added are this node's.
            owners.resize(medium.len(), number);
            nodes.push(Node {
                routing: config.routing.kind().build(NodeSite {
                    address: NodeAddress::new(number),
                    seed,
                    channels: data_channels,
                }),
                buffer: PacketBuffer::new(config.buffer_packets, config.buffer_time),
                released: VecDeque::new(),
                arp: config
                    .arp
                    .map(|arp| ArpTable::new(arp, RandomStream::new(seed, "adhoc/arp", u64::from(number)))),
                interfaces,
                radio: channels.radio(&config, &mobility, air, number, seed)?,
                repository,
                routing_reads,
                heard_channels: BTreeMap::new(),
                reports: BTreeMap::new(),
                announces: Time::MAX,
                draw: RandomStream::new(seed, "adhoc/announcement", u64::from(number)),
                counters: NodeCounters::default(),
            });
        }
        let range = config.range(config.greatest_power());
        let mut network = Self {
            // A radio and a node for each, the locations, the powers.
            timers: Timers::new(2 * count as usize + 2),
            channels,
            medium,
            nodes,
            owners,
            near: NeighborGrid::new(&mobility, range),
            range,
            topology: None,
            recorded: None,
            events: VecDeque::new(),
            air: VecDeque::new(),
            stamping: None,
            powers_set: 0,
            seed,
            now: Time::ZERO,
            config,
            mobility,
        };
        network.begin();
        Ok(network)
    }

    fn begin(&mut self) {
        self.plan_power();
        self.tell_locations(Time::ZERO);
        for number in 0..self.nodes.len() as u32 {
            let channel = self.channels.number(self.nodes[number as usize].repository.channel());
            let node = &mut self.nodes[number as usize];
            // The first channel that routing hears of is where it begins, and no handoff.
            node.routing.handle_host_update(Time::ZERO, HostUpdate::Handoff { channel });
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

    /// When to call [`advance`](Self::advance) next; [`Time::MAX`]: when something has been put in. It may be
    /// that nothing happens then.
    pub fn next_change(&self) -> Time {
        self.medium.next_change().min(self.timers.next())
    }

    /// Does everything that is due up to `now`, each at its own time.
    pub fn advance(&mut self, now: Time) {
        loop {
            let (timer, medium) = (self.timers.next(), self.medium.next_change());
            let at = timer.min(medium);
            // `Time::MAX` is never: a caller that plays to the end of time would not come back.
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
    pub fn poll_event(&mut self) -> Option<AdHocEvent<T>> {
        let event = self.events.pop_front();
        if self.events.is_empty() {
            // Back to the start of its memory, which is in the caches.
            self.events.clear();
        }
        event
    }

    /// Asks for the memory of the node whose timer is the next.
    fn look_at_next_timer(&self) {
        if let Some(Slot::Node(node)) = self.timers.first().map(|slot| self.slot(slot)) {
            let node = &self.nodes[node as usize];
            prefetch(node, 4);
            prefetch(&*node.routing, 5);
        }
    }

    fn handle_timer(&mut self, slot: u32, now: Time) {
        self.look_at_next_timer();
        match self.slot(slot) {
            Slot::Radio(node) => self.play_radio(node, now),
            Slot::Node(node) => {
                // Before routing acts: a packet that is too old must not take a route that comes now.
                for data in self.nodes[node as usize].buffer.expire(now) {
                    self.drop(node, *data, AdHocDropCause::BufferTime, now);
                }
                if self.nodes[node as usize].announces <= now {
                    self.announce(node, now);
                }
                self.nodes[node as usize].routing.handle_timeout(now);
                self.continue_resolution(node, now);
                self.settle(node, now);
            }
            Slot::Locations => {
                self.tell_locations(now);
                (0..self.nodes.len() as u32).for_each(|node| self.settle(node, now));
            }
            Slot::Power => self.change_powers(now),
        }
    }

    fn slot(&self, number: u32) -> Slot {
        let count = self.nodes.len() as u32;
        match number {
            number if number < count => Slot::Radio(number),
            number if number < 2 * count => Slot::Node(number - count),
            number if number > 2 * count => Slot::Power,
            _ => Slot::Locations,
        }
    }

    fn set_timer(&mut self, slot: Slot, due: Time) {
        let count = self.nodes.len() as u32;
        let number = match slot {
            Slot::Radio(node) => node,
            Slot::Node(node) => count + node,
            Slot::Locations => 2 * count,
            Slot::Power => 2 * count + 1,
        };
        self.timers.set(number, due);
    }

    pub(crate) fn set_radio_timer(&mut self, node: u32, due: Time) {
        self.set_timer(Slot::Radio(node), due);
    }
}
