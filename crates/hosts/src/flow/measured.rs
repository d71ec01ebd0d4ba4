//! What is measured of a flow: since the end of the warm-up, and over the measured span.

use super::Flow;
use super::ends::both;
use super::shared::Snapshot;
use super::verbs::BothEnds;
use crate::{End, Plane};
use cogtcp_endpoint::PathId;
use cogtcp_network::{Awaited, FlowSpan, Reached};
use cogtcp_records::ratio;
use cogtcp_units::{Duration, Time};

/// Where the measured span begins.
#[derive(Debug)]
pub(super) struct Baseline {
    at: Time,
    delivered: u64,
    arrived_bytes: u64,
    /// Available capacity of each link so far, path after path: which of them is the bottleneck is known only at
    /// the end of the span.
    available: Box<[u128]>,
}

/// What was measured over the flow's span.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// How long the span was.
    pub span: Duration,
    /// Payload delivered.
    pub delivered: u64,
    /// Bytes on the wire that reached the receiving host.
    pub arrived_bytes: u64,
    /// What reached the receiving host.
    pub arrivals: Reached,
    /// The link of least available capacity on the first path; `None`: no link tells what the path can carry
    /// (ad hoc).
    pub bottleneck: Option<u32>,
    /// What that link could have carried, and the links of least available capacity on the other paths, in
    /// bytes.
    pub capacity_bytes: f64,
}

impl Measured {
    /// `bytes` over the bottleneck's available capacity; not-a-number when that is zero.
    pub fn share(&self, bytes: u64) -> f64 {
        ratio(bytes as f64, self.capacity_bytes)
    }
}

impl Flow {
    /// The counters at the end of the warm-up.
    pub fn warm(&self) -> Snapshot {
        self.warm.as_deref().copied().unwrap_or_default()
    }

    /// The warm-up is over: counters and times count from `now`.
    pub fn end_warmup(&mut self, now: Time, plane: &impl Plane) {
        let state = self.snapshot(plane);
        // A flow that has not begun costs no memory for it.
        self.warm = (state != Snapshot::default()).then(|| Box::new(state));
        both!(&mut self.ends, it => it.end_warmup());
        self.restart_frozen(now);
    }

    /// The counters at this moment.
    pub fn snapshot(&self, plane: &impl Plane) -> Snapshot {
        Snapshot {
            arrived: End::BOTH.map(|from| self.counted(from).map(|(_, counted)| counted.arrived).sum()),
            dropped: End::BOTH.map(|from| self.counted(from).map(|(id, _)| plane.dropped(id)).sum()),
            delivered: self.delivered(),
            arrivals: self.arrivals(),
            ..both!(&self.ends, it => it.counts())
        }
    }

    /// What has reached the receiving host so far.
    fn arrivals(&self) -> Reached {
        let (new, repeated) = both!(&self.ends, it => it.received());
        Reached { wire: self.shared.arrived_bytes, new, repeated }
    }

    /// The flow as the budgets of its bottlenecks see it: one for each path.
    pub fn spans(&self) -> impl Iterator<Item = FlowSpan> {
        let by_path = both!(&self.ends, it => it.measured());
        let whole = self.measured.as_ref().map(|measured| (measured.bottleneck, measured.arrivals));
        self.data_by_path().enumerate().map(move |(path, stream)| {
            let measured = if by_path.is_empty() { whole } else { by_path.get(path).copied() };
            FlowSpan { flow: self.shared.number, stream, measured }
        })
    }

    /// What has arrived over each of several paths since the end of the warm-up; empty: there is one path.
    fn arrivals_by_path(&self) -> Vec<Reached> {
        let further = self.further();
        if further.is_empty() {
            return Vec::new();
        }
        let further = further.iter().map(|path| path.arrived_bytes - path.warm_bytes);
        let whole = self.shared.arrived_bytes - self.warm().arrivals.wire;
        let first = whole - further.clone().sum::<u64>();
        let wires = std::iter::once(first).chain(further);
        self.subflows().reached(wires)
    }

    /// What the flow waits for on a path.
    fn awaits(&self, path: PathId, plane: &impl Plane) -> Awaited {
        if !self.is_active() {
            return Awaited::Application;
        }
        both!(&self.ends, it => it.awaits(path, &self.shared, plane))
    }

    /// The measured span begins.
    pub fn begin_measure(&mut self, now: Time, plane: &mut impl Plane) {
        // What ended within the warm-up has no measured span.
        if self.measured.is_some() || self.completed.is_some() || self.shared.stopped {
            return;
        }
        let mut available = Vec::new();
        for (path, data) in (0..).map(PathId).zip(self.data_by_path()) {
            plane.begin_span(now, data, |plane| self.awaits(path, plane), &mut available);
        }
        self.baseline = Some(Box::new(Baseline {
            at: now,
            delivered: self.delivered(),
            arrived_bytes: self.shared.arrived_bytes,
            available: available.into(),
        }));
    }

    /// The measured span ends, if it has begun and not ended.
    pub fn end_measure(&mut self, now: Time, plane: &mut impl Plane) {
        // Taken, so that the end of the run does not end once more what a stop or the last byte has ended.
        let Some(baseline) = self.baseline.take() else { return };
        let before = &mut baseline.available.iter();
        let narrowest: Vec<_> = (0..)
            .map(PathId)
            .zip(self.data_by_path())
            .map(|(path, data)| plane.end_span(now, data, |plane| self.awaits(path, plane), before))
            .collect();
        // The first path's: the column names one link.
        let bottleneck = narrowest[0].map(|(link, _)| link);
        let by_path = narrowest.iter().map(|found| found.map(|(link, _)| link)).zip(self.arrivals_by_path());
        let by_path = by_path.collect();
        both!(&mut self.ends, it => it.set_measured(by_path));
        self.measured = Some(Box::new(Measured {
            span: now - baseline.at,
            delivered: self.delivered() - baseline.delivered,
            arrived_bytes: self.shared.arrived_bytes - baseline.arrived_bytes,
            arrivals: self.arrivals().since(&self.warm().arrivals),
            bottleneck,
            capacity_bytes: narrowest.into_iter().flatten().map(|(_, bytes)| bytes).sum(),
        }));
    }
}
