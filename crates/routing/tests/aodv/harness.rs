//! One node under test, its neighbours played by hand.

pub(crate) use cogtcp_routing::Routing;
use cogtcp_routing::message::{Hello, RouteError, RouteReply, RouteRequest};
use cogtcp_routing::{
    Aodv, AodvConfig, DataPacket, Forwarding, LostPacket, NodeAddress, RoutingEvent, RoutingMessage,
    RoutingPacket,
};
use cogtcp_units::{Duration, Time};

/// The node under test.
pub(crate) const SELF: NodeAddress = NodeAddress::new(0);
/// Neighbours.
pub(crate) const A: NodeAddress = NodeAddress::new(1);
pub(crate) const B: NodeAddress = NodeAddress::new(2);
pub(crate) const C: NodeAddress = NodeAddress::new(3);
/// Nodes further away.
pub(crate) const SOURCE: NodeAddress = NodeAddress::new(10);
pub(crate) const TARGET: NodeAddress = NodeAddress::new(20);
pub(crate) const ALL: NodeAddress = NodeAddress::BROADCAST;

pub(crate) fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Section 10's settings without random waits.
pub(crate) fn rfc() -> AodvConfig {
    AodvConfig { jitter: Duration::ZERO, ..AodvConfig::rfc() }
}

pub(crate) struct TestNode {
    pub(crate) aodv: Aodv,
    pub(crate) now: Time,
    /// Transmitted, and not yet looked at.
    transmitted: Vec<RoutingPacket>,
}

impl TestNode {
    pub(crate) fn new(config: AodvConfig) -> Self {
        let mut aodv = Aodv::new(SELF, config, 1);
        aodv.start(Time::ZERO);
        Self { aodv, now: Time::ZERO, transmitted: Vec::new() }
    }

    /// Lets time pass, and with it all timers.
    pub(crate) fn at(&mut self, millis: u64) -> &mut Self {
        let until = ms(millis);
        self.transmit();
        while self.aodv.poll_timeout() <= until && self.aodv.poll_timeout() > self.now {
            self.now = self.aodv.poll_timeout();
            self.aodv.handle_timeout(self.now);
            self.transmit();
        }
        assert!(until >= self.now, "time runs forward");
        self.now = until;
        self.aodv.handle_timeout(until);
        self
    }

    pub(crate) fn hear(
        &mut self,
        from: NodeAddress,
        to: NodeAddress,
        ttl: u8,
        message: RoutingMessage,
    ) -> &mut Self {
        let packet = RoutingPacket { from, to, ttl, channel: None, bytes: 0, message };
        self.aodv.handle_message(self.now, &packet);
        self
    }

    pub(crate) fn request(&mut self, from: NodeAddress, ttl: u8, request: RouteRequest) -> &mut Self {
        self.hear(from, ALL, ttl, RoutingMessage::Request(request))
    }

    pub(crate) fn reply(&mut self, from: NodeAddress, reply: RouteReply) -> &mut Self {
        self.hear(from, SELF, 35, RoutingMessage::Reply(reply))
    }

    pub(crate) fn error(
        &mut self,
        from: NodeAddress,
        unreachable: &[(NodeAddress, Option<u32>)],
    ) -> &mut Self {
        let unreachable = unreachable.to_vec();
        self.hear(from, ALL, 1, RoutingMessage::Error(RouteError { unreachable }))
    }

    pub(crate) fn hello(&mut self, from: NodeAddress, sequence: u32) -> &mut Self {
        let lifetime = Duration::from_secs(2);
        self.hear(from, ALL, 1, RoutingMessage::Hello(Hello { sequence, lifetime }))
    }

    /// A packet of this node's own.
    pub(crate) fn data(&mut self, destination: NodeAddress) -> Forwarding {
        self.aodv.forward(self.now, DataPacket { source: SELF, destination, previous_hop: None, hops: 0 })
    }

    /// A packet of another node.
    pub(crate) fn relay(
        &mut self,
        source: NodeAddress,
        destination: NodeAddress,
        from: NodeAddress,
    ) -> Forwarding {
        self.aodv.forward(self.now, DataPacket { source, destination, previous_hop: Some(from), hops: 1 })
    }

    /// The MAC gives a data frame to `neighbor` up.
    pub(crate) fn fail(&mut self, neighbor: NodeAddress) -> &mut Self {
        let data = DataPacket { source: SELF, destination: TARGET, previous_hop: None, hops: 0 };
        let _ = self.aodv.handle_link_failure(self.now, neighbor, LostPacket::Data(data));
        self
    }

    fn transmit(&mut self) {
        self.transmitted.extend(std::iter::from_fn(|| self.aodv.poll_transmit(self.now)));
    }

    /// All that was transmitted since the last look.
    pub(crate) fn sent(&mut self) -> Vec<RoutingPacket> {
        self.transmit();
        std::mem::take(&mut self.transmitted)
    }

    pub(crate) fn events(&mut self) -> Vec<RoutingEvent> {
        std::iter::from_fn(|| self.aodv.poll_event()).collect()
    }

    /// Next hop, hops and number of the route that is good now.
    pub(crate) fn route(&self, destination: NodeAddress) -> Option<(NodeAddress, u8, Option<u32>)> {
        let route = self.aodv.table().active(self.now, destination)?;
        Some((route.next_hop, route.hops, route.sequence))
    }

    /// The number of an entry, good or not.
    pub(crate) fn number(&self, destination: NodeAddress) -> Option<u32> {
        self.aodv.table().get(destination).and_then(|route| route.sequence)
    }

    /// When the route ends, ms.
    pub(crate) fn expires(&self, destination: NodeAddress) -> u64 {
        self.aodv.table().active(self.now, destination).unwrap().expires.as_nanos() / 1_000_000
    }

    pub(crate) fn precursors(&self, destination: NodeAddress) -> Vec<NodeAddress> {
        self.aodv.table().get(destination).unwrap().precursors.clone()
    }
}

/// A request of SOURCE for TARGET: the usual one of these tests.
pub(crate) fn rreq(hops: u8, id: u32, sequence: u32, asked: Option<u32>) -> RouteRequest {
    RouteRequest {
        hops,
        id,
        destination: TARGET,
        destination_sequence: asked,
        originator: SOURCE,
        originator_sequence: sequence,
        gratuitous: false,
        destination_only: false,
    }
}

/// A reply about TARGET to `originator`, good for 6 s.
pub(crate) fn rrep(originator: NodeAddress, hops: u8, sequence: u32) -> RouteReply {
    RouteReply {
        hops,
        destination: TARGET,
        destination_sequence: sequence,
        originator,
        lifetime: Duration::from_secs(6),
        acknowledge: false,
    }
}

pub(crate) fn as_request(packet: &RoutingPacket) -> &RouteRequest {
    match &packet.message {
        RoutingMessage::Request(request) => request,
        other => panic!("expected a request, got {other:?}"),
    }
}

pub(crate) fn as_reply(packet: &RoutingPacket) -> &RouteReply {
    match &packet.message {
        RoutingMessage::Reply(reply) => reply,
        other => panic!("expected a reply, got {other:?}"),
    }
}

pub(crate) fn as_error(packet: &RoutingPacket) -> &[(NodeAddress, Option<u32>)] {
    match &packet.message {
        RoutingMessage::Error(error) => &error.unreachable,
        other => panic!("expected an error, got {other:?}"),
    }
}
