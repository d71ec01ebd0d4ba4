//! UDP sources and their receivers.

use crate::event::Event;
use crate::options::RunError;
use crate::packet::{Body, Packet, UdpDatagram};
use crate::parts::{Ending, Part, Plan, World, codes};
use crate::plane::Plane;
use cogtcp_hosts::datagrams::{self, SourceAccount};
use cogtcp_link::Frame;
use cogtcp_network::{StreamCounters, StreamId, Tally, impossible};
use cogtcp_records::Table;
use cogtcp_traffic::Source;
use cogtcp_units::Time;
use std::ops::Range;

/// All UDP sources of a run.
#[derive(Debug, Default)]
pub(crate) struct UdpSources {
    sources: Vec<UdpSource>,
    warm_at: Time,
}

#[derive(Debug)]
struct UdpSource {
    stream: StreamId,
    source: Source,
    stop: Option<Time>,
    account: SourceAccount,
}

impl UdpSources {
    /// The sources of an experiment that has some, and their streams.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let (experiment, seed) = (plan.experiment, plan.seed);
        if experiment.udp.is_empty() {
            return Ok(None);
        }
        let mut made = Self::default();
        for spec in &experiment.udp {
            let stream =
                plan.add_stream(spec.from, spec.to, "datagrams", &spec.name, || spec.name.clone())?;
            made.sources.push(UdpSource {
                stream,
                source: datagrams::source(spec, seed),
                stop: spec.stop,
                account: SourceAccount::default(),
            });
        }
        Ok(Some(Box::new(made)))
    }
}

impl Part for UdpSources {
    fn events(&self) -> Range<u32> {
        codes::UDP
    }

    /// Schedules the first packet of each.
    fn begin(&mut self, world: &mut World<'_>) {
        for (number, source) in self.sources.iter().enumerate() {
            source.schedule(number as u32, world.plane);
        }
    }

    /// A packet of source `number` is due.
    fn handle_event(&mut self, now: Time, number: u32, world: &mut World<'_>) -> Tally {
        let source = &mut self.sources[number as usize];
        let len = source.source.size();
        // Numbers wrap after 2^32 packets.
        let datagram = UdpDatagram { number: source.account.sent as u32, len };
        source.account.sent += 1;
        source.source.advance();
        world.plane.send_udp(now, source.stream, datagram);
        source.schedule(number, world.plane);
        Tally::Event
    }

    fn receive(&mut self, now: Time, place: u32, frame: &Frame<Packet>, _world: &mut World<'_>) {
        let Body::Udp(datagram) = frame.packet.body else {
            return impossible("another packet of a UDP source");
        };
        let source = &mut self.sources[place as usize];
        source.account.receive(now, datagram.number, datagram.len, frame.packet.sent_at);
    }

    fn end_warmup(&mut self, now: Time, plane: &Plane) {
        self.warm_at = now;
        for source in &mut self.sources {
            source.account.begin_measure(plane.network.dropped(source.stream));
        }
    }

    fn streams(&self) -> Vec<StreamCounters> {
        let counters =
            |it: &UdpSource| StreamCounters { injected: it.account.sent, arrived: it.account.received() };
        self.sources.iter().map(counters).collect()
    }

    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        let Ending { experiment, end, plane, flows: _ } = *ending;
        let accounts = self.sources.iter().map(|it| (&it.account, plane.network.dropped(it.stream)));
        datagrams::tables(experiment, accounts, [self.warm_at, end])
    }
}

impl UdpSource {
    fn schedule(&self, number: u32, plane: &mut Plane) {
        let next = self.source.next_packet();
        if self.stop.is_none_or(|stop| next < stop) {
            plane.schedule(next, Event::Part(codes::UDP.start + number));
        }
    }
}
