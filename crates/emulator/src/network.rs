//! The network between the hosts as a real clock drives it: late, but never wrong.
//!
//! A driver says what happens and when: [`EmulatedNetwork::offer`] when a packet comes,
//! [`EmulatedNetwork::play`] whenever it looks, at the latest when [`EmulatedNetwork::next_change`] is due.
//! Everything is played at its own time and in its order, however late the driver is: a packet that goes from
//! link to link loses nothing in between. So a real clock and one made by hand lead to the same arrivals.

use crate::error::EmulationError;
use crate::host_routes::{HostRoutes, LinkDirection};
use crate::packet::IpPacket;
use cogtcp_link::Frame;
use cogtcp_network::{AirStream, Arrival, Boards, Due, Recording, StreamId};
use cogtcp_scenario::Experiment;
use cogtcp_units::Time;

/// The hosts, who are told what reaches them.
pub trait Hosts: cogtcp_network::Observer<IpPacket> {
    /// A packet reaches its host, which was due at `due`. It came by `direction`, or else over the air.
    fn arrived(&mut self, due: Time, host: usize, direction: Option<LinkDirection>, frame: &Frame<IpPacket>);

    /// The host that a packet is for which needs no network.
    fn home(&self, _packet: &IpPacket) -> usize {
        0
    }

    /// Something stands on the board of a node that a reader asked to be called for.
    fn called(&mut self, _at: Time, _boards: &mut Boards) {}
}

/// The network with the paths between its hosts.
#[derive(Debug)]
pub struct EmulatedNetwork {
    /// What is driven.
    pub network: cogtcp_network::Network<IpPacket>,
    routes: HostRoutes,
    /// Up to when everything has been played: no later call may say that something happened before.
    played: Time,
    has_begun: bool,
}

impl EmulatedNetwork {
    /// The network of `experiment` in the run of seed `seed`; `end` is how long journeys and primary users
    /// are followed.
    ///
    /// # Errors
    ///
    /// What cannot be built.
    pub fn new(
        experiment: &Experiment,
        routes: HostRoutes,
        seed: u64,
        end: Time,
    ) -> Result<Self, EmulationError> {
        let recording = Recording {
            frames: false,
            places: true,
            interval: experiment.run.sample_interval,
            has_warmup: !experiment.run.warmup.is_zero(),
        };
        let mut network = cogtcp_network::Network::build(experiment, seed, end, recording)?;
        routes.enter(&mut network, experiment)?;
        network.name_streams(&streams(experiment));
        Ok(Self { network, routes, played: Time::ZERO, has_begun: false })
    }

    /// When [`play`](Self::play) is to be called at the latest; `Time::MAX`: when a packet comes.
    pub fn next_change(&mut self) -> Time {
        if self.has_begun { self.network.next_change() } else { Time::ZERO }
    }

    /// Plays everything that is due by `now`, each at its own time; the first call begins with time zero.
    pub fn play(&mut self, now: Time, hosts: &mut impl Hosts) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.network.begin(hosts);
            self.network.begin_air(hosts);
            self.take_news(hosts);
        }
        while let Some((at, due)) = self.network.peek().filter(|(at, _)| *at <= now) {
            self.played = self.played.max(at);
            match due {
                Due::Network(change) => {
                    if let Some(arrival) = self.network.step(self.played, change, hosts) {
                        self.deliver(&arrival, hosts);
                    }
                }
                Due::Batch(_) => unreachable!("a kernel takes its packets when they arrive"),
                // Kernels keep their own timers.
                Due::Host(_) => self.network.agenda().pop(due),
            }
            self.take_news(hosts);
        }
        self.played = self.played.max(now);
    }

    /// A packet of `size` bytes comes from its host, on `stream` (of [`HostRoutes::stream`]).
    pub fn offer(
        &mut self,
        now: Time,
        stream: StreamId,
        packet: IpPacket,
        size: u32,
        hosts: &mut impl Hosts,
    ) {
        // What is due before the packet comes happens before it.
        self.play(now, hosts);
        self.network.offer(self.played, stream, packet, size, hosts);
        self.take_news(hosts);
        // Nodes of an ad hoc network take it at this instant.
        self.play(self.played, hosts);
    }

    fn take_news(&mut self, hosts: &mut impl Hosts) {
        while self.network.has_news() {
            while let Some(arrival) = self.network.take_arrival() {
                self.deliver(&arrival, hosts);
            }
            while self.network.boards().take_call().is_some() {
                hosts.called(self.played, self.network.boards());
            }
            while let Some(arrival) = self.network.tell_source(self.played, hosts) {
                self.deliver(&arrival, hosts);
            }
        }
    }

    fn deliver(&self, arrival: &Arrival<IpPacket>, hosts: &mut impl Hosts) {
        let host = match arrival.frame.packet.transit.stream {
            StreamId::NOWHERE => hosts.home(&arrival.frame.packet),
            stream => {
                let host = self.routes.host(self.network.ends(stream).1 as usize);
                host.unwrap_or_else(|| unreachable!("streams end at hosts"))
            }
        };
        hosts.arrived(
            arrival.at,
            host,
            arrival.direction.map(|direction| direction as LinkDirection),
            &arrival.frame,
        );
    }

    /// The routes of packets.
    pub fn routes(&self) -> &HostRoutes {
        &self.routes
    }

    /// Every packet is somewhere, once.
    pub fn check_conservation(&self) -> Result<(), String> {
        self.network.check_conservation(std::iter::empty(), |_| {})
    }
}

/// What the tables of an ad hoc network call the streams: data and acknowledgements of the flows, UDP
/// sources. Requests are data that go the other way here.
fn streams(experiment: &Experiment) -> Vec<(u32, AirStream)> {
    let of = |flow: &str, kind, from: usize, to: usize| AirStream {
        flow: flow.to_owned(),
        kind,
        ends: (from as u32, to as u32),
    };
    let senders = (experiment.flows.len() + experiment.udp.len()) as u32;
    let flows = (0..).zip(&experiment.flows).flat_map(|(number, flow)| {
        [
            (stream_of(number, true, senders), of(&flow.name, "data", flow.from, flow.to)),
            (stream_of(number, false, senders), of(&flow.name, "acknowledgements", flow.to, flow.from)),
        ]
    });
    let sources = (experiment.flows.len() as u32..).zip(&experiment.udp);
    let sources = sources.map(|(number, source)| {
        (stream_of(number, true, senders), of(&source.name, "datagrams", source.from, source.to))
    });
    flows.chain(sources).collect()
}

/// The number of a stream in those tables: the number of its flow or UDP source if it leads forward, else a
/// number behind all `senders`. A packet of a program is of neither, and gets a number that has no stream.
pub(crate) fn stream_of(flow: u32, is_forward: bool, senders: u32) -> u32 {
    if is_forward { flow } else { flow.saturating_add(senders) }
}
