//! The connection manager beside an end that sits on a train, and how long it holds the source.

use super::super::shared::Shared;
use super::super::{ACKS, Flow};
use super::Tcp;
use crate::Plane;
use crate::freeze::{Beside, ConnectionManager, RoundTrips};
use cogtcp_network::Awaited;
use cogtcp_records::EventKind;
use cogtcp_transport::Segment;
use cogtcp_units::{Duration, Time};

/// A connection manager and its measurements.
#[derive(Debug)]
pub(super) struct Managed {
    manager: ConnectionManager,
    frozen_since: Option<Time>,
    frozen: Duration,
}

impl Tcp {
    #[inline]
    pub(super) fn manage_outgoing(&mut self, now: Time, segment: &mut Segment, beside: Beside) {
        if let Some(managed) = self.manager.as_deref_mut().filter(|m| m.manager.beside() == beside) {
            managed.manager.handle_outgoing(now, segment);
        }
    }

    pub(super) fn manage_incoming(
        &mut self,
        now: Time,
        segment: &mut Segment,
        beside: Beside,
        flow: u32,
        plane: &mut impl Plane,
    ) {
        if let Some(managed) = self.manager.as_deref_mut().filter(|m| m.manager.beside() == beside)
            && managed.manager.handle_incoming(now, segment)
        {
            self.record_thaw(now, flow, plane);
        }
    }

    fn record_thaw(&mut self, now: Time, flow: u32, plane: &mut impl Plane) {
        if let Some(managed) = &mut self.manager
            && let Some(since) = managed.frozen_since.take()
        {
            managed.frozen += now - since;
            plane.record_event(now, EventKind::Thaw, flow, f64::NAN);
        }
    }

    fn freeze(&mut self, now: Time, until: Time, hosts: &mut Shared, plane: &mut impl Plane) {
        // The flow has no manager.
        let Some(managed) = self.manager.as_deref_mut() else { return };
        let ack = managed.manager.freeze(now, until);
        // A second warning before the all-clear prolongs the freeze; it began with the first.
        if managed.frozen_since.is_none() && managed.manager.is_frozen() {
            managed.frozen_since = Some(now);
            plane.record_event(now, EventKind::Freeze, hosts.number, f64::NAN);
        }
        let beside = managed.manager.beside();
        self.tell_source(now, beside, ack, ConnectionManager::FREEZE_ACKS, hosts, plane);
    }

    fn thaw(&mut self, now: Time, hosts: &mut Shared, plane: &mut impl Plane) {
        // The flow has no manager.
        let Some(managed) = self.manager.as_deref_mut() else { return };
        let (beside, ack) = (managed.manager.beside(), managed.manager.thaw());
        self.record_thaw(now, hosts.number, plane);
        self.tell_source(now, beside, ack, ConnectionManager::THAW_ACKS, hosts, plane);
    }

    /// Gives the source an acknowledgement of the manager's, if it makes one: `times` over the network, once
    /// beside it.
    fn tell_source(
        &mut self,
        now: Time,
        beside: Beside,
        ack: Option<Segment>,
        times: usize,
        hosts: &mut Shared,
        plane: &mut impl Plane,
    ) {
        let Some(ack) = ack else {
            // The source has nothing acknowledged yet, is held already, or wants reports alone.
            return;
        };
        match beside {
            Beside::Receiver => {
                for _ in 0..times {
                    hosts.counters[ACKS].injected += 1;
                    plane.send_segment(now, hosts.ids[ACKS], &ack, Time::MAX, Awaited::Nothing);
                }
            }
            Beside::Sender => {
                self.sender.handle_segment(now, &ack);
                self.pump_sender(now, Awaited::Receiver, hosts, plane);
            }
        }
    }

    /// The manager, if any, forgets the connection before a new one.
    pub(super) fn renew_manager(&mut self, now: Time, flow: u32, plane: &mut impl Plane) {
        self.record_thaw(now, flow, plane);
        if let Some(managed) = &mut self.manager {
            managed.manager = ConnectionManager::new(managed.manager.beside());
        }
    }
}

impl Flow {
    /// A connection manager works beside one end from now on. Another transport than TCP has no window that a
    /// manager could close: it stays without one.
    pub fn manage(&mut self, beside: Beside) {
        let Some(tcp) = self.ends.tcp_mut() else { return };
        let manager = ConnectionManager::new(beside);
        tcp.manager = Some(Box::new(Managed { manager, frozen_since: None, frozen: Duration::ZERO }));
    }

    /// The manager, if any, hears that the link is going down, and until when. Before the start and after the
    /// end there is no window to close.
    pub fn freeze(&mut self, now: Time, until: Time, plane: &mut impl Plane) {
        if self.is_active()
            && let Some(tcp) = self.ends.tcp_mut()
        {
            tcp.freeze(now, until, &mut self.shared, plane);
        }
    }

    /// The manager, if any, hears that the link is going up.
    pub fn thaw(&mut self, now: Time, plane: &mut impl Plane) {
        if self.is_active()
            && let Some(tcp) = self.ends.tcp_mut()
        {
            tcp.thaw(now, &mut self.shared, plane);
        }
    }

    /// What the manager knows of the round-trip time.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        self.tcp()?.manager.as_ref()?.manager.round_trips()
    }

    /// How long the manager has held the source since the end of the warm-up; `None`: there is no manager.
    pub fn frozen(&self, now: Time) -> Option<Duration> {
        let managed = self.tcp()?.manager.as_ref()?;
        Some(managed.frozen + managed.frozen_since.map_or(Duration::ZERO, |since| now - since))
    }

    /// Window probes since the end of the warm-up.
    pub fn probes(&self) -> u64 {
        self.tcp().map_or(0, |tcp| tcp.sender.stats().window_probes - self.warm().tcp.window_probes)
    }

    /// The time for which the manager, if any, holds the source counts from `now`.
    pub(in crate::flow) fn restart_frozen(&mut self, now: Time) {
        if let Some(managed) = self.ends.tcp_mut().and_then(|tcp| tcp.manager.as_deref_mut()) {
            // A freeze that is under way counts from here on.
            managed.frozen = Duration::ZERO;
            managed.frozen_since = managed.frozen_since.map(|_| now);
        }
    }
}
