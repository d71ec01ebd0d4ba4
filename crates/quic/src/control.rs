//! The congestion control of a connection, quinn's own or one of ours, and what the endpoint watches through
//! it.

use crate::adapter::Adapter;
use crate::clock::time;
use cogtcp_transport::{CongestionControl, LinkEvent};
use cogtcp_units::{Duration, Rate, Time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Makes a congestion control of ours, once for each connection.
pub(crate) type ControlMaker = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

/// Which congestion control a connection has.
#[derive(Clone)]
pub(crate) enum Chosen {
    /// quinn's NewReno (RFC 9002, appendix B).
    QuinnNewReno,
    /// quinn's CUBIC (RFC 9438).
    QuinnCubic,
    /// One of ours.
    Ours(ControlMaker),
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QuinnNewReno => "QuinnNewReno",
            Self::QuinnCubic => "QuinnCubic",
            Self::Ours(_) => "Ours",
        })
    }
}

/// What the endpoint reads after each call of quinn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Watched {
    /// Ack-eliciting packets that quinn took as acknowledged.
    pub(crate) acked_packets: u64,
    /// Losses and marks that reduced the window: one for each recovery period.
    pub(crate) reductions: u64,
    /// Calls that reported lost packets.
    pub(crate) losses: u64,
    /// Bytes of lost packets.
    pub(crate) lost_bytes: u64,
    /// When the newest lost packet was sent.
    pub(crate) lost_sent: Option<Time>,
    /// Times of persistent congestion (RFC 9002, section 7.6).
    pub(crate) persistent: u64,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Round-trip time of the newest packet acknowledged, until it is taken.
    pub(crate) sample: Option<Duration>,
    /// The latest such sample.
    pub(crate) latest: Duration,
    /// Smoothed round-trip time (RFC 6298) of these samples; zero before the first.
    pub(crate) smoothed: Duration,
    /// The current recovery period began then.
    recovery: Option<Time>,
    /// When the newest packet of the acknowledgement being read was sent.
    newest: Option<Time>,
    /// When the newest packet acknowledged was sent.
    acked_sent: Option<Time>,
}

impl Watched {
    /// True until a packet is acknowledged that was sent after the latest reduction (RFC 9002, section
    /// 7.3.2).
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovery.is_some_and(|began| self.acked_sent.is_none_or(|sent| sent <= began))
    }
}

/// The algorithm.
enum Algorithm {
    Quinns(Box<dyn Controller>),
    Ours(Box<Adapter>),
}

struct State {
    algorithm: Algorithm,
    watched: Watched,
}

/// A congestion control that quinn and the endpoint share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Cell>);

struct Cell {
    // quinn demands Send and Sync of a controller. One thread drives a run, so no lock waits and the order of
    // atomics does not matter.
    state: Mutex<State>,
    /// The window in bytes, so that quinn asks for it without a lock.
    window: AtomicU64,
    /// quinn has asked for the window: it does so before each ack-eliciting packet that is not a probe.
    asked: AtomicBool,
    /// The window does not count for the packet that is made next.
    is_lifted: AtomicBool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("watched", &self.watched()).finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was watched.
    pub(crate) fn watched(&self) -> Watched {
        self.state().watched
    }

    /// Takes the latest sample of the round-trip time.
    pub(crate) fn take_sample(&self) -> Option<Duration> {
        self.state().watched.sample.take()
    }

    /// Returns the window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.0.window.load(Ordering::Relaxed)
    }

    /// True if packets are in flight.
    pub(crate) fn has_flight(&self) -> bool {
        self.watched().in_flight > 0
    }

    /// Lifts the window, or sets it in force again.
    pub(crate) fn lift(&self, is_lifted: bool) {
        self.0.is_lifted.store(is_lifted, Ordering::Relaxed);
    }

    /// Takes whether quinn asked for the window.
    pub(crate) fn take_asked(&self) -> bool {
        self.0.asked.swap(false, Ordering::Relaxed)
    }

    /// Returns the slow start threshold in bytes; `None`: arbitrarily high.
    pub(crate) fn threshold(&self) -> Option<u64> {
        let threshold = match &self.state().algorithm {
            Algorithm::Quinns(controller) => controller.metrics().ssthresh,
            Algorithm::Ours(adapter) => Some(adapter.threshold()),
        };
        threshold.filter(|bytes| *bytes != u64::MAX)
    }

    /// Returns the pacing rate that a control of ours asks for.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        match &self.state().algorithm {
            Algorithm::Quinns(_) => None,
            Algorithm::Ours(adapter) => adapter.pacing_rate(),
        }
    }

    /// A datagram that left just now at `now` is not ack-eliciting: it is not in flight.
    pub(crate) fn forget(&self, now: Time, bytes: u64) {
        let mut state = self.state();
        state.watched.in_flight = state.watched.in_flight.saturating_sub(bytes);
        if let Algorithm::Ours(adapter) = &mut state.algorithm {
            adapter.forget(now, bytes);
        }
    }

    /// A radio of the sender's node reports.
    pub(crate) fn link_event(&self, now: Time, event: LinkEvent) {
        let mut state = self.state();
        if let Algorithm::Ours(adapter) = &mut state.algorithm {
            adapter.link_event(now, event);
            let window = adapter.window();
            self.0.window.store(window, Ordering::Relaxed);
        }
    }
}

/// The side that quinn calls.
struct Handle(Shared);

impl Handle {
    /// Calls the algorithm and keeps its window.
    fn with(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.state();
        change(&mut state);
        let window = match &state.algorithm {
            Algorithm::Quinns(controller) => controller.window(),
            Algorithm::Ours(adapter) => adapter.window(),
        };
        self.0.0.window.store(window, Ordering::Relaxed);
    }
}

impl Controller for Handle {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.with(|state| {
            state.watched.in_flight += bytes;
            match &mut state.algorithm {
                Algorithm::Quinns(controller) => controller.on_sent(now, bytes, last),
                Algorithm::Ours(adapter) => adapter.on_sent(time(now), bytes),
            }
        });
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.with(|state| {
            state.watched.acked_packets += 1;
            state.watched.newest = state.watched.newest.max(Some(time(sent)));
            match &mut state.algorithm {
                Algorithm::Quinns(controller) => controller.on_ack(now, sent, bytes, app_limited, rtt),
                Algorithm::Ours(adapter) => adapter.on_ack(time(sent), bytes),
            }
        });
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.with(|state| {
            // quinn's own count, which replaces ours at each acknowledgement.
            state.watched.in_flight = in_flight;
            if let Some(newest) = state.watched.newest.take() {
                state.watched.acked_sent = state.watched.acked_sent.max(Some(newest));
                let sample = time(now).saturating_since(newest);
                let smoothed = state.watched.smoothed;
                state.watched.sample = Some(sample);
                state.watched.latest = sample;
                state.watched.smoothed = if smoothed.is_zero() {
                    sample
                } else {
                    Duration::from_nanos((7 * smoothed.as_nanos() + sample.as_nanos()) / 8)
                };
            }
            match &mut state.algorithm {
                Algorithm::Quinns(controller) => controller.on_end_acks(now, in_flight, app_limited, largest),
                Algorithm::Ours(adapter) => adapter.on_end_acks(time(now), in_flight, app_limited),
            }
        });
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.with(|state| {
            let (at, sent_at) = (time(now), time(sent));
            let watched = &mut state.watched;
            watched.losses += u64::from(lost > 0);
            watched.lost_bytes += lost;
            if lost > 0 {
                watched.lost_sent = watched.lost_sent.max(Some(sent_at));
            }
            watched.persistent += u64::from(persistent);
            watched.in_flight = watched.in_flight.saturating_sub(lost);
            // RFC 9002, section 7.3.2: one reduction for all that was sent before the recovery period began.
            if watched.recovery.is_none_or(|began| sent_at > began) {
                watched.recovery = Some(at);
                watched.reductions += 1;
            }
            match &mut state.algorithm {
                Algorithm::Quinns(controller) => controller.on_congestion_event(now, sent, persistent, lost),
                Algorithm::Ours(adapter) => adapter.on_congestion_event(at, sent_at, persistent, lost),
            }
        });
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.with(|state| match &mut state.algorithm {
            Algorithm::Quinns(controller) => controller.on_mtu_update(mtu),
            Algorithm::Ours(adapter) => adapter.on_mtu_update(mtu),
        });
    }

    fn window(&self) -> u64 {
        self.0.0.asked.store(true, Ordering::Relaxed);
        if self.0.0.is_lifted.load(Ordering::Relaxed) { u64::MAX } else { self.0.window() }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.0.window();
        metrics.ssthresh = self.0.threshold();
        metrics
    }

    /// A change of the client's address copies the server's control (RFC 9000, section 9.4: as from a NAT, so
    /// it stays). The copy shares its state.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self(self.0.clone()))
    }

    fn initial_window(&self) -> u64 {
        match &self.0.state().algorithm {
            Algorithm::Quinns(controller) => controller.initial_window(),
            Algorithm::Ours(adapter) => adapter.window(),
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Builds the control of each connection, and keeps the latest for the endpoint.
#[derive(Debug)]
pub(crate) struct Factory {
    chosen: Chosen,
    initial_window: u64,
    latest: Mutex<Option<Shared>>,
}

impl Factory {
    pub(crate) fn new(chosen: Chosen, initial_window: u64) -> Arc<Self> {
        Arc::new(Self { chosen, initial_window, latest: Mutex::new(None) })
    }

    /// Returns the control of the connection that was made last.
    pub(crate) fn latest(&self) -> Option<Shared> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let algorithm = match &self.chosen {
            Chosen::QuinnNewReno => {
                let mut config = NewRenoConfig::default();
                config.initial_window(self.initial_window);
                Algorithm::Quinns(Arc::new(config).build(now, mtu))
            }
            Chosen::QuinnCubic => {
                let mut config = CubicConfig::default();
                config.initial_window(self.initial_window);
                Algorithm::Quinns(Arc::new(config).build(now, mtu))
            }
            Chosen::Ours(make) => Algorithm::Ours(Box::new(Adapter::new(make(), mtu, self.initial_window))),
        };
        let state = State { algorithm, watched: Watched::default() };
        let cell = Cell {
            state: Mutex::new(state),
            window: AtomicU64::new(self.initial_window),
            asked: AtomicBool::new(false),
            is_lifted: AtomicBool::new(false),
        };
        let shared = Shared(Arc::new(cell));
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared.clone());
        Box::new(Handle(shared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::instant;

    fn at(ms: u64) -> Instant {
        instant(Time::from_millis(ms))
    }

    /// A mark is a reduction and no loss; one reduction counts for all that was sent before it began (RFC 9002,
    /// section 7.3.2).
    #[test]
    fn reductions_and_losses_are_counted() {
        let factory = Factory::new(Chosen::QuinnNewReno, 12_000);
        assert!(factory.latest().is_none());
        let mut control = factory.clone().build(at(0), 1200);
        let shared = factory.latest().unwrap();
        assert_eq!((shared.window(), shared.threshold(), shared.has_flight()), (12_000, None, false));
        (0..5).for_each(|number| control.on_sent(at(10 * number), 1200, number));
        assert!(shared.has_flight() && !shared.watched().is_recovering());
        control.on_congestion_event(at(50), at(10), false, 0);
        let watched = shared.watched();
        assert_eq!((watched.losses, watched.lost_sent, watched.reductions), (0, None, 1));
        assert!(watched.is_recovering() && shared.window() == 6000 && shared.threshold() == Some(6000));
        control.on_congestion_event(at(60), at(20), false, 1200);
        control.on_congestion_event(at(61), at(10), true, 1200);
        let watched = shared.watched();
        assert_eq!((watched.losses, watched.lost_bytes, watched.reductions), (2, 2400, 1));
        assert_eq!((watched.lost_sent, watched.persistent), (Some(Time::from_millis(20)), 1));
        assert_eq!(watched.in_flight, 6000 - 2400);
        shared.forget(Time::from_millis(40), 1200);
        assert_eq!(shared.watched().in_flight, 2400);
        // Asked for once; a lifted window bounds nothing.
        assert!(!shared.take_asked());
        shared.lift(true);
        assert_eq!((control.window(), shared.take_asked(), shared.take_asked()), (u64::MAX, true, false));
        shared.lift(false);
        assert_eq!(control.window(), shared.window());
    }
}
