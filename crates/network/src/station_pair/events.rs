//! What the medium reports, and what follows for the link, the radios and the account of its time.

use super::occupation::{Exchange, Rest};
use super::{Finished, PairEvent, StationPair, Underway};
use crate::hop::LinkHop;
use cogtcp_crosslayer::LinkEvent;
use cogtcp_link::{DropCause, LinkPayload};
use cogtcp_spectrum::Radio;
use cogtcp_units::Time;
use cogtcp_wireless::{ExchangeFailure, FrameKind, MediumEvent};
use std::collections::VecDeque;

impl StationPair {
    /// Takes in what has happened on the medium.
    pub(super) fn take_events<P: LinkPayload>(
        &mut self,
        now: Time,
        links: &mut [LinkHop<P>],
        events: &mut VecDeque<PairEvent>,
    ) -> Finished {
        let mut finished = Finished::default();
        while let Some(event) = self.medium.poll_event() {
            match event {
                MediumEvent::OnAir { from, kind, start, end, .. } => {
                    self.record_frame(from.0 as usize, kind, start, end, now, links);
                }
                MediumEvent::Exchange { from, end, data, cause } => {
                    let sender = from.0 as usize;
                    self.begin_service(sender, now, links);
                    let exchange = self.exchange(sender, end, data, cause);
                    self.exchanges[sender] = Some(Underway::Known(exchange));
                    if let Some((start, until)) = data {
                        self.put_on_air(sender, start, until, true, now, links);
                    }
                }
                MediumEvent::Received { from, .. } => {
                    let sender = from.0 as usize;
                    // Delivered now, acknowledged later: should the ACK get lost, the retry does not deliver
                    // it again.
                    if let Some(packet) = &mut self.packets[sender] {
                        packet.arrived = true;
                    }
                    finished.delivered = Some(self.config.directions[sender]);
                }
                MediumEvent::AttemptFailed { from, cause, .. } => {
                    let sender = from.0 as usize;
                    if let ExchangeFailure::Interfered(frame) = cause {
                        events
                            .push_back(PairEvent::Interference(self.config.directions[sender], frame.name()));
                    }
                    self.end_exchange(sender, Some(cause), now, &mut finished);
                }
                MediumEvent::Sent { from, .. } => {
                    let sender = from.0 as usize;
                    self.end_exchange(sender, None, now, &mut finished);
                    self.end_packet(sender, now, links, events);
                }
                MediumEvent::Failed { from, cause, arrived, .. } => {
                    let sender = from.0 as usize;
                    // Given up after it arrived, for want of an ACK: the packet is not lost.
                    if !arrived {
                        finished.dropped = Some((self.config.directions[sender], drop_cause(cause)));
                    }
                    self.end_packet(sender, now, links, events);
                }
                // The link keeps the queue.
                MediumEvent::QueueFree { .. } => {}
            }
        }
        finished
    }

    /// A frame of `end` goes on the air.
    fn record_frame<P: LinkPayload>(
        &mut self,
        end: usize,
        kind: FrameKind,
        start: Time,
        until: Time,
        now: Time,
        links: &mut [LinkHop<P>],
    ) {
        let is_senders = matches!(kind, FrameKind::Rts | FrameKind::Data);
        // The channel is that of the receiver of the exchange, whose radio knows what may be disturbed there.
        // Where frames overlap a primary user suffers once.
        let receiver = if is_senders { 1 - end } else { end };
        let number = self.radio_of(receiver);
        let unit = &mut self.radios[number];
        let from = start.max(unit.on_air_until);
        if from < until {
            unit.radio.transmitted(from, until);
            unit.on_air_until = until;
        }
        if is_senders && self.exchanges[end].is_none() {
            self.begin_service(end, now, links);
            self.exchanges[end] = Some(Underway::Open { data: (Time::ZERO, Time::ZERO) });
        }
        let arrived = self.packets[end].is_some_and(|packet| packet.arrived);
        if kind == FrameKind::Data
            && !arrived
            && let Some(Underway::Open { .. }) = self.exchanges[end]
        {
            self.exchanges[end] = Some(Underway::Open { data: self.payload(end, until) });
            self.put_on_air(end, start, until, false, now, links);
        }
    }

    /// The MAC of `end` begins an exchange: its packet waits no longer. One that has arrived is not in the
    /// link any more.
    fn begin_service<P: LinkPayload>(&self, end: usize, now: Time, links: &mut [LinkHop<P>]) {
        if self.packets[end].is_some_and(|packet| !packet.arrived) {
            links[self.config.directions[end] as usize].begin_service(now);
        }
    }

    /// The packet itself of a data frame of `end` that ends at `until`: from when to when it is on the air.
    fn payload(&self, end: usize, until: Time) -> (Time, Time) {
        let size = self.packets[end].map_or(0, |packet| packet.size);
        let rate = self.radio(1 - end).rate().unwrap_or_default();
        (until - rate.transmission_time(u64::from(size)), until)
    }

    fn put_on_air<P: LinkPayload>(
        &self,
        end: usize,
        start: Time,
        until: Time,
        arrives: bool,
        now: Time,
        links: &mut [LinkHop<P>],
    ) {
        let rate = self.radio(1 - end).rate().unwrap_or_default();
        links[self.config.directions[end] as usize].put_on_air(now, start, until, rate, arrives);
    }

    /// An exchange of `sender` as the budget counts it: the data frame that arrives for the first time, and
    /// why it fails.
    fn exchange(
        &self,
        sender: usize,
        end: Time,
        data: Option<(Time, Time)>,
        cause: Option<ExchangeFailure>,
    ) -> Exchange {
        let rest = match cause {
            Some(ExchangeFailure::Interfered(_)) => Rest::Interference,
            None if data.is_some() => Rest::Mac,
            // The packet had arrived before, and only its acknowledgement had not.
            _ => Rest::Retry,
        };
        let data = data.map_or((Time::ZERO, Time::ZERO), |(_, until)| self.payload(sender, until));
        Exchange { end, data, rest }
    }

    /// The exchange of `sender` is over: the packet got through, or is tried again, or given up.
    fn end_exchange(
        &mut self,
        sender: usize,
        cause: Option<ExchangeFailure>,
        now: Time,
        finished: &mut Finished,
    ) {
        // An exchange that nothing could disturb was decided as it began.
        let Some(Underway::Open { data }) = self.exchanges[sender].take() else { return };
        // Only the exchange in which it arrives has `data`: what is repeated for want of an ACK carries
        // nothing new.
        let carried = data != (Time::ZERO, Time::ZERO) && self.packets[sender].is_some_and(|it| it.arrived);
        finished.decided[sender] = Some(self.exchange(sender, now, carried.then_some(data), cause));
    }

    /// The MAC of `end` is done with its packet.
    fn end_packet<P: LinkPayload>(
        &mut self,
        end: usize,
        now: Time,
        links: &mut [LinkHop<P>],
        events: &mut VecDeque<PairEvent>,
    ) {
        let size = self.packets[end].take().map_or(0, |packet| packet.size);
        let link = &mut links[self.config.directions[end] as usize];
        // Only senders that lost a packet to the full queue wait for room.
        if link.take_overflow() {
            let bytes = link.room(size);
            events.push_back(PairEvent::Board(end, now, LinkEvent::QueueFree { bytes }));
        }
    }
}

/// Why a packet is dropped whose last attempt failed for this cause.
fn drop_cause(cause: ExchangeFailure) -> DropCause {
    if matches!(cause, ExchangeFailure::Interfered(_)) { DropCause::Interference } else { DropCause::Retry }
}
