//! Broken links and errors: RFC 3561, section 6.11.

use super::{Aodv, allowed};
use crate::message::RouteError;
use crate::routing::LossCause;
use crate::table::is_newer;
use crate::{NodeAddress, RoutingEvent, RoutingMessage};
use cogtcp_units::Time;
use std::collections::BTreeSet;

impl Aodv {
    /// Case (i): the link to a neighbour is broken. All routes through it end.
    pub(super) fn break_link(&mut self, now: Time, neighbor: NodeAddress) {
        self.heard.remove(&neighbor);
        self.owed.remove(&neighbor);
        let through =
            self.table.iter().filter(|(_, route)| route.is_active(now) && route.next_hop == neighbor);
        let ended: Vec<_> = through.map(|(destination, _)| (destination, None)).collect();
        self.table.remove_precursor(neighbor);
        self.end_routes(now, ended, LossCause::LinkBroken);
    }

    /// Case (ii): a packet of a neighbour has no way on from here. Its route was ended, and its number raised, when the
    /// link broke: raising it again for every such packet, as the letter of 6.11 has it, would let it run ahead of the
    /// destination's own, whose requests then no longer count as new.
    pub(super) fn report_no_route(&mut self, now: Time, destination: NodeAddress, previous: NodeAddress) {
        let sequence = self.table.get(destination).and_then(|route| route.sequence);
        self.send_error(now, vec![(destination, sequence)], &BTreeSet::from([previous]));
    }

    /// Case (iii): a neighbour says what it can no longer reach.
    pub(super) fn handle_error(&mut self, now: Time, from: NodeAddress, error: &RouteError) {
        self.hear(now, from);
        let mut ended = Vec::new();
        for (destination, sequence) in &error.unreachable {
            let Some(route) = self.table.active(now, *destination) else { continue };
            // What the number says is older than what is known here came late. RFC 3561 has no such rule, and its
            // copying of the number would let a late error set it back: van Glabbeek et al. show the loop.
            let stale = match (sequence, route.sequence) {
                (Some(said), Some(known)) => !is_newer(*said, known),
                _ => false,
            };
            if route.next_hop == from && *destination != from && !stale {
                ended.push((*destination, *sequence));
            }
        }
        self.end_routes(now, ended, LossCause::ErrorReceived);
    }

    /// Ends routes, and tells those who used them.
    fn end_routes(&mut self, now: Time, ended: Vec<(NodeAddress, Option<u32>)>, cause: LossCause) {
        let forget = now + self.config.delete_period();
        let mut unreachable = Vec::new();
        let mut told = BTreeSet::new();
        for (destination, sequence) in ended {
            if self.is_used(destination) {
                self.events.push_back(RoutingEvent::RouteLost { destination, cause });
            }
            let precursors = self.table.invalidate(destination, sequence, forget);
            if !precursors.is_empty() {
                let sequence = self.table.get(destination).and_then(|route| route.sequence);
                unreachable.push((destination, sequence));
                told.extend(precursors);
            }
        }
        if !unreachable.is_empty() {
            self.send_error(now, unreachable, &told);
        }
    }

    /// To one neighbour by unicast, to several by broadcast.
    fn send_error(
        &mut self,
        now: Time,
        unreachable: Vec<(NodeAddress, Option<u32>)>,
        told: &BTreeSet<NodeAddress>,
    ) {
        /// DestCount has 8 bits (5.3).
        const MOST: usize = 255;
        let to = match told.first() {
            Some(only) if told.len() == 1 => *only,
            _ => NodeAddress::BROADCAST,
        };
        for part in unreachable.chunks(MOST) {
            let limit = self.config.rerr_ratelimit;
            if allowed(&mut self.recent_errors, limit, now).is_err() {
                self.stats.limited += 1;
                return;
            }
            if limit > 0 {
                self.recent_errors.push_back(now);
            }
            self.send(now, to, 1, RoutingMessage::Error(RouteError { unreachable: part.to_vec() }));
        }
    }
}
