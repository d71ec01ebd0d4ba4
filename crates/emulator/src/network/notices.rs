//! Sources are told of what silence destroyed (ICMP, RFC 792): by the node in front of the silent link, once a second each at most
//! (RFC 1812 section 4.3.2.8; a second is Linux's). The simulator's `unreachable` has the same rules.

use super::{Network, Observer, Pipe, Step};
use crate::packet::{NO_FLOW, Packet};
use cogtcp_link::{DropCause, Frame, Payload};
use cogtcp_scenario::{Experiment, RadioSpec};
use cogtcp_units::{Duration, Time};
use std::collections::BTreeMap;

/// Time between two messages to one source.
const INTERVAL: Duration = Duration::from_secs(1);

/// Whether a radio's nodes tell sources of what its silences destroyed.
pub(crate) fn tells(radio: &&RadioSpec) -> bool {
    radio.kind.gating().is_some_and(|gating| gating.unreachable)
}

/// The directions of links whose sources are told, and by which node each.
pub(crate) fn fronts(experiment: &Experiment) -> impl Iterator<Item = (Pipe, usize)> {
    let links = experiment.radios.iter().filter(tells).flat_map(|radio| &radio.links);
    links.flat_map(|number| {
        let link = &experiment.links[*number];
        [(2 * number, link.from), (2 * number + 1, link.to)]
    })
}

/// Who was told when.
#[derive(Debug)]
pub(super) struct Notices {
    /// By direction of link: the node in front of it.
    fronts: BTreeMap<Pipe, usize>,
    /// Until when a source is told nothing more: by direction, and by flow or else connection.
    quiet: BTreeMap<(Pipe, bool, u32), Time>,
}

impl Notices {
    pub(super) fn new(experiment: &Experiment) -> Self {
        Self { fronts: fronts(experiment).collect(), quiet: BTreeMap::new() }
    }

    /// The node that tells the source of this packet, which `pipe` has lost; `None`: none does, or it has told it lately.
    fn front(&mut self, at: Time, pipe: Pipe, packet: &Packet) -> Option<usize> {
        let node = *self.fronts.get(&pipe)?;
        let is_own = packet.flow != NO_FLOW;
        let of = if is_own { packet.flow } else { packet.flow() };
        let quiet = self.quiet.entry((pipe, is_own, of)).or_default();
        if at < *quiet {
            return None;
        }
        // What is destroyed meanwhile is never told: the limit drops messages, it does not delay them.
        *quiet = at + INTERVAL;
        // Connections of programs come and go.
        self.quiet.retain(|_, until| at < *until);
        Some(node)
    }
}

impl Network {
    /// A packet is lost on `pipe`; who sent it may be told.
    pub(super) fn lose(
        &mut self,
        at: Time,
        pipe: Pipe,
        frame: &Frame<Packet>,
        (cause, refused): (DropCause, bool),
        observer: &mut impl Observer,
    ) {
        let is_silence = cause == DropCause::Silence;
        let notice = if is_silence { self.notice(at, pipe, &frame.packet, observer) } else { None };
        observer.dropped(at, pipe, frame, cause, refused);
        if let Some((way, packet, size)) = notice {
            self.send(way, packet, size, observer);
        }
    }

    /// What its source is told of a packet that silence destroyed, and by which way.
    fn notice(
        &mut self,
        at: Time,
        pipe: Pipe,
        packet: &Packet,
        observer: &mut impl Observer,
    ) -> Option<(u32, Packet, u32)> {
        let host = observer.source(packet)?;
        let node = self.notices.front(at, pipe, packet)?;
        let way = self.ways.message(node, host)?;
        let first = match self.ways.step(way) {
            Step::Pipe(pipe) => Some(pipe),
            Step::Air(_) | Step::Host(_) => None,
        };
        // A kernel believes no packet that comes from outside with its own address.
        let teller = self.ways.host(node).filter(|teller| *teller != host);
        let (packet, size) = observer.notice(at, teller, first, packet)?;
        Some((way, packet, size))
    }
}
