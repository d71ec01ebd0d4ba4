//! Processing requests: RFC 3561, sections 6.5 and 6.6.

use super::Aodv;
use crate::message::{RouteReply, RouteRequest};
use crate::table::{RouteOffer, is_newer, newer};
use crate::{NodeAddress, RoutingMessage};
use cogtcp_units::{Duration, Time};

impl Aodv {
    pub(super) fn handle_request(&mut self, now: Time, from: NodeAddress, ttl: u8, request: &RouteRequest) {
        if self.is_blacklisted(now, from) {
            return;
        }
        // 6.5: also for a copy, before it is dropped.
        self.hear(now, from);
        if request.originator == self.address || self.seen.contains(request.originator, request.id) {
            return;
        }
        self.remember(now, request.originator, request.id);
        // A hop count from the air may be 255.
        let hops = request.hops.saturating_add(1);
        self.reverse_route(now, from, hops, request);
        if request.destination == self.address {
            self.reply_as_destination(now, request);
        } else if !self.reply_from_table(now, from, hops, request) && ttl > 1 {
            self.pass_on(now, ttl - 1, hops, request);
        }
    }

    /// The reverse route to the originator. 6.5 copies next hop and hop count from the request, whatever its
    /// number. Here the rules of 6.2 hold too: an older request that arrives late would change a newer route,
    /// and could close a loop.
    fn reverse_route(&mut self, now: Time, from: NodeAddress, hops: u8, request: &RouteRequest) {
        let least = self.config.reverse_route_life.unwrap_or_else(|| {
            // MinimalLifetime = now + 2 * NET_TRAVERSAL_TIME - 2 * HopCount * NODE_TRAVERSAL_TIME.
            let spent = self.config.node_traversal_time * (2 * u64::from(hops));
            // Hops may outnumber NET_DIAMETER.
            (self.config.net_traversal_time() * 2).saturating_sub(spent)
        });
        let until = now + least;
        let sequence = Some(request.originator_sequence);
        self.offer(
            now,
            RouteOffer { destination: request.originator, next_hop: from, hops, sequence, until },
        );
        // 6.5: at least MinimalLifetime, also for a route that stood.
        self.prolong(now, request.originator, until);
    }

    /// 6.6.1. Section 6.1 wants the greater of the own number and the request's, which is what 6.6.1 comes to
    /// in the case that it describes.
    fn reply_as_destination(&mut self, now: Time, request: &RouteRequest) {
        if let Some(asked) = request.destination_sequence {
            self.sequence = newer(self.sequence, asked);
        }
        if request.destination_only || self.config.fresh_replies {
            // Nodes on the route may hold this number already, and would not pass the reply on as news.
            self.sequence = self.sequence.wrapping_add(1);
        }
        let reply = RouteReply {
            hops: 0,
            destination: self.address,
            destination_sequence: self.sequence,
            originator: request.originator,
            lifetime: self.config.my_route_timeout,
            acknowledge: self.config.reply_acknowledgement,
        };
        self.send_reply(now, reply);
    }

    /// 6.6.2: replies with a route of this node, if it has one that is new enough.
    fn reply_from_table(&mut self, now: Time, from: NodeAddress, hops: u8, request: &RouteRequest) -> bool {
        if request.destination_only {
            return false;
        }
        let Some(route) = self.table.active_mut(now, request.destination) else { return false };
        // A route without a number may be older than what the originator knows.
        let Some(known) = route.sequence else { return false };
        if request.destination_sequence.is_some_and(|asked| is_newer(asked, known)) {
            return false;
        }
        let (towards, lifetime) = (route.next_hop, route.expires - now);
        route.add_precursor(from);
        let reply = RouteReply {
            hops: route.hops,
            destination: request.destination,
            destination_sequence: known,
            originator: request.originator,
            lifetime,
            acknowledge: self.config.reply_acknowledgement,
        };
        if let Some(back) = self.table.active_mut(now, request.originator) {
            back.add_precursor(towards);
        }
        self.send_reply(now, reply);
        if request.gratuitous {
            self.reply_gratuitously(now, hops, request);
        }
        true
    }

    /// 6.6.3: tells the destination the route to the originator, as if it had asked.
    fn reply_gratuitously(&mut self, now: Time, hops: u8, request: &RouteRequest) {
        let Some(back) = self.table.active(now, request.originator) else { return };
        let lifetime: Duration = back.expires - now;
        let reply = RouteReply {
            hops,
            destination: request.originator,
            destination_sequence: request.originator_sequence,
            originator: request.destination,
            lifetime,
            acknowledge: self.config.reply_acknowledgement,
        };
        self.send_reply(now, reply);
    }

    /// 6.5, the last paragraphs. The own number for the destination is not touched by a greater one in the
    /// request.
    fn pass_on(&mut self, now: Time, ttl: u8, hops: u8, request: &RouteRequest) {
        let known = self.table.get(request.destination).and_then(|route| route.sequence);
        let destination_sequence = match (request.destination_sequence, known) {
            (Some(asked), Some(known)) => Some(newer(asked, known)),
            (asked, known) => asked.or(known),
        };
        let request = RouteRequest { hops, destination_sequence, ..request.clone() };
        let due = now + self.jitter();
        self.send(due, NodeAddress::BROADCAST, ttl, RoutingMessage::Request(request));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AodvConfig, AodvProfile, AodvSettings};
    use super::*;
    use crate::{Routing, RoutingPacket};
    use cogtcp_units::RandomStream;

    fn config(profile: AodvProfile) -> AodvConfig {
        AodvSettings { profile: Some(profile), ..AodvSettings::default() }.config()
    }

    /// A repeated request changes nothing, to the last field, and nothing waits to be sent. Under the rules
    /// of ns-2, where a neighbour's request gives no route to the neighbour, most requests count as repeated.
    #[test]
    fn a_copy_changes_nothing() {
        for (profile, hello) in
            [(AodvProfile::Ns2, false), (AodvProfile::Ns2, true), (AodvProfile::Rfc, false)]
        {
            let mut draw = RandomStream::new(3, "copies", 0);
            let mut node = Aodv::new(NodeAddress::new(0), AodvConfig { hello, ..config(profile) }, 1);
            let (mut now, mut copies) = (Time::ZERO, 0);
            node.start(now);
            for step in 0..3000u32 {
                now += Duration::from_millis(draw.below(40));
                if draw.below(4) == 0 {
                    node.handle_timeout(now);
                    while node.poll_transmit(now).is_some() {}
                }
                let from = NodeAddress::new(1 + draw.below(4) as u32);
                let message = match draw.below(9) {
                    0 => RoutingMessage::ReplyAck,
                    _ => RoutingMessage::Request(RouteRequest {
                        id: step / 12,
                        hops: draw.below(3) as u8,
                        destination: NodeAddress::new(9),
                        destination_sequence: None,
                        originator: NodeAddress::new(draw.below(6) as u32),
                        originator_sequence: step / 12,
                        gratuitous: false,
                        destination_only: false,
                    }),
                };
                let packet = RoutingPacket {
                    from,
                    to: NodeAddress::BROADCAST,
                    ttl: 5,
                    channel: None,
                    bytes: 48,
                    message,
                };
                while node.poll_event().is_some() {}
                let (is_copy, before) = (node.is_copy(now, &packet), format!("{node:?}"));
                node.handle_message(now, &packet);
                if is_copy {
                    copies += 1;
                    assert_eq!(format!("{node:?}"), before);
                    assert!(node.poll_transmit(now).is_none() && node.poll_event().is_none());
                }
            }
            assert_eq!(copies > 500, profile == AodvProfile::Ns2, "{copies}");
        }
    }
}
