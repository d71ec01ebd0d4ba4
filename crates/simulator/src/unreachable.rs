//! ICMP destination unreachable: the node in front of a silent link tells the source of what silence destroyed.
//!
//! A message is a packet of the network like all others: 56 bytes (RFC 792: IPv4 and ICMP headers, then the destroyed
//! packet's IPv4 header and first 8 bytes, which hold its sequence number), on the shortest path to the source. It leaves
//! when the destroyed frame would have arrived, for by then the link layer has missed its acknowledgement. Each source gets one a
//! second at most (RFC 1812 section 4.3.2.8 asks for a limit; a second is Linux's). Of destroyed acknowledgements nobody is told:
//! their sender has nothing to hold back.

use crate::flow::Flow;
use crate::network::{Network, StreamCounters};
use crate::options::RunError;
use crate::packet::Body;
use crate::routes::Router;
use cogtcp_scenario::Experiment;
use cogtcp_transport::SeqNumber;
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// Size of a message with its headers.
const WIRE_SIZE: u32 = 56;
/// Time between two messages to one source.
const INTERVAL: Duration = Duration::from_secs(1);

/// The messages of all nodes in front of silent links.
#[derive(Debug)]
pub(crate) struct Unreachable {
    notices: Vec<Notice>,
    /// By pipe and flow: its place in `notices`.
    places: BTreeMap<(u32, u32), usize>,
}

/// What one node tells one source.
#[derive(Debug)]
struct Notice {
    flow: usize,
    /// `None`: the node is the source itself.
    stream: Option<u32>,
    quiet_until: Time,
    counters: StreamCounters,
}

impl Unreachable {
    /// The messages of `experiment`, and the streams they need; `None` where no radio's node sends any.
    pub(crate) fn new(
        experiment: &Experiment,
        network: &mut Network,
        router: &mut Router<'_>,
    ) -> Result<Option<Self>, RunError> {
        let mut made = Self { notices: Vec::new(), places: BTreeMap::new() };
        for radio in experiment
            .radios
            .iter()
            .filter(|radio| radio.kind.gating().is_some_and(|gating| gating.unreachable))
        {
            for pipe in radio.links.iter().flat_map(|link| [2 * *link as u32, 2 * *link as u32 + 1]) {
                let link = &experiment.links[pipe as usize / 2];
                let node = if pipe.is_multiple_of(2) { link.from } else { link.to };
                for (flow, spec) in experiment.flows.iter().enumerate() {
                    if !network.path(2 * flow).contains(&pipe) {
                        continue;
                    }
                    let path = router.path(node, spec.from).ok_or_else(|| RunError::NoRoute {
                        flow: format!("ICMP of {}", experiment.nodes[node]),
                        from: experiment.nodes[node].clone(),
                        to: experiment.nodes[spec.from].clone(),
                    })?;
                    // An empty path: the radio is the source's own, which hears at once and without a packet.
                    let stream = (!path.is_empty()).then(|| network.streams());
                    if let Some(stream) = stream {
                        network.add_stream(node, spec.from, &path);
                        network.trace.stream_about(stream, flow);
                    }
                    made.places.insert((pipe, flow as u32), made.notices.len());
                    made.notices.push(Notice {
                        flow,
                        stream,
                        quiet_until: Time::ZERO,
                        counters: StreamCounters::default(),
                    });
                }
                network.watch(pipe);
            }
        }
        Ok((!made.notices.is_empty()).then_some(made))
    }

    /// What the hosts counted of the messages, by stream.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamCounters> {
        self.notices.iter().filter(|notice| notice.stream.is_some()).map(|notice| notice.counters)
    }

    /// Silence destroyed packets: their sources are told.
    pub(crate) fn tell(&mut self, now: Time, network: &mut Network, flows: &mut [Flow]) {
        while let Some((pipe, stream, seq)) = network.take_destroyed() {
            let Some(place) = self.places.get(&(pipe, stream / 2)).filter(|_| stream.is_multiple_of(2))
            else {
                continue;
            };
            let notice = &mut self.notices[*place];
            // What is destroyed meanwhile is never told: the limit drops messages, it does not delay them.
            if now < notice.quiet_until {
                continue;
            }
            notice.quiet_until = now + INTERVAL;
            match notice.stream {
                Some(stream) => {
                    notice.counters.injected += 1;
                    network.send(now, stream, Body::Unreachable { seq }, WIRE_SIZE);
                }
                None => flows[notice.flow].unreachable(now, seq, network),
            }
        }
    }

    /// A message has reached its source.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        stream: u32,
        seq: SeqNumber,
        network: &mut Network,
        flows: &mut [Flow],
    ) {
        if let Some(notice) = self.notices.iter_mut().find(|notice| notice.stream == Some(stream)) {
            notice.counters.arrived += 1;
            flows[notice.flow].unreachable(now, seq, network);
        }
    }
}
