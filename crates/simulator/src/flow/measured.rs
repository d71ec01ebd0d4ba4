//! What is measured of a flow: counters at the end of the warm-up, and the measured span.

use super::{ACKS, DATA, Ends, Flow};
use crate::plane::Plane;
use cogtcp_link::Capacity;
use cogtcp_network::{Awaited, FlowSpan, Reached};
use cogtcp_records::ratio;
use cogtcp_transport::SenderStats;
use cogtcp_units::{Duration, Time};

/// Counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    /// Packets sent with data, and of these packets with data sent before.
    pub(crate) sent: u64,
    pub(crate) resent: u64,
    /// Counters of TCP's sender; zeros where the transport is another.
    pub(crate) tcp: SenderStats,
    /// Packets that arrived and packets that were dropped, of the data and of the acknowledgements.
    pub(crate) arrived: [u64; 2],
    pub(crate) dropped: [u64; 2],
    pub(crate) delivered: u64,
    pub(crate) arrivals: Reached,
}

/// Where the measured span begins.
#[derive(Debug)]
pub(super) struct Baseline {
    at: Time,
    delivered: u64,
    arrived_bytes: u64,
    /// Available capacity of each pipe of the path so far.
    available: Box<[u128]>,
}

/// What was measured over the flow's span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) span: Duration,
    /// Payload delivered.
    pub(crate) delivered: u64,
    /// Bytes on the wire that reached the receiving host.
    pub(crate) arrived_bytes: u64,
    /// What reached the receiving host.
    pub(crate) arrivals: Reached,
    /// The pipe of least available capacity on the path, and that capacity as an integral; `None`: the path has no pipes (ad hoc).
    pub(crate) bottleneck: Option<u32>,
    pub(crate) available: u128,
}

impl Measured {
    /// `bytes` over the bottleneck's available capacity; not-a-number when that is zero.
    pub(crate) fn share(&self, bytes: u64) -> f64 {
        ratio(bytes as f64, Capacity::bytes(self.available))
    }
}

impl Flow {
    /// The counters at the end of the warm-up.
    pub(crate) fn warm(&self) -> Snapshot {
        self.warm.as_deref().copied().unwrap_or_default()
    }

    /// The warm-up is over: counters and times count from `now`.
    pub(crate) fn end_warmup(&mut self, now: Time, plane: &Plane) {
        let state = self.snapshot(plane);
        self.warm = (state != Snapshot::default()).then(|| Box::new(state));
        self.restart_frozen(now);
    }

    /// The counters at this moment.
    pub(crate) fn snapshot(&self, plane: &Plane) -> Snapshot {
        let (sent, resent, tcp) = match &self.ends {
            Ends::Tcp(tcp) => {
                let stats = tcp.sender.stats();
                (stats.segments_sent, stats.segments_retransmitted, *stats)
            }
            Ends::Other(other) => {
                let progress = other.sender.progress();
                (progress.sent_packets, progress.resent_packets, SenderStats::default())
            }
        };
        Snapshot {
            sent,
            resent,
            tcp,
            arrived: self.streams.map(|stream| stream.arrived),
            dropped: [DATA, ACKS].map(|stream| plane.network.dropped(self.stream(stream))),
            delivered: self.delivered(),
            arrivals: self.arrivals(),
        }
    }

    /// What has reached the receiving host so far.
    fn arrivals(&self) -> Reached {
        let (new, repeated) = match &self.ends {
            Ends::Tcp(tcp) => {
                let stats = tcp.receiver.stats();
                (stats.bytes, stats.duplicate_bytes + stats.out_of_window_bytes)
            }
            Ends::Other(other) => {
                let progress = other.receiver.progress();
                (progress.received_bytes, progress.duplicate_bytes)
            }
        };
        Reached { wire: self.arrived_bytes, new, repeated }
    }

    /// The flow as the budget of its bottleneck sees it.
    pub(crate) fn span(&self) -> FlowSpan {
        let measured = self.measured.map(|measured| (measured.bottleneck, measured.arrivals));
        FlowSpan { stream: self.stream(DATA), measured }
    }

    /// The link directions of which one is the bottleneck: those of its path, unless that crosses an ad hoc network.
    fn links(&self, plane: &Plane) -> Vec<u32> {
        let (network, stream) = (&plane.network, self.stream(DATA));
        if network.crosses_air(stream) { Vec::new() } else { network.path(stream).collect() }
    }

    /// What the flow waits for.
    fn awaits(&self, plane: &Plane) -> Awaited {
        let tcp = match &self.ends {
            Ends::Tcp(tcp) => tcp,
            Ends::Other(other) if self.is_active() => return other.awaited(),
            Ends::Other(_) => return Awaited::Application,
        };
        let sender = &tcp.sender;
        if !self.is_active() || (!sender.has_unsent() && sender.state().flight_size == 0) {
            return Awaited::Application;
        }
        let under_way = |stream: usize| {
            let counters = self.streams[stream];
            counters.injected - counters.arrived - plane.network.dropped(self.stream(stream))
        };
        if under_way(DATA) + under_way(ACKS) == 0 && sender.state().flight_size > 0 {
            return Awaited::Timeout;
        }
        if sender.has_unsent() { tcp.limit() } else { Awaited::Application }
    }

    /// The measured span begins.
    pub(crate) fn begin_measure(&mut self, now: Time, plane: &mut Plane) {
        // What ended within the warm-up has no measured span.
        if self.measured.is_some() || self.completed.is_some() || self.stopped {
            return;
        }
        plane.network.begin_budget(now, self.stream(DATA), self.awaits(plane));
        let path = self.links(plane);
        self.baseline = Some(Box::new(Baseline {
            at: now,
            delivered: self.delivered(),
            arrived_bytes: self.arrived_bytes,
            // Of all pipes: which of them is the bottleneck is known only at the end of the span.
            available: path.iter().map(|pipe| plane.network.pipe(*pipe).capacity(now).available).collect(),
        }));
    }

    /// The measured span ends, if it has begun and not ended.
    pub(crate) fn end_measure(&mut self, now: Time, plane: &mut Plane) {
        // Taken, so that the end of the run does not end once more what a stop or the last byte has ended.
        let Some(baseline) = self.baseline.take() else { return };
        plane.network.end_budget(now, self.stream(DATA), self.awaits(plane));
        let path = self.links(plane);
        let narrowest = path
            .iter()
            .zip(&baseline.available)
            .map(|(pipe, before)| (plane.network.pipe(*pipe).capacity(now).available - before, *pipe))
            .min();
        let (available, bottleneck) =
            narrowest.map_or((0, None), |(available, pipe)| (available, Some(pipe)));
        self.measured = Some(Measured {
            span: now - baseline.at,
            delivered: self.delivered() - baseline.delivered,
            arrived_bytes: self.arrived_bytes - baseline.arrived_bytes,
            arrivals: self.arrivals().since(&self.warm().arrivals),
            bottleneck,
            available,
        });
    }
}
