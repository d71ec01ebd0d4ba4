//! One flow: its two connection ends, its application and what is measured of it.

mod managed;
mod measured;
mod other;
mod tcp;

pub(crate) use measured::{Measured, Snapshot};
pub(crate) use other::Other;
pub(crate) use tcp::Tcp;

use crate::event::Event;
use crate::options::{ControlFactory, RunError, make_control};
use crate::plane::Plane;
use cogtcp_endpoint::{Notice, Supply as Offer};
use cogtcp_network::{Awaited, StreamCounters};
use cogtcp_records::tables::FlowSample;
use cogtcp_records::{Code, EventKind, Histogram};
use cogtcp_scenario::{Connection, FlowSpec, Protocol, RequestConfig, Traffic};
use cogtcp_transport::LinkEvent;
use cogtcp_units::{Duration, Rate, Time, prefetch};
use measured::Baseline;

/// One flow. Its data is stream `2 * number`, its acknowledgements stream `2 * number + 1`. What every packet needs comes
/// first and together.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// When each end's next timer entry in the event queue is due, and the one after it; `Time::MAX`: none. An entry due
    /// at another time is stale.
    armed: [Time; 2],
    armed_after: [Time; 2],
    /// What the two hosts counted of the data and of the acknowledgements.
    pub(crate) streams: [StreamCounters; 2],
    /// Bytes on the wire of the data packets that reached the receiver.
    arrived_bytes: u64,
    number: usize,
    /// What the receiving application waits for: so much delivered in all; `u64::MAX`: nothing.
    goal: u64,
    /// Its two connection ends.
    pub(crate) ends: Ends,
    pub(crate) rtt: Histogram,
    pub(crate) queuing: Histogram,
    pub(crate) completed: Option<Time>,
    start: Time,
    traffic: Supply,
    started: bool,
    stopped: bool,
    /// What happens when `goal` is reached; `None`: the flow is complete.
    then: Option<Event>,
    /// Writes of a rate-limited application.
    writes: u64,
    /// State at the end of the warm-up; `None`: at rest.
    warm: Option<Box<Snapshot>>,
    baseline: Option<Box<Baseline>>,
    pub(crate) measured: Option<Measured>,
}

/// The two ends of a flow's connection.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP, and each of its packets needs the ends"
)]
#[derive(Debug)]
pub(crate) enum Ends {
    /// TCP, without indirection.
    Tcp(Tcp),
    /// Another transport.
    Other(Box<Other>),
}

/// Where the flow's data comes from.
#[derive(Clone, Copy, Debug)]
enum Supply {
    /// There always is some.
    Saturated,
    /// This much at the start.
    Size(u64),
    /// At this rate.
    Rate(Rate),
    /// Responses, so many bytes so far; the first request opens the connection.
    Responses(u64),
    /// The same, but each response is the last of its connection.
    LastResponses(u64),
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;
const DATA: usize = 0;
const ACKS: usize = 1;

impl Flow {
    /// Flow `number` of `spec`, at rest. Its congestion control, if it has one, is from `controls` or the registry.
    pub(crate) fn new(
        number: usize,
        spec: &FlowSpec,
        controls: Option<&dyn ControlFactory>,
    ) -> Result<Self, RunError> {
        let ends = match &spec.protocol {
            Protocol::Tcp(tcp) => Ends::Tcp(Tcp::new(tcp, make_control(&spec.name, &tcp.control, controls)?)),
            Protocol::Other(transport, connection) => {
                Ends::Other(Box::new(Other::new(transport.build(*connection))))
            }
        };
        Ok(Self {
            ends,
            number,
            armed: [Time::MAX; 2],
            armed_after: [Time::MAX; 2],
            streams: [StreamCounters::default(); 2],
            arrived_bytes: 0,
            rtt: Histogram::new(),
            queuing: Histogram::new(),
            then: None,
            goal: if let Traffic::Size(size) = spec.traffic { size.get() } else { u64::MAX },
            traffic: match spec.traffic {
                Traffic::Saturated => Supply::Saturated,
                Traffic::Size(size) => Supply::Size(size.get()),
                Traffic::Rate(rate) => Supply::Rate(rate),
                Traffic::Requests(RequestConfig { connection: Connection::New, .. }) => {
                    Supply::LastResponses(0)
                }
                Traffic::Requests(_) | Traffic::Video(_) => Supply::Responses(0),
            },
            start: spec.start,
            started: false,
            stopped: false,
            writes: 0,
            completed: None,
            warm: None,
            baseline: None,
            measured: None,
        })
    }

    /// The application starts: the connection opens.
    pub(crate) fn start(&mut self, now: Time, plane: &mut Plane) {
        self.started = true;
        plane.recorder.trace.flow_event(now, EventKind::FlowStart, self.number, f64::NAN);
        let Ends::Tcp(tcp) = &mut self.ends else { return self.start_other(now, plane) };
        match self.traffic {
            Supply::Saturated => tcp.sender.set_saturated(true),
            // Closed at once: the FIN goes out with the last of the data.
            Supply::Size(bytes) => {
                tcp.sender.write(bytes);
                tcp.sender.close();
            }
            Supply::Rate(_) => self.write(now, plane),
            Supply::Responses(_) | Supply::LastResponses(_) => return,
        }
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.open(now);
        }
        self.pump_sender(now, Awaited::Application, plane);
    }

    /// The same where the transport is not TCP.
    fn start_other(&mut self, now: Time, plane: &mut Plane) {
        match self.traffic {
            Supply::Saturated => self.supply_other(now, Offer::Saturated(true), true, plane),
            Supply::Size(bytes) => {
                self.supply_other(now, Offer::Bytes(bytes), true, plane);
                self.close_other(now, plane);
            }
            Supply::Rate(_) => self.write(now, plane),
            Supply::Responses(_) | Supply::LastResponses(_) => {}
        }
    }

    /// The application stops: what it wrote is still sent, then the connection closes.
    pub(crate) fn stop(&mut self, now: Time, plane: &mut Plane) {
        self.stopped = true;
        plane.recorder.trace.flow_event(now, EventKind::FlowStop, self.number, f64::NAN);
        match &mut self.ends {
            Ends::Tcp(tcp) => {
                tcp.sender.set_saturated(false);
                tcp.sender.close();
                self.pump_sender(now, Awaited::Application, plane);
            }
            Ends::Other(_) => self.close_other(now, plane),
        }
        self.end_measure(now, plane);
    }

    /// A rate-limited application writes one segment's worth and plans its next write, so many that the sum keeps to
    /// the rate without drift.
    pub(crate) fn write(&mut self, now: Time, plane: &mut Plane) {
        let Supply::Rate(rate) = self.traffic else { return };
        // The write that was planned before the stop is still in the queue.
        if self.stopped {
            return;
        }
        let bytes = u64::from(match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.config().mss,
            Ends::Other(other) => other.segment_size,
        });
        self.writes += 1;
        plane.schedule(self.start + write_offset(rate, bytes, self.writes), Event::Write(self.number as u32));
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.write(bytes);
            self.pump_sender(now, Awaited::Application, plane);
        } else {
            // The first write opens the connection, which later ones leave as it is.
            self.supply_other(now, Offer::Bytes(bytes), self.writes == 1, plane);
        }
    }

    /// What the receiving application waits for has been delivered.
    #[cold]
    fn reach(&mut self, now: Time, plane: &mut Plane) {
        self.goal = u64::MAX;
        if let Some(event) = self.then {
            return plane.schedule(now, event);
        }
        self.completed = Some(now);
        plane.recorder.trace.flow_event(now, EventKind::Completed, self.number, f64::NAN);
        self.end_measure(now, plane);
    }

    /// The server writes a response of `bytes`, over a connection that the first one opens. Returns where in the flow's data it
    /// ends; `None`: the application has stopped.
    pub(crate) fn respond(&mut self, now: Time, bytes: u64, plane: &mut Plane) -> Option<u64> {
        let (Supply::Responses(written) | Supply::LastResponses(written)) = &mut self.traffic else {
            return None;
        };
        if self.stopped {
            return None;
        }
        let is_first = *written == 0;
        *written += bytes;
        let end = *written;
        let Ends::Tcp(tcp) = &mut self.ends else {
            self.supply_other(now, Offer::Bytes(bytes), is_first, plane);
            return Some(end);
        };
        tcp.sender.write(bytes);
        if let Supply::LastResponses(_) = self.traffic {
            tcp.sender.close();
        }
        tcp.sender.open(now);
        self.pump_sender(now, Awaited::Application, plane);
        Some(end)
    }

    /// `event` is to happen when so much has been delivered in all; `u64::MAX`: never.
    pub(crate) fn wait_for_delivery(&mut self, delivered: u64, event: Event) {
        (self.goal, self.then) = (delivered, Some(event));
    }

    /// The number of its stream of data, or of acknowledgements.
    pub(crate) fn stream(&self, direction: usize) -> u32 {
        (2 * self.number + direction) as u32
    }

    /// Asks for the memory of one end.
    #[inline]
    pub(crate) fn prefetch(&self, sender: bool) {
        prefetch(self, 2);
        let Ends::Tcp(tcp) = &self.ends else { return };
        if sender {
            prefetch(&self.rtt, 2);
            tcp.sender.prefetch();
        } else {
            prefetch(&self.queuing, 2);
            tcp.receiver.prefetch();
        }
    }

    /// Asks for what one end points to, its own memory being at hand.
    #[inline]
    pub(crate) fn prefetch_depth(&self, sender: bool) {
        let Ends::Tcp(tcp) = &self.ends else { return };
        if sender {
            self.rtt.prefetch_latest();
            tcp.sender.prefetch_depth();
        } else {
            self.queuing.prefetch_latest();
            tcp.receiver.prefetch_depth();
        }
    }

    /// Whether the receiver has the connection open and expects data.
    pub(crate) fn is_open(&self) -> bool {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.is_open(),
            Ends::Other(_) => self.is_active(),
        }
    }

    /// The timer entry of `end` is due. Returns whether the end was called, or its timer had moved on meanwhile.
    pub(crate) fn timer(&mut self, now: Time, end: usize, plane: &mut Plane) -> bool {
        if self.armed[end] != now {
            return false;
        }
        // Of the entries that earlier ones have overtaken the nearest is remembered: a timer that was put off to that time
        // or beyond needs no new one.
        self.armed[end] = std::mem::replace(&mut self.armed_after[end], Time::MAX);
        let due = match &self.ends {
            Ends::Tcp(tcp) if end == SENDER => tcp.sender.poll_timeout(),
            Ends::Tcp(tcp) => tcp.receiver.poll_timeout(),
            Ends::Other(other) if end == SENDER => other.sender.poll_timeout(),
            Ends::Other(other) => other.receiver.poll_timeout(),
        };
        // The timer was put off since this entry was made, as it is at nearly every acknowledgement. That costs an entry
        // only now, not at each of them.
        if due > now {
            self.arm(end, due, plane);
            return false;
        }
        match &self.ends {
            Ends::Tcp(_) => self.expire_tcp(now, end, plane),
            Ends::Other(_) => self.expire_other(now, end, plane),
        }
        true
    }

    /// The radio beside the sender reports.
    pub(crate) fn link_event(&mut self, now: Time, event: LinkEvent, plane: &mut Plane) {
        if !self.is_active() {
            return;
        }
        if let Ends::Tcp(tcp) = &mut self.ends {
            tcp.sender.handle_link_event(now, event);
            self.pump_sender(now, Awaited::Window, plane);
        } else {
            self.notify_other(now, Notice::Link(event), plane);
        }
    }

    /// Makes sure that an entry of `end`'s timer is due no later than `due`. An entry that comes too early moves itself.
    #[inline]
    fn arm(&mut self, end: usize, due: Time, plane: &mut Plane) {
        if due < self.armed[end] {
            self.armed_after[end] = std::mem::replace(&mut self.armed[end], due);
            plane.schedule(due, Event::Timer((2 * self.number + end) as u32));
        }
    }

    /// Whether the flow has started and its connection is not over.
    pub(crate) fn is_active(&self) -> bool {
        self.started
            && match &self.ends {
                Ends::Tcp(tcp) => !tcp.sender.is_closed(),
                Ends::Other(other) => !other.is_closed,
            }
    }

    /// Whether the flow has started.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// TCP's ends; `None`: the transport is another.
    pub(crate) fn tcp(&self) -> Option<&Tcp> {
        if let Ends::Tcp(tcp) = &self.ends { Some(tcp) } else { None }
    }

    /// The same, to change them.
    pub(crate) fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        if let Ends::Tcp(tcp) = &mut self.ends { Some(tcp) } else { None }
    }

    /// Payload handed to the receiving application so far.
    pub(crate) fn delivered(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.receiver.delivered(),
            Ends::Other(other) => other.receiver.progress().delivered_bytes,
        }
    }

    /// A point of the flow's series, without flow, time and goodput.
    pub(crate) fn sample(&self) -> FlowSample {
        let nothing = FlowSample {
            time_s: f64::NAN,
            flow: Code(0),
            cwnd_segments: f64::NAN,
            ssthresh_segments: f64::NAN,
            srtt_s: f64::NAN,
            in_flight_segments: f64::NAN,
            goodput_bps: f64::NAN,
        };
        match &self.ends {
            Ends::Tcp(tcp) => {
                let state = tcp.sender.state();
                let mss = state.mss.max(1) as f64;
                FlowSample {
                    cwnd_segments: tcp.cwnd_segments(),
                    // Without a loss so far it is arbitrarily high (RFC 5681): no number.
                    ssthresh_segments: if state.ssthresh == u64::MAX {
                        f64::NAN
                    } else {
                        state.ssthresh as f64 / mss
                    },
                    srtt_s: if state.srtt.is_zero() { f64::NAN } else { state.srtt.as_secs_f64() },
                    in_flight_segments: state.in_flight as f64 / mss,
                    ..nothing
                }
            }
            Ends::Other(other) => {
                let progress = other.sender.progress();
                FlowSample {
                    cwnd_segments: other.window_segments(&progress),
                    srtt_s: progress.smoothed_rtt.map_or(f64::NAN, Duration::as_secs_f64),
                    in_flight_segments: progress
                        .in_flight_bytes
                        .map_or(f64::NAN, |bytes| other.segments(bytes)),
                    ..nothing
                }
            }
        }
    }

    /// Shows the variables of the congestion control, or of the transport.
    pub(crate) fn observe(&self, show: &mut dyn FnMut(&str, f64)) {
        match &self.ends {
            Ends::Tcp(tcp) => tcp.sender.control().observe(tcp.sender.state(), show),
            Ends::Other(other) => other.sender.observe(&mut |name, value| show(name, value)),
        }
    }
}

/// Time from the start of a rate-limited application to its write number `writes`.
fn write_offset(rate: Rate, bytes: u64, writes: u64) -> Duration {
    // From the start, not from the write before: rounded intervals would add up. What saturates is beyond any run.
    Duration::from_nanos(bytes.saturating_mul(8).saturating_mul(writes))
        .mul_ratio(1_000_000_000, rate.bits_per_second().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every packet needs of a flow itself is two cache lines.
    #[test]
    fn what_every_packet_needs_is_together() {
        use std::mem::offset_of;
        assert!(offset_of!(Flow, ends) <= 128, "all before the sender is what every packet needs");
    }

    /// 1000-byte writes at 3 Mbit/s: 2.666... ms apart, without drift after a million of them.
    #[test]
    fn writes_keep_to_the_rate() {
        let rate = Rate::from_bits_per_second(3_000_000);
        assert_eq!(write_offset(rate, 1000, 1), Duration::from_nanos(2_666_666));
        assert_eq!(write_offset(rate, 1000, 3_000_000), Duration::from_secs(8000));
    }
}
