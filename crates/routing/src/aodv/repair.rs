//! Mending a route at a relay, as ns-2 does (`AODV::rt_ll_failed`, `local_rt_repair`).

use super::{Aodv, LocalRepair};
use crate::{DataPacket, NodeAddress};
use cogtcp_units::Time;

impl Aodv {
    /// Begins to mend the route of a packet that the MAC gave up, if this node is to; else the link is
    /// broken.
    pub(super) fn repair(&mut self, now: Time, packet: DataPacket) -> bool {
        if self.config.local_repair == LocalRepair::None {
            return false;
        }
        let route = self.table.active(now, packet.destination);
        // Not nearer to the destination than to the source: the source seeks.
        if route.is_none_or(|route| packet.hops <= route.hops) {
            return false;
        }
        self.seek(now, packet.destination);
        // `LocalRepairTimer` is set to fire after a span, and given the time at which the wait is over.
        let over = self.discoveries.get(&packet.destination).map_or(now, |discovery| discovery.may_ask);
        let until = Time::from_nanos(now.as_nanos().saturating_add(over.as_nanos()));
        self.table.repair(now, packet.destination, until);
        true
    }

    /// Whether packets for a destination wait for its route to be mended.
    pub(super) fn is_in_repair(&self, now: Time, destination: NodeAddress) -> bool {
        self.table.active(now, destination).is_some_and(|route| route.in_repair)
    }
}
