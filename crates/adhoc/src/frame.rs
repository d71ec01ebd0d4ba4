//! Frames as they go on the air, where they are recorded: what a sniffer that hears everything would write
//! down.

use crate::event::AdHocDropCause;
use crate::packet::{ArpMessage, HostPacket, Load};
use cogtcp_crosslayer::ChannelId;
use cogtcp_routing::RoutingPacket;
use cogtcp_units::{Duration, Rate, Time};
use cogtcp_wireless::FrameKind;
use std::sync::Arc;

/// A radio of a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NodeRadio {
    /// The only one, or the control radio of three.
    First,
    /// The transmitter of three.
    Transmitter,
    /// The receiver of three.
    Receiver,
}

/// What is recorded of the air, with [`reports_frames`](cogtcp_wireless::MediumConfig::reports_frames) of the
/// medium.
#[derive(Clone, Debug)]
pub enum AirEvent<T> {
    /// A frame goes on the air.
    Frame(AirFrame<T>),
    /// The exchange failed to which the last first frame or data frame of this radio belonged.
    Failed {
        /// The radio.
        radio: (u32, NodeRadio),
        /// Why.
        cause: AdHocDropCause,
    },
}

/// A frame that goes on the air.
#[derive(Clone, Debug)]
pub struct AirFrame<T> {
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
    /// The node that sends it, and by which radio.
    pub from: (u32, NodeRadio),
    /// Whom it is for; `None`: everybody.
    pub to: Option<(u32, NodeRadio)>,
    /// Which of the four frames.
    pub kind: FrameKind,
    /// On which channel.
    pub channel: ChannelId,
    /// At which rate.
    pub rate: Rate,
    /// The number of its packet at its sender.
    pub sequence: u32,
    /// For how long after its end it reserves the medium.
    pub reserves: Duration,
    /// What it carries, if it carries something.
    pub content: Option<FrameContent<T>>,
}

/// What a data frame carries.
#[derive(Clone, Debug)]
pub enum FrameContent<T> {
    /// A packet of a host.
    Data(HostPacket<T>),
    /// A packet of the routing protocol, with the channel on which its sender listens if it says that.
    Routing(Arc<RoutingPacket>, Option<ChannelId>),
    /// The node listens on this channel from now on.
    Channel(ChannelId),
    /// It seeks an address, or says its own to the node that asked.
    Arp {
        /// The node that is asked, or that asked.
        target: u32,
        /// Whether it answers.
        is_reply: bool,
    },
}

impl<T: Clone> FrameContent<T> {
    pub(crate) fn of(load: &Load<T>) -> Self {
        match load {
            Load::Data(data) => Self::Data(data.packet.clone()),
            Load::Routing(packet, listens) => Self::Routing(Arc::clone(packet), *listens),
            Load::Channel(_, channel) => Self::Channel(*channel),
            Load::Arp(ArpMessage { target, is_reply }) => Self::Arp { target: *target, is_reply: *is_reply },
        }
    }
}
