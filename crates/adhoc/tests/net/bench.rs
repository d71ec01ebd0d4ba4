//! A network, and a log of what happened in it.

use cogtcp_adhoc::{
    AdHocConfig, AdHocDropCause, AdHocEvent, AdHocNetwork, CognitiveNode, HostPacket, LinkFailure, Radios,
    RouteRecord,
};
use cogtcp_mobility::{Mobility, Trajectory, Vertex};
use cogtcp_routing::RoutingSpec;
use cogtcp_spectrum::activity::PrimaryUser;
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::{ChannelTable, Intervals, OnInterval, PuActivity, Reach};
use cogtcp_units::{Duration, Position, Power, Rate, Time};
use cogtcp_wireless::{
    ChannelConfig, MacConfig, MediumConfig, PathLoss, PhyConfig, PrimaryUsers, Propagation,
};
use std::sync::Arc;

/// 2 Mbit/s, 250 m and 550 m, AODV.
pub(crate) fn config() -> AdHocConfig {
    let power = Power::from_watts(0.281_838_15);
    let phy = PhyConfig::for_ranges(Propagation::new(PathLoss::NS2_TWO_RAY), power, 250.0, 550.0);
    AdHocConfig {
        medium: MediumConfig::new(MacConfig::default(), phy, Rate::from_bits_per_second(2_000_000)),
        power,
        powers: Vec::new(),
        routing: RoutingSpec::default(),
        buffer_packets: 64,
        buffer_time: Duration::from_secs(30),
        release_interval: Duration::ZERO,
        on_link_failure: LinkFailure::Reroute,
        arp: None,
        location_interval: Duration::from_secs(1),
        radios: Radios::Single,
        switching_delay: Duration::from_millis(1),
        cognitive: None,
    }
}

/// The routing protocol of this name.
pub(crate) fn routing(name: &str) -> RoutingSpec {
    serde_json::from_str(&format!("\"{name}\"")).unwrap()
}

/// Nodes in a line, so many metres apart.
pub(crate) fn chain(nodes: usize, spacing: f64) -> Mobility {
    let places: Vec<Position> = (0..nodes).map(|node| Position::new(node as f64 * spacing, 0.0)).collect();
    Mobility::still(&places)
}

/// A node that goes from corner to corner: seconds, east, north.
pub(crate) fn path(corners: &[(u64, f64, f64)]) -> Trajectory {
    let vertex = |(seconds, x, y): &(u64, f64, f64)| Vertex {
        time: Time::from_millis(seconds * 1000),
        position: Position::new(*x, *y),
    };
    Trajectory::new(corners.iter().map(vertex).collect()).unwrap()
}

/// A primary user: band, place, range, ON from and to in seconds.
type User = (u32, (f64, f64), f64, (u64, u64));

/// `channels` channels of 2 Mbit/s, one a band, and primary users.
pub(crate) fn air(channels: u32, users: &[User]) -> Arc<Air> {
    let user = |(number, (band, at, range, on)): (usize, &User)| PrimaryUser {
        id: number as u32 + 1,
        position: Position::new(at.0, at.1),
        band: *band,
        reach: Reach::Range(*range),
        activity: Intervals::new(vec![OnInterval {
            arrival: Time::from_millis(on.0 * 1000),
            departure: Time::from_millis(on.1 * 1000),
        }])
        .unwrap(),
    };
    let users = users.iter().enumerate().map(user).collect();
    let table = ChannelTable::uniform(channels, 1, Rate::from_bits_per_second(2_000_000)).unwrap();
    Arc::new(Air::new(PuActivity { users }, table))
}

/// The configuration over an air, and sensing nodes.
pub(crate) fn over(mut config: AdHocConfig, air: &Air, cognitive: Option<CognitiveNode>) -> AdHocConfig {
    let rate = Rate::from_bits_per_second(2_000_000);
    config.medium.channels = air.channels.iter().map(|_| ChannelConfig { rate, error_rate: 0.0 }).collect();
    config.cognitive = cognitive;
    config.medium.silence = config.silence_rules();
    config
}

/// What arrived: when, which packet, how.
pub(crate) type Arrival = (Time, u32, RouteRecord);

/// A network, what was sent, and what became of it.
pub(crate) struct Bench {
    pub(crate) net: AdHocNetwork<u32, PrimaryUsers>,
    pub(crate) now: Time,
    pub(crate) sent: u32,
    pub(crate) arrived: Vec<Arrival>,
    pub(crate) dropped: Vec<(Time, u32, u32, AdHocDropCause)>,
    pub(crate) events: Vec<AdHocEvent<u32>>,
    /// Conservation is checked after everything that happens.
    pub(crate) checks: bool,
}

impl Bench {
    pub(crate) fn new(config: AdHocConfig, mobility: Mobility) -> Self {
        Self::in_air(config, mobility, None, 1)
    }

    pub(crate) fn in_air(config: AdHocConfig, mobility: Mobility, air: Option<&Arc<Air>>, seed: u64) -> Self {
        let nothing = Arc::new(Air::new(
            PuActivity { users: Vec::new() },
            ChannelTable::uniform(1, 1, Rate::default()).unwrap(),
        ));
        let users = PrimaryUsers::new(Arc::clone(air.unwrap_or(&nothing)));
        Self {
            net: AdHocNetwork::new(config, Arc::new(mobility), air, users, seed).unwrap(),
            now: Time::ZERO,
            sent: 0,
            arrived: Vec::new(),
            dropped: Vec::new(),
            events: Vec::new(),
            checks: false,
        }
    }

    /// A packet of 1000 bytes; its number.
    pub(crate) fn send(&mut self, source: u32, destination: u32) -> u32 {
        let payload = self.sent;
        self.sent += 1;
        self.net.offer(self.now, HostPacket { source, destination, bytes: 1000, time_to_live: 64, payload });
        self.take();
        payload
    }

    /// So many packets at once.
    pub(crate) fn burst(&mut self, count: u32, source: u32, destination: u32) {
        (0..count).for_each(|_| {
            self.send(source, destination);
        });
    }

    /// Up to so many milliseconds.
    pub(crate) fn run(&mut self, until_ms: u64) {
        let until = Time::from_millis(until_ms);
        while self.net.next_change() <= until {
            self.now = self.net.next_change();
            self.net.advance(self.now);
            self.take();
            if self.checks {
                self.assert_conserved();
            }
        }
        self.now = until;
    }

    /// A packet every so many milliseconds, from now on up to a time.
    pub(crate) fn stream(&mut self, source: u32, destination: u32, every_ms: u64, until_ms: u64) {
        let mut at = self.now;
        while at < Time::from_millis(until_ms) {
            self.run(at.as_nanos() / 1_000_000);
            self.send(source, destination);
            at += Duration::from_millis(every_ms);
        }
        self.run(until_ms);
    }

    fn take(&mut self) {
        while let Some(event) = self.net.poll_event() {
            match event {
                AdHocEvent::Delivered { time, packet, route } => {
                    self.arrived.push((time, packet.payload, route))
                }
                AdHocEvent::Dropped { time, node, packet, cause } => {
                    self.dropped.push((time, node, packet.payload, cause));
                }
                _ => {}
            }
            self.events.push(event);
        }
    }

    /// Every packet is in one place: arrived, dropped, or inside.
    pub(crate) fn assert_conserved(&self) {
        let mut seen = vec![0; self.sent as usize];
        self.arrived.iter().for_each(|(_, number, _)| seen[*number as usize] += 1);
        self.dropped.iter().for_each(|(_, _, number, _)| seen[*number as usize] += 1);
        self.net.visit(|packet| seen[packet.payload as usize] += 1);
        let wrong = seen.iter().position(|count| *count != 1);
        assert_eq!(wrong, None, "at {:?}: in {} places", self.now, seen[wrong.unwrap_or(0)]);
        assert!(self.net.is_conserved());
    }

    /// How many arrived in [from, to) seconds.
    pub(crate) fn arrivals(&self, from: u64, to: u64) -> usize {
        let within =
            |time: Time| (Time::from_millis(from * 1000)..Time::from_millis(to * 1000)).contains(&time);
        self.arrived.iter().filter(|(time, ..)| within(*time)).count()
    }

    /// How often packets were dropped for a cause.
    pub(crate) fn drops(&self, cause: AdHocDropCause) -> usize {
        self.dropped.iter().filter(|(.., found)| *found == cause).count()
    }

    /// Following next hops comes back to no node, for any pair.
    pub(crate) fn assert_no_loops(&self) {
        for source in 0..self.net.len() as u32 {
            for destination in 0..self.net.len() as u32 {
                let route = self.net.route(self.now, source, destination);
                let again =
                    route.iter().enumerate().any(|(i, node)| *node == source || route[..i].contains(node));
                assert!(!again, "at {:?} from {source} to {destination}: {route:?}", self.now);
            }
        }
    }
}
