//! The scenario's own flows on real sockets: one thread plays the applications at both ends, and asks the
//! kernel at every sampling instant how its connections are.

mod asking;
mod bulk;
pub(crate) mod datagrams;
mod pumps;

use crate::clock::Clock;
use crate::engine;
use crate::event::{Entity, RecordedEvent};
use crate::sockets::{Maker, Settings, TcpCounters, TcpInfo};
use crate::states::{self, Shown, States};
use crate::sys;
use crate::udp::Sending;
use cogtcp_endpoint::Pair;
use cogtcp_hosts::UNKNOWN;
use cogtcp_hosts::quic::QuicCounts;
use cogtcp_records::tables::FlowSample;
use cogtcp_records::{EventKind, Histogram, ratio};
use cogtcp_scenario::Traffic;
use cogtcp_traffic::Application;
use cogtcp_units::{Duration, Time};
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written and read at a time.
const CHUNK: usize = 64 * 1024;
/// How long the thread sleeps at most: it looks then whether the run has ended.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Longest sleep in virtual time, where to look costs more.
const LONGEST_VIRTUAL_WAIT: Duration = Duration::from_secs(1);

/// A flow before it starts.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Address of the receiver, or of the server that clients ask.
    pub(crate) address: IpAddr,
    pub(crate) role: Role,
    /// Counters of the sender's namespace, where no other flow sends from it.
    pub(crate) counters: Option<TcpCounters>,
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
}

/// Who calls whom, and what for.
#[derive(Debug)]
pub(crate) enum Role {
    /// The sender calls, and sends.
    Bulk {
        /// The receiver's socket.
        listener: TcpListener,
        /// Its socket.
        sender: OwnedFd,
        /// Whether both are of Multipath TCP.
        is_multipath: bool,
        traffic: Traffic,
        /// Bytes of a segment: what an application of constant rate writes at a time.
        segment: u32,
    },
    /// The receiver calls, and asks for what it is sent.
    Asking {
        /// The sender's socket.
        listener: TcpListener,
        /// Makes its sockets, which are to be like this.
        maker: Arc<Maker>,
        settings: Settings,
        client: Application,
        /// Whether each request has a connection of its own.
        opens_anew: bool,
    },
    /// The transport is not TCP: its ends exchange datagrams.
    Datagrams {
        /// Of the sender and of the receiver.
        sockets: [UdpSocket; 2],
        pair: Pair,
        traffic: Traffic,
    },
}

/// What a flow had done up to a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) delivered: u64,
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
    pub(crate) spurious: u64,
    pub(crate) probes: u64,
}

impl Standing {
    /// What a sender's kernel says of its connection, in addition to those before it.
    fn plus(self, info: Option<&TcpInfo>) -> Self {
        let Some(info) = info else { return self };
        Self {
            sent: self.sent + info.data_segments_sent(),
            retransmitted: self.retransmitted + info.retransmitted(),
            timeouts: self.timeouts + info.timeouts().unwrap_or(0),
            ..self
        }
    }
}

/// A point of a flow's series.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) at: Time,
    /// Without time and flow.
    pub(crate) row: FlowSample,
    /// What the transport shows beside that, by name.
    pub(crate) shown: Vec<(&'static str, f64)>,
}

/// The outcome of a flow.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) start: Time,
    /// At the end of the warm-up, and at the end of the run.
    pub(crate) warm: Standing,
    pub(crate) end: Standing,
    /// What it had delivered when its measured span began and ended, and when that was.
    pub(crate) span: Option<[(Time, u64); 2]>,
    pub(crate) completed: Option<Time>,
    pub(crate) series: Vec<Point>,
    /// What its control showed of itself inside the kernel.
    pub(crate) states: Vec<Shown>,
    /// Round-trip times that the transport itself measured, if it is not TCP.
    pub(crate) round_trips: Option<Histogram>,
    /// QUIC's counts at the end of the warm-up and at the end of the run; `None`: it is not QUIC.
    pub(crate) quic: Option<[QuicCounts; 2]>,
    /// The application that asked, if any, and how often each of its requests was retransmitted.
    pub(crate) client: Option<(Application, Vec<u64>)>,
    /// Why it came to nothing, if it did.
    pub(crate) failure: Option<String>,
}

impl Played {
    /// Payload delivered in the measured span, in bits per second; not-a-number without one.
    pub(crate) fn goodput(&self) -> f64 {
        self.span.map_or(f64::NAN, |[begin, end]| {
            let span = end.0.saturating_since(begin.0).as_secs_f64();
            ratio((end.1 - begin.1) as f64 * 8.0, span)
        })
    }
}

/// A flow being played, whatever its application does.
trait Playing: Debug {
    /// Does what can be done now.
    fn step(&mut self, now: Time, warmup: Time, buffer: &mut [u8], events: &mut Vec<RecordedEvent>);
    /// The measured span begins, with the flow or with the end of the warm-up.
    fn begin_measure(&mut self, now: Time);
    /// A sampling instant.
    fn sample(&mut self, now: Time, events: &mut Vec<RecordedEvent>);
    /// What controls showed of themselves, of all sockets.
    fn record(&mut self, states: &[Shown]);
    /// When there is something to do though no socket says so.
    fn next(&self, now: Time) -> Time;
    /// The sockets that it waits for: to become readable, or writable where the flag is set.
    fn wait_for(&self, now: Time, waiting: &mut Vec<(RawFd, bool)>);
    /// These sockets, of those that were waited for, are ready.
    fn hear(&mut self, _ready: &[RawFd]) {}
    /// The run is over, and the connections with it.
    fn finish(self: Box<Self>, now: Time) -> Played;
}

/// Plays flows and UDP sources until the run is over, or `ended` is raised; on a clock that may be virtual.
pub(crate) fn play(
    flows: Vec<Prepared>,
    mut udp: Vec<Sending>,
    (clock, is_virtual): (Clock, bool),
    times: engine::Plan,
    mut states: Option<States>,
    ended: &AtomicBool,
) -> io::Result<(Vec<Played>, Vec<RecordedEvent>)> {
    let engine::Plan { warmup, end, sample_interval: interval } = times;
    let begin = |(number, prepared)| begin(number, prepared, is_virtual);
    let longest = if is_virtual { LONGEST_VIRTUAL_WAIT } else { LONGEST_WAIT };
    let mut flows = flows.into_iter().enumerate().map(begin).collect::<io::Result<Vec<_>>>()?;
    let mut events = Vec::new();
    let mut is_warm = false;
    let mut next_sample = Time::ZERO + interval;
    let mut buffer = vec![0; CHUNK];
    while !ended.load(Ordering::Acquire) {
        let now = clock.now();
        if now >= end {
            break;
        }
        if !is_warm && now >= warmup {
            is_warm = true;
            flows.iter_mut().for_each(|flow| flow.begin_measure(now));
        }
        for flow in &mut flows {
            flow.step(now, warmup, &mut buffer, &mut events);
        }
        udp.iter_mut().for_each(|source| source.step(now, &mut buffer));
        if now >= next_sample {
            flows.iter_mut().for_each(|flow| flow.sample(now, &mut events));
            if let Some(states) = &mut states {
                let shown = states.take()?;
                flows.iter_mut().for_each(|flow| flow.record(&shown));
            }
            // Samples that were missed are left out: another one now would cover no time.
            while next_sample <= now {
                next_sample += interval;
            }
        }
        let mut until = next_sample.min(now + longest).min(end);
        if !is_warm {
            until = until.min(warmup);
        }
        until = udp.iter().map(Sending::next).fold(until, Time::min);
        let mut waiting = Vec::new();
        for flow in &flows {
            until = until.min(flow.next(now));
            flow.wait_for(now, &mut waiting);
        }
        // The clock again: the steps have taken their time.
        let ready = sys::poll(&waiting, until.saturating_since(clock.now()).as_nanos())?;
        flows.iter_mut().for_each(|flow| flow.hear(&ready));
    }
    let now = clock.now().min(end);
    Ok((flows.into_iter().map(|flow| flow.finish(now)).collect(), events))
}

fn begin(number: usize, prepared: Prepared, is_virtual: bool) -> io::Result<Box<dyn Playing>> {
    let Prepared { address, role, counters, start, stop } = prepared;
    let account = Account::new(number, start, counters);
    // The kernel gives a socket its cookie when it is first asked for.
    if let Role::Bulk { sender, .. } = &role {
        let _ = states::cookie(sender.as_fd());
    }
    Ok(match role {
        Role::Bulk { listener, sender, is_multipath, traffic, segment } => {
            // What Multipath TCP has read, the kernel does not count.
            let is_pumped = is_virtual && !is_multipath && matches!(traffic, Traffic::Saturated);
            let application = bulk::Application { traffic, segment, start, stop, is_multipath, is_pumped };
            Box::new(bulk::Bulk::new(account, application, listener, address, sender)?)
        }
        Role::Datagrams { sockets, pair, traffic } => {
            let segment = pair.segment_size;
            let (is_multipath, is_pumped) = (false, false);
            let application = bulk::Application { traffic, segment, start, stop, is_multipath, is_pumped };
            Box::new(datagrams::Datagrams::new(account, application, pair, sockets))
        }
        Role::Asking { listener, maker, settings, client, opens_anew } => {
            let callers = asking::Callers { maker, settings, address };
            let stop = stop.unwrap_or(Time::MAX);
            Box::new(asking::Asking::new(account, client, opens_anew, stop, listener, callers))
        }
    })
}

/// What is kept of a flow, whatever its application does.
#[derive(Debug)]
struct Account {
    number: usize,
    /// Bytes that the receiving application has read.
    delivered: u64,
    counters: Option<TcpCounters>,
    timeouts: u64,
    sampled: (Time, u64),
    played: Played,
}

impl Account {
    fn new(number: usize, start: Time, counters: Option<TcpCounters>) -> Self {
        let played = Played { start, ..Played::default() };
        Self { number, delivered: 0, counters, timeouts: 0, sampled: (start, 0), played }
    }

    fn event(&self, at: Time, kind: EventKind, value: f64) -> RecordedEvent {
        let entity = Entity::Flow(self.number);
        RecordedEvent { at, kind, entity, flow: Some(self.number), detail: "", value }
    }

    /// All that has been done: by the connections in `of_connections`, and as the namespace counts it.
    fn standing(&mut self, of_connections: Standing) -> Standing {
        let [recoveries, spurious, probes] = self.counters.as_mut().map_or([0; 3], TcpCounters::read);
        Standing { delivered: self.delivered, recoveries, spurious, probes, ..of_connections }
    }

    fn begin_measure(&mut self, now: Time, of_connections: Standing) {
        self.played.warm = self.standing(of_connections);
        self.played.span.get_or_insert([(now, self.delivered), (Time::MAX, 0)]);
    }

    fn end_measure(&mut self, now: Time) {
        if let Some([_, end]) = &mut self.played.span
            // The first end stands: completion, stop or the end of the run.
            && end.0 == Time::MAX
        {
            *end = (now, self.delivered);
        }
    }

    /// Ends a transfer of a given size once all of it is delivered.
    fn complete(&mut self, now: Time, traffic: Traffic, events: &mut Vec<RecordedEvent>) {
        if let Traffic::Size(size) = traffic
            && self.delivered >= size.get()
            && self.played.completed.is_none()
        {
            self.played.completed = Some(now);
            events.push(self.event(now, EventKind::Completed, f64::NAN));
            self.end_measure(now);
        }
    }

    /// A sampling instant of TCP; `timeouts` are the known timeouts of all its connections.
    fn sample_tcp(
        &mut self,
        now: Time,
        [sender, receiver]: [Option<TcpInfo>; 2],
        timeouts: Option<u64>,
        events: &mut Vec<RecordedEvent>,
    ) {
        if let Some(timeouts) = timeouts {
            let cwnd = sender.as_ref().map_or(f64::NAN, TcpInfo::cwnd);
            for _ in self.timeouts..timeouts {
                events.push(self.event(now, EventKind::Rto, cwnd));
            }
            self.timeouts = timeouts;
        }
        let value = |of: fn(&TcpInfo) -> f64| sender.as_ref().map_or(f64::NAN, of);
        let row = FlowSample {
            cwnd_segments: value(TcpInfo::cwnd),
            ssthresh_segments: value(TcpInfo::ssthresh),
            srtt_s: value(TcpInfo::srtt_s),
            in_flight_segments: value(TcpInfo::in_flight),
            ..UNKNOWN
        };
        let of_sender = sender.iter().flat_map(TcpInfo::of_sender);
        let shown = of_sender.chain(receiver.iter().flat_map(TcpInfo::of_receiver)).collect();
        self.sample(now, row, shown);
    }

    /// A sampling instant: `row` is a point of the flow's series without time, flow and goodput, `shown` what
    /// else the transport shows.
    fn sample(&mut self, now: Time, row: FlowSample, shown: Vec<(&'static str, f64)>) {
        let (before, delivered) = std::mem::replace(&mut self.sampled, (now, self.delivered));
        let span = now.saturating_since(before).as_secs_f64();
        let goodput_bps = (self.delivered - delivered) as f64 * 8.0 / span;
        self.played.series.push(Point { at: now, row: FlowSample { goodput_bps, ..row }, shown });
    }

    /// Keeps what was shown of its sender's socket.
    fn record(&mut self, states: &[Shown], sender: BorrowedFd<'_>) {
        if let Some(cookie) = states.first().and_then(|_| states::cookie(sender)) {
            self.played.states.extend(states.iter().filter(|state| state.cookie == cookie).cloned());
        }
    }

    fn record_failure(&mut self, error: &io::Error) {
        self.played.failure.get_or_insert_with(|| error.to_string());
    }

    fn finish(mut self, now: Time, of_connections: Standing) -> Played {
        self.end_measure(now);
        self.played.end = self.standing(of_connections);
        // It never began to be measured: all of its counts are zero.
        if self.played.span.is_none() {
            self.played.warm = self.played.end;
        }
        self.played
    }
}
