//! Broken links and errors: RFC 3561, section 6.11.

use super::{Aodv, ErrorTo, allowed};
use crate::message::RouteError;
use crate::routing::LossCause;
use crate::table::is_newer;
use crate::{NodeAddress, RoutingEvent, RoutingMessage};
use cogtcp_units::Time;
use std::collections::BTreeSet;

/// What is out of reach, with numbers, and the recipients of the RERR.
#[derive(Debug, Default)]
struct Unreachable {
    unreachable: Vec<(NodeAddress, Option<u32>)>,
    to: BTreeSet<NodeAddress>,
}

impl Aodv {
    /// Case (i): the link to a neighbour is broken. All routes through it end.
    pub(super) fn break_link(&mut self, now: Time, neighbor: NodeAddress) {
        self.heard.remove(&neighbor);
        self.owed.remove(&neighbor);
        let through =
            self.table.iter().filter(|(_, route)| route.is_active(now) && route.next_hop == neighbor);
        let ended: Vec<_> = through.map(|(destination, _)| (destination, None)).collect();
        // Before the routes end: who is gone is not told.
        self.table.remove_precursor(neighbor);
        let told = self.end_routes(now, ended, LossCause::LinkBroken);
        self.tell(now, now, told);
    }

    /// Case (ii): a neighbour's packet has no route here. Its route ended, and its number rose, when the link
    /// broke. By the letter of 6.11 the number would rise again for every such packet and outrun the
    /// destination's own number. The destination's requests would then no longer count as new.
    pub(super) fn report_no_route(&mut self, now: Time, destination: NodeAddress, previous: NodeAddress) {
        let sequence = self.table.get(destination).and_then(|route| route.sequence);
        self.tell(
            now,
            now,
            Unreachable { unreachable: vec![(destination, sequence)], to: BTreeSet::from([previous]) },
        );
    }

    /// Case (iii): a neighbour says what it can no longer reach.
    pub(super) fn handle_error(&mut self, now: Time, from: NodeAddress, error: &RouteError) {
        self.hear(now, from);
        let mut ended = Vec::new();
        for (destination, sequence) in &error.unreachable {
            let Some(route) = self.table.active(now, *destination) else { continue };
            // What the number says is older than what is known here came late. RFC 3561 has no such rule, and
            // its copying of the number would let a late error set it back: van Glabbeek et al. show the
            // loop.
            let stale = match (sequence, route.sequence) {
                (Some(said), Some(known)) => !is_newer(*said, known),
                // Without two numbers to compare nothing is late.
                _ => false,
            };
            // A neighbour that speaks is in reach, whatever it says.
            if route.next_hop == from && *destination != from && !stale {
                ended.push((*destination, *sequence));
            }
        }
        let everybody = self.config.error_to == ErrorTo::Everybody;
        if everybody && !ended.is_empty() {
            self.events.push_back(RoutingEvent::NeighborGone { neighbor: from });
        }
        let told = self.end_routes(now, ended, LossCause::ErrorReceived);
        let due = if everybody { now + self.jitter() } else { now };
        self.tell(now, due, told);
    }

    /// Ends routes. Returns the recipients of the RERR: users of the routes, or everybody of every route over a
    /// broken link.
    fn end_routes(
        &mut self,
        now: Time,
        ended: Vec<(NodeAddress, Option<u32>)>,
        cause: LossCause,
    ) -> Unreachable {
        let forget = now + self.config.delete_period();
        let of_all = self.config.error_to == ErrorTo::Everybody && cause == LossCause::LinkBroken;
        let mut told = Unreachable::default();
        for (destination, sequence) in ended {
            if self.is_used(destination) {
                self.events.push_back(RoutingEvent::RouteLost { destination, cause });
            }
            let precursors = self.table.invalidate(destination, sequence, forget);
            if of_all || !precursors.is_empty() {
                let sequence = self.table.get(destination).and_then(|route| route.sequence);
                told.unreachable.push((destination, sequence));
                told.to.extend(precursors);
            }
        }
        told
    }

    /// To one neighbour by unicast, to several by broadcast, at `due`.
    fn tell(&mut self, now: Time, due: Time, told: Unreachable) {
        /// DestCount has 8 bits (5.3).
        const MOST: usize = 255;
        let to = match told.to.first() {
            Some(only) if told.to.len() == 1 && self.config.error_to == ErrorTo::Precursors => *only,
            _ => NodeAddress::BROADCAST,
        };
        for part in told.unreachable.chunks(MOST) {
            let limit = self.config.rerr_ratelimit;
            if allowed(&mut self.recent_errors, limit, now).is_err() {
                self.stats.limited += 1;
                return;
            }
            if limit > 0 {
                self.recent_errors.push_back(now);
            }
            self.send(due, to, 1, RoutingMessage::Error(RouteError { unreachable: part.to_vec() }));
        }
    }
}
