//! ICMP destination unreachable (RFC 792): the node in front of a silent link tells the source of what
//! silence destroyed.
//!
//! A message is a packet of the network like all others, on the shortest route to the source. It leaves when
//! the destroyed frame would have arrived, for by then the link layer has missed its acknowledgement. Each
//! source gets one a second at most (RFC 1812 section 4.3.2.8 asks for a limit; a second is Linux's). What a
//! message looks like, and who is told, the observer knows.

use super::{Network, StreamCounters};
use crate::impossible;
use crate::observer::Observer;
use crate::payload::{Payload, StreamId};
use crate::routes::{NoRoute, Routes};
use cogtcp_layout::{NetworkSpec, RadioSpec};
use cogtcp_units::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// Time between two messages to one source.
const INTERVAL: Duration = Duration::from_secs(1);

/// Whether a radio's nodes tell sources of what its silences destroyed.
pub fn tells(radio: &&RadioSpec) -> bool {
    radio.kind.gating().is_some_and(|gating| gating.unreachable)
}

/// The link directions whose sources are told, and by which node each.
pub fn fronts(layout: &NetworkSpec) -> impl Iterator<Item = (u32, usize)> {
    let links = layout.radios.iter().filter(tells).flat_map(|radio| &radio.links);
    links.flat_map(|number| {
        let (link, direction) = (&layout.links[*number], 2 * *number as u32);
        [(direction, link.from), (direction + 1, link.to)]
    })
}

/// The messages of all nodes in front of silent links.
#[derive(Debug)]
pub(super) struct Notices<P> {
    /// By link direction and stream: the node in front of the link direction, and the stream of its messages
    /// to the source; `None`: it is the source.
    told: BTreeMap<(u32, StreamId), (u32, Option<StreamId>)>,
    /// Until when a source is told nothing more, by link direction and source.
    quiet: BTreeMap<(u32, u64), Time>,
    /// What is to be sent.
    pending: VecDeque<(Option<StreamId>, P, u32)>,
    /// By stream of messages.
    counters: BTreeMap<StreamId, StreamCounters>,
}

impl<P> Default for Notices<P> {
    fn default() -> Self {
        Self {
            told: BTreeMap::new(),
            quiet: BTreeMap::new(),
            pending: VecDeque::new(),
            counters: BTreeMap::new(),
        }
    }
}

impl<P> Notices<P> {
    pub(super) fn take(&mut self) -> Option<(Option<StreamId>, P, u32)> {
        let notice = self.pending.pop_front()?;
        // A source in front of the link is told without a packet.
        if let Some(stream) = notice.0 {
            match self.counters.get_mut(&stream) {
                Some(counters) => counters.injected += 1,
                None => impossible("a stream of messages that is not counted"),
            }
        }
        Some(notice)
    }

    /// Shows what waits to be sent. Not injected yet, it is no packet of its stream.
    pub(super) fn visit(&self, mut show: impl FnMut(Option<StreamId>, &P, u32)) {
        self.pending.iter().for_each(|(_, payload, bytes)| show(None, payload, *bytes));
    }

    #[inline]
    pub(super) fn has_streams(&self) -> bool {
        !self.counters.is_empty()
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = (StreamId, StreamCounters)> {
        self.counters.iter().map(|(stream, counters)| (*stream, *counters))
    }
}

impl<P: Payload> Network<P> {
    /// The sources of these streams are told, where a radio asks for it, of what silence destroys on their
    /// routes. To be called when all streams are there whose packets have a source to tell.
    ///
    /// # Errors
    ///
    /// A node in front of a silent link has no route to a source.
    pub fn tell_sources(
        &mut self,
        layout: &NetworkSpec,
        routes: &mut Routes<'_>,
        streams: &[StreamId],
    ) -> Result<(), NoRoute> {
        for (direction, front) in fronts(layout) {
            for &stream in streams {
                if !self.route(stream).any(|known| known == direction) {
                    continue;
                }
                let source = self.ends(stream).0 as usize;
                // A source in front of the link is told without a packet.
                let messages = if front == source {
                    None
                } else {
                    let route = routes.find(front, source).ok_or(NoRoute { from: front, to: source })?;
                    let messages = self.add_stream(front, source, &route);
                    self.notices.counters.insert(messages, StreamCounters::default());
                    Some(messages)
                };
                self.notices.told.insert((direction, stream), (front as u32, messages));
            }
        }
        Ok(())
    }

    /// Silence destroys this packet on `direction`: the source is told once the change is over.
    pub(super) fn record_silenced(
        &mut self,
        now: Time,
        direction: u32,
        packet: &P,
        observer: &mut impl Observer<P>,
    ) {
        // No radio asks for it here, or the packet is itself a message, which causes none (RFC 1122 section
        // 3.2.2).
        let Some((front, stream)) = self.notices.told.get(&(direction, packet.transit().stream)) else {
            return;
        };
        let (front, stream) = (*front, *stream);
        // The source is none that hears messages: it is not TCP.
        let Some(source) = observer.source(packet) else { return };
        let quiet = self.notices.quiet.entry((direction, source)).or_default();
        // What is destroyed meanwhile is never told: the limit drops messages, it does not delay them.
        if now < *quiet {
            return;
        }
        *quiet = now + INTERVAL;
        // Sources come and go where programs open connections.
        self.notices.quiet.retain(|_, until| now < *until);
        if let Some((payload, bytes)) = observer.notice(now, stream.map(|_| front), packet) {
            self.notices.pending.push_back((stream, payload, bytes));
            self.has_news = true;
        }
    }

    /// A packet has reached its host: it may be a message.
    #[cold]
    pub(super) fn count_notice(&mut self, packet: &P) {
        if let Some(counters) = self.notices.counters.get_mut(&packet.transit().stream) {
            counters.arrived += 1;
        }
    }
}
