//! The two ends of a connection whose transport is not TCP: over a simulated network, or over UDP sockets.

use crate::End;
use cogtcp_endpoint::{
    BoxedEndpoint, EndpointEvent, Pair, PathEvent, PathId, SpectrumDatabase, Supply, Waiting,
};
use cogtcp_network::Awaited;
use cogtcp_records::tables::FlowSample;
use cogtcp_records::{Code, EventKind};
use cogtcp_units::{Duration, Time};
use std::sync::Arc;

/// An unknown point of a flow's series.
pub const UNKNOWN: FlowSample = FlowSample {
    time_s: f64::NAN,
    flow: Code(0),
    cwnd_segments: f64::NAN,
    ssthresh_segments: f64::NAN,
    srtt_s: f64::NAN,
    in_flight_segments: f64::NAN,
    goodput_bps: f64::NAN,
};

/// What an end reports about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EndEvent {
    /// An event for the record, with its value: the congestion window in segments, not-a-number without one.
    Recorded(EventKind, f64),
    /// An event of the subflow on one of several paths, with its value.
    RecordedOnPath(PathId, EventKind, f64),
    /// A sample of the round-trip time.
    RoundTrip(Duration),
}

/// Both ends of a connection that is not TCP.
#[derive(Debug)]
pub struct DatagramEnds {
    /// The end that sends the flow's data.
    pub sender: BoxedEndpoint,
    /// The end that receives the data.
    pub receiver: BoxedEndpoint,
    /// Most bytes of application data in a packet.
    pub segment_size: u32,
    is_closed: bool,
}

impl DatagramEnds {
    /// Takes the ends of `pair`, at rest.
    pub fn new(pair: Pair) -> Self {
        let Pair { sender, receiver, segment_size } = pair;
        Self { sender, receiver, segment_size, is_closed: false }
    }

    /// Returns an end.
    pub fn end(&mut self, end: End) -> &mut BoxedEndpoint {
        match end {
            End::Sender => &mut self.sender,
            End::Receiver => &mut self.receiver,
        }
    }

    /// Gives both ends a database of primary users, before they open.
    pub fn use_database(&mut self, database: &Arc<dyn SpectrumDatabase>) {
        self.sender.use_database(database);
        self.receiver.use_database(database);
    }

    /// Opens the connection, the receiver first.
    pub fn open(&mut self, now: Time) {
        self.is_closed = false;
        self.receiver.open(now);
        self.sender.open(now);
    }

    /// The application has no further data.
    pub fn close(&mut self, now: Time) {
        self.sender.supply(now, Supply::Saturated(false));
        self.sender.close(now);
    }

    /// True once the sender has said that the connection is over, and [`Self::poll`] has passed that on.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns what the sender waits for.
    pub fn awaited(&self) -> Awaited {
        awaited(self.sender.progress().waiting)
    }

    /// Returns what the sender waits for on one of several paths.
    pub fn awaited_on(&self, path: PathId) -> Awaited {
        awaited(self.sender.waiting_on(path))
    }

    /// Returns what `end` tells next: samples of the round-trip time and, of the sender alone, events.
    pub fn poll(&mut self, end: End) -> Option<EndEvent> {
        loop {
            let kind = match self.end(end).poll_event()? {
                EndpointEvent::RoundTrip(sample) => return Some(EndEvent::RoundTrip(sample)),
                EndpointEvent::Connected => EventKind::Connected,
                EndpointEvent::Timeout => EventKind::Timeout,
                EndpointEvent::Loss => EventKind::Loss,
                EndpointEvent::Closed => EventKind::Closed,
                EndpointEvent::OnPath(path, event, window) => {
                    let window = self.segments(Some(window));
                    let (kind, value) = of_path_event(event, window);
                    return Some(EndEvent::RecordedOnPath(path, kind, value));
                }
            };
            if end == End::Sender {
                self.is_closed |= kind == EventKind::Closed;
                return Some(EndEvent::Recorded(kind, self.segments(self.sender.progress().window_bytes)));
            }
        }
    }

    /// Returns a point of the flow's series without flow, time and goodput. What the transport does not have
    /// is not-a-number.
    pub fn sample(&self) -> FlowSample {
        let progress = self.sender.progress();
        FlowSample {
            cwnd_segments: self.segments(progress.window_bytes),
            srtt_s: progress.smoothed_rtt.map_or(f64::NAN, Duration::as_secs_f64),
            in_flight_segments: self.segments(progress.in_flight_bytes),
            ..UNKNOWN
        }
    }

    /// Shows the transport's own quantities by name.
    pub fn observe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.sender.observe(show);
    }

    fn segments(&self, bytes: Option<u64>) -> f64 {
        bytes.map_or(f64::NAN, |bytes| bytes as f64 / f64::from(self.segment_size.max(1)))
    }
}

fn awaited(waiting: Waiting) -> Awaited {
    match waiting {
        Waiting::Nothing | Waiting::Application => Awaited::Application,
        Waiting::Window => Awaited::Window,
        Waiting::Receiver => Awaited::Receiver,
        Waiting::Timeout => Awaited::Timeout,
    }
}

/// What the record says of an event of a subflow whose window is `window` segments: its kind and value.
fn of_path_event(event: PathEvent, window: f64) -> (EventKind, f64) {
    match event {
        PathEvent::Joined => (EventKind::Joined, window),
        PathEvent::Timeout => (EventKind::Timeout, window),
        PathEvent::Loss => (EventKind::Loss, window),
        PathEvent::Recovered => (EventKind::RecoveryExit, window),
        PathEvent::Reinjected(bytes) => (EventKind::Reinjected, bytes as f64),
        PathEvent::Aborted => (EventKind::Aborted, window),
    }
}
