//! Reactions to a spectrum handoff or a change of power, of the node or of a neighbour.

use super::{Aodv, AtHandoff};
use crate::{ChannelNumber, NodeAddress};
use cogtcp_units::Time;

impl Aodv {
    /// The node's receiver is on another channel. The first channel is where the radio begins, not a handoff.
    pub(super) fn handle_handoff(&mut self, now: Time) {
        if !std::mem::replace(&mut self.has_channel, true) {
            return;
        }
        self.reconfigure(now);
    }

    /// The node's receiver is on another channel, or its range has changed.
    pub(super) fn reconfigure(&mut self, now: Time) {
        match self.config.at_handoff {
            AtHandoff::Nothing => {}
            AtHandoff::Hello => self.send_hello(now),
            AtHandoff::Search => self.search_again(now, None),
        }
    }

    /// A neighbour's receiver is on this channel. Hosts repeat the news.
    pub(super) fn handle_neighbor_channel(
        &mut self,
        now: Time,
        neighbor: NodeAddress,
        channel: ChannelNumber,
    ) {
        if self.config.at_handoff == AtHandoff::Search
            && self.neighbor_channels.insert(neighbor, channel) != Some(channel)
        {
            self.search_again(now, Some(neighbor));
        }
    }

    /// Searches for the routes that this node's own data took in the last ACTIVE_ROUTE_TIMEOUT: all of them, or
    /// the routes over one next hop. The old routes stay in use.
    pub(super) fn search_again(&mut self, now: Time, next_hop: Option<NodeAddress>) {
        self.catch_up(now);
        let timeout = self.config.active_route_timeout;
        let wanted = self.table.iter().filter(|(_, route)| {
            route.is_active(now)
                && route.own_data
                && route.used.is_some_and(|used| used + timeout > now)
                && next_hop.is_none_or(|hop| route.next_hop == hop)
        });
        let wanted: Vec<_> = wanted.map(|(destination, _)| destination).collect();
        for destination in wanted {
            self.seek_another(now, destination);
        }
    }
}
