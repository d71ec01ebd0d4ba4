//! What goes over the air, frame by frame, where it is recorded.

use super::AdHocNetwork;
use crate::event::AdHocDropCause;
use crate::frame::{AirEvent, AirFrame, FrameContent, NodeRadio};
use cogtcp_wireless::{Destination, ExchangeFailure, FrameKind, InterfaceId, MediumEvent, Surroundings};

impl<T: Clone, S: Surroundings> AdHocNetwork<T, S> {
    /// What was recorded of the air, oldest first: nothing, unless the medium reports its frames.
    pub fn poll_air(&mut self) -> Option<AirEvent<T>> {
        self.air.pop_front()
    }

    #[cold]
    pub(super) fn record_frame(&mut self, event: &MediumEvent<crate::packet::Load<T>>) {
        let MediumEvent::OnAir { from, to, kind, channel, start, end, rate, sequence, reserves } = *event
        else {
            return;
        };
        let is_data = kind == FrameKind::Data;
        // It has just begun: its sender is still at the packet.
        let load = is_data.then(|| self.medium.in_service(from)).flatten();
        let content = load.map(|packet| FrameContent::of(&packet.payload));
        let to = match to {
            Destination::Interface(to) => Some(self.radio_of(to)),
            Destination::Broadcast => None,
        };
        let from = self.radio_of(from);
        self.air.push_back(AirEvent::Frame(AirFrame {
            start,
            end,
            from,
            to,
            kind,
            channel,
            rate,
            sequence,
            reserves,
            content,
        }));
    }

    #[cold]
    pub(super) fn record_failure(&mut self, from: InterfaceId, cause: ExchangeFailure) {
        let radio = self.radio_of(from);
        self.air.push_back(AirEvent::Failed { radio, cause: AdHocDropCause::of(cause) });
    }

    fn radio_of(&self, interface: InterfaceId) -> (u32, NodeRadio) {
        let node = self.owners[interface.0 as usize];
        let radios = &self.nodes[node as usize].interfaces;
        let radio = match interface {
            one if one == radios.control => NodeRadio::First,
            one if one == radios.transmitter => NodeRadio::Transmitter,
            _ => NodeRadio::Receiver,
        };
        (node, radio)
    }
}
