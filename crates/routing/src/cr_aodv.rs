//! CR-AODV: the AODV of the released CRAHN code on ns-2.31
//! ([docs/routing/cr-aodv.md](../../../docs/routing/cr-aodv.md)).
//!
//! AODV runs on the control channel. Each node listens for data on a channel of its own. Its hellos carry its
//! channel and its neighbours' channels; a hello follows a spectrum handoff.

use crate::aodv::{Aodv, AodvConfig, AodvSettings};
use crate::message::{MessageKind, ProtocolMessage};
use crate::outbox::Outbox;
use crate::{
    AfterFailure, ChannelNumber, DataPacket, Forwarding, HostUpdate, LostPacket, NodeAddress, RouteInfo,
    Routing, RoutingEvent, RoutingMessage, RoutingPacket, RoutingStats,
};
use crate::{NodeSite, Protocol};
use cogtcp_units::{Check, Duration, Named, RandomStream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// `MAX_HELLO_NEIGHBOURS` (`aodv_packet.h`).
const MOST_NEIGHBORS: usize = 10;

/// The hello of CR-AODV: the channel of its sender and of its neighbours.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChannelHello {
    /// The sender's receive channel; `None`: not set yet.
    pub channel: Option<ChannelNumber>,
    /// At most ten neighbours with their channels.
    pub neighbors: Vec<(NodeAddress, ChannelNumber)>,
}

impl ProtocolMessage for ChannelHello {
    fn body_bytes(&self) -> u32 {
        // `hdr_aodv_hello::size()` of the released code: always room for ten neighbours.
        100
    }

    fn kind(&self) -> MessageKind {
        MessageKind::Hello
    }
}

/// How a node knows the channel that its next hop listens on.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NextHopKnowledge {
    /// At once and at no cost, by the host, as from the shared repository of the released code.
    #[default]
    Shared,
    /// By the last hello that told it.
    Hello,
}

/// Which defaults CR-AODV has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CrAodvProfile {
    /// The released code in all: no link-layer feedback, as the callback of the MAC is commented out there.
    Released,
}

/// Settings of CR-AODV. Defaults are from the released code (`aodv.h`), with link-layer feedback.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrAodvConfig {
    /// Source of AODV's defaults. Without it: the released code, except that a frame that the MAC gives up
    /// breaks a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<CrAodvProfile>,
    /// What differs in the AODV below. Without a profile there: ns-2's with routes of 1000 s, reverse routes
    /// and requests remembered for 6000 s.
    pub aodv: AodvSettings,
    /// How a node knows the channel that its next hop listens on.
    pub channel_knowledge: NextHopKnowledge,
    /// Time between choices of the own channel, with a random 0 to 0.5 s (HELLO_REFRESH_TIMER).
    pub channel_interval: Duration,
    /// A node that forwarded more packets than this since its last choice says a hello after the next.
    pub active_packets: u32,
    /// Whether the node asks for the channel with the fewest receivers among its neighbours.
    pub choose_channel: bool,
    /// Data channels, numbered 1 to this; 0 is the control channel.
    pub channels: u32,
}

impl Default for CrAodvConfig {
    fn default() -> Self {
        Self {
            profile: None,
            aodv: AodvSettings::default(),
            channel_knowledge: NextHopKnowledge::Shared,
            channel_interval: Duration::from_secs(500),
            active_packets: 10,
            choose_channel: true,
            channels: 10,
        }
    }
}

impl CrAodvConfig {
    /// All settings of the AODV below.
    pub fn aodv(&self) -> AodvConfig {
        self.aodv.over(AodvConfig {
            active_route_timeout: Duration::from_secs(1000),
            my_route_timeout: Duration::from_secs(1000),
            reverse_route_life: Some(Duration::from_secs(6000)),
            request_memory: Some(Duration::from_secs(6000)),
            // Departs from the released code, where a link that fails is used to the end of its route, 1000 s
            // later.
            link_feedback: self.profile != Some(CrAodvProfile::Released),
            // The MAC below need not be ns-2's, which draws a backoff before every frame.
            jitter_own: true,
            ..AodvConfig::ns2()
        })
    }
}

impl Named for CrAodvConfig {
    const NAME: &'static str = "cr_aodv";
    const SUMMARY: &'static str = "AODV on a control channel, with the channels of receivers in its hellos";
    const REFERENCE: &'static str = "Di Felice et al., Performance Evaluation 68(9), 2011: the code released with it (branch CRAHN, 0f719ee)";

    fn check(&self, found: &mut dyn Check) {
        let fits = (1..=1000).contains(&self.channels);
        found.unless(fits, "channels", "is out of range", "take 1 to 1000");
        let fits = self.channel_interval >= Duration::from_millis(100);
        found.unless(fits, "channel_interval", "is too short", "take at least 100 ms");
        self.aodv().check(found);
    }
}

impl Protocol for CrAodvConfig {
    fn build(&self, site: NodeSite) -> Box<dyn Routing> {
        // It must not ask for a channel that the medium does not have.
        let config = Self { channels: self.channels.min(site.channels), ..self.clone() };
        Box::new(CrAodv::new(site.address, config, site.seed))
    }

    fn hears_of_broken_links(&self) -> bool {
        self.aodv().hears_of_broken_links()
    }
}

/// A neighbour, or a neighbour's neighbour.
#[derive(Clone, Copy, Debug)]
struct Neighbor {
    channel: ChannelNumber,
    hops: u8,
}

/// CR-AODV of one node.
///
/// Notices it takes: [`HostUpdate::Handoff`] (a hello follows), [`HostUpdate::NeighborChannel`].
#[derive(Debug)]
pub struct CrAodv {
    inner: Aodv,
    config: CrAodvConfig,
    /// Own receive channel, as the host says.
    channel: Option<ChannelNumber>,
    neighbors: BTreeMap<NodeAddress, Neighbor>,
    next_choice: Time,
    /// Data packets forwarded since the last choice.
    forwarded: u32,
    outbox: Outbox,
    events: VecDeque<RoutingEvent>,
    draw: RandomStream,
    stats: RoutingStats,
}

impl CrAodv {
    /// CR-AODV of the node `address`.
    pub fn new(address: NodeAddress, config: CrAodvConfig, seed: u64) -> Self {
        Self {
            inner: Aodv::new(address, config.aodv(), seed),
            config,
            channel: None,
            neighbors: BTreeMap::new(),
            next_choice: Time::MAX,
            forwarded: 0,
            outbox: Outbox::default(),
            events: VecDeque::new(),
            draw: RandomStream::new(seed, "routing/cr-aodv", u64::from(address.number())),
            stats: RoutingStats::default(),
        }
    }

    /// The AODV below.
    pub fn aodv(&self) -> &Aodv {
        &self.inner
    }

    /// The channel that `neighbor` was last said to listen on.
    pub fn channel_of(&self, neighbor: NodeAddress) -> Option<ChannelNumber> {
        self.neighbors.get(&neighbor).map(|known| known.channel)
    }

    fn say_hello(&mut self, now: Time) {
        let near = self.neighbors.iter().filter(|(_, known)| known.hops == 1);
        let neighbors = near.take(MOST_NEIGHBORS).map(|(node, known)| (*node, known.channel)).collect();
        let message = RoutingMessage::own(ChannelHello { channel: self.channel, neighbors });
        let packet = RoutingPacket {
            from: self.inner.address(),
            to: NodeAddress::BROADCAST,
            ttl: 1,
            channel: None,
            bytes: message.wire_bytes(self.inner.config().wire),
            message,
        };
        self.outbox.push(now, packet);
    }

    /// Hears the channel of a node. One that is a neighbour stays one when another names it: the released
    /// code makes a neighbour's neighbour of it then, and no longer tells of it.
    fn learn(&mut self, node: NodeAddress, channel: ChannelNumber, hops: u8) {
        if node == self.inner.address() || node.is_broadcast() {
            return;
        }
        let known = self.neighbors.entry(node).or_insert(Neighbor { channel, hops });
        known.hops = known.hops.min(hops);
        // What a third node says of a neighbour may be older than what the neighbour said itself.
        if hops <= known.hops {
            known.channel = channel;
        }
    }

    /// The data channel with the fewest receivers among neighbours and their neighbours, at random among
    /// equals, if it has at least one less than the own (`MIN_INTERFERENCE_POLICY`, `CONVENIENCE_THRESHOLD`).
    ///
    /// The released code takes the minimum over the control channel too, where nobody listens, so that it
    /// moves to empty channels only; here the minimum is over the data channels.
    fn choose(&mut self) {
        // Channel 0 is for control: its count is not looked at.
        let mut receivers = vec![0_u32; self.config.channels as usize + 1];
        for neighbor in self.neighbors.values() {
            if let Some(count) = receivers.get_mut(neighbor.channel.0 as usize) {
                *count += 1;
            }
        }
        let least = receivers.iter().skip(1).copied().min().unwrap_or(0);
        let own = self.channel.and_then(|channel| receivers.get(channel.0 as usize).copied());
        if own.is_some_and(|own| own <= least) {
            return;
        }
        let best: Vec<_> = (1..=self.config.channels).filter(|c| receivers[*c as usize] == least).collect();
        // Never empty: some channel has the least.
        let chosen = best[self.draw.below(best.len() as u64) as usize];
        self.events.push_back(RoutingEvent::ChannelWanted { channel: ChannelNumber(chosen) });
    }
}

impl Routing for CrAodv {
    fn name(&self) -> &'static str {
        CrAodvConfig::NAME
    }

    fn address(&self) -> NodeAddress {
        self.inner.address()
    }

    fn start(&mut self, now: Time) {
        self.inner.start(now);
        // `HelloTimer::handle`: first between 0.5 and 1 s.
        let half = Duration::from_millis(500);
        self.next_choice = now + half + self.draw.uniform_duration(Duration::ZERO, half);
    }

    fn forward(&mut self, now: Time, packet: DataPacket) -> Forwarding {
        match self.inner.forward(now, packet) {
            Forwarding::Send { next_hop, .. } => {
                self.forwarded = self.forwarded.saturating_add(1);
                let channel = if self.config.channel_knowledge == NextHopKnowledge::Shared {
                    None
                } else {
                    self.channel_of(next_hop)
                };
                Forwarding::Send { next_hop, channel }
            }
            other => other,
        }
    }

    fn handle_message(&mut self, now: Time, packet: &RoutingPacket) {
        let Some(hello) = packet.message.get::<ChannelHello>() else {
            return self.inner.handle_message(now, packet);
        };
        if let Some(channel) = hello.channel {
            self.learn(packet.from, channel, 1);
        }
        for (node, channel) in &hello.neighbors {
            self.learn(*node, *channel, 2);
        }
    }

    fn handle_link_failure(
        &mut self,
        now: Time,
        neighbor: NodeAddress,
        lost: LostPacket<'_>,
    ) -> AfterFailure {
        self.inner.handle_link_failure(now, neighbor, lost)
    }

    fn handle_host_update(&mut self, now: Time, update: HostUpdate) {
        match update {
            HostUpdate::Handoff { channel } => {
                let first = self.channel.replace(channel).is_none();
                // `recvNotification`. The first channel is where the radio begins, not a handoff.
                if !first {
                    self.say_hello(now);
                }
            }
            HostUpdate::NeighborChannel { neighbor, channel } => self.learn(neighbor, channel, 1),
            _ => {}
        }
        // `at_handoff` of the AODV below; the released code has the hello alone.
        self.inner.handle_host_update(now, update);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.inner.handle_timeout(now);
        if self.next_choice > now {
            return;
        }
        if self.config.choose_channel {
            self.choose();
        }
        // `HELLO_MSG_OPTIMIZATION`: only those that forward something say hello.
        if self.forwarded > self.config.active_packets {
            self.say_hello(now);
        }
        self.forwarded = 0;
        let spread = self.draw.uniform_duration(Duration::ZERO, Duration::from_millis(500));
        self.next_choice = now + self.config.channel_interval + spread;
    }

    fn poll_timeout(&self) -> Time {
        self.inner.poll_timeout().min(self.next_choice).min(self.outbox.next_due())
    }

    fn poll_transmit(&mut self, now: Time) -> Option<RoutingPacket> {
        let packet = match self.outbox.pop(now) {
            Some(packet) => packet,
            None => self.inner.poll_transmit(now)?,
        };
        // Messages are counted here, own and inner ones, as they go out; the inner protocol counts searches.
        let RoutingStats { discoveries, found, failed, limited, .. } = *self.inner.stats();
        self.stats = RoutingStats { discoveries, found, failed, limited, ..self.stats };
        self.stats.count(&packet);
        Some(packet)
    }

    fn poll_event(&mut self) -> Option<RoutingEvent> {
        let RoutingStats { discoveries, found, failed, limited, .. } = *self.inner.stats();
        self.stats = RoutingStats { discoveries, found, failed, limited, ..self.stats };
        self.events.pop_front().or_else(|| self.inner.poll_event())
    }

    fn route(&self, now: Time, destination: NodeAddress) -> Option<RouteInfo> {
        let route = self.inner.route(now, destination)?;
        let channel = if self.config.channel_knowledge == NextHopKnowledge::Shared {
            None
        } else {
            self.channel_of(route.next_hop)
        };
        Some(RouteInfo { channel, ..route })
    }

    fn stats(&self) -> &RoutingStats {
        &self.stats
    }
}
