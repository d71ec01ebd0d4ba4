//! UDP sources and their receivers.

use crate::event::Event;
use crate::options::RunError;
use crate::packet::{Body, Datagram, Packet};
use crate::parts::{Ending, Part, Plan, World, codes};
use crate::plane::Plane;
use cogtcp_link::Frame;
use cogtcp_network::{StreamCounters, Tally};
use cogtcp_records::Histogram;
use cogtcp_records::Table;
use cogtcp_records::extensions::{DatagramRow, DatagramsBuilder};
use cogtcp_scenario::UdpSpec;
use cogtcp_traffic::{Arrivals, Source};
use cogtcp_units::{RandomStream, Time};
use std::ops::Range;

/// Bytes of the headers: IPv4 (RFC 791) and UDP (RFC 768).
const HEADERS: u32 = 28;

/// All UDP sources of a run.
#[derive(Debug, Default)]
pub(crate) struct UdpSources {
    /// The stream of the first; the others follow.
    first: u32,
    sources: Vec<UdpSource>,
    warm: bool,
    warm_at: Time,
}

#[derive(Debug)]
struct UdpSource {
    source: Source,
    stop: Option<Time>,
    /// Packets sent.
    number: u32,
    counters: StreamCounters,
    arrivals: Arrivals,
    delay: Histogram,
    /// What was counted before the end of the warm-up: sent, dropped, received, bytes.
    before: [u64; 4],
}

impl UdpSources {
    /// The sources of an experiment that has some, and their streams.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let (experiment, seed) = (plan.experiment, plan.seed);
        if experiment.udp.is_empty() {
            return Ok(None);
        }
        let mut made = Self { first: plan.plane.network.streams(), ..Self::default() };
        for spec in &experiment.udp {
            plan.add_stream(spec.from, spec.to, "datagrams", &spec.name, || spec.name.clone())?;
            let stream = RandomStream::new(seed, &format!("udp/{}", spec.name), 0);
            made.sources.push(UdpSource {
                source: Source::new(spec.pattern, spec.size, spec.start, stream),
                stop: spec.stop,
                number: 0,
                counters: StreamCounters::default(),
                arrivals: Arrivals::default(),
                delay: Histogram::new(),
                before: [0; 4],
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
        let datagram = Datagram { number: source.number, len };
        source.number = source.number.wrapping_add(1);
        source.counters.injected += 1;
        source.source.advance();
        world.plane.send(now, self.first + number, Body::Udp(datagram), len + HEADERS);
        source.schedule(number, world.plane);
        Tally::Event
    }

    fn receive(&mut self, now: Time, frame: &Frame<Packet>, _world: &mut World<'_>) {
        let Body::Udp(datagram) = frame.packet.body else { return };
        let source = &mut self.sources[(frame.packet.transit.stream - self.first) as usize];
        source.counters.arrived += 1;
        source.arrivals.receive(now, datagram.number, datagram.len, frame.packet.sent_at);
        if self.warm {
            source.delay.record(now - frame.packet.sent_at);
        }
    }

    fn end_warmup(&mut self, now: Time, plane: &Plane) {
        (self.warm, self.warm_at) = (true, now);
        for (number, source) in self.sources.iter_mut().enumerate() {
            source.before = source.counted(plane.network.dropped(self.first + number as u32));
        }
    }

    fn streams(&self) -> Vec<StreamCounters> {
        self.sources.iter().map(|source| source.counters).collect()
    }

    /// The table of datagrams, one row for each source.
    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        let Ending { experiment, end, plane, flows: _ } = *ending;
        let mut table = DatagramsBuilder::default();
        for (number, (source, spec)) in self.sources.iter().zip(&experiment.udp).enumerate() {
            let after = source.counted(plane.network.dropped(self.first + number as u32));
            let [sent, dropped, received, bytes] = [0, 1, 2, 3].map(|i| after[i] - source.before[i]);
            let span = source.span(spec, self.warm_at, end);
            let row = DatagramRow {
                source: table.source.intern(&spec.name),
                from: table.from.intern(&experiment.nodes[spec.from]),
                to: table.to.intern(&experiment.nodes[spec.to]),
                sent_packets: sent,
                received_packets: received,
                drops: dropped,
                goodput_bps: if span > 0.0 { bytes as f64 * 8.0 / span } else { f64::NAN },
                loss_ratio: if received + dropped > 0 {
                    dropped as f64 / (received + dropped) as f64
                } else {
                    f64::NAN
                },
                delay_mean_s: source.delay.mean(),
                delay_p50_s: source.delay.quantile(0.50),
                delay_p95_s: source.delay.quantile(0.95),
                delay_p99_s: source.delay.quantile(0.99),
                delay_max_s: source.delay.greatest(),
                jitter_s: source.arrivals.jitter_s(),
                reordered_packets: source.arrivals.reordered,
            };
            table.push(row);
        }
        vec![table.finish()]
    }
}

impl UdpSource {
    fn schedule(&self, number: u32, plane: &mut Plane) {
        let next = self.source.next_packet();
        if self.stop.is_none_or(|stop| next < stop) {
            plane.schedule(next, Event::Part(codes::UDP.start + number));
        }
    }

    fn counted(&self, dropped: u64) -> [u64; 4] {
        [self.counters.injected, dropped, self.arrivals.packets, self.arrivals.bytes]
    }

    /// Seconds from the start or the end of the warm-up to the stop or the end of the run.
    fn span(&self, spec: &UdpSpec, warm_at: Time, end: Time) -> f64 {
        let until = spec.stop.map_or(end, |stop| stop.min(end));
        until.saturating_since(spec.start.max(warm_at)).as_secs_f64()
    }
}
