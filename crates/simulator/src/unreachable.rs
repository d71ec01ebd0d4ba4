//! ICMP destination unreachable: the node in front of a silent link tells the source of what silence destroyed.
//!
//! A message is a packet of the network like all others: 56 bytes (RFC 792: IPv4 and ICMP headers, then the destroyed
//! packet's IPv4 header and first 8 bytes, which hold its sequence number), on the shortest path to the source. It leaves
//! when the destroyed frame would have arrived, for by then the link layer has missed its acknowledgement. Each source gets one a
//! second at most (RFC 1812 section 4.3.2.8 asks for a limit; a second is Linux's). Of destroyed acknowledgements nobody is told:
//! their sender has nothing to hold back.

use crate::network::StreamCounters;
use crate::options::RunError;
use crate::packet::{Body, Packet};
use crate::parts::{Part, Plan, World};
use cogtcp_link::Frame;
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
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let experiment = plan.experiment;
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
                    if !plan.network.path(2 * flow).contains(&pipe) {
                        continue;
                    }
                    // A source in front of the link is told without a packet.
                    let stream = (node != spec.from).then(|| plan.network.streams());
                    if let Some(stream) = stream {
                        let what = || format!("ICMP of {}", experiment.nodes[node]);
                        let path = plan.router.path_for(node, spec.from, what)?;
                        plan.network.add_stream(node, spec.from, &path);
                        plan.network.trace.stream_about(stream, flow);
                    }
                    made.places.insert((pipe, flow as u32), made.notices.len());
                    made.notices.push(Notice {
                        flow,
                        stream,
                        quiet_until: Time::ZERO,
                        counters: StreamCounters::default(),
                    });
                }
                plan.network.watch(pipe);
            }
        }
        Ok((!made.notices.is_empty()).then(|| Box::new(made) as Box<dyn Part>))
    }
}

impl Part for Unreachable {
    fn streams(&self) -> Vec<StreamCounters> {
        let sent = self.notices.iter().filter(|notice| notice.stream.is_some());
        sent.map(|notice| notice.counters).collect()
    }

    /// The sources of what was destroyed are told.
    fn handle_losses(&mut self, now: Time, world: &mut World<'_>) {
        while let Some((pipe, stream, seq)) = world.network.take_destroyed() {
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
                    world.network.send(now, stream, Body::Unreachable { seq }, WIRE_SIZE);
                }
                None => world.flows[notice.flow].unreachable(now, seq, world.network),
            }
        }
    }

    /// A message has reached its source.
    fn receive(&mut self, now: Time, frame: &Frame<Packet>, world: &mut World<'_>) {
        let Body::Unreachable { seq } = frame.packet.body else { return };
        let stream = Some(frame.packet.stream);
        if let Some(notice) = self.notices.iter_mut().find(|notice| notice.stream == stream) {
            notice.counters.arrived += 1;
            world.flows[notice.flow].unreachable(now, seq, world.network);
        }
    }
}
