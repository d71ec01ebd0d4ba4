//! Processing replies: RFC 3561, sections 6.6 to 6.8.

use super::Aodv;
use crate::message::RouteReply;
use crate::table::RouteOffer;
use crate::{NodeAddress, RoutingMessage};
use cogtcp_units::Time;

impl Aodv {
    /// Sends a reply towards its originator, if there still is a route.
    pub(super) fn send_reply(&mut self, now: Time, reply: RouteReply) {
        let until = self.config.looked_at(now + self.config.active_route_timeout);
        let Some(back) = self.table.active_mut(now, reply.originator) else { return };
        let next_hop = back.next_hop;
        back.expires = back.expires.max(until);
        if reply.acknowledge {
            let deadline = now + self.config.next_hop_wait();
            // The oldest reply without an acknowledgement decides.
            self.owed.entry(next_hop).or_insert(deadline);
        }
        self.send(now, next_hop, self.config.net_diameter, RoutingMessage::Reply(reply));
    }

    /// 6.7.
    pub(super) fn handle_reply(&mut self, now: Time, from: NodeAddress, reply: &RouteReply) {
        if reply.acknowledge {
            self.send(now, from, 1, RoutingMessage::ReplyAck);
        }
        // A hop count from the air may be 255.
        let hops = reply.hops.saturating_add(1);
        let offer = RouteOffer {
            destination: reply.destination,
            next_hop: from,
            hops,
            sequence: Some(reply.destination_sequence),
            until: now + reply.lifetime,
        };
        // A reply goes on if it brought something, or if it says once more what stands here: without the
        // second, a search whose reply meets a route that is still good would never end (6.7 has the first
        // alone).
        let is_own = reply.originator == self.address;
        if is_own && self.config.measured_hop_time {
            self.measure_hop_time(now, reply.destination, hops);
        }
        let goes_on = self.offer(now, offer) || self.confirms(now, offer);
        // After the offer: hearing the destination would already have made its entry active, and the reply no
        // news.
        self.hear(now, from);
        if !goes_on || is_own {
            return;
        }
        let Some(towards) = self.table.active(now, reply.originator).map(|back| back.next_hop) else {
            return;
        };
        // 6.7: whoever gets the reply next may send to the destination, and to the neighbour that it came
        // from.
        if let Some(route) = self.table.active_mut(now, reply.destination) {
            route.add_precursor(towards);
        }
        if let Some(route) = self.table.active_mut(now, from) {
            route.add_precursor(towards);
        }
        if let Some(back) = self.table.active_mut(now, reply.originator) {
            back.add_precursor(from);
        }
        let acknowledge = self.config.reply_acknowledgement;
        self.send_reply(now, RouteReply { hops, acknowledge, ..reply.clone() });
    }

    /// Whether an offer that was refused is what stands in the table.
    fn confirms(&mut self, now: Time, offer: RouteOffer) -> bool {
        if !self.config.repeats_replies {
            return false;
        }
        let Some(route) = self.table.active(now, offer.destination) else { return false };
        let same =
            (route.next_hop, route.hops, route.sequence) == (offer.next_hop, offer.hops, offer.sequence);
        if same {
            self.prolong(now, offer.destination, offer.until);
        }
        same
    }

    /// 6.8: who did not acknowledge goes on the blacklist.
    pub(super) fn check_acknowledgements(&mut self, now: Time) {
        let late: Vec<_> = self
            .owed
            .iter()
            .filter(|(_, deadline)| **deadline <= now)
            .map(|(neighbor, _)| *neighbor)
            .collect();
        for neighbor in late {
            self.owed.remove(&neighbor);
            self.blacklist.insert(neighbor, now + self.config.blacklist_timeout());
        }
    }
}
