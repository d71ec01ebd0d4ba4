//! On which channel the two ends of an exchange meet.

use super::{Frame, Hearer, Medium};
use crate::{Destination, FrameKind, InterfaceId, Positions, Rendezvous, Surroundings};
use cogtcp_spectrum::ChannelId;
use cogtcp_units::Time;

impl<T: Clone, P: Positions, S: Surroundings> Medium<T, P, S> {
    /// The channel of an exchange that `number` would begin with `to`.
    pub(super) fn exchange_channel(&self, number: u32, to: Destination) -> ChannelId {
        match (self.config.rendezvous, to) {
            (Rendezvous::Receiver, Destination::Interface(peer)) => self.stations.channel(peer.0),
            _ => self.stations.channel(number),
        }
    }

    /// The channel of a frame of `number` where it is not the one that it is tuned to: what it sends as the
    /// sender of an exchange.
    pub(super) fn frame_channel(&self, number: u32, kind: FrameKind) -> Option<ChannelId> {
        if self.config.rendezvous == Rendezvous::Common || !matches!(kind, FrameKind::Rts | FrameKind::Data) {
            return None;
        }
        self.stations[number].cold.service.as_ref().map(|service| service.channel)
    }

    /// Who waits for a frame on a channel that is not the own one hears it too.
    pub(super) fn add_partner(&mut self, frame: &Frame, now: Time, hearers: &mut Vec<Hearer>) {
        let Destination::Interface(InterfaceId(partner)) = frame.to else { return };
        if !self.is_partner(partner, frame) || self.stations.channel(partner) == frame.channel {
            return;
        }
        let hearer = self.hearer(frame.sender, partner, now);
        if hearer.strength.power >= self.config.phy.cutoff.watts() {
            hearers.push(hearer);
        }
    }

    /// Whether `frame` is an answer that `number` hears wherever it is tuned to.
    pub(super) fn is_partner(&self, number: u32, frame: &Frame) -> bool {
        self.config.rendezvous == Rendezvous::Receiver
            && frame.to == Destination::Interface(InterfaceId(number))
            && matches!(frame.kind, FrameKind::Cts | FrameKind::Ack)
    }

    /// The radio of a station leaves its channel: it hears nothing of what is on the air there any more.
    pub(super) fn leave_channel(&mut self, number: u32) {
        // By place: the loop changes frames and stations.
        for place in 0..self.on_air.len() {
            let index = self.on_air[place];
            let entry = &self.frames[index as usize];
            if self.is_partner(number, &entry.frame) {
                continue;
            }
            // The list that the sender's neighbours share must not lose a member.
            self.part_from_neighbours(index);
            let entry = &self.frames[index as usize];
            let Some(place) = entry.hearers.iter().position(|hearer| hearer.station == number) else {
                continue;
            };
            // Not swapped out: hearers stay in their order.
            let hearer = self.frames[index as usize].hearers.remove(place);
            let receiver = &mut self.stations.ear_mut(number).receiver;
            // What it was receiving is lost: the verdict does not matter.
            let _ = receiver.end(&self.listening, index, hearer.strength);
        }
    }

    /// How loud `sender` is at `station`, before fading.
    pub(super) fn hearer(&mut self, sender: u32, station: u32, now: Time) -> Hearer {
        let pair = (self.stations.node(sender), self.stations.node(station));
        let [from, to] = [pair.0, pair.1].map(|node| self.positions.position(node, now));
        let gain = self.config.phy.propagation.lasting_gain(from.distance(to), self.seed, pair);
        let power = gain * self.stations[sender].cold.power;
        Hearer { station, strength: self.listening.strength(power) }
    }
}
